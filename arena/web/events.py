"""Event streams that send messages to many browsers at once without waiting for any of them.

A message is encoded once and its bytes are shared. They are written immediately as far as the kernel has room for
them; a client's task wakes up only for the rest. Each client has a bounded queue. A client that does not keep up
receives a new snapshot later, instead of the messages it missed.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address
from typing import Any, Protocol

import trio

from protocol.codec import encode

HEARTBEAT_SECONDS = 15.0
"""Seconds without a message after which a client is sent an empty comment, to detect broken connections."""
HEARTBEAT = b":\n\n"
MOST_WAITING = 32
MOST_WAITING_BYTES = 256 * 1024
"""Maximum bytes queued per client; a client for which more waits receives a new snapshot instead."""
MOST_CLIENTS = 2_000
"""Default maximum of event streams per server."""
MOST_OF_ADDRESS = 100
"""Default maximum of event streams per client address."""
IPV6_HOST_BITS = 64
"""Bits of an IPv6 address ignored when clients are counted: one client has a whole network."""
PAUSE_SECONDS = 0.2
"""Seconds for which later messages are collected and sent together, after one that was sent immediately."""
SECONDS_A_CLIENT = 0.0005
"""Seconds per client for which messages are collected at least: this limits a stream to 2,000 writes per
second."""
CLIENTS_AT_ONCE = 100
"""Clients that are written to before other tasks may run."""
IGNORED = 100
"""Maximum parts of a request's body that are ignored before the stream ends."""
FRESH_SECONDS = 0.25
"""Seconds for which an encoded snapshot is reused if nothing happens; clocks in it advance."""

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]


class RawConnection(Protocol):
    """A connection that accepts the raw bytes of an HTTP response."""

    def write_now(self, data: bytes) -> int:
        """Write what there is room for without waiting. Return the number of bytes written."""

    async def write(self, data: bytes | memoryview) -> None:
        """Write everything, waiting for room."""


def event(message: Any) -> bytes:
    """Encode a message as an event of a stream. It is JSON, so it contains no line end."""
    return b"data: " + encode(message) + b"\n\n"


def chunk(data: bytes) -> bytes:
    """Encode bytes as a chunk of an HTTP/1.1 response without a length (RFC 9112, 7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class Client:
    """One subscribed browser and its queue."""

    __slots__ = ("behind", "direct", "rest", "scope", "size", "told", "waiting")

    def __init__(self, direct: RawConnection | None = None) -> None:
        """`direct` is the client's connection, if it accepts chunks."""
        self.direct = direct
        self.rest: memoryview | None = None
        """Remainder of a chunk that the connection had no room for."""
        self.waiting: list[bytes] = []
        self.size = 0
        self.behind = True
        """True if the client needs a snapshot next."""
        self.told = 0.0
        """Time of the last message to the client, on trio's clock."""
        self.scope: trio.CancelScope | None = None
        """Scope in which the client's task waits; cancel it to wake the task."""

    def put(self, batch: bytes, chunked: bytes, now: float) -> None:
        """Write or queue a batch, or mark the client for a snapshot. `chunked` is the batch as a chunk."""
        self.told = now
        is_free = not (self.behind or self.waiting or self.rest)
        if is_free and self.scope is not None and self.direct is not None:
            written = self.direct.write_now(chunked)
            if written == len(chunked):
                return
            self.rest = memoryview(chunked)[written:]
        elif not self.behind:
            self.size += len(batch)
            if len(self.waiting) >= MOST_WAITING or self.size > MOST_WAITING_BYTES:
                self.catch_up()
            else:
                self.waiting.append(batch)
        if self.scope is not None:
            self.scope.cancel()

    def catch_up(self) -> None:
        """Discard the queue and mark the client for a snapshot."""
        self.behind, self.size = True, 0
        self.waiting.clear()

    def take(self) -> bytes:
        """Remove and return everything queued."""
        batch = self.waiting[0] if len(self.waiting) == 1 else b"".join(self.waiting)
        self.waiting.clear()
        self.size = 0
        return batch


class Stream:
    """Messages about one subject, sent to all subscribed clients."""

    def __init__(self, nursery: trio.Nursery, snapshot: Callable[[], Any]) -> None:
        """`snapshot` returns the current state as a message that needs no earlier one."""
        self._nursery = nursery
        self._snapshot = snapshot
        self._clients: set[Client] = set()
        self._news: list[bytes] = []
        self._size = 0
        self._flows = False
        self._known: tuple[float, bytes] | None = None

    def __len__(self) -> int:
        """Return the number of subscribed clients."""
        return len(self._clients)

    def publish(self, message: Any) -> None:
        """Send a message to all subscribed clients without waiting."""
        self._known = None
        if not self._clients:
            return
        if not self._flows:
            self._flows = True
            self._nursery.start_soon(self._flow)
        told = event(message)
        self._size += len(told)
        # Beyond the limit of one client's queue, all clients receive a snapshot instead.
        if self._size <= MOST_WAITING_BYTES:
            self._news.append(told)

    def snapshot(self) -> bytes:
        """Return the current state, encoded as an event."""
        now = trio.current_time()
        if self._known is None or now > self._known[0] + FRESH_SECONDS:
            self._known = now, event(self._snapshot())
        return self._known[1]

    async def _flow(self) -> None:
        """Send published messages until none has been published during a pause."""
        while self._size:
            await self._send_news()
            await trio.sleep(max(PAUSE_SECONDS, SECONDS_A_CLIENT * len(self._clients)))
        self._flows = False

    async def _send_news(self) -> None:
        """Send all published messages in one batch."""
        batch = b"".join(self._news)
        chunked = chunk(batch)
        too_much = self._size > MOST_WAITING_BYTES
        self._news.clear()
        self._size = 0
        for number, client in enumerate(tuple(self._clients), 1):
            if too_much:
                client.catch_up()
            client.put(batch, chunked, trio.current_time())
            if not number % CLIENTS_AT_ONCE:
                await trio.lowlevel.checkpoint()

    async def serve_client(self, receive: Receive, send: Send, direct: RawConnection | None = None) -> None:
        """Send one client a snapshot, then each message, until it disconnects.

        A message that is already part of the snapshot may be sent again. Messages are idempotent, so this is
        harmless.
        """
        client = Client(direct)
        client.told = trio.current_time()
        self._clients.add(client)
        ignored = 0
        try:
            while ignored < IGNORED:
                if direct is not None and client.rest is not None:
                    rest, client.rest = client.rest, None
                    await direct.write(rest)
                elif client.behind:
                    client.behind = False
                    await send({"type": "http.response.body", "body": self.snapshot(), "more_body": True})
                elif client.waiting:
                    await send({"type": "http.response.body", "body": client.take(), "more_body": True})
                else:
                    # Messages that are written directly postpone the next heartbeat without waking this task.
                    with trio.move_on_at(client.told + HEARTBEAT_SECONDS) as client.scope:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            return
                        ignored += 1
                    client.scope = None
                    if trio.current_time() >= client.told + HEARTBEAT_SECONDS:
                        client.told = trio.current_time()
                        await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
        finally:
            self._clients.discard(client)


class Streams:
    """All event streams of a server, with limits on clients in total and per address."""

    def __init__(self, most: int = MOST_CLIENTS, most_of_address: int = MOST_OF_ADDRESS) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._of_address: Counter[str] = Counter()
        self.listening = 0

    @property
    def full(self) -> bool:
        """True if no further client can subscribe."""
        return self.listening >= self._most

    def full_for(self, host: str) -> bool:
        """Return whether no further client at this address can subscribe."""
        return self._of_address[address_of(host)] >= self._most_of_address

    async def answer(
        self,
        stream: Stream,
        headers: list[tuple[bytes, bytes]],
        host: str,
        receive: Receive,
        send: Send,
        *,
        direct: RawConnection | None = None,
    ) -> None:
        """Answer a request for a stream from the address `host`, until the client disconnects.

        `direct` is the connection, if it accepts chunks.
        """
        address = address_of(host)
        self.listening += 1
        self._of_address[address] += bool(address)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await stream.serve_client(receive, send, direct)
        finally:
            self.listening -= 1
            self._of_address[address] -= bool(address)
            if not self._of_address[address]:
                del self._of_address[address]


def address_of(host: str) -> str:
    """Return the address by which a client is counted.

    For IPv6 it is the network. It is empty for clients on this machine, such as a reverse proxy.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return "" if address.is_loopback else f"{int(address) >> IPV6_HOST_BITS:x}::"
        address = address.ipv4_mapped
    return "" if address.is_loopback else str(address)
