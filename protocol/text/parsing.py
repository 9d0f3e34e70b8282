"""Parsers of typed words to names and numbers. Case does not matter."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

QUOTED_CHARACTERS = 20
Example = tuple[str, str]
"""A text to type, or its form with words in capitals to fill in; and its meaning."""


class Terms(Struct, frozen=True):
    """A match's terms and the seat, which determine the windows and the forms of actions."""

    variant: str
    options: Mapping[str, Any]
    """Options as in `welcome`; a missing one has its default."""
    seat: int


class ParseError(Exception):
    """The typed text is no action. The message describes the expected text."""


def quoted(word: str) -> str:
    """Return a typed word in a form that is safe to show."""
    return (
        word
        if word.isascii() and word.isalnum() and len(word) <= QUOTED_CHARACTERS
        else repr(word[:QUOTED_CHARACTERS])
    )


def name(word: str, names: Iterable[str], what: str) -> str:
    """Return a typed name in its canonical spelling. `what` describes it, with an article: `a title`.

    Raises:
        ParseError: it is not one of `names`.
    """
    known = {each.casefold(): each for each in names}
    if word.casefold() in known:
        return known[word.casefold()]
    raise ParseError(f"{quoted(word)} is not {what}: {', '.join(known.values())}")


def number(word: str, low: int, high: int, what: str) -> int:
    """Return a typed whole number. `what` describes it, with an article: `a seat`.

    Raises:
        ParseError: it is not from `low` to `high`.
    """
    digits = word.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) <= QUOTED_CHARACTERS and low <= int(word) <= high:
        return int(word)
    raise ParseError(f"{quoted(word)} is not {what}: {low} to {high}")
