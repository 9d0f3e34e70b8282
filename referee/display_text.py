r"""Text of others made fit to be shown: what would act on a terminal or could not be seen is spelled, as `\x1b`.

Two names that look alike because one has a control, a zero-width character or another space in it look different
then, and so do two that Unicode writes in two ways. Letters of one script that look like another's stay as they
are: nobody can tell which of them is meant.
"""

import re
from unicodedata import is_normalized

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters that Unicode counts as letters and marks: fillers, joiners, selectors of a variant."""
_LOST_SPACE = re.compile("^ | $|(?<= ) ")
"""Spaces that HTML and Markdown drop, and that nobody sees at the end of a cell."""
_TWO_DIGITS, _FOUR_DIGITS = 0xFF, 0xFFFF


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
