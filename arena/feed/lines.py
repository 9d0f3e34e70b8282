"""The arena's ends of live feeds: it publishes one and receives others, each by way of a process of its own.

`referee.host.observers` builds the messages. The processes (`process`) are apart so that subscribers and untrusted
publishers can neither slow nor grow the process whose clocks count. One Unix socket, which workers share, leads to
the publishing process: when its kernel buffer is full, messages are dropped. A receiving process may end at any
time, and is then started again. Nothing here decodes a feed's messages, and each feed gets a share of the
processor's time and no more.
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

from arena.errors import MachineCannot, WrongUse
from arena.terminal import say

SEPARATOR = b"\n"
"""Separator of topic and message on a Unix socket."""
BOUND = b"at "
"""Prefix of the endpoint in the process's answer. Any other answer is the reason why it cannot listen."""
MAX_BYTES = 1024 * 1024
"""Larger than any message: the kernel's own limit for one is smaller."""
START_SECONDS = 20
"""Seconds until the process must listen, on a busy machine."""
END_SECONDS = 3
"""Seconds until the process must have sent its last messages; then it is killed."""
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


class FeedLine:
    """Sending end of the feed. Each worker has its own on the same socket."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def fileno(self) -> int:
        """Return the socket's file descriptor, to be inherited."""
        return self._line.fileno()

    def publish(self, topic: str, message: bytes) -> None:
        """Send a message, or drop it. See `referee.host.observers.Publish`."""
        # No match waits or fails for a full buffer, a message too large for it, or a publisher that has ended.
        with suppress(OSError):
            self._line.send(topic.encode() + SEPARATOR + message, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)


def inherited(descriptor: int) -> FeedLine:
    """Return the line that this process inherited. Bots that it starts do not inherit it."""
    os.set_inheritable(descriptor, False)
    return FeedLine(socket.socket(fileno=descriptor))


@contextmanager
def open_feed(endpoint: str | None) -> Iterator[FeedLine | None]:
    """Publish at a ZeroMQ endpoint within the context. Without an endpoint, yield None.

    Raises:
        WrongUse: the process cannot listen there.
        MachineCannot: the process does not start.
    """
    if endpoint is None:
        yield None
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_BYTES)
    with ours:
        with theirs:
            process = _started("publish", theirs, endpoint)
        try:
            say(f"feed at {_listening(ours, endpoint)}")
            yield FeedLine(ours)
            if process.poll() is not None:
                say(f"the feed had ended before: exit code {process.returncode}")
        finally:
            # Workers that still run share the socket; only a shutdown ends the process.
            with suppress(OSError):
                ours.shutdown(socket.SHUT_RDWR)
            _end(process)


def _listening(line: socket.socket, endpoint: str) -> str:
    """Wait until the process listens, and return its endpoint."""
    line.settimeout(START_SECONDS)
    try:
        answer = line.recv(MAX_BYTES)
    except TimeoutError:
        answer = b""
    line.settimeout(None)
    if not answer:
        raise MachineCannot(f"--feed {endpoint}: the process that publishes it does not start")
    if not answer.startswith(BOUND):
        raise WrongUse(f"--feed {endpoint}: {answer.decode()}")
    return os.fsdecode(answer.removeprefix(BOUND))


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
        process = _started("receive", theirs, endpoint)
        theirs.close()
        try:
            yield line
        finally:
            process.kill()  # It has no state to lose.
            process.wait()


def _started(task: str, line: socket.socket, endpoint: str) -> "subprocess.Popen[bytes]":
    """Start a process that publishes or receives a feed, at the other end of a Unix socket."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-m", "arena.feed.process", task, str(line.fileno()), endpoint],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[line.fileno()],
        process_group=0,  # only the arena handles a Ctrl-C at the terminal
    )
