"""Stand-ins for bots of which some never start or never answer."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from msgspec.structs import replace

from arena.workers.api import Worker
from protocol.refusals import Conduct
from referee.host.plan import AttemptResult, Plan
from referee.match.seat_report import SeatReport
from tests.arena.stand_in import AtOnce

WHY = "it exited with code 1"


class Field(AtOnce):
    """Plays at once; but some bots never start, and with others a match has no end."""

    def __init__(self, broken: Collection[str] = (), endless: Collection[str] = ()) -> None:
        super().__init__()
        self.broken, self.endless = broken, endless
        self.seatings: list[tuple[str, ...]] = []

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        names = [str(getattr(getattr(player, "folder", None), "given", player)) for player in players]
        done = await super().__call__(plan, names, transcript=transcript)
        self.seatings.append(tuple(names))
        if not set(self.endless).isdisjoint(names):
            await trio.sleep_forever()
        starts = [name not in self.broken for name in names]
        return replace(
            done,
            conduct=tuple(Conduct.OK if each else Conduct.NEVER_STARTED for each in starts),
            defaults=(0,) * len(names),
            reports=tuple(SeatReport() if each else SeatReport(loss=WHY) for each in starts),
        )

    @asynccontextmanager
    async def open_workers(self, matches: int) -> AsyncIterator[list[Worker[str]]]:
        """See `WorkerPool`."""
        del matches
        yield [Worker(play=self, slots=2)]

    @property
    def counted(self) -> list[tuple[str, ...]]:
        """Who played in the matches that count."""
        checks = [plan.match.startswith("check-") for plan in self.played]
        return [names for names, check in zip(self.seatings, checks, strict=True) if not check]
