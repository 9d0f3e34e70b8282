"""The process that receives one live feed and passes it from a ZeroMQ SUB socket to one Unix socket.

`subscriber` runs it as `python -m arena.feed.listener SOCKET ENDPOINT`. Like `process` it isolates libzmq: it
bounds the memory for messages from an untrusted publisher. Each feed has its own process, so that a publisher
which sends too much ends only its own feed.
"""

import errno
import os
import resource
import socket
import sys
from contextlib import suppress

import zmq

from arena.feed.subscriber import MAX_MESSAGE_BYTES, MAX_TOPIC_BYTES, SEPARATOR

MAX_WAITING = 1_000
"""Messages that wait; further ones are dropped."""
MAX_MEMORY_BYTES = 256 * 1024 * 1024
NICENESS = 5
HEARTBEAT_MS = 10_000
RECONNECT_MS = 100
RECONNECT_MAX_MS = 2_000
FRAMES = 2
AT_ONCE = 100
"""Messages that are passed on before the Unix socket is checked again."""


def main(line: socket.socket, endpoint: str) -> None:
    """Pass on the feed's messages until the arena closes the Unix socket."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
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
    feed = context.socket(zmq.SUB)
    feed.set_hwm(MAX_WAITING)
    for option, value in (
        (zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES),
        (zmq.HEARTBEAT_IVL, HEARTBEAT_MS),
        (zmq.HEARTBEAT_TIMEOUT, 2 * HEARTBEAT_MS),
        (zmq.RECONNECT_IVL, RECONNECT_MS),
        (zmq.RECONNECT_IVL_MAX, RECONNECT_MAX_MS),
        (zmq.LINGER, 0),
        (zmq.IPV6, endpoint.startswith("tcp://[")),
    ):
        feed.setsockopt(option, value)
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


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
