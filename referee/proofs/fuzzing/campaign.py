"""The loop of the fuzzer: it plays scripts until enough windows are checked, or shrinks the first that fails.

Shrinking removes all that the failure does not need. It uses delta debugging (Zeller, Hildebrandt: Simplifying and
isolating failure-inducing input, 2002) on the steps, then on the windows, and then simplifies each number. A
smaller script may fail in another way than the first.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.proofs.fuzzing.check import check
from referee.proofs.fuzzing.driver import play_all
from referee.proofs.fuzzing.rules_of_time import ToWindow
from referee.proofs.fuzzing.script import Leaves, Pauses, Planned, Script, ScriptStep, Stalls, Submits, draw_script

Fails = Callable[[Script], bool]
ItemT = TypeVar("ItemT")
MOST_TRIES = 600
"""Number of scripts that are played to shrink one; this takes some seconds."""
BATCH = 20


class _Enough(Exception):  # noqa: N818 - no error
    """The permitted number of scripts has been tried."""


class Shrinker:
    """A search for the smallest script that still fails."""

    def __init__(self, script: Script, fails: Fails, tries: int = MOST_TRIES) -> None:
        self.smallest = script
        self._fails = fails
        self._tries = tries
        self._tried = {msgspec.json.encode(script)}

    def shrink(self) -> Script:
        """Return the smallest failing script that was found."""
        try:
            before = None
            while before != self.smallest:
                before = self.smallest
                self._try(replace(self.smallest, game="drill"))
                self._first_windows()
                self._fewer_steps()
                self._fewer_windows()
                self._fewer_seats()
                self._plainer_terms()
                self._plainer_steps()
        except _Enough:
            pass
        return self.smallest

    def _try(self, script: Script) -> bool:
        """Try a script. If it fails, store it as the smallest so far and return True."""
        key = msgspec.json.encode(script)
        if key in self._tried:
            return False
        self._tried.add(key)
        if self._tries == 0:
            raise _Enough
        self._tries -= 1
        if not self._fails(script):
            return False
        self.smallest = script
        return True

    def _fewer_steps(self) -> None:
        size = max(1, len(self.smallest.steps) // 2)
        while True:
            start = 0
            while start < len(self.smallest.steps):
                steps = self.smallest.steps
                if not self._try(replace(self.smallest, steps=steps[:start] + steps[start + size :])):
                    start += size
            if size == 1:
                return
            size //= 2

    def _first_windows(self) -> None:
        while len(self.smallest.windows) > 1:
            half = len(self.smallest.windows) // 2
            if not self._try(replace(self.smallest, windows=self.smallest.windows[:half])):
                break

    def _fewer_windows(self) -> None:
        """Try to remove each window in turn; later ones move up, with their steps."""
        for number in reversed(range(len(self.smallest.windows))):
            if len(self.smallest.windows) > 1 and self.smallest.game == "drill":
                self._try(_without_window(self.smallest, number))

    def _fewer_seats(self) -> None:
        for seat in reversed(range(self.smallest.seats)):
            if self.smallest.seats > 1 and self.smallest.game == "drill":
                self._try(_without_seat(self.smallest, seat))
        for number, window in enumerate(self.smallest.windows):
            for seat in window.seats:
                fewer = tuple(each for each in window.seats if each != seat)
                if fewer and self.smallest.game == "drill":
                    changed = replace(self.smallest.windows[number], seats=fewer)
                    windows = _with(self.smallest.windows, number, changed)
                    self._try(replace(self.smallest, windows=windows))

    def _plainer_terms(self) -> None:
        script = self.smallest
        for changes in (
            {"hello": (0,) * script.seats},
            {"pacing": "prompt"},
            {"pauses": 0},
            {"fault": "default", "restarts": 0},
            {"reserve_ms": 0},
            {"increment_ms": 0},
            {"bronstein_ms": 0},
            {"reserve_ms": 10},
            {"main_ms": 10},
            {"order": 0},
        ):
            self._try(replace(self.smallest, **changes))

    def _plainer_steps(self) -> None:
        for number in range(len(self.smallest.steps)):
            for plainer in _plainer(self.smallest.steps[number]):
                if self._try(replace(self.smallest, steps=_with(self.smallest.steps, number, plainer))):
                    break


def _with(items: tuple[ItemT, ...], number: int, item: ItemT) -> tuple[ItemT, ...]:
    """Return the items with another one in the place of that number."""
    return (*items[:number], item, *items[number + 1 :])


def _plainer(step: ScriptStep) -> Iterator[ScriptStep]:
    for ticks in (0, 1, -1, 1_000, -1_000):
        if abs(ticks) < abs(step.when.ticks):
            yield replace(step, when=replace(step.when, ticks=ticks))
    act = step.act
    if isinstance(act, Submits) and act.choice != 1:
        yield replace(step, act=replace(act, choice=1))
    if isinstance(act, Pauses | Stalls):
        for length in (1, 1_000):
            if length < act.ticks:
                yield replace(step, act=replace(act, ticks=length))
    if isinstance(act, Leaves) and (act.code or act.back):
        yield replace(step, act=Leaves(back=act.back and 0))


def _without_window(script: Script, number: int) -> Script:
    """Remove a window from a script, with the steps at its edges; later windows of its seats move up."""
    gone = script.windows[number]
    before = Counter(chain.from_iterable(window.seats for window in script.windows[:number]))
    own = {seat: before[seat] for seat in gone.seats}
    steps = []
    for step in script.steps:
        when, act = step.when, step.act
        if when.edge in {"opened", "main", "reserve"} and when.seat in own:
            if when.number == own[when.seat]:
                continue
            if when.number > own[when.seat]:
                when = replace(when, number=when.number - 1)
        if isinstance(act, ToWindow) and step.seat in own and act.window > own[step.seat]:
            act = replace(act, window=act.window - 1)
        steps.append(replace(step, when=when, act=act))
    windows = script.windows[:number] + script.windows[number + 1 :]
    return replace(script, windows=windows, steps=tuple(steps))


def _without_seat(script: Script, gone: int) -> Script:
    """Remove a seat from a script, with the windows of that seat alone; later seats move up."""
    number = 0
    while number < len(script.windows):
        if script.windows[number].seats == (gone,):
            script = _without_window(script, number)
        else:
            number += 1

    def moved(seat: int) -> int:
        return seat - (seat > gone)

    windows: list[Planned] = []
    for window in script.windows:
        seats = tuple(moved(seat) for seat in window.seats if seat != gone)
        windows.append(replace(window, seats=seats))
    return replace(
        script,
        seats=script.seats - 1,
        windows=tuple(windows),
        hello=script.hello[:gone] + script.hello[gone + 1 :],
        steps=tuple(
            replace(step, seat=moved(step.seat), when=replace(step.when, seat=moved(step.when.seat)))
            for step in script.steps
            if gone not in {step.seat, step.when.seat}
        ),
    )


class Violation(Struct, frozen=True):
    """A script in which the referee breaks a rule of time."""

    what: str
    """The place of the violation, the expected value, and the actual one."""
    script: Script
    drawn: str
    """The seed that generated the original script."""


class CampaignCounts(Struct):
    """Counts of the matches, windows and messages played so far."""

    matches: int = 0
    windows: int = 0
    messages: int = 0


def judge_script(script: Script) -> str | None:
    """Play a script, and return the first violation of the referee; None: there is none."""
    return check(script, play_all([script])[0])


def fuzz(seed: str, windows: int, tries: int = MOST_TRIES) -> tuple[CampaignCounts, Violation | None]:
    """Check at least that number of windows, or stop at the first violation.

    Args:
        seed: the seed of the scripts; the same seed gives the same scripts.
        windows: the number of windows to check.
        tries: the number of smaller scripts that are tried for a script that fails.

    Returns:
        The counts, and the violation if there is one.
    """
    tally = CampaignCounts()
    while tally.windows < windows:
        seeds = [f"{seed}/{tally.matches + number}" for number in range(BATCH)]
        scripts = [draw_script(each) for each in seeds]
        for drawn, script, trace in zip(seeds, scripts, play_all(scripts), strict=True):
            tally.matches += 1
            tally.windows += len(trace.windows)
            tally.messages += len(trace.did)
            what = check(script, trace)
            if what is not None:
                return tally, shrunk(Violation(what, script, drawn), tries)
    return tally, None


def shrunk(finding: Violation, tries: int) -> Violation:
    """Return the finding with a script as small as the shrinker can make it."""
    smallest = Shrinker(finding.script, lambda each: judge_script(each) is not None, tries).shrink()
    if smallest is finding.script:
        return finding
    return Violation(judge_script(smallest) or finding.what, smallest, finding.drawn)
