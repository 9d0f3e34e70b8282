"""The arena's end of the feeds that it hears: a process for each that subscribes, and what comes of it, in order.

That process (`listener`) is a stranger's way in: it may end at any time, and is then started again. Nothing here
decodes what a feed says. Whatever a feed sends, it gets a share of the processor's time and no more.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import trio
from msgspec import Struct

SEPARATOR = b"\n"
"""Between topic and message."""
MAX_TOPIC_BYTES = 256
MAX_MESSAGE_BYTES = 256 * 1024
"""More than any message has that an arena publishes. Longer ones are never taken from the network."""
PACKET_BYTES = MAX_MESSAGE_BYTES + 2 * MAX_TOPIC_BYTES
BUFFER_BYTES = 1024 * 1024
MAX_ENDPOINT_CHARACTERS = 2_048
GATHER_SECONDS = 0.02
"""So long after messages have come, further ones are gathered: with many matches, far fewer wake-ups."""
AT_ONCE = 100
"""Messages that are taken before others have a turn."""
TURN_SECONDS = 0.02
"""Processor time after which others have a turn, however few messages were taken."""
REST = 4
"""After its turn a feed rests for so many times the processor time that the turn took. Meanwhile it waits in the
kernel and in its listener, which drops what it has no room for."""
AGAIN_SECONDS = 1.0
AGAIN_MAX_SECONDS = 30.0
"""A listener that ends again and again is started again after this long at most."""
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
        and len(endpoint) < MAX_ENDPOINT_CHARACTERS
        and endpoint.isprintable()
        and bool(endpoint.partition("://")[2])
        and (endpoint.startswith(IPC) or endpoint.rpartition(":")[2].isdecimal())
    )


class Subscriber:
    """Feeds that are heard, each by a number."""

    def __init__(self) -> None:
        self._feeds: dict[int, tuple[str, trio.CancelScope]] = {}
        """The feed's endpoint, and the scope that ends the listening to it."""
        self._start: Callable[[int], None] | None = None
        """Start to listen to a feed; None before `run`."""

    def hear(self, number: int, endpoint: str) -> None:
        """Hear a feed from now on. It need not be there yet."""
        self._feeds[number] = endpoint, trio.CancelScope()
        if self._start is not None:
            self._start(number)

    def leave(self, number: int) -> None:
        """Stop hearing it."""
        if (feed := self._feeds.pop(number, None)) is not None:
            feed[1].cancel()

    async def run(self, take: Callable[[Heard], None]) -> None:
        """Have all that comes taken, until it is cancelled."""
        async with trio.open_nursery() as nursery:
            self._start = lambda number: nursery.start_soon(self._follow, number, *self._feeds[number], take)
            for number in self._feeds:
                self._start(number)
            await trio.sleep_forever()

    async def _follow(
        self, number: int, endpoint: str, scope: trio.CancelScope, take: Callable[[Heard], None]
    ) -> None:
        """Listen to one feed, and start its process again when that has ended."""
        again = AGAIN_SECONDS
        with scope:
            while True:
                began = trio.current_time()
                # An error: its process has ended, or none can be started now.
                with suppress(OSError), _listener(endpoint) as line:
                    await read(line, number, take)
                lasted = trio.current_time() - began
                again = AGAIN_SECONDS if lasted > AGAIN_MAX_SECONDS else min(2 * again, AGAIN_MAX_SECONDS)
                await trio.sleep(again)


async def read(line: trio.socket.SocketType, number: int, take: Callable[[Heard], None]) -> None:
    """Have all that comes on a line taken, as messages of the feed of that number, until the process has ended.

    Raises:
        OSError: it ended otherwise than by hanging up.
    """
    while packet := await line.recv(PACKET_BYTES):
        began = time.thread_time()
        take(heard(number, packet))
        with suppress(BlockingIOError):
            for _ in range(AT_ONCE):
                if time.thread_time() > began + TURN_SECONDS:
                    break
                if packet := os.read(line.fileno(), PACKET_BYTES):  # Empty: the process has ended.
                    take(heard(number, packet))
        await trio.sleep(max(GATHER_SECONDS, REST * (time.thread_time() - began)))


def heard(number: int, packet: bytes) -> Heard:
    """Return the message of a feed that a listener passed on."""
    topic, _, message = packet.partition(SEPARATOR)
    return Heard(number, topic, message)


@contextmanager
def _listener(endpoint: str) -> Iterator[trio.socket.SocketType]:
    """Start a process that listens to a feed, and end it at the end.

    Raises:
        OSError: none can be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    line = trio.socket.from_stdlib_socket(ours)
    with line, theirs:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            [sys.executable, "-m", "arena.feed.listener", str(theirs.fileno()), endpoint],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
        )
        theirs.close()
        try:
            yield line
        finally:
            process.kill()  # It holds nothing that anybody would miss.
            process.wait()
