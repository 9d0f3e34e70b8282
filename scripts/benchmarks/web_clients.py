"""Clients of a web server, many in one process: event streams, pages at a rate, and some that read nothing.

    web_clients.py PORT '{"stream": "/cup/live/events", "streams": 1000, "stuck": 10, "pages": ["/"], "rate": 50}'

Prints `some` when the first streams are open, `ready` when all are, and at the first line on standard input the
measurements as JSON.
"""

import selectors
import socket
import sys
import time
from collections import deque
from itertools import cycle
from typing import Any

import msgspec
from msgspec import Struct

from referee.linux.processes import be_nice

SOME = 100
"""Number of streams after which a line is printed: by then the server has created what streams share."""
AT_ONCE = 50
"""Number of streams that are started together; the server answers requests in between."""
READ = 1 << 16
PAGE_CONNECTIONS = 10
NICE = 19
"""They stand for other people's machines."""
STUCK_BYTES = 4096


class Load(Struct):
    """The requests to make."""

    stream: str
    streams: int
    stuck: int
    """Number of further clients of the stream that read nothing after the first answer."""
    pages: list[str]
    rate: float
    """Pages per second."""


class Received(Struct):
    """The measurements of the clients."""

    streams: int = 0
    """Number of streams that are still open."""
    events: int = 0
    quietest: int = 0
    """Number of events of the stream that received the fewest."""
    bytes: int = 0
    pages: int = 0
    failed: list[str] = []
    """Answers that were not 200, with their paths."""
    page_ms: list[float] = []
    """Milliseconds per page: median, 99th percentile, and maximum."""


class Page:
    """A connection that requests one page after the other."""

    def __init__(self, port: int) -> None:
        self.socket = connected(port)
        self.asked = 0.0
        self.path = ""
        self.waiting: bytes | None = None

    def ask(self, path: str) -> None:
        """Request a page."""
        self.waiting, self.asked, self.path = b"", time.monotonic(), path
        self.socket.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n".encode())

    def read(self) -> bytes | None:
        """Return the status of the answer if it is complete."""
        self.waiting = (self.waiting or b"") + self.socket.recv(READ)
        head, end, body = self.waiting.partition(b"\r\n\r\n")
        if not end:
            return None
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        if len(body) < length:
            return None
        self.waiting = None
        return head[9:12]


def connected(port: int, receive_bytes: int | None = None) -> socket.socket:
    """Return a connection in non-blocking mode."""
    made = socket.socket()
    if receive_bytes is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    made.connect(("127.0.0.1", port))
    made.setblocking(False)
    return made


class Clients:
    """All clients."""

    def __init__(self, port: int, load: Load) -> None:
        self._port, self._load = port, load
        self._selector = selectors.DefaultSelector()
        self._streams: dict[socket.socket, int] = {}
        self._began: set[socket.socket] = set()
        self._stuck: list[socket.socket] = []
        self._pages = [Page(port) for _ in range(PAGE_CONNECTIONS if load.rate else 0)]
        self._free = deque(self._pages)
        self._took: list[float] = []
        self.received = Received()

    def run(self) -> Received:
        """Run until a line arrives on standard input."""
        for page in self._pages:
            self._selector.register(page.socket, selectors.EVENT_READ, page)
        self._selector.register(sys.stdin, selectors.EVENT_READ, None)
        paths, due, said = cycle(self._load.pages), time.monotonic(), False
        while True:
            if len(self._began) == len(self._streams) < self._load.streams:
                if len(self._began) == SOME:
                    print("some", flush=True)
                self._begin()
            if not said and len(self._began) == self._load.streams:
                said = True
                print("ready", flush=True)
                self._zero()
                due = time.monotonic()
            while said and self._load.rate and time.monotonic() >= due and self._free:
                self._free.popleft().ask(next(paths))
                due += 1 / self._load.rate
            for key, _ in self._selector.select(0.02):
                if key.data is None:
                    return self._told()
                self._read_page(key.data) if isinstance(key.data, Page) else self._read(key.data)

    def _begin(self) -> None:
        ask = f"GET {self._load.stream} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n".encode()
        for _ in range(min(AT_ONCE, self._load.streams - len(self._streams))):
            made = connected(self._port)
            made.send(ask)
            self._streams[made] = 0
            self._selector.register(made, selectors.EVENT_READ, made)
        while len(self._stuck) < self._load.stuck:
            self._stuck.append(connected(self._port, STUCK_BYTES))
            self._stuck[-1].send(ask)

    def _zero(self) -> None:
        self._streams = dict.fromkeys(self._streams, 0)
        self.received = Received()

    def _read(self, stream: socket.socket) -> None:
        data = stream.recv(READ)
        if not data:
            self._selector.unregister(stream)
            del self._streams[stream]
            stream.close()
            return
        self._began.add(stream)
        self._streams[stream] += data.count(b"data: ")
        self.received.bytes += len(data)

    def _read_page(self, page: Page) -> None:
        status = page.read()
        if status is not None:
            self._free.append(page)
            self._took.append(1000 * (time.monotonic() - page.asked))
            self.received.pages += 1
            if status != b"200":
                self.received.failed.append(f"{status.decode()} {page.path}")

    def _told(self) -> Received:
        said, took = self.received, sorted(self._took)
        said.streams, said.events = len(self._streams), sum(self._streams.values())
        said.quietest = min(self._streams.values(), default=0)
        said.page_ms = [round(took[int(share * (len(took) - 1))], 1) for share in (0.5, 0.99, 1)] if took else []
        return said


def main() -> None:
    """Run the clients."""
    port, asked = sys.argv[1:]
    be_nice(NICE)
    clients: Any = Clients(int(port), msgspec.json.decode(asked, type=Load))
    print(msgspec.json.encode(clients.run()).decode())


if __name__ == "__main__":
    main()
