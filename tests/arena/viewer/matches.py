"""Matches to look at: one of each game, in virtual time, by bots that take defaults or draw cells of Mist."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import trio
import trio.testing
from msgspec import Raw

from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, Hello, Note, Opened, Over, Submit, Welcome
from referee.host.observers import Publish
from referee.host.one_match import play
from referee.host.plan import Plan
from referee.host.players import LocalSeat
from referee.match.terms import Policy
from referee.wire.line import MemoryLine
from tests.arena.live.local_bots import CELLS

SEATS = {"mist": 2, "hive-mind": 5, "pointing": 13, "fight-for-a-name": 13, "runes-to-ruins": 5}
VARIANTS = {
    "mist": "contractual-obligation",
    "hive-mind": "recharged",
    "pointing": "tempo-up",
    "fight-for-a-name": "guardians",
    "runes-to-ruins": "guardians",
}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u202egnp"
LONG_NOTE = f"{HOSTILE}{'long ' * 380}"


def bot(note: str | None = None) -> Callable[[MemoryLine], Awaitable[None]]:
    """Takes every default, or in Mist a cell that it draws or the swap; says a note with its second window."""

    async def playing(line: MemoryLine) -> None:
        line.say(encode(Hello(token="", name="x", version="1", protocol=PROTOCOL)))
        rng = Random(1)
        while True:
            match decode_server_message(await line.hear()):
                case Welcome(seed=seed):
                    rng = Random(seed)
                case Opened(id=number, window=name, view=view):
                    await trio.sleep(0.05)
                    if number == 1 and note is not None:
                        line.say(encode(Note(text=note)))
                    action: Any = None
                    if name == "turn" and view["may_swap"]:
                        action = {"swap": True}
                    elif name == "turn":
                        action = {"cells": [rng.choice([each for each in CELLS if each not in view["forbidden"]])]}
                    line.say(encode(Submit(window=number, action=Raw(encode(action)), final=True)))
                case Over():
                    return
                case _:
                    pass

    return playing


def written(
    game: str,
    path: Path,
    *,
    variant: str = "",
    name: str = "bob",
    note: str | None = None,
    turns: int = 12,
    main_ms: int | None = None,
    reserve_ms: int | None = None,
    publish: Publish | None = None,
) -> Path:
    """Plays a match and writes its transcript. Seat 0 has the name, and says the note.

    `publish`: takes the messages of its feed.
    """
    options = encode({"first": 0, "max_turns": turns}) if game == "mist" else b"{}"
    plan = Plan(
        match="m",
        game=game,
        variant=variant or VARIANTS[game],
        seed=1,
        options=Raw(options),
        policy=Policy(fault="default", main_ms=main_ms, reserve_ms=reserve_ms),
    )
    seats = [LocalSeat(name, bot(note)), *(LocalSeat(f"bot-{n}", bot()) for n in range(1, SEATS[game]))]

    async def playing() -> None:
        await play(plan, tuple(seats), transcript=path, publish=publish)

    trio.run(playing, clock=trio.testing.MockClock(autojump_threshold=0))
    return path
