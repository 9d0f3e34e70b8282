"""Text of others made fit for a terminal: what would move its cursor, or turn its lines around, is spelled out."""

import re

_HIDDEN = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
"""Control characters (C0, DEL, C1) and Unicode's controls of the direction of writing."""
_TWO_DIGITS = 0xFF


def printable(text: str) -> str:
    r"""The text with each such character, line ends too, as `\xNN` or `\uNNNN`: one line that does nothing."""
    return _HIDDEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code <= _TWO_DIGITS else f"\\u{code:04x}"
