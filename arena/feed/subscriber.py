"""Receives feeds: runs a subscribing process for each, and passes on its messages in order.

An untrusted publisher may make that process (`listener`) end at any time; it is then started again. Nothing here
decodes a feed's messages. Each feed gets a share of the processor's time and no more.
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
"""Separator of topic and message."""
MAX_TOPIC_BYTES = 256
MAX_MESSAGE_BYTES = 256 * 1024
"""Larger than any message that an arena publishes. Longer ones are never read from the network."""
PACKET_BYTES = MAX_MESSAGE_BYTES + 2 * MAX_TOPIC_BYTES
BUFFER_BYTES = 1024 * 1024
MAX_ENDPOINT_CHARACTERS = 2_048
GATHER_SECONDS = 0.02
"""Seconds for gathering further messages after some have arrived: with many matches, this saves most wake-ups."""
AT_ONCE = 100
"""Messages that one feed may read before others have a turn."""
TURN_SECONDS = 0.02
"""Processor time after which others have a turn, even if it read few messages."""
REST = 4
"""Rest of a feed after its turn, as a multiple of the turn's processor time.

Its messages then wait in the kernel and in its listener, which drops those that do not fit.
"""
AGAIN_SECONDS = 1.0
AGAIN_MAX_SECONDS = 30.0
"""Longest wait, in seconds, before a listener that ends repeatedly is started again."""
IPC, TCP = "ipc://", "tcp://"


class Heard(Struct, frozen=True):
    """A message of a feed."""

    feed: int
    topic: bytes
    message: bytes


def is_endpoint(endpoint: str) -> bool:
    """Return whether an endpoint has a valid form."""
    return (
        endpoint.startswith((IPC, TCP))
        and len(endpoint) < MAX_ENDPOINT_CHARACTERS
        and endpoint.isprintable()
        and bool(endpoint.partition("://")[2])
        and (endpoint.startswith(IPC) or endpoint.rpartition(":")[2].isdecimal())
    )


class Subscriber:
    """The feeds that are received, each identified by a number."""

    def __init__(self) -> None:
        self._feeds: dict[int, tuple[str, trio.CancelScope]] = {}
        """Number to the feed's endpoint, and the scope that stops receiving it."""
        self._start: Callable[[int], None] | None = None
        """Starts receiving a feed; None before `run`."""

    def hear(self, number: int, endpoint: str) -> None:
        """Receive a feed from now on. Its publisher may start later."""
        self._feeds[number] = endpoint, trio.CancelScope()
        if self._start is not None:
            self._start(number)

    def leave(self, number: int) -> None:
        """Stop receiving a feed."""
        if (feed := self._feeds.pop(number, None)) is not None:
            feed[1].cancel()

    async def run(self, take: Callable[[Heard], None]) -> None:
        """Pass all messages to `take`, until cancelled."""
        async with trio.open_nursery() as nursery:
            self._start = lambda number: nursery.start_soon(self._follow, number, *self._feeds[number], take)
            for number in self._feeds:
                self._start(number)
            await trio.sleep_forever()

    async def _follow(
        self, number: int, endpoint: str, scope: trio.CancelScope, take: Callable[[Heard], None]
    ) -> None:
        """Receive one feed, and restart its process whenever that has ended."""
        again = AGAIN_SECONDS
        with scope:
            while True:
                began = trio.current_time()
                # OSError: the process has ended, or none can be started now.
                with suppress(OSError), _listener(endpoint) as line:
                    await read(line, number, take)
                lasted = trio.current_time() - began
                again = AGAIN_SECONDS if lasted > AGAIN_MAX_SECONDS else min(2 * again, AGAIN_MAX_SECONDS)
                await trio.sleep(again)


async def read(line: trio.socket.SocketType, number: int, take: Callable[[Heard], None]) -> None:
    """Pass all packets of a line to `take`, as messages of feed `number`, until the process has ended.

    Raises:
        OSError: the process ended without closing the socket properly.
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
    """Convert a listener's packet to a message of a feed."""
    topic, _, message = packet.partition(SEPARATOR)
    return Heard(number, topic, message)


@contextmanager
def _listener(endpoint: str) -> Iterator[trio.socket.SocketType]:
    """Start a process that receives a feed, and end it when the context exits.

    Raises:
        OSError: no process can be started.
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
            process_group=0,  # only the arena handles a Ctrl-C at the terminal
        )
        theirs.close()
        try:
            yield line
        finally:
            process.kill()  # It has no state to lose.
            process.wait()
