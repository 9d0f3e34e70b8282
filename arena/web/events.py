"""Event streams: what has happened, told to many browsers at once, of which none is waited for.

A message is encoded once and its bytes are shared. Each client has a bounded queue. One that does not keep up is
told later how things stand then, and nothing of what was between.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address
from typing import Any

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
SOONEST_SECONDS = 0.1
"""Messages of so long go out together."""
SECONDS_A_CLIENT = 0.001
"""With many clients, messages go out together for longer: there are a thousand sends a second at most."""
IGNORED = 100
"""Parts of a request's body that are let pass."""
FRESH_SECONDS = 0.25
"""How long what late clients are told stays good, if nothing happens: clocks run on in it."""

Send = Callable[[Any], Awaitable[None]]
Receive = Callable[[], Awaitable[Any]]


def event(message: Any) -> bytes:
    """A message as an event of a stream. It is JSON, so there is no line end within it."""
    return b"data: " + encode(message) + b"\n\n"


class Client:
    """One browser that listens."""

    __slots__ = ("behind", "scope", "size", "waiting")

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.size = 0
        self.behind = True
        """It is to be told how things stand."""
        self.scope: trio.CancelScope | None = None
        """Where it waits for something to be told."""

    def put(self, batch: bytes) -> None:
        """Has it told this, or later how things stand."""
        if not self.behind:
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
        self._known: tuple[float, bytes] | None = None

    def __len__(self) -> int:
        """How many listen."""
        return len(self._clients)

    def publish(self, message: Any) -> None:
        """Tells this to all who listen. It never waits."""
        self._known = None
        if not self._clients:
            return
        if not self._size:
            self._nursery.start_soon(self._soon)
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

    async def _soon(self) -> None:
        """Sends what is published from now on for a little while, in one piece."""
        await trio.sleep(max(SOONEST_SECONDS, SECONDS_A_CLIENT * len(self._clients)))
        batch = b"".join(self._news)
        too_much = self._size > MOST_WAITING_BYTES
        self._news.clear()
        self._size = 0
        for client in self._clients:
            if too_much:
                client.catch_up()
            client.put(batch)

    async def tell(self, receive: Receive, send: Send) -> None:
        """Tells one client, until it goes: first how things stand, then each message.

        A client may be told a message twice, in how things stand and once more. Messages are such that this does
        not matter.
        """
        client = Client()
        self._clients.add(client)
        ignored = 0
        try:
            while ignored < IGNORED:
                if client.behind:
                    client.behind = False
                    await send({"type": "http.response.body", "body": self.snapshot(), "more_body": True})
                elif client.waiting:
                    await send({"type": "http.response.body", "body": client.take(), "more_body": True})
                else:
                    with trio.move_on_after(HEARTBEAT_SECONDS) as client.scope:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            return
                        ignored += 1
                    quiet = client.scope.cancelled_caught and not (client.waiting or client.behind)
                    client.scope = None
                    if quiet:
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
        self, stream: Stream, headers: list[tuple[bytes, bytes]], host: str, receive: Receive, send: Send
    ) -> None:
        """Answers a request for a stream. It may end only with the client, which is at the address `host`."""
        address = address_of(host)
        self.listening += 1
        self._of_address[address] += bool(address)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await stream.tell(receive, send)
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
