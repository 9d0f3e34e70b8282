"""Commentary: what happened in a step of a match, who did it and why it matters, in plain sentences.

A game's commentary may use everything: the host's view before and after a step, and all events of the step.
Show it only to those who may see all.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct

from protocol.games.listing import Parts
from protocol.words import Event, View

Weight = Literal[0, 1, 2, 3]
"""0: a usual move; 1: a gain or loss; 2: a turning point; 3: the end."""
END = 3


class Remark(Struct, frozen=True):
    """One sentence about a step."""

    text: str
    seats: tuple[int, ...] = ()
    """Seats that it is about, the one that acts first; empty: the match as a whole."""
    weight: Weight = 0


class Scene(Struct, frozen=True, kw_only=True):
    """One step of a match, as the host sees it."""

    before: View | None
    """The host's view before the step; None at the deal."""
    after: View
    told: Sequence[tuple[Event, int | None]] = ()
    """Events of the step, each with the only seat that was told, or None for all."""
    names: Sequence[str]
    """A name for each seat, no two alike; indexed by seat."""

    def series(self, seats: Iterable[int]) -> str:
        """Return names as in a sentence."""
        return series([self.names[seat] for seat in seats])


class Commentary(Struct, frozen=True, kw_only=True):
    """Commentary on one game."""

    remarks: Callable[[Scene], Sequence[Remark]]
    """Returns the remarks on a step, in order. Changes of the lead are added by `remarks_on`."""
    scores: Callable[[View], Sequence[int]]
    """Returns each seat's score in a host's view; indexed by seat, higher is better."""
    unit: str
    """Unit of a score, as a heading: `Largest group`."""
    outcome_unit: str = ""
    """Unit of the scores of an outcome, as a heading; empty: the same as `unit`."""
    from_score: int = 1
    """The least score with which a lead is worth a remark."""


COMMENTARIES: Parts[Commentary] = Parts("commentary", expected=Commentary)
"""The commentary of each game that has one."""


def remarks_on(commentary: Commentary, scene: Scene) -> list[Remark]:
    """Return all remarks on a step: those of the game, and before those on the end whether the lead changed."""
    remarks = list(commentary.remarks(scene))
    if scene.before is not None:
        before, after = commentary.scores(scene.before), commentary.scores(scene.after)
        lead = _lead(before, after, scene, commentary.from_score)
        if lead is not None:
            end = next((at for at, remark in enumerate(remarks) if remark.weight == END), len(remarks))
            remarks.insert(end, lead)
    return remarks


def _lead(before: Sequence[int], after: Sequence[int], scene: Scene, least: int) -> Remark | None:
    """Return a remark if another seat leads, or if the leader was caught up with; None if neither."""
    led, lead = _leaders(before), _leaders(after)
    best = max(after)
    if led == lead or best < least:
        return None
    if len(lead) == 1:
        seat = lead[0]
        second = max(score for other, score in enumerate(after) if other != seat)
        overtakes = len(led) == 1
        text = f"{scene.names[seat]} {'takes' if overtakes else 'is in'} the lead, {best} to {second}"
        return Remark(text, (seat,), 2 if overtakes else 1)
    came = [seat for seat in lead if seat not in led]
    if not came or len(led) > 1:
        return None
    return Remark(f"{scene.series(came)} {verb(came, 'draws', 'draw')} level at {best}", tuple(came), 1)


def _leaders(scores: Sequence[int]) -> list[int]:
    best = max(scores)
    return [seat for seat, score in enumerate(scores) if score == best]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 point`, `3 points`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def verb(subjects: Sequence[object], one: str, many: str) -> str:
    """Return the form of a verb for this number of subjects."""
    return one if len(subjects) == 1 else many


def series(words: Sequence[str]) -> str:
    """Return words as in a sentence: `a`, `a and b`, `a, b and c`."""
    if len(words) < 2:  # noqa: PLR2004 - one word, or none
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
