"""Quantities as people say them, numbers of things and times; and rounded as programs read them. Pure."""

import re
from operator import index
from typing import Any

LARGEST = 1_000
"""From this many of a unit on, the next one is used."""
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
MEASURABLE = 10
"""Microseconds: what is measured as less, and is not nothing, was too short to be measured."""
SMALL = 10
"""Below this many of a unit, a decimal place is of use."""


def counted(number: int, thing: str, form: str = "") -> str:
    """`1 match`, `2 matches`; the number in a format, if one is given."""
    ending = "" if number == 1 else "es" if thing.endswith("ch") else "s"
    return f"{number:{form}} {thing}{ending}"


def seconds_in(text: str) -> int | None:
    """Return the seconds of `90s`, `30m`, `2h` or `1d`; None: it is no such time."""
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    return None if found is None else int(found[1]) * _UNITS[found[2]]


def duration(microseconds: float) -> str:
    """A time with its unit, as exact as is of use: `< 1 ms`, `512 µs`, `2.7 ms`, `28 ms`, `1.2 s`, `59 s`."""
    if 0 < round(microseconds) < MEASURABLE:
        return "< 1 ms"
    if round(microseconds) < LARGEST:
        return f"{microseconds:z.0f} µs"
    milliseconds = microseconds / 1_000
    amount, unit = (milliseconds, "ms") if round(milliseconds) < LARGEST else (milliseconds / 1_000, "s")
    return f"{amount:.{int(round(amount, 1) < SMALL)}f} {unit}"


def span(milliseconds: int) -> str:
    """A time that rules give, with its unit: `0.5 s`, `60 s`, `10 min`, `24 h`; never rounded."""
    for size, unit in ((HOUR_MS, "h"), (MINUTE_MS, "min")):
        if milliseconds >= 2 * size and milliseconds % size == 0:
            return f"{milliseconds // size:,} {unit}"
    return f"{milliseconds / 1_000:,.10g} s"


def rounded(value: float | None, places: int = 2) -> float | None:
    """A number, if there is one, for programs: never minus zero. What people read says `z` in its format."""
    return None if value is None else round(value, places) + 0.0


def whole(name: str, given: Any, least: int | None = None) -> int:
    """A whole number that was given as the argument `name`; NumPy's are, True and 1.0 are none.

    Raises:
        ValueError: it is none, or less than `least`.
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
    """`1st`, `2nd`, `11th`, `23rd`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
