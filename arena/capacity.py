"""How much is played at once where nobody says it: matches on this machine, and referee processes for them."""

import os


def cores() -> int:
    """How many of this machine's cores the arena may use."""
    return len(os.sched_getaffinity(0))


def matches_at_once() -> int:
    """The default of `--concurrency`: one match for each core."""
    return cores()


def shares(matches: int, *, concurrency: int, workers: int | None) -> list[int]:
    """How many matches each referee process plays at once.

    Args:
        matches: that are to be played; no process is started that would have none.
        concurrency: matches at once, in all processes together.
        workers: processes; None: one for each core.
    """
    at_once = max(1, min(concurrency, matches))
    count = min(workers or cores(), at_once)
    return [at_once // count + (number < at_once % count) for number in range(count)]
