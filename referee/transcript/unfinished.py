"""Reads a transcript that is still being written, to show the progress of a match. Nothing is verified."""

import os
from pathlib import Path
from typing import assert_never

import msgspec

from protocol.codec import decode_server_message
from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Invited,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    Welcome,
)
from referee.match import AnyRecord, Out
from referee.transcript.part_file import part_of

TAIL_BYTES = 256 * 1024
"""Bytes read from its end, which suffice for a `window` message and the lines after it."""
_records: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


def unanswered_window(path: Path, seat: int) -> Opened | None:
    """Return the open window without a submission by a seat; None: there is none, as far as can be seen.

    Args:
        path: the path of the finished transcript.
        seat: the seat.
    """
    try:
        with part_of(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            record = _records.decode(line)
            if not isinstance(record, Out) or record.seat != seat:
                continue
            message = decode_server_message(bytes(record.frame))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue  # The first or the last line is incomplete.
        match message:
            case Opened():
                return message
            case Accepted() | Closed() | Over():
                return None
            case Invited() | Welcome() | EventMessage() | Rejected() | Paused() | Resumed() | Faulted():
                pass
            case _ as unreachable:
                assert_never(unreachable)
    return None
