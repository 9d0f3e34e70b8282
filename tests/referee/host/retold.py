"""A match over memory lines as a whole transcript, and another bot asked what one of its seats was asked."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import trio
from msgspec import UNSET, Raw, to_builtins
from msgspec.structs import replace

from protocol.codec import encode
from referee.host.host import Host
from referee.host.interview import Interviewed, questions_of
from referee.host.observers import MatchLog
from referee.host.plan import Plan
from referee.host.players import SeatDriver
from referee.host.reask import reask, stand_in
from referee.match.records import FORMAT, AnyRecord, BotIdentity, Footer, Header
from referee.match.terms import Policy, clock_terms
from referee.wire.line import Bell, Line, MemoryLine
from tests.referee.virtual import Bot, Played

TOKEN = "another"  # noqa: S105 - no secret
PATIENCE = 3_600
"""Seconds of virtual time, in which all would have been asked long since."""


def whole(played: Played) -> list[AnyRecord]:
    """Return the records of a transcript, from header to footer."""
    table = played.match.table
    header = Header(
        format=FORMAT,
        arena="1",
        match=played.match.terms.match,
        game=table.game.name,
        variant=table.deal.variant,
        seed=table.deal.seed,
        options=Raw(encode(table.options)),
        setup=Raw(encode(table.setup)),
        clock=clock_terms(table.game, table.deal.variant, played.policy),
        policy=to_builtins(played.policy),
        bots=tuple(seat.bot for seat in played.match.seats),
        isolation="none",
        measured=played.match.terms.measured,
        unexcused=tuple(sorted(played.match.terms.unexcused)) or UNSET,
        machine="",
        started="",
    )
    return [header, *played.records, Footer(heads=())]


class Virtual(SeatDriver):
    """A bot at a memory line. Its process ends when `play` does."""

    line: MemoryLine

    def __init__(
        self,
        seat: int,
        identity: BotIdentity,
        play: Callable[[Bot], Awaitable[None]],
        exit_code: int,
        kind: type[MemoryLine],
    ) -> None:
        super().__init__(seat, identity)
        self._play, self._exit_code, self._kind = play, exit_code, kind
        self._done = trio.Event()

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:
        """See `SeatDriver`."""
        self.line = self._kind(bell)
        self.bot = Bot(self.line, self.identity.token)
        return self.line

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `SeatDriver`."""
        await self._play(self.bot)
        self._done.set()
        await host.left(self.seat, self._exit_code)

    async def ended(self) -> None:
        """See `SeatDriver`."""
        await self._done.wait()


async def asked(
    played: Played, seat: int, play: Callable[[Bot], Awaitable[None]], **settings: Any
) -> tuple[Interviewed, Bot]:
    """See `asked_of`."""
    return await asked_of(whole(played), seat, play, **settings)


async def asked_of(
    records: Iterable[AnyRecord],
    seat: int | None,
    play: Callable[[Bot], Awaitable[None]],
    *,
    exit_code: int = 0,
    kind: type[MemoryLine] = MemoryLine,
    unlimited: bool = False,
    **policy: Any,
) -> tuple[Interviewed, Bot]:
    """Return the answers of a bot in the place of a seat, and its end of the line."""
    asked = questions_of(records, seat)
    assert asked is not None
    welcome = asked.welcome
    plan = Plan(
        match=welcome.match, game=welcome.game, variant=welcome.variant, seed=0, policy=replace(Policy(), **policy)
    )
    player = Virtual(welcome.seat, stand_in(asked, TOKEN), play, exit_code, kind)
    with trio.fail_after(PATIENCE):
        found = await reask(asked, player, plan, unlimited=unlimited)
    return found, player.bot
