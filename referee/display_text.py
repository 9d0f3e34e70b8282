r"""Text of others made fit to be shown: what would act on a terminal or could not be seen is spelled, as `\x1b`.

Two names that look alike because one has a control, a zero-width character or another space in it look different
then, and so do two that Unicode writes in two ways. Letters of one script that look like another's stay as they
are: nobody can tell which of them is meant.

For a name that is not known, the names that may be meant are suggested.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from unicodedata import is_normalized

if TYPE_CHECKING:
    from msgspec import Struct

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters that Unicode counts as letters and marks: fillers, joiners, selectors of a variant."""
_LOST_SPACE = re.compile("^ | $|(?<= ) ")
"""Spaces that HTML and Markdown drop, and that nobody sees at the end of a cell."""
_TWO_DIGITS, _FOUR_DIGITS = 0xFF, 0xFFFF
LONGEST_COMPARED = 100
"""Characters of a name that are compared: it may be as long as the file that it stands in."""
NEAR = 0.7
"""Share of letters in common at which a name is near: 1 is the same name."""
MOST_LISTED = 30
"""Known names that are listed where none is near."""
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`$")


def printable(text: str) -> str:
    r"""Return a text as one harmless line, with such characters as `\xNN`, `\uNNNN` or `\UNNNNNNNN`."""
    if text.isprintable() and (text.isascii() or not _BLANK.search(text)):
        return text
    return "".join(char if char.isprintable() and not _BLANK.match(char) else _spelled(char) for char in text)


def printable_name(text: str) -> str:
    """Return a name as `printable` does a text, with spaces at an end or after another space escaped too.

    All letters beyond ASCII are escaped if some are not in composed form, such as a letter with a separate accent.
    """
    if not is_normalized("NFC", text):
        text = "".join(char if char.isascii() else _spelled(char) for char in text)
    return _LOST_SPACE.sub(r"\\x20", printable(text))


def is_blank(char: str) -> bool:
    """Return whether Unicode counts a character among letters and marks, and it shows nothing."""
    return _BLANK.match(char) is not None


def _spelled(char: str) -> str:
    code = ord(char)
    if code <= _TWO_DIGITS:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _FOUR_DIGITS else f"\\U{code:08x}"


def did_you_mean(name: str, known: Iterable[str], kind: str) -> str:
    """Return `did you mean mist?`, or `the games are mist, pointing` where no known name is near.

    Args:
        name: what was written.
        known: the names that would be right, in the order in which they are listed.
        kind: what they are names of, in the plural: `games`.
    """
    names = list(dict.fromkeys(known))
    if not names:
        return f"there are no {kind}"
    from difflib import get_close_matches  # noqa: PLC0415 - no match waits for it

    by_lower_case = {each.lower(): each for each in reversed(names)}
    near = get_close_matches(name[:LONGEST_COMPARED].lower(), by_lower_case, cutoff=NEAR)
    if near:
        return f"did you mean {' or '.join(by_lower_case[each] for each in near)}?"
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"the {kind} are {', '.join(names[:MOST_LISTED])}{more}"


def with_known_options(complaint: str, options: "type[Struct]") -> str:
    """Return msgspec's complaint about a game's options, with the known options if it names an unknown one."""
    found = _UNKNOWN.search(complaint)
    if found is None:
        return complaint
    near = did_you_mean(found["key"], options.__struct_fields__, "options")
    return f"{complaint[: found.start()]}{found['key']!r} is not an option; {near}"


def cut(text: str, most: int) -> str:
    """Return the first `most` characters of a text, with an ellipsis if it has more."""
    return text if len(text) <= most else f"{text[:most]}…"
