"""Separates messages from other output of a program that speaks by lines on its standard output.

The bridge, which connects such a program to the referee, and the referee both use this. Pure.
"""

import re

import msgspec
from msgspec import Struct

from protocol.messages import MAX_FRAME_BYTES

PRINTED = "[stdout] "
"""Prefix of each log line that a bot printed to standard output and that is no message."""
TYPES = frozenset({"hello", "submit", "undo", "pause", "note"})
"""Types of message that a bot may send."""
_BEGINNING = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:hello|submit|undo|pause|note)"')


class _Object(Struct):
    """Any object that has a type."""

    type: str


_objects = msgspec.json.Decoder(_Object)


def is_message(line: bytes) -> bool:
    """Return whether a line is meant as a message: a JSON object, valid or not, of a type that bots send.

    Only the beginning of a line that is longer than any message is examined.
    """
    if not line.lstrip().startswith(b"{"):
        return False
    if len(line) > MAX_FRAME_BYTES:
        return _BEGINNING.match(line) is not None
    try:
        return _objects.decode(line).type in TYPES
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False
