"""What the wire costs, in ratios measured in one run, and whether it ever loses a wake-up at full size.

`python scripts/bench_wire.py [--quick]`, from the project's environment.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median

import trio
import zmq

sys.path.insert(0, str(Path(__file__).parents[1]))

from referee.wire import Bell, LocalLine, open_wire
from tests.real_wire import peer
from tests.real_wire.stress import ended_well, next_arrival, next_item, stress

FRAME = b"." * 200


@contextmanager
def bare_socket(endpoint: str) -> Iterator["zmq.Socket[bytes]"]:
    """What the line is compared with: pyzmq, blocking, nothing else."""
    with zmq.Context() as context, context.socket(zmq.PAIR) as socket:
        socket.set(zmq.LINGER, 0)
        socket.bind(endpoint)
        yield socket


def bare_trips(socket: "zmq.Socket[bytes]", trips: int) -> float:
    """Seconds a round trip of one frame."""
    began = time.perf_counter()
    for _ in range(trips):
        socket.send(FRAME)
        socket.recv()
    return (time.perf_counter() - began) / trips


async def line_trips(line: LocalLine, bell: Bell, trips: int) -> float:
    """Seconds a round trip of one frame, as a window's message goes: handed over with a stamp, answer stamped."""
    began = time.perf_counter()
    for _ in range(trips):
        line.send(FRAME, timed=True)
        await next_item(line, bell)
        await next_item(line, bell)
    return (time.perf_counter() - began) / trips


@asynccontextmanager
async def open_line() -> AsyncIterator[tuple[LocalLine, Bell, str]]:
    """A line, its bell, and the folder it is in."""
    with tempfile.TemporaryDirectory() as directory:
        async with open_wire() as wire, trio.open_nursery() as nursery:
            bell = Bell()
            line = wire.open_line(nursery, bell, Path(directory))
            yield line, bell, directory
            line.hang_up()


async def round_trips(blocks: int, trips: int) -> None:
    """Both in turn, so that whatever else the machine does troubles both alike."""
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
    """The tests' stress, at full size."""
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
    """What a deadline pays to know that it has heard all."""
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
    """What the probe adds to each of trio's ticks."""

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


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    size = 1 if parser.parse_args().quick else 10
    trio.run(round_trips, 2 * size + 5, 300)
    trio.run(settling, 100 * size)
    trio.run(ticks, 1000 * size)
    for impatient in (False, True):
        trio.run(lambda: bursts(100_000 * size, impatient=impatient))  # noqa: B023 - run at once


if __name__ == "__main__":
    main()
