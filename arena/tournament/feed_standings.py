"""Publishes a tournament's standings on the live feed, as blocks are completed, and again for late spectators."""

from collections.abc import Iterable, Sequence
from functools import partial

import trio

from arena.config import Tournament
from arena.schedule import Match, withdrawn
from arena.statistics import Played, StandingsRow, standings_of
from arena.tournament.ledger import Ledger
from arena.tournament.runner import LedgerCall
from protocol.codec import encode
from protocol.feed import STANDINGS, FeedRow, FeedStandings
from referee.host import Publish, Result

LOOK_SECONDS = 0.5
"""Seconds between two looks for completed blocks."""
AGAIN_SECONDS = 3.0
"""Seconds after which unchanged standings are published again, for spectators that connect late."""
BLOCKS_AT_ONCE = 1_000
SUMS = ("played", "wins", "ties", "losses", "points", "faults", "defaults")
"""The fields of a row that are sums over matches."""


class FedStandings:
    """The standings so far, published while matches are played. It observes their ends."""

    def __init__(self, tournament: Tournament, publish: Publish) -> None:
        self._publish = publish
        self._rows: list[StandingsRow] = []
        self.change(tournament)
        self._played = 0
        self._n = 0
        self._counted: set[int] = set()
        """Blocks that the sums include."""
        self._ended: set[int] = set()
        """Blocks of which a match has ended since the last look."""

    def change(self, tournament: Tournament) -> None:
        """Continue with a field in which bots have entered or withdrawn."""
        self._tournament = tournament
        self._rows += [
            StandingsRow(entrant=entrant, house=entrant == tournament.house)
            for entrant in range(len(self._rows), len(tournament.labels))
        ]

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`. The match's block may be complete now."""
        del result
        self._ended.add(match.block)

    def lost(self, match: Match, reason: str) -> None:
        """See `runner.Progress`."""

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""

    async def keep(self, ledger: Ledger, write: LedgerCall, blocks: int) -> None:
        """Publish the standings whenever they have changed, and now and then, until cancelled.

        Args:
            ledger: the tournament's ledger.
            write: makes its calls.
            blocks: number of blocks, from the first, that may have been played before.
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

    async def _read_new(self, ledger: Ledger, write: LedgerCall) -> bool:
        """Add the blocks that have become complete; return whether there are any."""
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
        """Publish the standings by mean points; bots that have withdrawn come last."""
        gone = withdrawn(self._tournament.spec)

        def place(row: StandingsRow) -> tuple[bool, bool, float, int]:
            return row.house, row.entrant in gone, -(row.mean or 0), row.faults

        self._say(sorted(self._rows, key=place))

    def tell_final(self, rows: Sequence[StandingsRow], played: int) -> None:
        """Publish the final standings after this number of matches, in the format's order."""
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
