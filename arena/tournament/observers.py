"""Observers of a tournament while it is played: progress on the terminal, and standings for spectators and bots.

The progress is shown on standard error: as a bar at a terminal, otherwise as a line now and then. The standings
are published on the live feed as blocks are completed, and again for late spectators; remote bots are sent their
own rows, and are not waited for once they withdraw.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter
from time import monotonic
from types import TracebackType
from typing import Protocol, Self

import trio
from msgspec import Struct
from rich.progress import ProgressColumn, TimeElapsedColumn, TimeRemainingColumn

from arena.config import Tournament
from arena.quantities import pluralise
from arena.schedule import Entered, FieldChange, ScheduledMatch, Withdrawn, competing, withdrawn
from arena.statistics import CountedMatch, StandingsRow, standings_of
from arena.terminal import Screen, progress_bar
from arena.tournament.ledger import Ledger, LedgerCall
from arena.tournament.results import CountingMatches, digest_in_order, matches_that_count
from arena.workers import RemoteSeats
from protocol.codec import encode
from protocol.feed import STANDINGS, FeedRow, FeedStandings
from protocol.news import TableRow
from referee.host import AttemptResult, Publish, RemoteBot, remote_bot

LINE_SECONDS = 10
"""Least seconds between two lines, if there is no terminal."""


class MatchObserver(Protocol):
    """An observer of the matches that are played."""

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """Observe the result of a match."""

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        """Observe the end of a referee process. The match that it played is played again."""

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """Observe a void attempt. The block is played again; `set_aside` of its matches had a result."""


class Observers(Struct, frozen=True):
    """Several observers of the matches that are played."""

    observers: tuple[MatchObserver, ...]

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """See `MatchObserver.ended`."""
        for observer in self.observers:
            observer.ended(match, result)

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        """See `MatchObserver.lost`."""
        for observer in self.observers:
            observer.lost(match, reason)

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """See `MatchObserver.void`."""
        for observer in self.observers:
            observer.void(match, reason, set_aside)


class Gauge(ABC):
    """Shows one task's progress while its block runs."""

    def __init__(self, console: Screen, *columns: ProgressColumn) -> None:
        self._console = console
        self._last_line = monotonic()
        self._last_said = ""
        self._lost = 0
        self._bar = progress_bar(console, *columns)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()
        if not self._console.is_terminal and self._said() != self._last_said:
            self._line()

    @abstractmethod
    def _said(self) -> str:
        """Return the progress in words."""

    def _say_now_and_then(self) -> None:
        if not self._console.is_terminal and monotonic() - self._last_line >= LINE_SECONDS:
            self._line()

    def say(self, line: str) -> None:
        """Show a line beside the progress."""
        self._console.say(line)

    def _tell_void(self, match: ScheduledMatch, reason: str) -> None:
        self._console.say(f"block {match.block + 1}: an attempt was void; the block is played again: {reason}")

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        """See `MatchObserver`."""
        self._lost += 1
        self._console.say(
            f"block {match.block + 1}: a referee process ended ({reason}), and one of its matches is played again"
        )

    def _lost_said(self) -> str:
        if self._lost:
            return f", {pluralise(self._lost, 'attempt')} lost with a referee process"
        return ""

    def _line(self) -> None:
        self._last_line = monotonic()
        self._last_said = self._said()
        self._console.say(self._last_said)


class LiveProgress(Gauge):
    """The progress of a tournament. It observes the runner."""

    def __init__(self, console: Screen, done: int, total: int | None) -> None:
        """Begin after `done` of `total` matches; `total` is None if there is no end."""
        columns: list[ProgressColumn] = [TimeElapsedColumn()]
        if total is not None:
            columns.append(TimeRemainingColumn())
        super().__init__(console, *columns)
        self._done, self._total, self._voids = done, total, 0
        self._task = self._bar.add_task("matches", total=total, completed=done)

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """See `MatchObserver`."""
        del match, result
        self._done += 1
        # Tie-breaks are not known in advance.
        if self._total is not None:
            self._total = max(self._total, self._done)
        self._bar.update(self._task, completed=self._done, total=self._total)
        self._say_now_and_then()

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """See `MatchObserver`."""
        self._voids += 1
        self._done -= set_aside
        self._bar.update(self._task, completed=self._done)
        self._tell_void(match, reason)

    def _said(self) -> str:
        said = pluralise(self._done, "match")
        if self._total is not None:
            said = f"{self._done}/{pluralise(self._total, 'match')}"
        if self._voids:
            said += f", {pluralise(self._voids, 'void attempt')}"
        return f"{said}{self._lost_said()}"


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
        for entrant in range(len(self._rows), len(tournament.labels)):
            self._rows.append(StandingsRow(entrant=entrant, house=entrant == tournament.house))

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """See `MatchObserver`. The match's block may be complete now."""
        del result
        self._ended.add(match.block)

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        """See `MatchObserver`."""

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """See `MatchObserver`."""

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
        before = self._played
        for block in sorted(ended):
            self._count(await write(partial(ledger.results, block, block + 1)))
        return self._played > before

    def _count(self, played: Iterable[CountedMatch]) -> None:
        matches = [match for match in played if match.block not in self._counted]
        self._counted.update(map(attrgetter("block"), matches))
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
            rows=tuple(map(partial(_row, labels), rows)),
        )
        self._n += 1
        self._publish(STANDINGS, encode(message))


def _row(labels: Sequence[str], row: StandingsRow) -> FeedRow:
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


REMOTE_LOOK_SECONDS = 1.0
IDLE_SHARE = 20
"""Computing the standings takes at most this fraction of the time, as its reciprocal."""
SURE = 1.96
"""Standard errors on each side of a rating for an interval of 95 %."""


def keys_of(tournament: Tournament, *, competing_now: bool) -> set[str]:
    """Return the keys of the remote bots that compete now, or of the other remote bots."""
    active = set(competing(tournament.spec))
    here, others = set[str](), set[str]()
    for number, bot in enumerate(tournament.bots):
        if isinstance(bot, RemoteBot):
            (here if number in active else others).add(bot.key)
    if competing_now:
        return here
    return others - here


async def tell_remote_seats(
    remote: RemoteSeats, tournament: Tournament, seed: int, ledger: Ledger, write: LedgerCall
) -> None:
    """Inform the remote seats of withdrawals and standings, until cancelled."""
    counted, next_count = -1, trio.current_time()
    while True:
        events = await write(ledger.events) if await write(ledger.waiting) else []
        remote.await_no_more(withdrawing(tournament, events))
        if remote.matches > counted and trio.current_time() >= next_count:
            began, counted = trio.current_time(), remote.matches
            counting = await write(partial(matches_that_count, ledger, tournament.spec, seed))
            if counting.played:
                count = partial(standings_by_key, tournament, seed, counting)
                remote.standings = await trio.to_thread.run_sync(count)
            next_count = trio.current_time() + IDLE_SHARE * (trio.current_time() - began)
        await trio.sleep(REMOTE_LOOK_SECONDS)


def withdrawing(tournament: Tournament, events: Sequence[FieldChange]) -> set[str]:
    """Return the keys of the bots that withdraw or are replaced, without those that enter again later."""
    keys: set[str] = set()
    for event in events:
        what = event.what
        number = None
        if isinstance(what, Withdrawn):
            number = what.entrant
        elif isinstance(what, Entered):
            number = what.predecessor
        if number is not None and event.refused is None and number < len(tournament.bots):
            bot = tournament.bots[number]
            if isinstance(bot, RemoteBot):
                keys.add(bot.key)
        if isinstance(what, Entered) and what.remote and event.refused is None:
            keys.discard(remote_bot(what.label, what.content).key)
    return keys


def standings_by_key(tournament: Tournament, seed: int, counting: CountingMatches) -> dict[str, TableRow]:
    """Return the row of each remote bot in the standings, by its key.

    Args:
        tournament: the tournament.
        seed: its seed.
        counting: the matches that count.
    """
    digest = digest_in_order(counting.contest(tournament.spec, tournament.shown, tournament.house, seed))
    running = counting.running
    rows = [row for row in digest.standings if not row.house]
    found = {}
    for place, row in enumerate(rows, 1):
        bot = tournament.bots[row.entrant]
        # A bot that has withdrawn and come back has two rows; that of the one that competes is the first.
        if isinstance(bot, RemoteBot) and bot.key not in found:
            elo = digest.ratings.ratings[row.entrant]
            rating, low, high = elo.elo, elo.low, elo.high
            if running:
                rating, wide = running[row.entrant].rating, SURE * running[row.entrant].error
                low, high = rating - wide, rating + wide
            found[bot.key] = TableRow(
                place=place,
                of=len(rows),
                played=row.played,
                rating=round(rating, 1),
                low=None if low is None else round(low, 1),
                high=None if high is None else round(high, 1),
            )
    return found
