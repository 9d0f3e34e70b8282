"""A table as data: each column is declared once, and terminal, CSV, JSON, Markdown and pages show it. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

Row_contra = TypeVar("Row_contra", contravariant=True)
Row = TypeVar("Row")
MISSING = "-"
"""Text of a value that does not exist."""


class Column(Struct, Generic[Row_contra], frozen=True):
    """A column of a table."""

    heading: str
    """Heading for people."""
    value: Callable[[Row_contra], Any]
    """Returns the value of a row; None if there is none."""
    text: Callable[[Any], str] = str
    """Formats a value for people; it is never called with None."""
    key: str = ""
    """Key in JSON and heading in CSV; empty if programs do not get the column."""
    meaning: str = ""
    """Meaning of the values, as full sentences for people; empty if the heading says everything."""
    is_text: bool = False
    """True for text, which is aligned left; numbers are aligned right."""

    def cell(self, row: Row_contra) -> str:
        """Return the value of a row as text for people."""
        value = self.value(row)
        return MISSING if value is None else self.text(value)


class Table(Struct, Generic[Row], frozen=True):
    """Columns, and the rows that they show."""

    columns: Sequence[Column[Row]]
    rows: Sequence[Row]

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings for people."""
        return tuple(column.heading for column in self.columns)

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows as text for people."""
        return [tuple(column.cell(row) for column in self.columns) for row in self.rows]


def values(columns: Sequence[Column[Row_contra]], row: Row_contra) -> dict[str, Any]:
    """Return the values of a row for programs, by key."""
    return {column.key: column.value(row) for column in columns if column.key}


def three_digits(value: float) -> str:
    """Return mean points as text, such as `0.667`."""
    return f"{value:.3f}"


def plain(value: float) -> str:
    """Return a number as text without zeros at its end, such as `2` or `2.5`."""
    return f"{value:g}"


def signed(value: float) -> str:
    """Return a rounded number with its sign, such as `+196`."""
    return f"{value:+z.0f}"


def percent(share: float) -> str:
    """Return a share from 0 to 1 as text, such as `67%`."""
    return f"{100 * share:.0f}%"


def whole_number(value: float) -> str:
    """Return a rounded number without a sign for plus, such as `1516`."""
    return f"{value:z.0f}"
