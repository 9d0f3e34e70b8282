"""Rows of CSV, of which no cell is a formula to a spreadsheet that opens them."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from referee.printable import printable

_FORMULA = re.compile(r"\s*[=+\-@|%＝＋－＠]")  # noqa: RUF001 - some spreadsheets take the wide ones for the others
"""How words begin that a spreadsheet would work out, spaces before them left out."""


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """The rows as text, a line each."""
    text = StringIO()
    rows_of = csv.writer(text, lineterminator="\n")  # noqa: TID251 - this is the door
    rows_of.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Words that would be a formula have a ' before them, as spreadsheets want it; numbers stay numbers."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) else text
