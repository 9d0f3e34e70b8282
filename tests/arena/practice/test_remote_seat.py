"""A person's seat in matches that another machine hosts; here the host's line ends in this process."""

import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import trio
from msgspec import Raw

from arena.practice import RemoteSeat
from arena.practice.protocol import connect
from arena.practice.remote_seat import PIPE, WAITING
from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, ClockTerms, Hello, Opened, Submit, Welcome
from referee.host import LocalSeat, Plan, play
from referee.match import ClockTable
from referee.wire import MemoryLine
from tests.arena.practice.people import Line, Room, Visitor

GAME = "mist"
LEGAL = Welcome(PROTOCOL, "m", GAME, "contractual-obligation", 0, 2, {}, ClockTerms(main_ms={"turn": 1_000}), 1)


async def seated(room: Room) -> tuple[RemoteSeat, Visitor]:
    """Serve a seat, which a person takes by its link before the first match."""
    folder = room.folder / secrets.token_hex(6)
    folder.mkdir(parents=True)
    seat, visitor = RemoteSeat(folder), room.visitor()
    await room.nursery.start(seat.run)
    visitor.match = folder.name
    assert (await visitor.join(seat.key)).json() == {"ok": True}
    return seat, visitor


def through_pipe(seat: RemoteSeat) -> Callable[[MemoryLine], Awaitable[None]]:
    """Return what a relay and its program do in one match."""

    async def carry(line: MemoryLine) -> None:
        line.say(encode(Hello(token="", name="person", version="1", protocol=PROTOCOL)))
        async with await connect(seat.folder / PIPE) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(answers, stream, line)
            try:
                while True:
                    frame = await line.hear()
                    await stream.send_all(frame + b"\n")
            except trio.EndOfChannel:
                nursery.cancel_scope.cancel()

    async def answers(stream: trio.SocketStream, line: MemoryLine) -> None:
        data = b""
        async for more in stream:
            *frames, data = (data + bytes(more)).split(b"\n")
            for frame in frames:
                line.say(frame)

    return carry


async def passing(line: MemoryLine) -> None:
    """Play the default in each window."""
    line.say(encode(Hello(token="", name="passing", version="1", protocol=PROTOCOL)))
    with suppress(trio.EndOfChannel):
        while True:
            message = decode_server_message(await line.hear())
            if isinstance(message, Opened):
                line.say(encode(Submit(message.id, Raw(encode(message.default)))))


async def hosted(seat: RemoteSeat, folder: Path, own: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Play a match between the seat and a bot that takes defaults; return the ranking."""
    players = [LocalSeat("passing", passing), LocalSeat("passing", passing)]
    players[own] = LocalSeat("person", through_pipe(seat))
    clock = ClockTable(main_ms=60_000)
    plan = Plan(
        match=f"m{seed}", game=GAME, variant="contractual-obligation", seed=seed, clock=clock, isolation="none"
    )
    result = await play(plan, players, transcript=folder / f"{seed}.jsonl")
    assert result.outcome is not None
    return result.outcome.ranking


async def lines_to(seat: RemoteSeat, *lines: bytes) -> None:
    """Send lines as a host's whole match, and wait until the seat is free."""
    async with await connect(seat.folder / PIPE) as stream:
        with suppress(trio.BrokenResourceError), trio.fail_after(30):
            for line in lines:
                await stream.send_all(line + b"\n")
            await stream.send_eof()
            async for _ in stream:
                pass


async def test_one_page_plays_match_after_match_in_the_seats_that_the_host_gives(
    room: Room, tmp_path: Path
) -> None:
    seat, visitor = await seated(room)
    line: Line = visitor.line()
    assert 200 == (await visitor.get()).status_code
    for number in range(2):
        ranking: list[tuple[tuple[int, ...], ...]] = []

        async def play_one(own: int = number, found: list[tuple[tuple[int, ...], ...]] = ranking) -> None:
            found.append(await hosted(seat, tmp_path, own, own))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play_one)
            await line.message("moved")  # The page loads itself again.
            line = visitor.line()
            over = await visitor.play(line, Random(number))
        table = line.all("table")[0]
        assert (number, GAME, WAITING) == (table["seat"], table["game"], table["waits"])
        assert [list(place) for place in ranking[0]] == over["ranking"]
        assert line.all("view")
    assert b"Mist" in (await visitor.get()).content


HOSTILE = [
    b"",
    b"nonsense",
    b"[" * 100_000,
    encode(LEGAL).replace(b'"mist"', b'"no-such-game"'),
    encode(LEGAL).replace(b'"seats":2', b'"seats":99999999999'),
    encode(LEGAL).replace(b'"seat":0', b'"seat":-5'),
    encode(LEGAL).replace(b'"options":{}', b'"options":[[1]]'),
    encode(LEGAL).replace(b'"variant":"contractual-obligation"', b'"variant":"<script>"'),
    b"x" * 3_000_000,
]
AFTER_WELCOME = [
    b"nonsense",
    b"{" * 100_000,
    b'{"type":"event","n":0,"event":{"type":"no such event"}}',
    encode(Opened(0, "turn", {"cells": "?"}, {}, 1_000, 0)),
    encode(Opened(0, "no such window", {}, {}, 1_000, 0)),
    b'{"type":"over","outcome":{"ranking":[[7]],"reason":"' + b"z" * 900_000 + b'"}}',
]


@pytest.mark.parametrize(
    "lines", [*((each,) for each in HOSTILE), *((encode(LEGAL), each) for each in AFTER_WELCOME)]
)
async def test_a_host_that_sends_something_else_ends_the_match_and_no_more(
    room: Room, tmp_path: Path, lines: tuple[bytes, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    seat, visitor = await seated(room)
    await lines_to(seat, *lines)
    line = visitor.line()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hosted, seat, tmp_path, 1, 5)
        await line.message("moved")
        line = visitor.line()
        await visitor.play(line, Random(1))
    capfd.readouterr()


async def test_pages_are_told_when_no_match_follows(room: Room) -> None:
    seat, visitor = await seated(room)
    line = visitor.line()
    await line.message("now")
    await seat.end()
    assert "no more matches" in (await line.message("gone"))["text"]


async def test_a_seat_belongs_to_the_first_browser_that_has_its_link(room: Room) -> None:
    seat, visitor = await seated(room)
    other = room.visitor()
    other.match = visitor.match
    assert 403 == (await other.join(seat.key)).status_code
    assert 403 == (await other.get()).status_code


async def test_an_action_in_json_is_left_to_the_host_to_judge(room: Room, tmp_path: Path) -> None:
    seat, visitor = await seated(room)
    line = visitor.line()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hosted, seat, tmp_path, 0, 7)
        await line.message("moved")
        line = visitor.line()
        await line.message("window")
        window = line.window or {}
        await visitor.say(do="submit", window=window["id"], text="first 0", final=True)
        await line.until(lambda: len(line.all("window")) == 2)
        number = line.all("window")[1]["id"]
        shown = (await visitor.say(do="preview", window=number, text=" {}")).json()
        assert (shown["ok"], shown["text"], shown["effect"]) == (True, "{}", "")
        assert (await visitor.say(do="preview", window=number, text='{"cells": 5}')).json()["ok"] is False
        line.acted.add(window["id"])
        await visitor.play(line, Random(1))
