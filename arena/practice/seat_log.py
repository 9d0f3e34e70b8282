"""The messages to a person in the browser in one match: numbered, and encoded as server-sent events.

The log is bounded, so that a match cannot fill the memory. A browser that connects again gets it from any number
on, and then has everything that the page needs.
"""

import re
from typing import Any

from protocol.codec import encode

MOST_BYTES = 6 * 1024 * 1024
"""Maximum bytes of one seat's log. Beyond it, the oldest views and then the oldest other messages are left out."""
MOST_MESSAGES = 20_000
VIEW = "view"
OVER = "The match is over."
DROPPED = b""
_NUMBER = re.compile(rb"^id: (\d+)$", re.MULTILINE)


class SeatLog:
    """The messages to one seat, from number 0 on."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._entries: list[bytes] = []
        self._views: list[int] = []
        """Numbers of the views that are stored, oldest first."""
        self._size = 0
        self._oldest = 1
        """Number of the oldest message that may still be left out; message 0 never is."""

    def __len__(self) -> int:
        """Return the number of messages so far."""
        return len(self._entries)

    def add(self, message: dict[str, Any]) -> None:
        """Add a message with the next number."""
        number = len(self._entries)
        if number >= MOST_MESSAGES:
            return
        entry = b"id: %d\ndata: %b\n\n" % (number, encode(message))
        self._entries.append(entry)
        self._size += len(entry)
        if message["type"] == VIEW:
            self._views.append(number)
        while self._size > self._most:
            self._drop()

    def since(self, number: int, most_bytes: int) -> tuple[bytes, int]:
        """Return the messages from a number on, some 64 KiB of them at most, and the number of the next one."""
        found: list[bytes] = []
        size = 0
        while number < len(self._entries) and size < most_bytes:
            found.append(self._entries[number])
            size += len(self._entries[number])
            number += 1
        return b"".join(found), number

    def whole(self) -> bytes:
        """Return all messages that are stored."""
        return b"".join(self._entries)

    def _drop(self) -> None:
        """Leave out the oldest view but the last, or the oldest message."""
        number = self._oldest
        if len(self._views) > 1:
            number = self._views.pop(0)
        elif number < len(self._entries):
            self._oldest += 1
        else:
            self._size = 0
            return
        self._size -= len(self._entries[number])
        self._entries[number] = DROPPED


def messages_after(log: bytes, number: int) -> bytes:
    """Return the messages of a whole log that follow a number."""
    for found in _NUMBER.finditer(log):
        if int(found[1]) > number:
            return log[found.start() :]
    return b""


def gone(text: str) -> bytes:
    """Encode the last message of a stream: the match has ended.

    `text` is the reason why there is no result; "" if there is one.
    """
    return unnumbered({"type": "gone", "text": text or OVER})


def unnumbered(message: dict[str, Any]) -> bytes:
    """Encode a message about the present state as an event without a number."""
    return b"data: %b\n\n" % encode(message)
