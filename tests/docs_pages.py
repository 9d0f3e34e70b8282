"""The pages of the documentation taken apart: links, headings, tables and blocks of code, for `test_docs`."""

import re
from pathlib import Path
from textwrap import dedent

from msgspec import Struct

HOUSE = Path(__file__).parents[1]
PAGES = [HOUSE / "README.md", *sorted((HOUSE / "docs").glob("*.md")), *sorted((HOUSE / "docs/games").glob("*.md"))]

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"`([^`]+)`")


class Block(Struct, frozen=True):
    """A block of code: what stands behind its opening fence, and its text."""

    page: Path
    info: str
    text: str
    line: int
    """Number of its first line in the page, from 1."""


def name(page: Path) -> str:
    """Return a page's path in the house."""
    return page.relative_to(HOUSE).as_posix()


def page(path: str) -> str:
    """Return a page's text."""
    return (HOUSE / path).read_text(encoding="utf-8")


def blocks(info: str) -> list[Block]:
    """Return the blocks of all pages whose info string begins with this pattern, in order."""
    return [block for each in PAGES for block in blocks_of(each, info)]


def all_blocks() -> list[Block]:
    """Return every block of code of the pages, of the examples and of the pages for contributors."""
    pages = [*PAGES, *sorted((HOUSE / "docs/examples").rglob("*.md")), *sorted((HOUSE / ".github").glob("*.md"))]
    return [block for each in pages for block in blocks_of(each, "")]


def blocks_of(page: Path, info: str) -> list[Block]:
    """Return the blocks of one page whose info string begins with this pattern, in order; "": all."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, found["info"], dedent(found["text"]), text.count("\n", 0, found.start("text")) + 1)
        for found in _BLOCK.finditer(text)
        if not info or re.match(rf"{info}\b", found["info"])
    ]


def prose(text: str) -> str:
    """Return a page without its blocks of code."""
    return _BLOCK.sub("", text)


def links(text: str) -> list[str]:
    """Targets of all links outside of blocks."""
    return [found["target"] for found in _LINK.finditer(prose(text))]


def anchors(text: str) -> set[str]:
    """Return the anchors that headings get on GitHub."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(text: str, heading: str) -> str:
    """Return a section's text up to the next heading of its level or a higher one."""
    found = re.search(rf"^(?P<level>#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found, f"there is no heading {heading!r}"
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found['level'])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def tables(text: str) -> list[list[list[str]]]:
    """Tables as rows of cells, without their headings."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    return [[_cells(row) for row in table.splitlines()[2:]] for table in found]


def words(cell: str) -> list[str]:
    """Return what stands in a text as code."""
    return _CODE.findall(cell)


def first_words(text: str) -> list[str]:
    """Return the first words in code of the rows of a text's first table."""
    return [word for row in tables(text)[0] for word in words(row[0])]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
