"""The arena's end of the live feed: starts the process that publishes it, and hands it messages without waiting.

What is in a message is `referee.host.feed`'s. The socket that subscribers reach is in a process of its own
(`process`): what they do, or leave undone, can neither slow nor grow the process whose clocks count. Between
the two is one Unix socket, which workers share: when the kernel's buffer of it is full, messages are dropped.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from arena.errors import MachineCannot, WrongUse
from arena.terminal import say

SEPARATOR = b"\n"
"""Between topic and message, on the way to the process."""
BOUND = b"at "
"""Before the endpoint that it listens at. Any other answer is why it cannot."""
MAX_BYTES = 1024 * 1024
"""More than any message has: the kernel's own bound for one is smaller."""
START_SECONDS = 20
"""How long the process may take to listen, on a busy machine."""
END_SECONDS = 3
"""How long it may take to hand out what was published last; then it is killed."""


class FeedLine:
    """Where the messages of a feed go. Workers have one of their own on the same socket."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def fileno(self) -> int:
        """The socket's, to be inherited."""
        return self._line.fileno()

    def publish(self, topic: str, message: bytes) -> None:
        """Takes a message, or drops it. See `referee.host.feed.Publish`."""
        # A full buffer, a message too large for it, a publisher that has ended: no match waits or fails for these.
        with suppress(OSError):
            self._line.send(topic.encode() + SEPARATOR + message, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)


def inherited(descriptor: int) -> FeedLine:
    """The line that this process inherited; bots that are started here do not get it."""
    os.set_inheritable(descriptor, False)
    return FeedLine(socket.socket(fileno=descriptor))


@contextmanager
def open_feed(endpoint: str | None) -> Iterator[FeedLine | None]:
    """Publishes at a ZeroMQ endpoint meanwhile; None: there is no feed.

    Raises:
        WrongUse: one cannot listen there.
        MachineCannot: the process that is to listen does not start.
    """
    if endpoint is None:
        yield None
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_BYTES)
    with ours:
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
                [sys.executable, "-m", "arena.feed.process", str(theirs.fileno()), endpoint],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
            )
        try:
            say(f"feed at {_listening(ours, endpoint)}")
            yield FeedLine(ours)
            if process.poll() is not None:
                say(f"the feed had ended before: exit code {process.returncode}")
        finally:
            # Workers that still run have the socket, too; it is this that tells the process to end.
            with suppress(OSError):
                ours.shutdown(socket.SHUT_RDWR)
            _end(process)


def _listening(line: socket.socket, endpoint: str) -> str:
    """Where it listens, once it does."""
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
