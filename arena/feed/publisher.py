"""The arena's end of the live feed: starts the process that publishes it, and sends it messages without waiting.

`referee.host.feed` builds the messages. Subscribers connect to a process of its own (`process`), so that they can
neither slow nor grow the process whose clocks count. One Unix socket, which workers share, connects the two: when
its kernel buffer is full, messages are dropped.
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
"""Separator of topic and message on the way to the process."""
BOUND = b"at "
"""Prefix of the endpoint in the process's answer. Any other answer is the reason why it cannot listen."""
MAX_BYTES = 1024 * 1024
"""Larger than any message: the kernel's own limit for one is smaller."""
START_SECONDS = 20
"""Seconds until the process must listen, on a busy machine."""
END_SECONDS = 3
"""Seconds until the process must have sent its last messages; then it is killed."""


class FeedLine:
    """Sending end of the feed. Each worker has its own on the same socket."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def fileno(self) -> int:
        """Return the socket's file descriptor, to be inherited."""
        return self._line.fileno()

    def publish(self, topic: str, message: bytes) -> None:
        """Send a message, or drop it. See `referee.host.feed.Publish`."""
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
            process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
                [sys.executable, "-m", "arena.feed.process", str(theirs.fileno()), endpoint],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # only the arena handles a Ctrl-C at the terminal
            )
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
