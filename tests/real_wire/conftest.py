"""Bots' sockets for the wire's tests."""

from collections.abc import Callable, Iterator

import pytest
import zmq

from tests.real_wire import peer
from tests.real_wire.seat import BotSocket


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
