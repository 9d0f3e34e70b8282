"""Measures what a transcript costs: a line appended, chained, hashed and written, against a bare line of JSON.

    python scripts/bench_transcript.py [LINES]

The lines are those of a match: a frame from a bot, four to it, a window handed over and a window's record a turn.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import trio
from msgspec import Raw, to_builtins

from protocol.codec import encode
from protocol.messages import ClockTerms
from referee.match import FORMAT, BotIdentity, Handed, Header, In, Out, Record, SeatTime, WindowTime
from referee.transcript import open_transcript, verify_transcript

ROUNDS = 3
A_TURN = 100
"""Lines between two moments at which the match waits, as a real one does far oftener."""
VISIBLE = {f"{row}{number}": "empty" for row in "BCDEFG" for number in range(1, 7)}
"""Six rows of cells: what a piece sees."""


def header() -> Header:
    """A match of two."""
    bot = BotIdentity(name="bot", version="1", content="sha256:00", seed=1, token="token")  # noqa: S106 - no secret
    return Header(
        format=FORMAT, arena="bench", match="bench", game="mist", variant="contractual-obligation", seed=1,
        options=Raw(b"{}"), setup=Raw(b"{}"), clock=ClockTerms(main_ms={"turn": 60_000}), policy={},
        bots=(bot, bot), isolation="none", machine="", started="",
    )  # fmt: skip


def turn(at: int, seat: int) -> list[Record]:
    """The records of one turn of Mist."""
    view = Raw(encode({"type": "window", "id": at, "window": "turn", "view": {"visible": VISIBLE}}))
    event = Raw(
        encode({"type": "event", "n": at, "event": {"type": "placed", "cells": ["C3"], "visible": VISIBLE}})
    )
    short = Raw(b'{"type":"accepted","window":17,"action":{"cells":["C3"]}}')
    part = SeatTime(
        seat=seat, opened=at, deadline=at + 60_000_000, arrived=at + 900, taken={"cells": ["C3"]},
        by_default=False, charged_ms=0, reserve_ms=0,
    )  # fmt: skip
    return [
        Out(at=at, seat=seat, frame=view),
        Handed(at=at, seat=seat),
        In(at=at + 900, seat=seat, frame='{"type":"submit","window":17,"action":{"cells":["C3"]},"final":true}'),
        Out(at=at + 950, seat=seat, frame=short),
        WindowTime(at=at + 950, number=at, window="turn", seats=(part,), lateness=0),
        Out(at=at + 960, seat=seat, frame=short),
        Out(at=at + 970, seat=seat, frame=event),
        Out(at=at + 980, seat=1 - seat, frame=event),
    ]


async def transcript(path: Path, records: list[Record]) -> tuple[float, float]:
    """Seconds in all, and of them in `append`."""
    appending = 0.0
    began = time.perf_counter()
    async with open_transcript(path, header()) as opened:
        for start in range(0, len(records), A_TURN):
            before = time.perf_counter()
            for record in records[start : start + A_TURN]:
                opened.append(record)
            appending += time.perf_counter() - before
            await trio.lowlevel.checkpoint()
    return time.perf_counter() - began, appending


def bare(path: Path, records: list[dict[str, object]]) -> float:
    """Seconds to write the same as bare JSON lines: no hash, no structlog, no thread, no fsync."""
    began = time.perf_counter()
    with path.open("w") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return time.perf_counter() - began


def reading(path: Path) -> float:
    """Seconds to verify a transcript."""
    began = time.perf_counter()
    verify_transcript(path)
    return time.perf_counter() - began


def main(lines: int) -> None:
    """Prints the best of a few rounds each, taken by turns."""
    records = [record for at in range(lines // 8) for record in turn(at, at % 2)]
    plain = [json.loads(encode(to_builtins(record, enc_hook=bytes_of))) for record in records]
    best = {"transcript": 1e9, "append": 1e9, "bare": 1e9, "verify": 1e9}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(ROUNDS):
            path = Path(directory) / f"{number}.jsonl"
            whole, appending = trio.run(transcript, path, records)
            took = (whole, appending, bare(Path(directory) / "bare", plain), reading(path))
            best = {name: min(old, new) for (name, old), new in zip(best.items(), took, strict=True)}
        size = path.stat().st_size / len(records)
    for name, seconds in best.items():
        print(f"{name:10} {len(records) / seconds:10,.0f} lines/s {seconds / len(records) * 1e6:7.2f} us a line")
    print(f"transcript / bare json lines: {best['transcript'] / best['bare']:.2f} ({size:.0f} bytes a line)")


def bytes_of(raw: object) -> object:
    """Decodes a frame that is kept as it stands."""
    return json.loads(bytes(raw))  # type: ignore[call-overload]


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, "40000")
    main(4_000 if given == "--quick" else int(given))
