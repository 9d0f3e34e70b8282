"""One decision, one message and one line of a transcript: `decision`, `wire`, `transcript`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import trio
import zmq
from msgspec import Raw, to_builtins

from arena import event_loop
from benchmarks.harness import Judgement, bench, option
from protocol.codec import encode
from protocol.messages import ClockTerms
from referee.bot_folder import find_bot
from referee.host import AttemptResult, Plan, SandboxedBot, play
from referee.match import (
    FORMAT,
    AnyRecord,
    BotIdentity,
    Ended,
    Handed,
    Header,
    In,
    Out,
    Policy,
    Record,
    SeatTime,
    WindowTime,
)
from referee.transcript import open_transcript, read_transcript, verify_transcript
from referee.wire import Bell, LocalLine, open_wire
from tests.real_wire import peer
from tests.real_wire.stress import ended_well, next_arrival, next_item, stress

MOST_SLOW, MOST_QUICK, MOST_AT_ONCE = 1.6, 3.0, 2.5
"""Maximum cost of a decision in bare exchanges: of one match, if these are slow or quick; of many at once."""
QUICK = 90e-6
"""Maximum seconds of a quick exchange, in which the kernel has both processes on one core and wakes none."""
STARTUP_MS = 120_000
SEATS = 2

TRIVIAL_BOT = """
import os, zmq
socket = zmq.Context().socket(zmq.PAIR)
socket.linger = 1000
socket.connect(os.environ["ARENA_ENDPOINT"])
token = os.environ["ARENA_TOKEN"].encode()
socket.send(b'{"type":"hello","token":"%s","name":"trivial","version":"1","protocol":1}' % token)
while True:
    frame = socket.recv()
    if frame.startswith(b'{"type":"window"'):
        number = frame[22:frame.index(b",", 22)]
        socket.send(b'{"type":"submit","window":%s,"action":{"cells":["E5"]}}' % number)
    elif frame.startswith(b'{"type":"over"'):
        break
"""


def folder_with_bot(folder: Path) -> Path:
    """Write the folder of the trivial bot, and return its path."""
    bot = folder / "trivial"
    bot.mkdir()
    (bot / "bot.py").write_text(TRIVIAL_BOT)
    about = {"name": "trivial", "version": "1", "command": ["python", "bot.py"], "games": ["mist"]}
    (bot / "bot.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in about.items()))
    return bot


def through_the_referee(bot: Path, decisions: int, folder: Path) -> list[AnyRecord]:
    """Play a match of `decisions` decisions. Return its records."""
    plan = Plan(
        match="bench",
        game="mist",
        variant="contractual-obligation",
        seed=1,
        options=Raw(encode({"first": 0, "max_turns": decisions})),
        isolation="none",
    )
    players = [SandboxedBot(find_bot(str(bot)))] * 2
    result = event_loop.run(lambda: play(plan, players, transcript=folder / "bench.jsonl"))
    assert result.void is None, result.void  # noqa: S101
    records = list(read_transcript(Path(result.transcript)))
    Path(result.transcript).unlink()
    return records


class Steady:
    """The rate of decisions while all matches are under way, so that no bot starts or exits."""

    def __init__(self, matches: int, decisions: int) -> None:
        self._made = [0] * matches
        self._decisions = decisions
        self._before = 0.0
        self._counted = 0
        self.seconds: float | None = None
        """Seconds per decision, set when the first match reaches its last one."""

    def made(self, match: int) -> None:
        """Count a decision of a match."""
        self._made[match] += 1
        if not self._before and all(self._made):
            self._before, self._counted = time.perf_counter(), sum(self._made)
        if self._made[match] == self._decisions and self.seconds is None:
            assert self._before, "a match was over before the last one began"  # noqa: S101
            self.seconds = (time.perf_counter() - self._before) / (sum(self._made) - self._counted)


async def many_through_the_referee(
    bot: Path, decisions: int, folder: Path, at_once: int
) -> tuple[float, list[AnyRecord]]:
    """Play `at_once` such matches. Return the seconds per decision while all are under way, and records of one."""
    steady = Steady(at_once, decisions)
    players = [SandboxedBot(find_bot(str(bot)))] * 2
    options = Raw(encode({"first": 0, "max_turns": decisions}))
    policy = Policy(startup_ms=STARTUP_MS, unfair="note")
    found: list[AttemptResult] = []

    async def one(number: int) -> None:
        plan = Plan(
            match=f"bench-{number}", game="mist", variant="contractual-obligation", seed=1, options=options,
            isolation="none", policy=policy,
        )  # fmt: skip
        result = await play(
            plan, players, transcript=folder / f"{number}.jsonl", wire=wire, watch=lambda *_: steady.made(number)
        )
        found.append(result)

    async with open_wire() as wire, trio.open_nursery() as nursery:
        for number in range(at_once):
            nursery.start_soon(one, number)
    for result in found:
        assert result.void is None, result.void  # noqa: S101
    assert steady.seconds is not None  # noqa: S101
    return steady.seconds, list(read_transcript(Path(found[0].transcript)))


def many_bare(bot: Path, records: list[AnyRecord], folder: Path, at_once: int, decisions: int) -> float:
    """Play the same matches without a referee, with two bot processes each.

    Returns the seconds per decision while all are under way.
    """
    steady = Steady(at_once, decisions)
    script = [
        (record.seat, bytes(record.frame) if isinstance(record, Out) else None)
        for record in records
        if isinstance(record, Out | In)
    ]
    for seat in range(SEATS):
        script.remove((seat, None))  # Its hello.
    with bare_bots(bot, folder, SEATS * at_once) as sockets:
        poller, matches = zmq.Poller(), {}
        for number in range(at_once):
            match = BareMatch(number, sockets[SEATS * number :][:SEATS], iter(script))
            for socket in match.sockets:
                socket.recv()  # Nobody plays before all are there.
                poller.register(socket, zmq.POLLIN)
                matches[socket] = match
        under_way = sum(not match.tell() for match in {*matches.values()})
        while under_way:
            for socket, _ in poller.poll():
                socket.recv()
                steady.made(matches[socket].number)
                under_way -= matches[socket].tell()
    assert steady.seconds is not None  # noqa: S101
    return steady.seconds


@dataclass(frozen=True, eq=False)
class BareMatch:
    """A match without a referee."""

    number: int
    sockets: "list[zmq.Socket[bytes]]"
    """Sockets, by seat."""
    script: Iterator[tuple[int, bytes | None]]
    """The remaining frames: a seat and the frame that it receives, or None if it answers."""

    def tell(self) -> bool:
        """Tell the bots what comes before the next answer; return whether no answer is to come."""
        for seat, frame in self.script:
            if frame is None:
                return False
            self.sockets[seat].send(frame)
        return True


def seconds_of(records: list[AnyRecord]) -> float:
    """Return the seconds from the first window's handing over to the end."""
    first = next(record.at for record in records if isinstance(record, Handed))
    return (next(record.at for record in records if isinstance(record, Ended)) - first) / 1e6


@contextmanager
def bare_bots(bot: Path, folder: Path, number: int) -> "Iterator[list[zmq.Socket[bytes]]]":
    """Run processes of the bot. Yield a blocking PAIR socket to each."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    sockets, processes = [], []
    try:
        for seat in range(number):
            socket = context.socket(zmq.PAIR)
            endpoint = f"ipc://{folder}/bare-{seat}"
            socket.bind(endpoint)
            sockets.append(socket)
            environment = {**os.environ, "ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": "0" * 32}
            processes.append(subprocess.Popen([sys.executable, "bot.py"], cwd=bot, env=environment))
        yield sockets
        for process in processes:
            process.wait()
    finally:
        for process in processes:
            process.kill()  # Those of a measurement that failed would wait for it for ever.
            process.wait()
        context.destroy(linger=0)


def bare(bot: Path, records: list[AnyRecord], folder: Path, processes: int) -> float:
    """Exchange the same frames by blocking calls alone. Return the seconds from the first window on.

    One process receives the frames of both seats, one after the other; of two processes each receives its own.
    """
    script = [
        (record.seat % processes, bytes(record.frame) if isinstance(record, Out) else None)
        for record in records
        if isinstance(record, Out | In)
    ]
    with bare_bots(bot, folder, processes) as sockets:
        started, hellos, overs = 0.0, 0, 0
        for seat, frame in script:
            if frame is None:
                hellos += 1
                if processes < hellos <= 2:  # noqa: PLR2004 - there is no second bot to say it
                    continue
                sockets[seat].recv()
                continue
            if not started and frame.startswith(b'{"type":"window"'):
                started = time.perf_counter()
            if frame.startswith(b'{"type":"over"'):
                overs += 1
                if overs > processes:
                    continue
            sockets[seat].send(frame)
        return time.perf_counter() - started


@bench("decision")
def decision(options: argparse.Namespace) -> Judgement:
    """Measure a decision through host, wire and a trivial bot, against bare blocking pyzmq with the same frames.

    Both sides talk to the same trivial program. The bare one is a loop that sends and receives what the match's
    transcript says. Then the same is done with a hundred matches at once, against a hundred bare ones over one
    poller; on both sides each match has two bot processes.
    """
    decisions, rounds = (1_000, 3) if options.quick else (5_000, 5)
    ratios: dict[int, list[float]] = {1: [], 2: []}
    exchanges = []
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        bot = folder_with_bot(folder)
        for _ in range(rounds):
            records = through_the_referee(bot, decisions, folder)
            ours = seconds_of(records)
            line = f"{decisions} decisions, {ours / decisions * 1e6:.0f} µs each through the referee"
            for processes, found in ratios.items():
                theirs = bare(bot, records, folder, processes)
                found.append(ours / theirs)
                if processes == 1:
                    exchanges.append(theirs / decisions)
                line += f"; bare with {processes} bot process(es) {theirs / decisions * 1e6:.0f} µs"
            print(line)
        many, few = (20, 500) if options.quick else (100, 400)
        at_once = []
        for _ in range(rounds):
            ours, records = event_loop.run(partial(many_through_the_referee, bot, few, folder, many))
            theirs = many_bare(bot, records, folder, many, few)
            at_once.append(ours / theirs)
            print(f"{many} at once: {ours * 1e6:.0f} µs a decision, bare {theirs * 1e6:.0f} µs")
            for file in folder.glob("*.jsonl"):
                file.unlink()
    one, two = (median(found) for found in ratios.values())
    of_many, exchange = median(at_once), median(exchanges)
    most = MOST_QUICK if exchange <= QUICK else MOST_SLOW
    print(f"decision: median ratio {one:.2f} to a bare exchange of {exchange * 1e6:.0f} µs (at most {most})")
    print(f"          median ratio {two:.2f} to one with a process for each seat's bot, for comparison")
    print(f"          median ratio {of_many:.2f} with {many} matches at once (at most {MOST_AT_ONCE})")
    return one <= most and of_many <= MOST_AT_ONCE


FRAME = b"." * 200


@contextmanager
def bare_socket(endpoint: str) -> Iterator["zmq.Socket[bytes]"]:
    """Open a blocking socket of pyzmq, with which the line is compared."""
    with zmq.Context() as context, context.socket(zmq.PAIR) as socket:
        socket.set(zmq.LINGER, 0)
        socket.bind(endpoint)
        yield socket


def bare_trips(socket: "zmq.Socket[bytes]", trips: int) -> float:
    """Return the seconds per round trip of one frame."""
    began = time.perf_counter()
    for _ in range(trips):
        socket.send(FRAME)
        socket.recv()
    return (time.perf_counter() - began) / trips


async def line_trips(line: LocalLine, bell: Bell, trips: int) -> float:
    """Return the seconds per round trip of one frame, with stamps of handing over and arrival."""
    began = time.perf_counter()
    for _ in range(trips):
        line.send(FRAME, timed=True)
        await next_item(line, bell)
        await next_item(line, bell)
    return (time.perf_counter() - began) / trips


@asynccontextmanager
async def open_line() -> AsyncIterator[tuple[LocalLine, Bell, str]]:
    """Open a line. Yield it with its bell and its folder."""
    with tempfile.TemporaryDirectory() as directory:
        async with open_wire() as wire, trio.open_nursery() as nursery:
            bell = Bell()
            line = wire.open_line(nursery, bell, Path(directory))
            yield line, bell, directory
            line.hang_up()


async def round_trips(blocks: int, trips: int) -> None:
    """Measure both in turn, so that other load affects both alike."""
    async with open_line() as (line, bell, directory):
        with (
            bare_socket(f"ipc://{directory}/bare") as bare,
            peer.start("echo", f"ipc://{directory}/bare"),
            peer.start("echo", line.endpoint),
        ):
            bare.recv()  # its hello
            await next_arrival(line, bell)
            bare_trips(bare, trips)
            await line_trips(line, bell, trips)
            pairs = [(bare_trips(bare, trips), await line_trips(line, bell, trips)) for _ in range(blocks)]
    print(
        f"round trip: bare {median(b for b, _ in pairs) * 1e6:.0f} us, "
        f"line {median(w for _, w in pairs) * 1e6:.0f} us, "
        f"ratio {median(w / b for b, w in pairs):.2f} (median of {blocks} blocks of {trips})"
    )


async def bursts(messages: int, *, impatient: bool) -> None:
    """Run the tests' stress at full size."""
    async with open_line() as (line, bell, _):
        began = time.perf_counter()
        with peer.start("stress", line.endpoint, messages, 1) as process:
            await stress(line, bell, messages, 1, impatient=impatient)
            await ended_well(process)
        took = time.perf_counter() - began
    print(
        f"bursts: {messages} messages both ways{', waits broken off at random' if impatient else ''}: "
        f"none lost, in order, no stall; {messages / took:.0f} a second"
    )


async def settling(times: int) -> None:
    """Measure the cost of `settle`, which a deadline needs to have received everything."""
    async with open_line() as (line, bell, _):
        with peer.start("echo", line.endpoint):
            await next_arrival(line, bell)
            took = []
            for _ in range(times):
                began = time.perf_counter()
                await line.settle()
                took.append(time.perf_counter() - began)
    print(f"settle of a silent line: {median(took) * 1e6:.0f} us")


async def ticks(count: int) -> None:
    """Measure the time that the probe adds to each of trio's ticks."""

    async def run() -> float:
        began = time.perf_counter()
        for _ in range(count):
            await trio.lowlevel.checkpoint()
        return (time.perf_counter() - began) / count

    plain, probed = [], []
    for _ in range(9):
        plain.append(await run())
        async with open_wire():
            probed.append(await run())
    print(f"a tick: {median(plain) * 1e6:.1f} us, with the probe {median(probed) * 1e6:.1f} us")


@bench("wire")
def measure_wire(options: argparse.Namespace) -> Judgement:
    """Measure the wire's costs, and check at full size that it loses no message and no wake-up.

    `ended_well` and `stress` fail if one is lost.
    """
    size = 1 if options.quick else 10
    trio.run(round_trips, 2 * size + 5, 300)
    trio.run(settling, 100 * size)
    trio.run(ticks, 1000 * size)
    for impatient in (False, True):
        trio.run(partial(bursts, 100_000 * size, impatient=impatient))
    return True


TRANSCRIPT_ROUNDS = 3
QUICK_LINES = 4_000
A_TURN = 100
"""Number of lines between two waits of the match; a real one waits far more often."""
VISIBLE = {f"{row}{number}": "empty" for row in "BCDEFG" for number in range(1, 7)}
"""Six rows of cells, which a piece sees."""


def transcript_header() -> Header:
    """Return the header of a match of two."""
    bot = BotIdentity(name="bot", version="1", content="sha256:00", seed=1, token="token")  # noqa: S106 - no secret
    return Header(
        format=FORMAT, arena="bench", match="bench", game="mist", variant="contractual-obligation", seed=1,
        options=Raw(b"{}"), setup=Raw(b"{}"), clock=ClockTerms(main_ms={"turn": 60_000}), policy={},
        bots=(bot, bot), isolation="none", machine="", started="",
    )  # fmt: skip


def turn_records(at: int, seat: int) -> list[Record]:
    """Return the records of one turn of Mist."""
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


async def written_transcript(path: Path, records: list[Record]) -> tuple[float, float]:
    """Write a transcript. Return the seconds in total, and those in `append`."""
    appending = 0.0
    began = time.perf_counter()
    async with open_transcript(path, transcript_header()) as opened:
        for start in range(0, len(records), A_TURN):
            before = time.perf_counter()
            for record in records[start : start + A_TURN]:
                opened.append(record)
            appending += time.perf_counter() - before
            await trio.lowlevel.checkpoint()
    return time.perf_counter() - began, appending


def bare_lines(path: Path, records: list[dict[str, object]]) -> float:
    """Return the seconds to write the same as bare JSON lines: no hash, no structlog, no thread, no fsync."""
    began = time.perf_counter()
    with path.open("w") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return time.perf_counter() - began


def verify_seconds(path: Path) -> float:
    """Return the seconds to verify a transcript."""
    began = time.perf_counter()
    verify_transcript(path)
    return time.perf_counter() - began


@bench("transcript", option("--lines", type=int, default=40_000))
def transcript(options: argparse.Namespace) -> Judgement:
    """Measure a line of a transcript, appended, chained, hashed and written, against a bare line of JSON.

    The lines are those of a match: per turn a frame from a bot, four to it, a window handed over and its record.
    The best of a few rounds is printed.
    """
    lines = QUICK_LINES if options.quick else options.lines
    records = [record for at in range(lines // 8) for record in turn_records(at, at % 2)]
    plain = [json.loads(encode(to_builtins(record, enc_hook=bytes_of))) for record in records]
    best = {"transcript": 1e9, "append": 1e9, "bare": 1e9, "verify": 1e9}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(TRANSCRIPT_ROUNDS):
            path = Path(directory) / f"{number}.jsonl"
            whole, appending = trio.run(written_transcript, path, records)
            bare_seconds = bare_lines(Path(directory) / "bare", plain)
            took = (whole, appending, bare_seconds, verify_seconds(path))
            best = {name: min(old, new) for (name, old), new in zip(best.items(), took, strict=True)}
        size = path.stat().st_size / len(records)
    for name, seconds in best.items():
        print(f"{name:10} {len(records) / seconds:10,.0f} lines/s {seconds / len(records) * 1e6:7.2f} us a line")
    print(f"transcript / bare json lines: {best['transcript'] / best['bare']:.2f} ({size:.0f} bytes a line)")
    return True


def bytes_of(raw: object) -> object:
    """Decode a raw frame."""
    return json.loads(bytes(raw))  # type: ignore[call-overload]
