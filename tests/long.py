"""How much the tests try: a little at each run, much in `scripts/test --all`, which sets `ARENA_LONG`."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

LONG = bool(os.environ.get("ARENA_LONG"))


def cases(short: int, long: int) -> int:
    """How many cases a test tries."""
    return long if LONG else short


def mostly_slow(quick: int, values: Iterable[Any]) -> list[Any]:
    """Values of a parameter, of which those after the first few are slow: one shows what all must keep."""
    return [
        value if number < quick else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
