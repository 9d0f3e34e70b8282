"""What the bad bots share: a bare connection, without the kit that would keep them from misbehaving."""

import json
import os
from typing import Any

import zmq


class Connection:
    """One PAIR socket to the referee."""

    def __init__(self) -> None:
        self.socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PAIR)
        self.socket.set(zmq.LINGER, 1000)
        self.socket.connect(os.environ["ARENA_ENDPOINT"])

    def say(self, **message: Any) -> None:
        """One message."""
        self.socket.send(json.dumps(message).encode())

    def hello(self, token: str | None = None, protocol: int = 1) -> None:
        """The hello that it should be, if nothing else is asked for."""
        token = os.environ["ARENA_TOKEN"] if token is None else token
        self.say(type="hello", token=token, name="bad", version="1", protocol=protocol)

    def hear(self, kind: str) -> dict[str, Any]:
        """The next message of a type; ends the program at `over` or `fault`."""
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv())
            if message["type"] == kind:
                return message
            if message["type"] in {"over", "fault"}:
                raise SystemExit

    def wait(self) -> None:
        """Hears until the end."""
        self.hear("nothing")
