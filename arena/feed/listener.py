"""The process that hears live feeds: from ZeroMQ SUB sockets to one Unix socket, and nothing else.

Run as `python -m arena.feed.listener SOCKET` by `subscriber`. It uses libzmq, as `process` does and for the same
reason has a process of its own: what publishers send, strangers among them, is bounded here.
"""

import errno
import os
import resource
import socket
import sys
from contextlib import suppress

import zmq

from arena.feed.subscriber import (
    COMMAND_BYTES,
    CONNECT,
    DISCONNECT,
    MAX_MESSAGE_BYTES,
    MAX_TOPIC_BYTES,
    SEPARATOR,
)

MAX_WAITING = 1_000
"""Messages of one feed that wait; further ones are dropped."""
MAX_MEMORY_BYTES = 512 * 1024 * 1024
NICENESS = 5
HEARTBEAT_MS = 10_000
RECONNECT_MS = 100
RECONNECT_MAX_MS = 2_000
FRAMES = 2
AT_ONCE = 100
"""Messages of one feed that are passed on before the next feed's turn."""


def main(line: socket.socket) -> None:
    """Hears what it is told to, until the line is hung up."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    feeds: dict[int, zmq.Socket[bytes]] = {}
    poller = zmq.Poller()
    poller.register(line.fileno(), zmq.POLLIN)
    with suppress(OSError):
        while True:
            ready = dict(poller.poll())
            if line.fileno() in ready:
                command = line.recv(COMMAND_BYTES)
                if not command:
                    break
                _obey(command, context, feeds, poller)
            for number, feed in feeds.items():
                if feed in ready:
                    _pass_on(line, number, feed)
    context.destroy(linger=0)


def _obey(
    command: bytes,
    context: "zmq.Context[zmq.Socket[bytes]]",
    feeds: "dict[int, zmq.Socket[bytes]]",
    poller: zmq.Poller,
) -> None:
    what, number, endpoint = command[:1], *command[1:].split(b" ", 1)
    if what == DISCONNECT:
        if (feed := feeds.pop(int(number), None)) is not None:
            poller.unregister(feed)
            feed.close(linger=0)
    elif what == CONNECT:
        feed = context.socket(zmq.SUB)
        feed.set_hwm(MAX_WAITING)
        for option, value in (
            (zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES),
            (zmq.HEARTBEAT_IVL, HEARTBEAT_MS),
            (zmq.HEARTBEAT_TIMEOUT, 2 * HEARTBEAT_MS),
            (zmq.RECONNECT_IVL, RECONNECT_MS),
            (zmq.RECONNECT_IVL_MAX, RECONNECT_MAX_MS),
            (zmq.LINGER, 0),
            (zmq.IPV6, endpoint.startswith(b"tcp://[")),
        ):
            feed.setsockopt(option, value)
        feed.subscribe(b"")
        with suppress(zmq.ZMQError):  # no endpoint: nothing will ever come from there
            feed.connect(os.fsdecode(endpoint))
        feeds[int(number)] = feed
        poller.register(feed, zmq.POLLIN)


def _pass_on(line: socket.socket, number: int, feed: "zmq.Socket[bytes]") -> None:
    for _ in range(AT_ONCE):
        try:
            frames = feed.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return
        if len(frames) != FRAMES or len(frames[0]) > MAX_TOPIC_BYTES or SEPARATOR in frames[0]:
            continue
        try:
            line.send(b"%d %b%b%b" % (number, frames[0], SEPARATOR, frames[1]))
        except OSError as error:
            if error.errno != errno.EMSGSIZE:  # the kernel has no room for the longest
                raise


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
