"""The process that publishes the live feed, from one Unix socket to a ZeroMQ PUB socket.

`publisher` runs it as `python -m arena.feed.process SOCKET ENDPOINT`. Only this process and `listener` use libzmq,
whose memory grows with subscribers' requests and unread messages: here it is bounded, and no match suffers.
"""

import os
import re
import resource
import socket
import stat
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import zmq

from arena.feed.publisher import BOUND, MAX_BYTES, SEPARATOR
from referee.linux.files import locked

MAX_WAITING = 1_000
"""Messages that wait for a subscriber that does not keep up; further ones are dropped for it."""
MAX_SUBSCRIPTION_BYTES = 256
MAX_MEMORY_BYTES = 512 * 1024 * 1024
MAX_FILES = 512
"""Limit of open files, connections included."""
NICENESS = 5
"""Added to the process's niceness, because matches have priority."""
LAST_WORDS_MS = 1_000
"""Milliseconds that sending the last messages may take."""
HEARTBEAT_MS = 10_000
"""Interval of heartbeats. A silent subscriber is disconnected after twice as long."""
HANDSHAKE_MS = 5_000
IPC, TCP = "ipc://", "tcp://"
MAX_PORT = 65_535
_PORT = re.compile(r"[0-9]{1,5}")


class CannotListenError(Exception):
    """The endpoint cannot be used; the text is the reason."""


def main(line: socket.socket, endpoint: str) -> None:
    """Listen, report this on `line`, and publish until the arena closes it."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_FILES, MAX_FILES))
    os.nice(NICENESS)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        publisher = _listening(context, endpoint)
    except CannotListenError as error:
        line.send(str(error).encode())
        context.destroy(linger=0)
        return
    bound = None
    if endpoint.startswith(IPC):
        with suppress(OSError):
            bound = Path(endpoint.removeprefix(IPC)).lstat()
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    with suppress(OSError):
        line.send(BOUND + publisher.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0").encode())
        while came := line.recv(MAX_BYTES):
            publisher.send_multipart(came.split(SEPARATOR, 1), zmq.NOBLOCK)
    publisher.close(linger=LAST_WORDS_MS)
    context.term()
    if endpoint.startswith(IPC):
        _clear_away(Path(endpoint.removeprefix(IPC)), bound)


def _clear_away(place: Path, bound: os.stat_result | None) -> None:
    """Remove the socket's file, unless another publisher has replaced it since."""
    with suppress(OSError), locked(place.absolute().parent):
        if bound is not None and os.path.samestat(place.lstat(), bound):
            place.unlink()


def _listening(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """Return a socket that listens at an endpoint. If several arenas start at once, only one succeeds.

    Raises:
        CannotListenError: the endpoint is not valid or is in use.
    """
    with ExitStack() as held:
        if endpoint.startswith(IPC):
            with suppress(OSError):  # No such folder, or a file system without locks.
                held.enter_context(locked(Path(endpoint.removeprefix(IPC)).absolute().parent))
        return _publisher(context, endpoint)


def _publisher(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """Return a socket that listens at an endpoint.

    Raises:
        CannotListenError: the endpoint is not valid or is in use.
    """
    if endpoint.startswith(IPC):
        _make_way(endpoint.removeprefix(IPC))
        os.umask(0o077)  # only the owner may use the socket's file
    elif endpoint.startswith(TCP):
        _check_port(endpoint.rpartition(":")[2])
    else:
        raise CannotListenError("is neither ipc://PATH nor tcp://ADDRESS:PORT")
    publisher = context.socket(zmq.PUB)
    publisher.set_hwm(MAX_WAITING)
    for option, value in (
        (zmq.MAXMSGSIZE, MAX_SUBSCRIPTION_BYTES),
        (zmq.HEARTBEAT_IVL, HEARTBEAT_MS),
        (zmq.HEARTBEAT_TIMEOUT, 2 * HEARTBEAT_MS),
        (zmq.HANDSHAKE_IVL, HANDSHAKE_MS),
        (zmq.LINGER, 0),
        (zmq.IPV6, endpoint.startswith(f"{TCP}[")),
    ):
        publisher.setsockopt(option, value)
    try:
        publisher.bind(endpoint)
    except zmq.ZMQError as error:
        raise CannotListenError(f"cannot listen there: {os.strerror(error.errno or 0)}") from None
    return publisher


def _check_port(port: str) -> None:
    """Refuse ports that ZeroMQ would read as another port: it reads 99999 as 34463, and 5x as 5."""
    if port != "*" and not (_PORT.fullmatch(port) and int(port) <= MAX_PORT):
        raise CannotListenError(f"the port must be a number up to {MAX_PORT}, or *")


def _make_way(place: str) -> None:
    """Check that nothing is lost at an `ipc` path: ZeroMQ would delete any file there.

    Raises:
        CannotListenError: another program listens there, or the file is no socket.
    """
    if not place or place.startswith(("@", "*")):
        # Names without a file have no owner.
        raise CannotListenError("ipc:// takes a path")
    try:
        found = Path(place).stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise CannotListenError(f"cannot listen there: {error.strerror}") from None
    if not stat.S_ISSOCK(found.st_mode):
        raise CannotListenError("a file that is not a socket is there")
    with socket.socket(socket.AF_UNIX) as knock:
        try:
            knock.connect(place)
        except ConnectionRefusedError:
            return  # A killed publisher left it.
        except OSError as error:
            raise CannotListenError(f"cannot listen there: {error.strerror}") from None
    raise CannotListenError("cannot listen there: another program already does")


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
