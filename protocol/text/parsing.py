"""Words that were typed, made into names and numbers. Case does not matter."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

QUOTED_CHARACTERS = 20
Example = tuple[str, str]
"""What may be typed, or its form with words in capitals to fill in; and what it means."""


class Terms(Struct, frozen=True):
    """What a match is played by, and by whom: windows and forms of actions depend on it."""

    variant: str
    options: Mapping[str, Any]
    """As in `welcome`; one that is missing has its default."""
    seat: int


class ParseError(Exception):
    """What was typed is no action. The text says what would be."""


def quoted(word: str) -> str:
    """A word of what was typed, as it may be shown."""
    return (
        word
        if word.isascii() and word.isalnum() and len(word) <= QUOTED_CHARACTERS
        else repr(word[:QUOTED_CHARACTERS])
    )


def name(word: str, names: Iterable[str], what: str) -> str:
    """The name that was typed, in its canonical spelling. `what` it names, with an article: `a title`.

    Raises:
        ParseError: it is none of these.
    """
    known = {each.casefold(): each for each in names}
    if word.casefold() in known:
        return known[word.casefold()]
    raise ParseError(f"{quoted(word)} is not {what}: {', '.join(known.values())}")


def number(word: str, low: int, high: int, what: str) -> int:
    """The whole number that was typed. `what` it is, with an article: `a seat`.

    Raises:
        ParseError: it is not from `low` to `high`.
    """
    digits = word.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) <= QUOTED_CHARACTERS and low <= int(word) <= high:
        return int(word)
    raise ParseError(f"{quoted(word)} is not {what}: {low} to {high}")
