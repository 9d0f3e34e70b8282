"""One client's connection, whatever the client does: in memory, and on a clock that jumps."""

import socket
from contextlib import suppress
from typing import Any

import h11
import pytest
import trio
import trio.testing

from arena.web.connection import (
    DIRECT,
    HEADER_BYTES,
    LINGER_BYTES,
    LINGER_SECONDS,
    REQUEST_SECONDS,
    STUCK_SECONDS,
    Connection,
)
from arena.web.events import HEARTBEAT, HEARTBEAT_SECONDS, PAUSE_SECONDS, Receive, Send, Stream, Streams, event
from arena.web.server import MOST_REFUSING, Server, listeners

CLIENT = ("192.0.2.1", 40_000)
GET = b"GET /%b HTTP/1.1\r\nHost: arena.example\r\n\r\n"


async def hello(scope: dict[str, object], receive: Receive, send: Send) -> None:
    """Answers with the path; reads no body."""
    del receive
    assert "http" == scope["type"]
    body = str(scope["path"]).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def sockets() -> tuple[trio.SocketStream, trio.SocketStream]:
    """Two ends of a connection of the kernel's, which holds little at once."""
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    one, other = (trio.SocketStream(trio.socket.from_stdlib_socket(end)) for end in ends)
    return one, other


class Served:
    """A client, and the connection that answers it."""

    def __init__(self, nursery: trio.Nursery, application: object = hello, pair: Any = None) -> None:
        self.failed: list[Exception] = []
        self.client: Any
        self.client, server = pair or trio.testing.memory_stream_pair()
        connection = Connection(application, server, CLIENT, self.failed.append)  # type: ignore[arg-type]
        nursery.start_soon(connection.run)

    async def says(self, data: bytes) -> bytes:
        await self.client.send_all(data)
        await trio.testing.wait_all_tasks_blocked()
        return bytes(await self.client.receive_some())

    async def rest(self) -> bytes:
        """All that still comes, until the connection is closed."""
        return b"".join([bytes(part) async for part in self.client])


async def test_requests_are_answered_one_after_the_other(nursery: trio.Nursery) -> None:
    served = Served(nursery)
    for path in (b"one", b"two"):
        answer = await served.says(GET % path)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n\r\n/" + path)


async def test_two_requests_at_once_are_answered_in_order(nursery: trio.Nursery) -> None:
    served = Served(nursery)
    answers = await served.says(GET % b"one" + GET % b"two")
    assert 2 == answers.count(b"HTTP/1.1 200 ")
    assert 0 < answers.index(b"/one") < answers.index(b"/two")


async def test_a_client_that_sends_nothing_is_let_go(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    served = Served(nursery)
    assert b"" == await served.rest()
    assert REQUEST_SECONDS == trio.current_time()


async def test_a_client_that_never_ends_its_headers_is_let_go_in_the_same_time(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    served = Served(nursery)

    async def trickle() -> None:
        await served.client.send_all(b"GET / HTTP/1.1\r\n")
        with suppress(trio.BrokenResourceError):
            while True:
                await trio.sleep(1)
                await served.client.send_all(b"X-A: b\r\n")

    nursery.start_soon(trickle)
    assert b"" == await served.rest()
    assert REQUEST_SECONDS == trio.current_time()


async def test_after_an_answer_the_time_for_the_next_request_begins(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    served = Served(nursery)
    await trio.sleep(REQUEST_SECONDS - 1)
    await served.says(GET % b"")
    assert b"" == await served.rest()
    assert 2 * REQUEST_SECONDS - 1 == trio.current_time()


async def test_headers_beyond_the_bound_are_refused(nursery: trio.Nursery) -> None:
    served = Served(nursery)
    await served.client.send_all(b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 2 * HEADER_BYTES)
    assert (await served.rest()).startswith(b"HTTP/1.1 431 ")


async def test_what_is_no_request_is_refused(nursery: trio.Nursery) -> None:
    for nonsense in (
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP\r\n\r\n",
        b"\0\r\n\r\n",
    ):
        served = Served(nursery)
        await served.client.send_all(nonsense)
        assert (await served.rest()).startswith(b"HTTP/1.1 400 ")
        assert [] == served.failed


async def test_http_2_is_not_spoken(nursery: trio.Nursery) -> None:
    served = Served(nursery)
    asked = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    upgrade = b"GET /x HTTP/1.1\r\nHost: a\r\n%b\r\n" % asked
    assert (await served.says(upgrade)).startswith(b"HTTP/1.1 200 ")
    served = Served(nursery)
    assert not (await served.says(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).startswith(b"\0")


async def test_a_body_is_not_read_and_ends_the_connection(nursery: trio.Nursery) -> None:
    served = Served(nursery)
    await served.client.send_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nxxx")
    assert (await served.rest()).endswith(b"\r\n\r\n/")


LONG = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"


async def test_a_client_that_sends_a_body_that_is_not_read_gets_the_answer_over_tcp(nursery: trio.Nursery) -> None:
    listening = await listeners("127.0.0.1", 0)
    nursery.start_soon(Server(hello, 1, lambda _: None).serve, listening)
    client = await trio.open_tcp_stream("127.0.0.1", listening[0].socket.getsockname()[1])
    await client.send_all(LONG)
    for _ in range(1_000):  # Far more than the kernel holds, and a reset would be an error here.
        await client.send_all(b"x" * 16_384)
    assert (await client.receive_some()).endswith(b"\r\n\r\n/")
    assert b"" == await client.receive_some()
    await client.aclose()


async def test_a_client_that_goes_on_sending_after_its_answer_is_let_go(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    for piece, pause in ((b"x", 1.0), (b"x" * LINGER_BYTES, 0.0)):
        client, server = trio.testing.memory_stream_pair()
        began, ended = trio.current_time(), trio.Event()

        async def run(server: Any = server, ended: trio.Event = ended) -> None:
            await Connection(hello, server, CLIENT, lambda _: None).run()
            ended.set()

        nursery.start_soon(run)
        await client.send_all(LONG)
        with pytest.raises(trio.BrokenResourceError):
            while True:
                await client.send_all(piece)
                await trio.sleep(pause)
                await trio.testing.wait_all_tasks_blocked()
        await ended.wait()
        assert LINGER_SECONDS + 1 >= trio.current_time() - began


async def test_a_client_that_reads_nothing_is_let_go(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    client, server = trio.testing.lockstep_stream_pair()
    await_end = trio.Event()

    async def run() -> None:
        await Connection(hello, server, CLIENT, lambda _: None).run()
        await_end.set()

    nursery.start_soon(run)
    await client.send_all(GET % b"")
    await await_end.wait()
    assert STUCK_SECONDS == trio.current_time()


async def test_an_application_that_fails_is_told_to_the_operator_alone(nursery: trio.Nursery) -> None:
    async def fails(scope: object, receive: Receive, send: Send) -> None:
        raise ValueError("a secret")

    served = Served(nursery, fails)
    await served.client.send_all(GET % b"")
    answer = await served.rest()
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"secret" not in answer
    assert ["a secret"] == [str(error) for error in served.failed]


async def test_connections_beyond_the_bound_are_told_so(nursery: trio.Nursery) -> None:
    server = Server(hello, 1, lambda _: None, of_address=1_000)
    clients = []
    for _ in range(501):
        client, ours = trio.testing.memory_stream_pair()
        clients.append(client)
        nursery.start_soon(server.answer, ours, CLIENT)
    await trio.testing.wait_all_tasks_blocked()
    client, ours = trio.testing.memory_stream_pair()
    await server.answer(ours, CLIENT)
    assert (await client.receive_some()).startswith(b"HTTP/1.1 503 ")
    await clients[0].aclose()
    await trio.testing.wait_all_tasks_blocked()
    client, ours = trio.testing.memory_stream_pair()
    nursery.start_soon(server.answer, ours, CLIENT)
    await client.send_all(GET % b"")
    await trio.testing.wait_all_tasks_blocked()
    assert (await client.receive_some()).startswith(b"HTTP/1.1 200 ")


async def test_one_address_has_so_many_connections_and_others_have_theirs(nursery: trio.Nursery) -> None:
    server = Server(hello, 100, lambda _: None, of_address=3)

    async def connect(address: str) -> trio.abc.HalfCloseableStream:
        client, ours = trio.testing.memory_stream_pair()
        nursery.start_soon(server.answer, ours, (address, 40_000))
        await client.send_all(GET % b"")
        await trio.testing.wait_all_tasks_blocked()
        return client

    network = [f"2001:db8::{number}" for number in range(3)]
    clients = [await connect(address) for address in network]
    for address, status in (("2001:db8::9", b"503"), ("2001:db8:0:1::1", b"200"), ("192.0.2.1", b"200")):
        assert (await (await connect(address)).receive_some()).startswith(b"HTTP/1.1 " + status)
    for address in ["127.0.0.1"] * 5:
        assert (await (await connect(address)).receive_some()).startswith(b"HTTP/1.1 200")
    await clients[0].aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert (await (await connect("2001:db8::9")).receive_some()).startswith(b"HTTP/1.1 200")


async def test_clients_that_are_refused_and_stay_hold_few_descriptors(nursery: trio.Nursery) -> None:
    server = Server(hello, 1, lambda _: None, of_address=0)
    clients = []
    for _ in range(MOST_REFUSING + 10):
        client, ours = trio.testing.memory_stream_pair()
        clients.append(client)
        nursery.start_soon(server.answer, ours, CLIENT)
    await trio.testing.wait_all_tasks_blocked()
    answers = [await client.receive_some() for client in clients]
    assert MOST_REFUSING == sum(b" 503 " in answer for answer in answers)
    assert 10 == answers.count(b"")


class Told:
    """A browser that follows a stream over a connection of its own."""

    def __init__(self, nursery: trio.Nursery, stream: Stream, streams: Streams, pair: Any = None) -> None:
        async def application(scope: Any, receive: Receive, send: Send) -> None:
            direct = scope["extensions"].get(DIRECT)
            await streams.answer(
                stream, [(b"content-type", b"text/event-stream")], "", receive, send, direct=direct
            )

        self._served = Served(nursery, application, pair)
        self.client = self._served.client

    async def begins(self) -> bytes:
        return await self._served.says(GET % b"")


async def test_a_browser_that_leaves_is_forgotten_at_once(nursery: trio.Nursery) -> None:
    streams, stream = Streams(), Stream(nursery, lambda: {"now": 1})
    told = Told(nursery, stream, streams)
    assert b'data: {"now":1}\n\n' in await told.begins()
    assert (1, 1) == (streams.listening, len(stream))
    await told.client.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert (0, 0) == (streams.listening, len(stream))


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_news_come_whole_and_in_order_over_a_connection_with_little_room(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock, version: str
) -> None:
    """With HTTP/1.1 in chunks, of which the first fit and the last do not; before it as they are."""
    stream, client = Stream(nursery, lambda: -1), h11.Connection(h11.CLIENT)
    told = Told(nursery, stream, Streams(), sockets())
    request = h11.Request(method="GET", target="/", headers=[("host", "a")])
    asked = (client.send(request) or b"") + (client.send(h11.EndOfMessage()) or b"")
    await told.client.send_all(asked.replace(b"HTTP/1.1", f"HTTP/{version}".encode()))
    await trio.testing.wait_all_tasks_blocked()
    news = [[number, "x" * 3**number] for number in range(10)]
    for each in news:
        stream.publish(each)
        await trio.sleep(PAUSE_SECONDS)
    received, wanted = b"", b"".join(map(event, [-1, *news]))
    while len(received) < len(wanted):
        client.receive_data(await told.client.receive_some())
        while isinstance(came := client.next_event(), h11.Data | h11.Response):
            received += came.data if isinstance(came, h11.Data) else b""
    assert wanted == received
    await told.client.aclose()


async def test_a_browser_that_is_gone_when_news_come_is_forgotten(nursery: trio.Nursery) -> None:
    stream = Stream(nursery, lambda: {"now": 1})
    told = Told(nursery, stream, Streams(), sockets())
    await told.begins()
    told.client.socket.close()
    stream.publish({"news": 1})
    await trio.testing.wait_all_tasks_blocked()
    assert 0 == len(stream)


async def test_a_stream_lasts_and_says_now_and_then_that_it_does(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    stream = Stream(nursery, lambda: {"now": 1})
    told = Told(nursery, stream, Streams())
    await told.begins()
    for _ in range(3):
        assert HEARTBEAT in await told.client.receive_some()
    assert 3 * HEARTBEAT_SECONDS == trio.current_time()


async def test_a_client_that_goes_on_sending_is_told_all_the_same(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    stream = Stream(nursery, lambda: {"now": 1})
    told = Told(nursery, stream, Streams())
    await told.begins()
    await told.client.send_all(b"x" * 1_000_000)
    stream.publish({"news": 1})
    assert b'data: {"news":1}' in await told.client.receive_some()
