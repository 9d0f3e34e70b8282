"""Bots in the test's own process: real matches through the real referee, without a sandbox or a socket."""

from random import Random
from typing import Any

import trio
from msgspec import Raw

from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, Hello, Opened, Over, Submit, Welcome
from referee.host.players import LocalSeat
from referee.wire.line import MemoryLine

LENGTHS = (5, 6, 7, 8, 9, 8, 7, 6, 5)
CELLS = [f"{row}{n}" for row, length in zip("ABCDEFGHI", LENGTHS, strict=True) for n in range(1, length + 1)]


class DrawsOneCell:
    """Plays Mist: one piece a turn, on a cell drawn by its own seed, after as long as it is told to think."""

    def __init__(self, think_seconds: float = 0) -> None:
        self._think_seconds = think_seconds

    async def __call__(self, line: MemoryLine) -> None:
        """See `LocalSeat.play`."""
        line.say(encode(Hello(token="", name="draws", version="1", protocol=PROTOCOL)))
        rng, seat = Random(), 0
        while True:
            match decode_server_message(await line.hear()):
                case Welcome(seed=seed, seat=seat):
                    rng = Random(seed)
                case Opened(id=number, window=name, view=view):
                    await trio.sleep(self._think_seconds)
                    free = [cell for cell in CELLS if cell not in view["forbidden"]]
                    action: Any = {"first": seat} if name == "first" else {"cells": [rng.choice(free)]}
                    line.say(encode(Submit(window=number, action=Raw(encode(action)))))
                case Over():
                    return
                case _:
                    pass


def draws(name: str, think_seconds: float = 0) -> LocalSeat:
    """Return a seat for such a bot."""
    return LocalSeat(name, DrawsOneCell(think_seconds))
