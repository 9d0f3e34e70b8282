"""Words of others in Markdown: they are shown as they stand, and do nothing to the page around them."""

import re
from collections.abc import Iterable, Sequence

from referee.printable import printable_name

_ACTIVE = re.compile(
    r"[\\|`<>\[\]!&*~#$]|(?<![^\W_])_|_(?![^\W_])|:(?=//|[\w+-]+:)|(?<=mailto):|(?<=xmpp):|(?<=www)\.",
    re.IGNORECASE,
)
"""What begins code, HTML, a link, an image, an entity or emphasis, or ends a cell; and what would undo its escape.
Some pages make links of bare addresses, and pictures of `:word:`."""
_LEADING = re.compile(r"^(\d*)([-+=.)])(?=[-+=\s])")
"""What makes a list, a rule or a heading of a line."""
_AT = re.compile(r"(?<!\w)@(?=\w)|@(?=[\w-]+\.)")
"""What names somebody, who would be told, or is a mail address: no backslash helps there, but code does."""


def escaped(text: str) -> str:
    """The text as it stands, on one line."""
    return _AT.sub("`@`", _LEADING.sub(r"\1\\\2", _ACTIVE.sub(r"\\\g<0>", printable_name(text))))


def table_lines(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines."""
    lines = ["| " + " | ".join(map(escaped, row)) + " |" for row in (headings, *rows)]
    return [lines[0], "| " + " | ".join("---" for _ in headings) + " |", *lines[1:]]
