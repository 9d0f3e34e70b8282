"""What the bad bots share: bare connections, without the kit that would keep them from misbehaving.

Where a bad bot submits anything legal, it is the window's default: so its partner must live through the same match
as against one that says nothing.
"""

import json
import os
import socket
from collections.abc import Iterator
from typing import Any

import zmq

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
"""ZeroMQ's own opening (ZMTP 3.0), and what a PAIR socket says after it."""
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"


def spelled(**message: Any) -> bytes:
    """Return a message as a frame."""
    return json.dumps(message).encode()


def hello(token: str | None = None, protocol: int = 1) -> bytes:
    """Return a hello, which is valid unless the arguments say otherwise."""
    token = os.environ["ARENA_TOKEN"] if token is None else token
    return spelled(type="hello", token=token, name="bad", version="1", protocol=protocol)


class Connection:
    """One PAIR socket to the referee."""

    def __init__(self) -> None:
        self.socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PAIR)
        self.socket.set(zmq.LINGER, 1000)
        self.socket.connect(os.environ["ARENA_ENDPOINT"])

    def say(self, **message: Any) -> None:
        """One message."""
        self.socket.send(spelled(**message))

    def hello(self, token: str | None = None, protocol: int = 1) -> None:
        """See `hello`."""
        self.socket.send(hello(token, protocol))

    def submit(self, window: dict[str, Any], **more: Any) -> None:
        """Submit the window's default."""
        self.say(type="submit", window=window["id"], action=window["default"], **more)

    def hear(self, kind: str) -> dict[str, Any]:
        """Return the next message of a type; end the program at `over` or `fault`."""
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv())
            if message["type"] == kind:
                return message
            if message["type"] in {"over", "fault"}:
                raise SystemExit

    def windows(self) -> Iterator[dict[str, Any]]:
        """Every window it is given, to the end."""
        while True:
            yield self.hear("window")

    def play(self) -> None:
        """Submit at every window, to the end."""
        for window in self.windows():
            self.submit(window)

    def wait(self) -> None:
        """Hears until the end."""
        self.hear("nothing")


class Bare:
    """One connection of the kernel's, on which ZeroMQ's bytes are written by hand."""

    def __init__(self, *, opened: bool = True) -> None:
        """`opened`: as far as a ZeroMQ socket would be; otherwise nothing has been said."""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
        if opened:
            self.send(GREETING)
            self.read(len(GREETING))
            self.send(READY)
            self.frame()

    def send(self, data: bytes) -> None:
        """Bytes as they are."""
        self.socket.sendall(data)

    def read(self, size: int) -> bytes:
        """So many bytes; ends the program where the connection ends."""
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise SystemExit
            data += more
        return data

    def frame(self) -> bytes:
        """Return the next frame: a message, or one of ZeroMQ's own commands."""
        flags = self.read(1)[0]
        length = int.from_bytes(self.read(8 if flags & 2 else 1), "big")
        return self.read(length)

    def hear(self, kind: str) -> dict[str, Any]:
        """The next message of a type; ends the program at `over` or `fault`."""
        while True:
            message: dict[str, Any] = json.loads(self.frame())
            if message["type"] == kind:
                return message
            if message["type"] in {"over", "fault"}:
                raise SystemExit


def framed(body: bytes, *, more: bool = False) -> bytes:
    """Return a frame as ZeroMQ writes it."""
    return (b"\x03" if more else b"\x02") + len(body).to_bytes(8, "big") + body
