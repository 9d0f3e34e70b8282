"""Names in docstrings exist: `Ledger.change` and `meter.Reading` are followed, and fail here once renamed.

A name is checked if its first part is a module or a class of the packages. Modules and classes of the same name
count as one, a name in small letters may also be a variable of the class (`window.view`), and a class whose
bases are from elsewhere is not checked.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = sorted(file for room in ("protocol", "referee", "arena", "bots") for file in (ROOT / room).rglob("*.py"))
DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(\))?`")
FILE_ENDINGS = frozenset(
    {"py", "toml", "md", "json", "jsonl", "txt", "key", "key_secret", "part", "log", "sock", "html"}
)


class Owners:
    """The modules and classes of the packages, with the names that are defined in them."""

    def __init__(self, trees: dict[Path, ast.Module]) -> None:
        self._members: defaultdict[str, set[str]] = defaultdict(set)
        self._bases: defaultdict[str, set[str]] = defaultdict(set)
        for file, tree in trees.items():
            module = file.parent.name if file.stem == "__init__" else file.stem
            self._members[module] |= set(_defined(tree))
            for folder in file.relative_to(ROOT).parents[:-1]:
                self._members[folder.name] |= {entry.stem for entry in (ROOT / folder).iterdir()}
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self._members[node.name] |= set(_defined(node))
                    self._bases[node.name] |= {
                        ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases
                    }

    def lacks(self, owner: str, member: str) -> bool:
        """Return whether a module or class of ours certainly has no such member."""
        if owner not in self._members:
            return False
        bases = self._bases[owner] - {"Struct", "ABC", "Protocol", "Generic", "Exception", "NamedTuple"}
        members = self._members[owner] | self._members.get(owner.title(), set())
        return member not in members and all(
            base in self._members and self.lacks(base, member) for base in bases - {owner}
        )


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=asname):
                yield (asname or name).partition(".")[0]
            case _:
                pass


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
            case _:
                pass


def dead(trees: dict[Path, ast.Module]) -> Iterator[str]:
    """Yield the dotted names in docstrings that name nothing, each with its file and line."""
    owners = Owners(trees)
    for file, tree in trees.items():
        for line, text in _docstrings(tree):
            for found in DOTTED.finditer(text):
                parts = found[1].split(".")
                if parts[-1] in FILE_ENDINGS:
                    continue
                if any(owners.lacks(owner, member) for owner, member in pairwise(parts)):
                    yield f"{file.relative_to(ROOT)}:{line + text[: found.start()].count(chr(10))}: {found[1]}"


def test_names_in_docstrings_exist() -> None:
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}
    assert [] == list(dead(trees))


def test_a_name_that_is_gone_is_found() -> None:
    source = '"""See `Box.open`, `Box.shut` and `boxes.Lid`."""\nclass Box:\n    def open(self): ...\n'
    assert ["arena/boxes.py:1: Box.shut", "arena/boxes.py:1: boxes.Lid"] == list(
        dead({ROOT / "arena/boxes.py": ast.parse(source)})
    )
