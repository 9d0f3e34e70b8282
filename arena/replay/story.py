"""The story of a match: its key moments and the curve of its scores, found in its recording.

It contains secrets of the match, so show it only to those who may see all.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from arena.live import MOST_SCORE, commentary_of
from arena.replay.recording import Recording, Step
from protocol.text import Remark
from referee.display_text import cut

MOST_MOMENTS = 8
FEW_MOMENTS = 4
"""Small gains and losses are added until the story has this number of moments."""
MOST_FAULTS = 3
MOST_SEATS = 64
MOST_POINTS = 200
"""Most points of a curve; a longer one is thinned."""
LEAST_SWING = 2
"""Smallest change between two seats that can be the largest swing."""
MOST_NAME = 160
MOST_TEXT = 700
"""Longest text of a moment, in characters."""
TURNING_POINT, END = 2, 3
"""Weights of remarks."""
MomentKind = Literal["gain", "turning point", "largest swing", "fault", "end"]
StepNumber = Annotated[int, Meta(ge=1, le=1_000_000)]
StoryName = Annotated[str, Meta(max_length=MOST_TEXT)]
StoryScore = Annotated[int, Meta(ge=-MOST_SCORE, le=MOST_SCORE)]


class Moment(Struct, frozen=True):
    """A step that is worth a look."""

    step: StepNumber
    """The step's number, from 1, as the replay counts."""
    text: Annotated[str, Meta(max_length=MOST_TEXT)]
    kind: MomentKind


class Story(Struct, frozen=True, kw_only=True):
    """Contents of a match's page besides its result."""

    format: Literal[1] = 1
    steps: StepNumber
    """Number of the replay's steps."""
    names: Annotated[tuple[StoryName, ...], Meta(max_length=MOST_SEATS)]
    """Names of the bots, no two alike; indexed by seat."""
    unit: Annotated[str, Meta(max_length=MOST_TEXT)]
    """Unit of the scores, as a heading; empty for a game without commentary."""
    times: Annotated[tuple[StepNumber, ...], Meta(max_length=MOST_POINTS)]
    """Numbers of the steps at the points of the curve."""
    scores: Annotated[tuple[tuple[StoryScore, ...], ...], Meta(max_length=MOST_SEATS)]
    """Scores at these steps; indexed by seat, then as `times`."""
    moments: Annotated[tuple[Moment, ...], Meta(max_length=MOST_MOMENTS)]
    """Key moments, in the order in which they happened."""

    def __post_init__(self) -> None:
        """Check the lengths of the curves. Raises ValueError, as msgspec expects of a decoded value."""
        if any(len(each) != len(self.times) for each in self.scores) or len(self.scores) > len(self.names):
            raise ValueError("scores: one for each of the times, for no more seats than there are names")


def story_of(recording: Recording) -> Story:
    """Return the story of a whole match."""
    commentary = commentary_of(recording.game)
    unit = ""
    if commentary is not None:
        unit = commentary.unit[:MOST_TEXT]
    scored = [number for number, step in enumerate(recording.steps) if step.scores]
    shown = thinned(scored, MOST_POINTS)
    by_time = [recording.steps[number].scores for number in shown]
    return Story(
        steps=max(1, len(recording.steps)),
        names=tuple(cut(name, MOST_NAME) for name in recording.names),
        unit=unit,
        times=tuple(number + 1 for number in shown),
        scores=tuple(zip(*by_time, strict=True)),
        moments=tuple(_moments(recording.steps, recording.names)),
    )


def thinned(numbers: Sequence[int], most: int) -> list[int]:
    """Return at most this number of the numbers, evenly spread, with the first and the last one."""
    if len(numbers) <= most:
        return list(numbers)
    last = len(numbers) - 1
    return [numbers[round(at * last / (most - 1))] for at in range(most)]


def _moments(steps: Sequence[Step], names: Sequence[str]) -> list[Moment]:
    """Return the key moments, one for a step."""
    swings = list(_swings(steps))
    widest = max(range(len(steps)), key=swings.__getitem__, default=0)
    chosen: dict[int, Moment] = {}

    def add(number: int, remarks: Sequence[Remark], kind: MomentKind) -> None:
        if remarks and len(chosen) < MOST_MOMENTS and number not in chosen:
            chosen[number] = Moment(number + 1, "; ".join(each.text for each in remarks)[:MOST_TEXT], kind)

    for number, step in enumerate(steps):
        add(number, _heaviest(step.remarks, END), "end")
    if swings and swings[widest] >= LEAST_SWING:
        add(widest, _swing(steps, widest, names), "largest swing")
    for number, remark in _faults(steps)[:MOST_FAULTS]:
        add(number, [remark], "fault")
    for weight, most in ((TURNING_POINT, MOST_MOMENTS), (1, FEW_MOMENTS)):
        for number in sorted(range(1, len(steps)), key=lambda number: -swings[number]):
            if len(chosen) < most:
                kind: MomentKind = "turning point" if weight > 1 and _turns(steps, number) else "gain"
                add(number, _heaviest(steps[number].remarks, weight), kind)
    return [moment for _, moment in sorted(chosen.items())]


def _turns(steps: Sequence[Step], number: int) -> bool:
    """Return whether a step changes who leads, or its heaviest remarks are about a seat that leads after it."""
    after = steps[number].scores
    before = next((step.scores for step in reversed(steps[:number]) if step.scores), [])
    if not after or not before:
        return True
    leaders = _leaders(after)
    about = {seat for remark in _heaviest(steps[number].remarks, TURNING_POINT) for seat in remark.seats}
    return leaders != _leaders(before) or not about or not about.isdisjoint(leaders)


def _leaders(scores: Sequence[int]) -> set[int]:
    """Return the seats with the best score."""
    best = max(scores)
    return {seat for seat, score in enumerate(scores) if score == best}


def _swings(steps: Sequence[Step]) -> Iterator[int]:
    """Yield for each step how far it moved two seats' scores apart or together, at the most."""
    before: Sequence[int] = ()
    for step in steps:
        swing = 0
        if before and step.scores:
            gains = [after - earlier for earlier, after in zip(before, step.scores, strict=True)]
            swing = max(gains) - min(gains)
        if step.scores:
            before = step.scores
        yield swing


def _swing(steps: Sequence[Step], number: int, names: Sequence[str]) -> list[Remark]:
    """Return the heaviest remark on the seat that a step changed most, and by how much."""
    after = steps[number].scores
    before = next(step.scores for step in reversed(steps[:number]) if step.scores)
    gains = [now - then for then, now in zip(before, after, strict=True)]
    most = max(range(len(gains)), key=lambda seat: abs(gains[seat]))
    remarks = steps[number].remarks
    about = [remark for remark in remarks if most in remark.seats] or remarks
    gain = Remark(f"{names[most]} {gains[most]:+d}", (most,))
    if not about:
        return [gain]
    *others, last = _heaviest(about, 0)
    how_much = f"{gains[most]:+d}" if last.seats == (most,) else gain.text
    return [*others, Remark(f"{last.text} ({how_much})", last.seats, last.weight)]


def _heaviest(remarks: Sequence[Remark], least: int) -> list[Remark]:
    """Return the heaviest remark of at least this weight, or two if they tell turning points, in their order."""
    found = [remark for remark in remarks if remark.weight >= least]
    heaviest = sorted(found, key=lambda remark: -remark.weight)[:2]
    if len(heaviest) > 1 and heaviest[1].weight < TURNING_POINT:
        heaviest.pop()
    return [remark for remark in found if remark in heaviest]


def _faults(steps: Sequence[Step]) -> list[tuple[int, Remark]]:
    """Return the step of each fault and a remark on it, the worst first; repeated ones are counted."""
    first: dict[Remark, int] = {}
    times: Counter[Remark] = Counter()
    for number, step in enumerate(steps):
        for fault in step.faults:
            first.setdefault(fault, number)
            times[fault] += 1
    found = []
    for fault in sorted(first, key=lambda fault: -fault.weight):
        often = f" ({times[fault]} times in all)" * (times[fault] > 1)
        found.append((first[fault], Remark(f"{fault.text}{often}", fault.seats, fault.weight)))
    return found
