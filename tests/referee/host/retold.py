"""A match over memory lines as a whole transcript, and another bot asked what one of its seats was asked."""

from collections.abc import Awaitable, Callable
from typing import Any

import trio
from msgspec import Raw, to_builtins
from msgspec.structs import replace

from protocol.codec import encode
from referee.host.questions import Greeting, questions
from referee.host.reask import Conversation, Interviewed
from referee.match.clock import clock_terms
from referee.match.policy import Policy
from referee.match.records import FORMAT, AnyRecord, Footer, Header
from referee.wire.line import Bell
from referee.wire.memory import MemoryLine
from tests.referee.virtual import Bot, Played

TOKEN = "another"  # noqa: S105 - no secret
PATIENCE = 3_600
"""Seconds of virtual time, in which all would have been asked long since."""


def whole(played: Played) -> list[AnyRecord]:
    """The records of its transcript, from header to footer."""
    table = played.match.table
    header = Header(
        format=FORMAT,
        arena="1",
        match=played.match.name,
        game=table.game.name,
        variant=table.deal.variant,
        seed=table.deal.seed,
        options=Raw(encode(table.options)),
        setup=Raw(encode(table.setup)),
        clock=clock_terms(table.game, table.deal.variant, played.policy),
        policy=to_builtins(played.policy),
        bots=tuple(seat.bot for seat in played.match.seats),
        isolation="none",
        measured=played.match._measured,
        machine="",
        started="",
    )
    return [header, *played.records, Footer(heads=())]


async def asked(
    played: Played,
    seat: int,
    play: Callable[[Bot], Awaitable[None]],
    *,
    exit_code: int = 0,
    kind: type[MemoryLine] = MemoryLine,
    **policy: Any,
) -> tuple[Interviewed, Bot]:
    """What a bot answers in the place of a seat, and its end of the line. Its process ends when `play` does."""
    steps = questions(whole(played), seat)
    greeting = next(steps)
    assert isinstance(greeting, Greeting)
    bell = Bell()
    bot = Bot(line := kind(bell), TOKEN)
    conversation = Conversation(greeting, line, bell, token=TOKEN, policy=replace(Policy(), **policy))

    async def live() -> None:
        await play(bot)
        await conversation.left(exit_code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(live)
        with trio.fail_after(PATIENCE):
            found = await conversation.run(steps)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return found, bot
