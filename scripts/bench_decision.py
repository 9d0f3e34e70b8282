"""One decision through host, wire and a trivial bot, against bare blocking pyzmq with the same frames and bots.

Both sides of the comparison talk to the same trivial program; only the referee is replaced, by a loop that sends
and receives what the match's transcript says, with nothing in between. Then the same with a hundred matches at
once, against a hundred bare ones over one poller; on both sides each has two bot processes.
Run: scripts/bench decision
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio
import zmq
from msgspec import Raw

from arena import event_loop
from protocol.codec import encode
from referee.bot_folder import find_bot
from referee.host import Plan, Result, SandboxedBot, play
from referee.match import AnyRecord, Ended, Handed, In, Out, Policy
from referee.transcript import read_transcript
from referee.wire import open_wire

MOST_SLOW, MOST_QUICK, MOST_AT_ONCE = 1.6, 3.0, 2.5
"""What a decision may cost, in bare exchanges: of one match, where these are slow or quick; of many at once."""
QUICK = 90e-6
"""Seconds that a quick exchange takes at most: the kernel has both processes on one core, and wakes nobody."""
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
    """The trivial bot, as a bot's folder."""
    bot = folder / "trivial"
    bot.mkdir()
    (bot / "bot.py").write_text(TRIVIAL_BOT)
    about = {"name": "trivial", "version": "1", "command": ["python", "bot.py"], "games": ["mist"]}
    (bot / "bot.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in about.items()))
    return bot


def through_the_referee(bot: Path, decisions: int, folder: Path) -> list[AnyRecord]:
    """A match of so many decisions; its records."""
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
    """How quickly decisions are made while all of some matches are under way: no bot starts or ends meanwhile."""

    def __init__(self, matches: int, decisions: int) -> None:
        self._made = [0] * matches
        self._decisions = decisions
        self._before = 0.0
        self._counted = 0
        self.seconds: float | None = None
        """Of one decision, once the first match has come to its last."""

    def made(self, match: int) -> None:
        """A decision was made in a match."""
        self._made[match] += 1
        if not self._before and all(self._made):
            self._before, self._counted = time.perf_counter(), sum(self._made)
        if self._made[match] == self._decisions and self.seconds is None:
            assert self._before, "a match was over before the last one began"  # noqa: S101
            self.seconds = (time.perf_counter() - self._before) / (sum(self._made) - self._counted)


async def many_through_the_referee(
    bot: Path, decisions: int, folder: Path, at_once: int
) -> tuple[float, list[AnyRecord]]:
    """So many such matches at once; seconds a decision while all are under way, and the records of one match."""
    steady = Steady(at_once, decisions)
    players = [SandboxedBot(find_bot(str(bot)))] * 2
    options = Raw(encode({"first": 0, "max_turns": decisions}))
    policy = Policy(startup_ms=STARTUP_MS, unfair="note")
    found: list[Result] = []

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
    """As many matches with nothing in between, with two bot processes each.

    Returns the seconds that a decision takes while all are under way.
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
    """A match that nobody referees."""

    number: int
    sockets: "list[zmq.Socket[bytes]]"
    """By seat."""
    script: Iterator[tuple[int, bytes | None]]
    """What is left: which seat is told which frame, or (None) is to answer."""

    def tell(self) -> bool:
        """Tell the bots what comes before the next answer; return whether no answer is to come."""
        for seat, frame in self.script:
            if frame is None:
                return False
            self.sockets[seat].send(frame)
        return True


def seconds_of(records: list[AnyRecord]) -> float:
    """From the first window's handing over to the end."""
    first = next(record.at for record in records if isinstance(record, Handed))
    return (next(record.at for record in records if isinstance(record, Ended)) - first) / 1e6


@contextmanager
def bare_bots(bot: Path, folder: Path, number: int) -> "Iterator[list[zmq.Socket[bytes]]]":
    """So many processes of the bot, and a blocking PAIR socket to each."""
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
    """The same frames, sent and received by blocking calls and nothing else; seconds from the first window on.

    With one process it gets the frames of both seats, one after the other; with two each gets its own.
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


def main() -> int:
    """Prints the ratio; exit code 1 if it is more than it may be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer decisions, for a look")
    quick = parser.parse_args().quick
    decisions, rounds = (1_000, 3) if quick else (5_000, 5)
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
        many, few = (20, 500) if quick else (100, 400)
        at_once = []
        for _ in range(rounds):
            ours, records = event_loop.run(partial(many_through_the_referee, bot, few, folder, many))
            theirs = many_bare(bot, records, folder, many, few)
            at_once.append(ours / theirs)
            print(f"{many} at once: {ours * 1e6:.0f} µs a decision, bare {theirs * 1e6:.0f} µs")
            for file in folder.glob("*.jsonl"):
                file.unlink()
    one, two = (statistics.median(found) for found in ratios.values())
    of_many, exchange = statistics.median(at_once), statistics.median(exchanges)
    most = MOST_QUICK if exchange <= QUICK else MOST_SLOW
    print(f"decision: median ratio {one:.2f} to a bare exchange of {exchange * 1e6:.0f} µs (at most {most})")
    print(f"          median ratio {two:.2f} to one with a process for each seat's bot, for comparison")
    print(f"          median ratio {of_many:.2f} with {many} matches at once (at most {MOST_AT_ONCE})")
    return 0 if one <= most and of_many <= MOST_AT_ONCE else 1


if __name__ == "__main__":
    sys.exit(main())
