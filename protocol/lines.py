"""What a program that speaks by lines says on its standard output: which of its lines are messages, which are not.

The bridge, which sits between such a program and the referee, and the referee both go by this. Pure.
"""

import re

import msgspec
from msgspec import Struct

from protocol.messages import MAX_FRAME_BYTES

PRINTED = "[stdout] "
"""In front of each line of a bot's log that its program printed to standard output and that is no message."""
TYPES = frozenset({"hello", "submit", "undo", "pause", "note"})
"""Of the messages that a bot may send."""
_BEGINNING = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:hello|submit|undo|pause|note)"')


class _Object(Struct):
    """Any object that has a type."""

    type: str


_objects = msgspec.json.Decoder(_Object)


def is_message(line: bytes) -> bool:
    """Return whether a line is meant as a message: a JSON object of a type that bots send, right or wrong.

    Of a line that is longer than any message, the beginning tells.
    """
    if not line.lstrip().startswith(b"{"):
        return False
    if len(line) > MAX_FRAME_BYTES:
        return _BEGINNING.match(line) is not None
    try:
        return _objects.decode(line).type in TYPES
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False
