"""How much the tests try: a little at each run, much in the long suite, `ARENA_LONG=1 scripts/test`."""

import os

LONG = bool(os.environ.get("ARENA_LONG"))


def cases(short: int, long: int) -> int:
    """How many cases a test tries."""
    return long if LONG else short
