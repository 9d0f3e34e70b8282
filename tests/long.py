"""How much the tests try: a little at each run, much in `scripts/test --all`, which sets `ARENA_LONG`.

`scripts/test --part 2/4` sets `ARENA_PART`: it runs a part of the slow tests, beside all others.
"""

import os
import zlib
from collections.abc import Iterable
from typing import Any

import pytest

LONG = bool(os.environ.get("ARENA_LONG"))
PART, PARTS = map(int, os.environ.get("ARENA_PART", "1/1").split("/"))
"""The part of the slow tests to run, from 1, and the number of parts."""


def in_part(name: str, part: int = PART, parts: int = PARTS) -> bool:
    """Return whether a test of this name is in a part."""
    return zlib.crc32(name.encode()) % parts == part - 1


def cases(short: int, long: int) -> int:
    """How many cases a test tries."""
    return long if LONG else short


def mostly_slow(quick: int, values: Iterable[Any]) -> list[Any]:
    """Values of a parameter, of which those after the first few are slow: one shows what all must keep."""
    return [
        value if number < quick else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
