"""How many cases a test of generated input tries: a few each time, many when ARENA_LONG is set."""

import os

LONG = bool(os.environ.get("ARENA_LONG"))


def cases(short: int, long: int) -> int:
    """The number of cases: `long` in the long suite, else `short`."""
    return long if LONG else short
