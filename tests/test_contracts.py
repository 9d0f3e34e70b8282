"""Two rules for the source that linter and type checker leave open. Import-linter checks who may import whom.

Chance comes from seeds alone. The linter's list of banned functions names them one by one; `random.gauss` or
`random.SystemRandom` would pass it, and so would a `Random()` that seeds itself.

Each `match` says what becomes of a value that no case names. Over a closed union it ends in `assert_never`, so
that the type checker finds each place that a new member of the union concerns; over open data it has a default.
"""

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from protocol.messages import ClientMessage, ServerMessage
from referee.match import AnyRecord

ROOT = Path(__file__).parent.parent
ROOMS = ("protocol", "referee", "arena/schedule", "arena/statistics")
"""The rest of the arena may ask the operating system for a seed, where its user gave none."""
FILES = sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))


def unseeded(source: str) -> Iterator[str]:
    """Find where a module takes chance from anything but a `Random` made with a seed."""
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


MATCHING = sorted(
    file for room in ("protocol", "referee", "arena", "bots") for file in (ROOT / room).rglob("*.py")
)


def named_unions(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the parts of each union of classes that a module names."""
    for line in ast.parse(source).body:
        match line:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.BitOr()) as union):
                parts = ast.unparse(union).strip("()").split(" | ")
                if all(part.isidentifier() and not hasattr(builtins, part) for part in parts):
                    yield name, parts
            case _:
                pass


NAMED = dict(union for file in MATCHING for union in named_unions(file.read_text(encoding="utf-8")))


def members(name: str) -> frozenset[str]:
    """Return the names of a union's classes, also of those that it has from another union."""
    return frozenset().union(*(members(part) if part in NAMED else {part} for part in NAMED[name]))


UNIONS = {members(name) for name in NAMED}


def unclosed(source: str) -> Iterator[str]:
    """Yield the places at which a `match` lets a value through that no case names, though it should not."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Match):
            continue
        last = node.cases[-1]
        if last.guard is not None or not _takes_all(last.pattern):
            yield f"line {node.lineno}: a match ends in assert_never or, over open data, in a default"
        elif not ast.unparse(last.body[-1]).startswith("assert_never(") and _is_closed(node):
            yield f"line {node.lineno}: over a closed union a match ends in assert_never"


def _takes_all(pattern: ast.pattern) -> bool:
    """Return whether a pattern is `_`, a name, or `_ as` a name."""
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or _takes_all(pattern.pattern))


def _is_closed(node: ast.Match) -> bool:
    """Return whether the cases before the default are classes of one union, or members of an enum."""
    parts = [part for case in node.cases[:-1] for part in _alternatives(case.pattern)]
    classes = {ast.unparse(part.cls) for part in parts if isinstance(part, ast.MatchClass)}
    if len(classes) > 1:  # One class alone is looked at for its fields.
        return any(classes <= union for union in UNIONS)
    return any(isinstance(part, ast.MatchValue) and isinstance(part.value, ast.Attribute) for part in parts)


def _alternatives(pattern: ast.pattern) -> Iterator[ast.pattern]:
    """Yield the patterns that `|` and `as` hold together."""
    match pattern:
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                yield from _alternatives(each)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from _alternatives(inner)
        case _:
            yield pattern


def test_each_match_says_what_becomes_of_a_value_that_no_case_names() -> None:
    assert MATCHING
    found = [(str(file), place) for file in MATCHING for place in unclosed(file.read_text(encoding="utf-8"))]
    assert [] == found


def test_the_messages_and_records_are_known_as_unions() -> None:
    for union in (ClientMessage, ServerMessage, AnyRecord):
        assert frozenset(each.__name__ for each in get_args(union)) in UNIONS


@pytest.mark.parametrize(
    "cases",
    [
        "case Hello(): pass",  # no default
        "case Hello(): pass\n case Submit() | Undo(): pass\n case _: pass",  # a sixth message would pass
        "case Hello(token='a') as it: pass\n case Note(): pass\n case other: print(other)",
        "case Hello(): pass\n case _ as it if it: assert_never(it)",
        "case Fault.NO_HELLO: pass\n case _: pass",
        "case 'a': pass",
        "case 1 | 2: pass",
    ],
)
def test_an_open_end_is_found(cases: str) -> None:
    assert [] != list(unclosed(f"match it:\n {cases}"))


@pytest.mark.parametrize(
    "cases",
    [
        "case Hello(): pass\n case _ as unreachable: assert_never(unreachable)",
        "case str(): pass\n case _: pass",
        "case OSError(): pass\n case other: raise other",
        "case 'a': pass\n case _: pass",
    ],
)
def test_a_match_that_is_closed_or_over_open_data_is_fine(cases: str) -> None:
    assert [] == list(unclosed(f"match it:\n {cases}"))
