"""Event streams: what has happened, told to many browsers at once, of which none is waited for.

A message is encoded once and its bytes are shared. They are written at once as far as the kernel has room for
them; a client's task wakes up only for the rest. Each client has a bounded queue. One that does not keep up is
told later how things stand then, and nothing of what was between.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address
from typing import Any, Protocol

import trio

from protocol.codec import encode

HEARTBEAT_SECONDS = 15.0
"""After so long without a message a client is sent a line that says nothing: a connection that is gone shows."""
HEARTBEAT = b":\n\n"
MOST_WAITING = 32
MOST_WAITING_BYTES = 256 * 1024
"""Of one client. One for which more waits begins again, with how things stand."""
MOST_CLIENTS = 2_000
"""Event streams of one server, if nothing else is asked for."""
MOST_OF_ADDRESS = 100
"""Event streams of one client's address, if nothing else is asked for."""
IPV6_HOST_BITS = 64
"""One client has all IPv6 addresses of a network."""
PAUSE_SECONDS = 0.2
"""After a message that is sent at once, those of so long go out together."""
SECONDS_A_CLIENT = 0.0005
"""With many clients, messages go out together for longer: there are two thousand writes a second at most."""
CLIENTS_AT_ONCE = 100
"""Clients that are written to before others have a turn."""
IGNORED = 100
"""Parts of a request's body that are let pass."""
FRESH_SECONDS = 0.25
"""How long what late clients are told stays good, if nothing happens: clocks run on in it."""

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]


class Direct(Protocol):
    """A connection that takes bytes of an answer as HTTP has them on the network."""

    def write_now(self, data: bytes) -> int:
        """Writes what there is room for now; gives how many bytes. It never waits."""

    async def write(self, data: bytes | memoryview) -> None:
        """Writes all."""


def event(message: Any) -> bytes:
    """A message as an event of a stream. It is JSON, so there is no line end within it."""
    return b"data: " + encode(message) + b"\n\n"


def chunk(data: bytes) -> bytes:
    """Bytes of an answer without a length, as HTTP/1.1 has them on the network (RFC 9112, 7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class Client:
    """One browser that listens."""

    __slots__ = ("behind", "direct", "rest", "scope", "size", "told", "waiting")

    def __init__(self, direct: Direct | None = None) -> None:
        """`direct`: its connection, if it takes chunks."""
        self.direct = direct
        self.rest: memoryview | None = None
        """Of a chunk that its connection had no room for."""
        self.waiting: list[bytes] = []
        self.size = 0
        self.behind = True
        """It is to be told how things stand."""
        self.told = 0.0
        """When it was last told something."""
        self.scope: trio.CancelScope | None = None
        """Where it waits for something to be told."""

    def put(self, batch: bytes, chunked: bytes, now: float) -> None:
        """Has it told this, or later how things stand. `chunked`: the same as a chunk."""
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
        """Forgets what it was to be told."""
        self.behind, self.size = True, 0
        self.waiting.clear()

    def take(self) -> bytes:
        """What it is to be told now."""
        batch = self.waiting[0] if len(self.waiting) == 1 else b"".join(self.waiting)
        self.waiting.clear()
        self.size = 0
        return batch


class Stream:
    """Messages about one thing, for all who listen."""

    def __init__(self, nursery: trio.Nursery, snapshot: Callable[[], Any]) -> None:
        """`snapshot`: how things stand, as a message that needs no other before it."""
        self._nursery = nursery
        self._snapshot = snapshot
        self._clients: set[Client] = set()
        self._news: list[bytes] = []
        self._size = 0
        self._flows = False
        self._known: tuple[float, bytes] | None = None

    def __len__(self) -> int:
        """How many listen."""
        return len(self._clients)

    def publish(self, message: Any) -> None:
        """Tells this to all who listen. It never waits."""
        self._known = None
        if not self._clients:
            return
        if not self._flows:
            self._flows = True
            self._nursery.start_soon(self._flow)
        told = event(message)
        self._size += len(told)
        # Of more than one client may wait for, each begins again.
        if self._size <= MOST_WAITING_BYTES:
            self._news.append(told)

    def snapshot(self) -> bytes:
        """How things stand, as an event."""
        now = trio.current_time()
        if self._known is None or now > self._known[0] + FRESH_SECONDS:
            self._known = now, event(self._snapshot())
        return self._known[1]

    async def _flow(self) -> None:
        """Sends what is published, until nothing has been for a while."""
        while self._size:
            await self._send_news()
            await trio.sleep(max(PAUSE_SECONDS, SECONDS_A_CLIENT * len(self._clients)))
        self._flows = False

    async def _send_news(self) -> None:
        """Sends what has been published, in one piece."""
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

    async def tell(self, receive: Receive, send: Send, direct: Direct | None = None) -> None:
        """Tells one client, until it goes: first how things stand, then each message.

        A client may be told a message twice, in how things stand and once more. Messages are such that this does
        not matter.
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
                    # Messages that are written at once move the time of the next heartbeat, and wake nobody.
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
    """All event streams of a server, with bounds on who listens: in all, and from one address."""

    def __init__(self, most: int = MOST_CLIENTS, most_of_address: int = MOST_OF_ADDRESS) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._of_address: Counter[str] = Counter()
        self.listening = 0

    @property
    def full(self) -> bool:
        """Whether nobody else can be told."""
        return self.listening >= self._most

    def full_for(self, host: str) -> bool:
        """Whether nobody else at this address can be told."""
        return self._of_address[address_of(host)] >= self._most_of_address

    async def answer(
        self,
        stream: Stream,
        headers: list[tuple[bytes, bytes]],
        host: str,
        receive: Receive,
        send: Send,
        *,
        direct: Direct | None = None,
    ) -> None:
        """Answers a request for a stream. It may end only with the client, which is at the address `host`.

        `direct`: the connection, if it takes chunks.
        """
        address = address_of(host)
        self.listening += 1
        self._of_address[address] += bool(address)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await stream.tell(receive, send, direct)
        finally:
            self.listening -= 1
            self._of_address[address] -= bool(address)
            if not self._of_address[address]:
                del self._of_address[address]


def address_of(host: str) -> str:
    """The address by which a client is counted.

    Of IPv6 it is the network. It is empty if the client is on this machine, as a web server in front may be.
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
