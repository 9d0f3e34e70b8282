"""Chance comes from seeds alone: what the linter's list of banned functions leaves open is closed here.

That list names functions one by one; `random.gauss` or `random.SystemRandom` would pass it, and so would a
`Random()` that seeds itself. Who may import whom is checked by import-linter, in scripts/check.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("protocol", "referee", "arena/schedule", "arena/statistics")
"""The rest of the arena may ask the operating system for a seed, where its user gave none."""
FILES = sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))


def unseeded(source: str) -> Iterator[str]:
    """The places at which a module takes chance from anything but a `Random` made with a seed."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names) if any(name.name == "random" for name in names):
                yield f"line {node.lineno}: import Random from random, not the module"
            case ast.ImportFrom(module="random", names=names) if any(name.name != "Random" for name in names):
                yield f"line {node.lineno}: of random only Random may be imported"
            case ast.Call(func=ast.Name(id="Random"), args=[], keywords=[]):
                yield f"line {node.lineno}: a Random needs a seed"


def test_all_chance_comes_from_a_seeded_random() -> None:
    assert FILES
    found = [(str(file), place) for file in FILES for place in unseeded(file.read_text(encoding="utf-8"))]
    assert [] == found


@pytest.mark.parametrize(
    "source",
    ["import random", "import os, random as r", "from random import gauss", "from random import Random\nRandom()"],
)
def test_chance_from_elsewhere_is_found(source: str) -> None:
    assert [] != list(unseeded(source))


def test_a_seeded_random_is_fine() -> None:
    assert [] == list(unseeded("from random import Random\nRandom(1).choice([1])"))
