"""Small matches as lists of records, and how to write them."""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from msgspec import Raw
from msgspec.structs import replace

from protocol.messages import ClockTerms
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.match.records import (
    FORMAT,
    BotIdentity,
    Ended,
    Frame,
    Handed,
    Header,
    In,
    Left,
    Out,
    PauseOrder,
    Record,
    SeatTime,
    Started,
    WindowTime,
    Woke,
)
from referee.transcript.writer import Transcript, open_transcript

SALTS = ("00" * 16, "11" * 16)


def header() -> Header:
    """Return the header of a match of two."""
    return Header(
        format=FORMAT,
        arena="0.1.0",
        match="round-1-0",
        game="mist",
        variant="heaven-and-hell",
        seed=2**70 + 7,
        options=Raw(b'{"advantage":0}'),
        setup=Raw(b"{}"),
        clock=ClockTerms(main_ms={"turn": 60_000}, reserve_ms=300_000),
        policy={"fault": "default"},
        bots=(
            BotIdentity(name="alpha", version="1", content="sha256:aa", seed=11, token="t0"),
            BotIdentity(name="beta", version="2", content="sha256:bb", seed=22, token="t1"),
        ),
        isolation="none",
        machine="a computer",
        started="2025-01-01T00:00:00Z",
        salts=SALTS,
    )


def seat_time(seat: int, arrived: int | None) -> SeatTime:
    """Return a seat's part in a window."""
    return SeatTime(
        seat=seat,
        opened=1_300,
        deadline=60_001_300,
        arrived=arrived,
        taken=None if arrived is None else {"cells": ["C3"]},
        by_default=arrived is None,
        charged_ms=5,
        reserve_ms=300_000,
    )


def match_records() -> list[Record]:
    """Return a short match, with a record of every kind."""
    outcome = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=1, scores={"0": 3}, reason="decided")
    return [
        header(),
        Started(at=500, seat=1),
        In(at=900, seat=1, frame='{"type":"hello"}'),
        In(at=1_000, seat=0, frame='{"type":"hello","name":"größe"}'),
        Out(at=1_050, seat=0, frame=Raw(b'{"type":"welcome","seat":0}')),
        Out(at=1_060, seat=1, frame=Raw(b'{"type":"welcome","seat":1}')),
        Out(at=1_200, seat=0, frame=Raw(b'{"type":"window","id":0}')),
        Handed(at=1_300, seat=0),
        In.of(Frame(1_400, 0, b"\xff\x00 no text", 10)),
        In(at=6_300, seat=0, frame='{"type":"submit"}'),
        WindowTime(at=6_300, number=0, window="turn", seats=(seat_time(0, 6_300),), lateness=0),
        PauseOrder(at=7_000, on=True),
        Woke(at=60_001_400, deadline=60_001_300),
        WindowTime(at=60_001_400, number=1, window="turn", seats=(seat_time(1, None),), lateness=100),
        Left(at=60_002_000, seat=1, exit=-9),
        Out(at=60_003_000, seat=0, frame=Raw(b'{"type":"over"}')),
        Ended(
            at=60_003_000, outcome=outcome, conduct=(Conduct.OK, Conduct.CRASHED), refused=({"malformed": 1}, {})
        ),
    ]


def other_match_records() -> list[Record]:
    """Return a longer match that seat 0 cannot distinguish from the first: everything hidden from it differs."""
    later = 5_000_000
    records: list[Record] = []
    for record in match_records():
        match record:
            case Header():
                stranger = BotIdentity(name="gamma the longer", version="33", content="", seed=1, token="another")
                host = {"seed": 3, "setup": Raw(b'{"secret":[1,2]}'), "isolation": "strict", "machine": "b"}
                bots = (record.bots[0], stranger)
                policy = {"fault": "restart"}
                records.append(replace(record, **host, bots=bots, policy=policy, started="never"))
            case In(seat=0) | Out(seat=0) | Handed():
                records += [replace(record, at=record.at + later), Woke(at=later, deadline=later)]
            case In():
                records += [replace(record, frame="not at all the same"), record, Left(at=later, seat=1, exit=0)]
            case WindowTime():
                records += [record, replace(record, number=record.number + 7, seats=(seat_time(1, 5),))]
            case Ended():
                refused: tuple[dict[str, int], ...] = (record.refused[0], {"flood": 3})
                conduct = (Conduct.OK, Conduct.MISBEHAVED)
                records.append(
                    replace(record, at=9 * later, conduct=conduct, refused=refused, void="the disk is full")
                )
            case _:
                pass
    return records


@asynccontextmanager
async def under_way(path: Path) -> AsyncIterator[Transcript]:
    """Write a transcript with all of `match_records` that has not ended yet."""
    first, *rest = match_records()
    assert isinstance(first, Header)
    async with open_transcript(path, first) as transcript:
        for record in rest:
            transcript.append(record)
        yield transcript


async def write(path: Path, records: Iterable[Record]) -> Transcript:
    """Write a finished transcript."""
    first, *rest = records
    assert isinstance(first, Header)
    async with open_transcript(path, first) as transcript:
        for record in rest:
            transcript.append(record)
            await trio.lowlevel.checkpoint()
    return transcript


def plain(line: bytes) -> dict[str, object]:
    """Return a line as another JSON reader reads it."""
    read = json.loads(line)
    assert isinstance(read, dict)
    return read
