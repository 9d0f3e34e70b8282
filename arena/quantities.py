"""Quantities as text for people, and the columns of tables that show them. Pure.

A column is declared once; terminal, CSV, JSON, Markdown and pages show it.
"""

import re
from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Generic, TypeVar

from msgspec import Struct

LARGEST = 1_000
"""Amount of a unit from which the next larger unit is used."""
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
MEASURABLE = 10
"""Shortest time in microseconds that can be measured; shorter ones, except 0, are shown as `< 1 ms`."""
SMALL = 10
"""Amount of a unit below which a decimal place is shown."""


def pluralise(number: int, thing: str, form: str = "") -> str:
    """Return a number with its noun: `1 match`, `2 matches`. `form` is the number's format specification."""
    ending = ""
    if number != 1:
        ending = "es" if thing.endswith("ch") else "s"
    return f"{number:{form}} {thing}{ending}"


def seconds_in(text: str) -> int | None:
    """Return the seconds of a time such as `90s`, `30m`, `2h` or `1d`; None if the text is not one."""
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if found is None:
        return None
    return int(found[1]) * _UNITS[found[2]]


def duration(microseconds: float) -> str:
    """Return a rounded time with its unit: `< 1 ms`, `512 µs`, `2.7 ms`, `28 ms`, `1.2 s`, `59 s`."""
    if 0 < round(microseconds) < MEASURABLE:
        return "< 1 ms"
    if round(microseconds) < LARGEST:
        return f"{microseconds:z.0f} µs"
    amount, unit = microseconds / 1_000, "ms"
    if round(amount) >= LARGEST:
        amount, unit = amount / 1_000, "s"
    return f"{amount:.{int(round(amount, 1) < SMALL)}f} {unit}"


def span(milliseconds: int) -> str:
    """Return an exact time, as in rules, with its unit: `0.5 s`, `60 s`, `10 min`, `24 h`."""
    for size, unit in ((HOUR_MS, "h"), (MINUTE_MS, "min")):
        if milliseconds >= 2 * size and milliseconds % size == 0:
            return f"{milliseconds // size:,} {unit}"
    return f"{milliseconds / 1_000:,.10g} s"


def rounded(value: float | None, places: int = 2) -> float | None:
    """Return a rounded number for programs, never minus zero; None stays None. Text for people uses format `z`."""
    if value is None:
        return None
    return round(value, places) + 0.0


def require_int(name: str, given: Any, least: int | None = None) -> int:
    """Return the argument `name` as an int. NumPy's integers are accepted; True and 1.0 are not.

    Raises:
        ValueError: the argument is not a whole number, or is less than `least`.
    """
    try:
        number = index(given)
    except TypeError:
        number = None
    if number is None or isinstance(given, bool):
        raise ValueError(f"{name}: {given!r:.100} is no whole number")
    if least is not None and number < least:
        raise ValueError(f"{name}: {number}; at least {least}")
    return number


def ordinal(number: int) -> str:
    """Return an ordinal number: `1st`, `2nd`, `11th`, `23rd`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    if number % 100 in (11, 12, 13):
        ending = "th"
    return f"{number}{ending}"


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
        if value is None:
            return MISSING
        return self.text(value)


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
        return list(map(self._cells_of, self.rows))

    def _cells_of(self, row: Row) -> tuple[str, ...]:
        return tuple(column.cell(row) for column in self.columns)


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
