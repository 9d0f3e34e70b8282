"""Words of bots in Markdown: a table's cell holds them, and they do nothing to the page around it."""

import re
from collections.abc import Iterable, Sequence

from referee.printable import printable

_ACTIVE = re.compile(r"[\\|`<\[\]!]")
"""What ends a cell, or begins code, HTML, a link or an image; and what would undo its escape."""


def escaped(text: str) -> str:
    """The text as it stands, on one line."""
    return _ACTIVE.sub(r"\\\g<0>", printable(text))


def table_lines(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines."""
    lines = ["| " + " | ".join(map(escaped, row)) + " |" for row in (headings, *rows)]
    return [lines[0], "| " + " | ".join("---" for _ in headings) + " |", *lines[1:]]
