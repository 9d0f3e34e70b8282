"""The processes of live feeds, one for each: the only modules that use libzmq.

`lines` runs them as `python -m arena.feed.process publish SOCKET ENDPOINT` and `receive SOCKET ENDPOINT`. One
takes messages from a Unix socket to a ZeroMQ PUB socket, the other from a SUB socket to a Unix socket. libzmq's
memory grows with subscribers' requests, and with the messages of an untrusted publisher: here it is bounded, and
no match suffers. Each received feed has a process, so that a publisher which sends too much ends only its own
feed.
"""

import errno
import os
import re
import resource
import socket
import stat
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import zmq

from arena.feed.lines import BOUND, IPC, MAX_BYTES, MAX_MESSAGE_BYTES, MAX_TOPIC_BYTES, SEPARATOR, TCP
from referee.linux.files import locked

MAX_WAITING = 1_000
"""Messages that wait for a subscriber that does not keep up, or for the arena; further ones are dropped."""
MAX_SUBSCRIPTION_BYTES = 256
MAX_MEMORY_BYTES = 512 * 1024 * 1024
"""Limit of a publishing process."""
MAX_RECEIVER_BYTES = 256 * 1024 * 1024
"""Limit of a receiving process."""
MAX_FILES = 512
"""Limit of open files of a publishing process, connections included."""
NICENESS = 5
"""Added to the process's niceness, because matches have priority."""
LAST_WORDS_MS = 1_000
"""Milliseconds that sending the last messages may take."""
HEARTBEAT_MS = 10_000
"""Interval of heartbeats. A silent peer is disconnected after twice as long."""
HANDSHAKE_MS = 5_000
RECONNECT_MS = 100
RECONNECT_MAX_MS = 2_000
FRAMES = 2
AT_ONCE = 100
"""Messages that are passed on before the Unix socket is checked again."""
MAX_PORT = 65_535
_PORT = re.compile(r"[0-9]{1,5}")


class CannotListenError(Exception):
    """The endpoint cannot be used; the text is the reason."""


def publish(line: socket.socket, endpoint: str) -> None:
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
    publisher = _socket(context, zmq.PUB, endpoint, MAX_SUBSCRIPTION_BYTES)
    publisher.setsockopt(zmq.HANDSHAKE_IVL, HANDSHAKE_MS)
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


def receive(line: socket.socket, endpoint: str) -> None:
    """Pass on the feed's messages until the arena closes the Unix socket."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_RECEIVER_BYTES, MAX_RECEIVER_BYTES))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    feed = _subscribed(context, endpoint)
    poller = zmq.Poller()
    poller.register(line.fileno(), zmq.POLLIN)
    poller.register(feed, zmq.POLLIN)
    with suppress(OSError):
        while True:
            ready = dict(poller.poll())
            if line.fileno() in ready:  # The arena never sends: this is its end.
                break
            pass_on(line, feed)
    context.destroy(linger=0)


def _subscribed(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    feed = _socket(context, zmq.SUB, endpoint, MAX_MESSAGE_BYTES)
    feed.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MS)
    feed.setsockopt(zmq.RECONNECT_IVL_MAX, RECONNECT_MAX_MS)
    feed.subscribe(b"")
    with suppress(zmq.ZMQError):  # an invalid endpoint: it will never send anything
        feed.connect(os.fsencode(endpoint))  # type: ignore[arg-type]  # a path need not be text
    return feed


def pass_on(line: socket.socket, feed: "zmq.Socket[bytes]") -> None:
    """Pass on the waiting messages, each as one packet: topic, line end, content."""
    for _ in range(AT_ONCE):
        try:
            frames = feed.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return
        if len(frames) != FRAMES or len(frames[0]) > MAX_TOPIC_BYTES or SEPARATOR in frames[0]:
            continue
        try:
            line.send(frames[0] + SEPARATOR + frames[1])
        except OSError as error:
            if error.errno != errno.EMSGSIZE:  # longer than the kernel's limit
                raise


def _socket(context: "zmq.Context[zmq.Socket[bytes]]", kind: int, endpoint: str, most: int) -> "zmq.Socket[bytes]":
    """Return a socket with bounds on its queue and on the bytes of a received message."""
    made = context.socket(kind)
    made.set_hwm(MAX_WAITING)
    made.setsockopt(zmq.MAXMSGSIZE, most)
    made.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
    made.setsockopt(zmq.HEARTBEAT_TIMEOUT, 2 * HEARTBEAT_MS)
    made.setsockopt(zmq.LINGER, 0)
    made.setsockopt(zmq.IPV6, endpoint.startswith(f"{TCP}["))
    return made


if __name__ == "__main__":
    {"publish": publish, "receive": receive}[sys.argv[1]](socket.socket(fileno=int(sys.argv[2])), sys.argv[3])
