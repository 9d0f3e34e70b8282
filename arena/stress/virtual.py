"""Fuzzing in virtual time as a campaign: split into portions, on as many processes as one likes, with a tally.

A portion's seed is made from the campaign's and its number, so that how many processes share them changes nothing
in what is played. What a script is, and who judges it, is `referee.proofs.fuzzing`.
"""

import gc
from collections.abc import Callable, Iterator
from itertools import count
from time import monotonic

from msgspec import Struct

from arena.event_loop import GARBAGE
from arena.processes import process_pool
from referee.proofs.fuzzing import Finding, Tally, fuzz

PORTION = 2_000
"""Windows of one portion: a second's work."""


class Campaign(Struct, frozen=True, kw_only=True):
    """What came of one."""

    seed: int
    windows: int
    matches: int
    messages: int
    """Steps that bots, operators and the network took."""
    seconds: float
    finding: Finding | None

    @property
    def pace(self) -> float:
        """Windows a second."""
        return self.windows / self.seconds


def play_campaign(
    seed: int, windows: int, processes: int = 1, progress: Callable[[int], object] = lambda _: None
) -> Campaign:
    """Judges so many windows, or up to the first finding.

    Args:
        seed: the same gives the same matches.
        windows: at least so many are played.
        processes: how many share the work; 1 is this one alone.
        progress: called with the number of windows judged since the last call.
    """
    began = monotonic()
    total, finding = Tally(), None
    for tally, finding in _portions(seed, windows, processes):
        total.windows += tally.windows
        total.matches += tally.matches
        total.messages += tally.messages
        progress(tally.windows)
        if finding is not None:
            break
    return Campaign(
        seed=seed,
        windows=total.windows,
        matches=total.matches,
        messages=total.messages,
        seconds=monotonic() - began,
        finding=finding,
    )


def _portions(seed: int, windows: int, processes: int) -> Iterator[tuple[Tally, Finding | None]]:
    """What came of each portion, in their order."""
    portions = [
        (f"{seed}/{number}", min(PORTION, windows - start))
        for number, start in zip(count(), range(0, windows, PORTION), strict=False)
    ]
    if processes == 1:
        yield from (_fuzz(*portion) for portion in portions)
        return
    with process_pool(processes) as pool:
        for future in [pool.submit(_fuzz, *portion) for portion in portions]:
            yield future.result()


def _fuzz(seed: str, windows: int) -> tuple[Tally, Finding | None]:
    """One portion, with a collector of garbage that looks seldom: Python's own takes a fifth of the time here."""
    usual = gc.get_threshold()
    gc.set_threshold(*GARBAGE)
    try:
        return fuzz(seed, windows)
    finally:
        gc.set_threshold(*usual)
