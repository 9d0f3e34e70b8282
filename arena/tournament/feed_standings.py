"""A tournament's standings on the live feed: read from the ledger as blocks are completed, and told again."""

from collections.abc import Iterable, Sequence
from functools import partial

import trio

from arena.config import Tournament
from arena.schedule import Match, withdrawn
from arena.statistics import Played, StandingsRow, standings_of
from arena.tournament.ledger import Ledger
from arena.tournament.runner import Progress, Write
from protocol.codec import encode
from protocol.feed import STANDINGS, FeedRow, FeedStandings
from referee.host import Publish, Result

LOOK_SECONDS = 0.5
"""At most so often the standings are made anew."""
AGAIN_SECONDS = 3.0
"""So often they are published again, for spectators that come late."""
BLOCKS_AT_ONCE = 1_000
SUMS = ("played", "wins", "ties", "losses", "points", "faults", "defaults")
"""The fields of a row that add up."""


class AlsoFed:
    """Passes on progress, and tells the standings which blocks may have become complete."""

    def __init__(self, progress: Progress, fed: "FedStandings") -> None:
        self._fed = fed
        self._progress = progress
        self.lost = progress.lost
        self.void = progress.void

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
        self._progress.ended(match, result)
        self._fed.ended(match)


class FedStandings:
    """The standings so far."""

    def __init__(self, tournament: Tournament, publish: Publish) -> None:
        self._publish = publish
        self._rows: list[StandingsRow] = []
        self.change(tournament)
        self._played = 0
        self._n = 0
        self._counted: set[int] = set()
        """Blocks that are in the sums."""
        self._ended: set[int] = set()
        """Blocks of which a match has ended since they were last looked for."""

    def change(self, tournament: Tournament) -> None:
        """The tournament goes on with another field: bots have entered, or withdrawn."""
        self._tournament = tournament
        self._rows += [
            StandingsRow(entrant=entrant, house=entrant == tournament.house)
            for entrant in range(len(self._rows), len(tournament.labels))
        ]

    def ended(self, match: Match) -> None:
        """A match has its result: its block may be complete."""
        self._ended.add(match.block)

    async def keep(self, ledger: Ledger, write: Write, blocks: int) -> None:
        """Tells the standings whenever they have changed, and now and then, until it is cancelled.

        `blocks`: of so many, the first, some may have been played before.
        """
        for first in range(0, blocks, BLOCKS_AT_ONCE):
            self._count(await write(partial(ledger.results, first, min(blocks, first + BLOCKS_AT_ONCE))))
        while True:
            self.tell()
            until = trio.current_time() + AGAIN_SECONDS
            changed = False
            while not changed and trio.current_time() < until:
                await trio.sleep(LOOK_SECONDS)
                changed = await self._read_new(ledger, write)

    async def _read_new(self, ledger: Ledger, write: Write) -> bool:
        """Adds the blocks that have become complete; whether there are any."""
        ended, self._ended = self._ended - self._counted, set()
        found = [await write(partial(ledger.results, block, block + 1)) for block in sorted(ended)]
        self._count(match for matches in found for match in matches)
        return any(found)

    def _count(self, played: Iterable[Played]) -> None:
        matches = [match for match in played if match.block not in self._counted]
        self._counted.update(match.block for match in matches)
        self._played += len(matches)
        for row in standings_of(len(self._rows), matches):
            mine = self._rows[row.entrant]
            for field in SUMS:
                setattr(mine, field, getattr(mine, field) + getattr(row, field))

    def tell(self) -> None:
        """Publishes them, by mean points; those that have withdrawn come last."""
        gone = withdrawn(self._tournament.spec)

        def place(row: StandingsRow) -> tuple[bool, bool, float, int]:
            return row.house, row.entrant in gone, -(row.mean or 0), row.faults

        self._say(sorted(self._rows, key=place))

    def tell_final(self, rows: Sequence[StandingsRow], played: int) -> None:
        """Publishes what came out at the end of so many matches, in the format's order."""
        self._played = played
        self._say(rows, final=True)

    def _say(self, rows: Sequence[StandingsRow], *, final: bool = False) -> None:
        labels = self._tournament.shown
        message = FeedStandings(
            n=self._n,
            game=self._tournament.form.game,
            variant=self._tournament.variant,
            format=self._tournament.form.format,
            played=self._played,
            final=final,
            rows=tuple(_row(row, labels) for row in rows),
        )
        self._n += 1
        self._publish(STANDINGS, encode(message))


def _row(row: StandingsRow, labels: Sequence[str]) -> FeedRow:
    return FeedRow(
        bot=labels[row.entrant],
        house=row.house,
        played=row.played,
        wins=row.wins,
        ties=row.ties,
        losses=row.losses,
        points=row.points,
        mean_points=row.mean,
        faults=row.faults,
        defaults=row.defaults,
    )
