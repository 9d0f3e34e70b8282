"""What the tests of remote seats start from: a lobby, libzmq's clients with keys, and a line that can be cut."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import trio
import zmq

from referee.wire.keys import KeyPair, new_pair, z85
from referee.wire.line import Arrived, Bell
from referee.wire.remote import Address, Lobby, RemoteLine, open_lobby
from tests.real_wire.seat import BotSocket, hear
from tests.real_wire.stress import next_item

HERE = Address("127.0.0.1", 0)


@dataclass
class Door:
    """A lobby that knows one bot."""

    lobby: Lobby
    host: KeyPair
    bot: KeyPair
    bell: Bell = field(default_factory=Bell)
    away: list[str] = field(default_factory=list)
    """Why others were turned away."""

    @property
    def line(self) -> RemoteLine:
        return self.lobby.lines[z85(self.bot.public)]

    async def frame(self) -> bytes:
        """Wait for the next frame."""
        with trio.fail_after(60):
            while True:
                item = await next_item(self.line, self.bell)
                if isinstance(item, Arrived):
                    return item.frame

    async def left(self) -> None:
        """Return once the bot's connection is noticed to be gone."""
        with trio.fail_after(30):
            await self.line.missing(0)

    async def serves(self, socket: BotSocket) -> None:
        """Assert that the line carries a frame each way."""
        socket.send(b"words")
        assert b"words" == await self.frame()
        self.line.send(b"answer")
        assert b"answer" == await hear(socket)

    async def turned_away(self) -> str:
        """Why somebody was, once there is one."""
        with trio.fail_after(60):
            while not self.away:  # noqa: ASYNC110 - it is told by no event
                await trio.sleep(0.01)
        return self.away[0]


@asynccontextmanager
async def open_door(address: Address = HERE, *, stands: bool = False, barred: bool = False) -> AsyncIterator[Door]:
    host, bot = new_pair(), new_pair()
    away: list[str] = []
    key = z85(bot.public)
    opening = open_lobby(
        address, host, [key], lambda _, why: away.append(why), barred=[key] if barred else (), stands=stands
    )
    async with opening as lobby:
        yield Door(lobby, host, bot, away=away)


Client = Callable[..., BotSocket]


@contextmanager
def clients() -> Iterator[Client]:
    """Make libzmq's clients: `(endpoint, host's public key, own keys)`; without keys, with no mechanism."""
    context: zmq.Context[BotSocket] = zmq.Context()
    sockets: list[BotSocket] = []

    def connected(
        endpoint: str | None, host: bytes | None = None, keys: KeyPair | None = None, **options: int
    ) -> BotSocket:
        socket = context.socket(zmq.PAIR)
        sockets.append(socket)
        socket.set(zmq.LINGER, 0)
        for option, value in options.items():
            socket.set(getattr(zmq, option), value)
        if host is not None and keys is not None:
            socket.curve_serverkey = z85(host).encode()
            socket.curve_publickey = z85(keys.public).encode()
            socket.curve_secretkey = z85(keys.secret).encode()
        if endpoint is not None:
            socket.connect(endpoint)
        return socket

    try:
        yield connected
    finally:
        for socket in sockets:
            socket.close(linger=0)
        context.term()


class CutLine:
    """Carries bytes between a bot and its host, and cuts itself: both ends hear that it is over."""

    def __init__(self, host: str, cuts: Sequence[int], delay: float = 0.0) -> None:
        """`cuts`: after how many bytes, both ways, it cuts itself. `delay`: of each byte, one way, in seconds."""
        self._host = host
        self._delay = delay
        self._cuts = list(cuts)
        self.endpoint = ""
        self.carried = 0
        """Bytes, both ways."""
        self._over = trio.CancelScope()

    async def run(self, task_status: trio.TaskStatus[None]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.endpoint = f"tcp://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        task_status.started()
        await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, bot: trio.SocketStream) -> None:
        self._over = trio.CancelScope()
        port = int(self._host.rpartition(":")[2])
        try:
            host = await trio.open_tcp_stream("127.0.0.1", port)
        except OSError:  # Nobody listens now.
            await bot.aclose()
            return
        async with bot, host:
            with self._over:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._carry, bot, host)
                    nursery.start_soon(self._carry, host, bot)

    async def _carry(self, source: trio.SocketStream, goal: trio.SocketStream) -> None:
        held, late = trio.open_memory_channel[tuple[float, bytes]](1_000)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._pass_on, late, goal)
            async with held:
                await self._take(source, held)

    async def _take(self, source: trio.SocketStream, held: trio.MemorySendChannel[tuple[float, bytes]]) -> None:
        try:
            while said := await source.receive_some():
                self.carried += len(said)
                if self._cuts and self.carried >= self._cuts[0]:
                    del self._cuts[0]
                    self._over.cancel()  # what was just said is lost
                await held.send((trio.current_time() + self._delay, said))
        except trio.BrokenResourceError:
            pass

    async def _pass_on(
        self, late: trio.MemoryReceiveChannel[tuple[float, bytes]], goal: trio.SocketStream
    ) -> None:
        try:
            async for at, said in late:
                await trio.sleep_until(at)
                await goal.send_all(said)
        except trio.BrokenResourceError:
            pass
        self._over.cancel()
