"""The arena's end of the feeds that it hears: starts the process that subscribes, and gives what comes, in order.

That process (`listener`) is a stranger's way in: it may end at any time, and is then started again. Nothing here
decodes what a feed says.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import trio
from msgspec import Struct

SEPARATOR = b"\n"
"""Between topic and message."""
CONNECT, DISCONNECT = b"+", b"-"
"""Before a feed's number and its endpoint; before its number."""
COMMAND_BYTES = 8 * 1024
MAX_TOPIC_BYTES = 256
MAX_MESSAGE_BYTES = 256 * 1024
"""More than any message has that an arena publishes. Longer ones are never taken from the network."""
PACKET_BYTES = MAX_MESSAGE_BYTES + 2 * MAX_TOPIC_BYTES
BUFFER_BYTES = 1024 * 1024
GATHER_SECONDS = 0.02
"""So long after messages have come, further ones are gathered: with many matches, far fewer wake-ups."""
AT_ONCE = 100
"""Messages that are taken before others have a turn."""
AGAIN_SECONDS = 1.0
END_SECONDS = 2
IPC, TCP = "ipc://", "tcp://"


class Heard(Struct, frozen=True):
    """A message of a feed."""

    feed: int
    topic: bytes
    message: bytes


def is_endpoint(endpoint: str) -> bool:
    """Whether one could connect there."""
    return (
        endpoint.startswith((IPC, TCP))
        and len(endpoint) < COMMAND_BYTES // 4
        and endpoint.isprintable()
        and bool(endpoint.partition("://")[2])
        and (endpoint.startswith(IPC) or endpoint.rpartition(":")[2].isdecimal())
    )


class Subscriber:
    """Feeds that are heard, each by a number."""

    def __init__(self) -> None:
        self._feeds: dict[int, str] = {}
        self._line: trio.socket.SocketType | None = None

    async def hear(self, number: int, endpoint: str) -> None:
        """Hears a feed from now on. It need not be there yet."""
        self._feeds[number] = endpoint
        await self._say(CONNECT + f"{number} ".encode() + os.fsencode(endpoint))

    async def leave(self, number: int) -> None:
        """Hears it no longer."""
        if self._feeds.pop(number, None) is not None:
            await self._say(DISCONNECT + str(number).encode())

    async def run(self, take: Callable[[Heard], None]) -> None:
        """Has all that comes taken, until it is cancelled."""
        while True:
            with _listener() as line:
                self._line = line
                for number, endpoint in tuple(self._feeds.items()):
                    await self._say(CONNECT + f"{number} ".encode() + os.fsencode(endpoint))
                await self._read(line, take)
                self._line = None
            await trio.sleep(AGAIN_SECONDS)

    async def _read(self, line: trio.socket.SocketType, take: Callable[[Heard], None]) -> None:
        """Reads until the process has ended."""
        with suppress(OSError):
            while came := await line.recv(PACKET_BYTES):
                self._take(came, take)
                with suppress(BlockingIOError):
                    for _ in range(AT_ONCE):
                        self._take(os.read(line.fileno(), PACKET_BYTES), take)
                await trio.sleep(GATHER_SECONDS)

    def _take(self, came: bytes, take: Callable[[Heard], None]) -> None:
        if not came:  # The process has ended.
            return
        head, _, message = came.partition(SEPARATOR)
        number, _, topic = head.partition(b" ")
        if int(number) in self._feeds:
            take(Heard(int(number), topic, message))

    async def _say(self, command: bytes) -> None:
        if self._line is not None:
            with suppress(OSError):
                await self._line.send(command)


@contextmanager
def _listener() -> Iterator[trio.socket.SocketType]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    with theirs:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            [sys.executable, "-m", "arena.feed.listener", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
        )
    line = trio.socket.from_stdlib_socket(ours)
    try:
        yield line
    finally:
        line.close()  # the process ends when its line is hung up
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
