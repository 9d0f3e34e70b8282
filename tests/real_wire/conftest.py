"""Share the machine's isolation and bots' sockets between the tests of real processes."""

from collections.abc import Callable, Iterator

import pytest
import zmq

from referee.sandbox import SandboxError, find_isolation
from referee.sandbox.host_machine import Isolation
from tests.real_wire import peer
from tests.real_wire.seat import BotSocket


@pytest.fixture(scope="session")
def isolation() -> Isolation:
    """Return the best level that this machine has; skip where it has none, with the reason."""
    try:
        return find_isolation()
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def bot() -> Iterator[Callable[..., BotSocket]]:
    """Connects a bot's socket, in this process, to an endpoint."""
    context: zmq.Context[BotSocket] = zmq.Context()
    sockets: list[BotSocket] = []

    def connected(endpoint: str, holds: int = 1000) -> BotSocket:
        sockets.append(peer.connect(endpoint, context, holds))
        return sockets[-1]

    yield connected
    for socket in sockets:
        socket.close(linger=0)
    context.term()
