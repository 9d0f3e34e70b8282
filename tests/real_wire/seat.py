"""What the wire's tests start from: a line with its bell, as a host has it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import trio
import zmq

from referee.wire.line import Arrived, Bell, OutOf
from referee.wire.local import LocalLine, Wire, open_wire
from tests.real_wire.stress import next_arrival

BotSocket = zmq.Socket[bytes]


@dataclass
class Seat:
    """A line as a host has it."""

    wire: Wire
    nursery: trio.Nursery
    line: LocalLine
    bell: Bell
    greetings: int = 0
    """How many that bots said while they joined may still come: on a busy machine they say more than one."""

    async def arrival(self) -> Arrived:
        with trio.fail_after(60):
            return await next_arrival(self.line, self.bell)

    async def join(self, socket: BotSocket) -> None:
        """Let a bot in that says hello until it is welcomed: what it said too soon is lost."""
        with trio.fail_after(60):
            while True:
                with suppress(zmq.Again):
                    socket.send(b"hello", zmq.NOBLOCK)
                    self.greetings += 1
                with trio.move_on_after(0.2):
                    while (await self.arrival()).frame != b"hello":
                        pass
                    self.greetings -= 1
                    self.line.forget_unsent()
                    self.line.send(b"welcome")
                    while await hear(socket) != b"welcome":
                        pass
                    return

    async def frame(self) -> bytes:
        """Return the next frame that arrives, but for a greeting too many."""
        while (frame := (await self.arrival()).frame) == b"hello" and self.greetings:
            self.greetings -= 1
        return frame


@asynccontextmanager
async def open_seat(directory: Path) -> AsyncIterator[Seat]:
    """Open a wire with one line."""
    async with open_wire() as wire, trio.open_nursery() as nursery:
        bell = Bell()
        yield Seat(wire, nursery, wire.open_line(nursery, bell, directory), bell)
        nursery.cancel_scope.cancel()


async def out_of(seat: Seat) -> OutOf:
    """Wait until the host is told that the machine has run out of something; skip all that comes before."""
    with trio.fail_after(60):
        while True:
            try:
                item = seat.line.receive_nowait()
            except trio.WouldBlock:
                await seat.bell.wait()
            else:
                if isinstance(item, OutOf):
                    return item


async def hear_next(socket: BotSocket) -> bytes:
    """Return the next frame after the welcome, which a bot may have had several times."""
    while (frame := await hear(socket)) == b"welcome":
        pass
    return frame


async def hear(socket: BotSocket) -> bytes:
    """Return the next frame for a bot in this process."""
    with trio.fail_after(60):
        while True:
            try:
                return socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                await trio.sleep(0.001)
