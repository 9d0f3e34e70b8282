"""Fuzzing campaigns in virtual time, split into portions that any number of processes share.

A portion's seed is derived from the campaign's seed and the portion's number, so the number of processes does not
change what is played. Scripts and their checks are in `referee.proofs.fuzzing`.
"""

import gc
from collections.abc import Callable, Iterator
from itertools import count
from time import monotonic

from msgspec import Struct

from arena.event_loop import GARBAGE
from arena.processes import process_pool
from referee.proofs.fuzzing import CampaignCounts, Violation, fuzz

PORTION = 2_000
"""Windows per portion, about one second of work."""


class Campaign(Struct, frozen=True, kw_only=True):
    """Result of a fuzzing campaign."""

    seed: int
    windows: int
    matches: int
    messages: int
    """Number of steps by bots, operators and the network."""
    seconds: float
    finding: Violation | None

    @property
    def pace(self) -> float:
        """Windows per second."""
        return self.windows / self.seconds


def play_campaign(
    seed: int, windows: int, processes: int = 1, progress: Callable[[int], object] = lambda _: None
) -> Campaign:
    """Check a number of windows, or all up to the first finding.

    Args:
        seed: seed of the campaign; the same seed produces the same matches.
        windows: minimum number of windows to play.
        processes: number of processes that share the work; 1 uses this process alone.
        progress: called with the number of windows judged since the last call.
    """
    began = monotonic()
    total, finding = CampaignCounts(), None
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


def _portions(seed: int, windows: int, processes: int) -> Iterator[tuple[CampaignCounts, Violation | None]]:
    """Yield the result of each portion, in order."""
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


def _fuzz(seed: str, windows: int) -> tuple[CampaignCounts, Violation | None]:
    """Run one portion with rare garbage collection; Python's default takes a fifth of the time here."""
    usual = gc.get_threshold()
    gc.set_threshold(*GARBAGE)
    try:
        return fuzz(seed, windows)
    finally:
        gc.set_threshold(*usual)
