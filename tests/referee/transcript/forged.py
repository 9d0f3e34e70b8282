"""Transcripts as somebody forges them who knows the format: lines changed, and every hash made anew after it.

Without that no reader gets beyond the first line that was changed, and nobody tries what it does with the rest.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

import msgspec

from protocol.codec import decode_json, encode
from referee.match.records import AnyRecord, Header
from referee.transcript.chain import NO_LINE, SeatChains, opening, sealed

_records = msgspec.json.Decoder(AnyRecord)
Lines = list[dict[str, Any]]
Change = Callable[[Lines], object]


def taken_apart(content: bytes) -> Lines:
    """Return the records of a transcript as plain values, without the chain."""
    return [
        {key: value for key, value in decode_json(line).items() if key not in ("line", "prev", "seal")}
        for line in content.splitlines()
    ]


def forged(content: bytes, change: Change) -> bytes:
    """Return a transcript in which `change` has changed the records, as if they had been written so."""
    lines = taken_apart(content)
    change(lines)
    return chained([encode(line) for line in lines])


def chained(bodies: Iterable[bytes]) -> bytes:
    """Return the file of these records, each as JSON: numbered, chained, with the seats' hashes and the seal."""
    *records, footer = bodies
    lines: list[bytes] = []
    prev = NO_LINE
    for number, body in enumerate(records, 1):
        lines.append(opening(number, prev) + body[1:] + b"\n")
        prev = sha256(lines[-1]).hexdigest()
    last = opening(len(lines) + 1, prev) + with_heads(lines, footer)[1:]
    return b"".join([*lines, sealed(last)])


def with_heads(lines: list[bytes], footer: bytes) -> bytes:
    """Return the footer with the hashes of the seats' own transcripts, as far as the lines still have any."""
    try:
        header = _records.decode(lines[0])
        old = decode_json(footer)
        if not isinstance(header, Header) or "heads" not in old:
            return footer
        chains = SeatChains(header)
        for line in lines[1:]:
            chains.take_line(line)
        return encode({**old, "heads": chains.close()})
    except Exception:  # noqa: BLE001 - what makes no seat's transcript keeps the hashes it had
        return footer
