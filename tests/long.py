"""How much the tests try: a little at each run, much in `scripts/test --all`, which sets `ARENA_LONG`."""

import os

LONG = bool(os.environ.get("ARENA_LONG"))


def cases(short: int, long: int) -> int:
    """How many cases a test tries."""
    return long if LONG else short
