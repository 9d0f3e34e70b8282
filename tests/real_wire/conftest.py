"""Share the machine's isolation and bots' sockets between the tests of real processes."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import zmq

from referee.sandbox import SandboxError, find_isolation
from referee.sandbox.host_machine import Isolation
from tests.real_wire import peer
from tests.real_wire.remote import Client, Door, clients, open_door
from tests.real_wire.seat import BotSocket, Seat, open_seat


@pytest.fixture(scope="session")
def isolation() -> Isolation:
    """Return the best level that this machine has; skip where it has none, with the reason."""
    try:
        return find_isolation()
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def bot() -> Iterator[Callable[..., BotSocket]]:
    """Connect bots' sockets, in this process, to endpoints."""
    context: zmq.Context[BotSocket] = zmq.Context()
    sockets: list[BotSocket] = []

    def connected(endpoint: str, holds: int = 1000) -> BotSocket:
        sockets.append(peer.connect(endpoint, context, holds))
        return sockets[-1]

    yield connected
    for socket in sockets:
        socket.close(linger=0)
    context.term()


@pytest.fixture
async def seat(tmp_path: Path) -> AsyncIterator[Seat]:
    """Open a wire with one line."""
    async with open_seat(tmp_path) as seat:
        yield seat


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    """Open a lobby that knows one bot."""
    async with open_door() as door:
        yield door


@pytest.fixture
def client() -> Iterator[Client]:
    """Connect libzmq's clients to a lobby."""
    with clients() as connected:
        yield connected
