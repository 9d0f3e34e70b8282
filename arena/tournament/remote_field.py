"""What remote bots need while their tournament is played: where they stand, and who of them withdraws."""

from collections.abc import Sequence
from functools import partial

import trio

from arena.config import Tournament
from arena.schedule import Contest, Entered, Event, Withdrawn, competing, format_of
from arena.statistics import Played, digest_of
from arena.tournament.ledger import Ledger
from arena.tournament.runner import Write
from arena.workers import RemoteSeats
from protocol.news import TableRow
from referee.host import RemoteBot

LOOK_SECONDS = 1.0
IDLE_SHARE = 20
"""To count takes at most one part in so many of the time."""


def keys_of(tournament: Tournament, *, competing_now: bool) -> set[str]:
    """The keys of its remote bots that compete, or of the others."""
    active = set(competing(tournament.spec))
    named = {number: bot.key for number, bot in enumerate(tournament.bots) if isinstance(bot, RemoteBot)}
    here = {key for number, key in named.items() if number in active}
    return here if competing_now else set(named.values()) - here


async def keep_up(remote: RemoteSeats, tournament: Tournament, seed: int, ledger: Ledger, write: Write) -> None:
    """Tells the seats who withdraws, and where bots stand, until it is cancelled."""
    counted, next_count = -1, trio.current_time()
    while True:
        events = await write(ledger.events) if await write(ledger.waiting) else []
        remote.await_no_more(_withdrawing(tournament, events))
        if remote.matches > counted and trio.current_time() >= next_count:
            began, counted = trio.current_time(), remote.matches
            played = await write(ledger.results)
            if played:
                rows = await trio.to_thread.run_sync(partial(standings_by_key, tournament, seed, played))
                remote.standings = rows
            next_count = trio.current_time() + IDLE_SHARE * (trio.current_time() - began)
        await trio.sleep(LOOK_SECONDS)


def _withdrawing(tournament: Tournament, events: Sequence[Event]) -> set[str]:
    """The keys of the bots whose withdrawal waits to be taken in, or whose next version does."""
    keys = set()
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
    return keys


def standings_by_key(tournament: Tournament, seed: int, played: list[Played]) -> dict[str, TableRow]:
    """Where each remote bot stands, by its key; `played`: what counts, in schedule order."""
    spec, labels, house = tournament.spec, tournament.shown, tournament.house
    contest = Contest(spec=spec, labels=labels, house=house, seed=seed, played=played)
    digest = digest_of(labels, played, house, partial(format_of(spec).in_order, contest))
    rows = [row for row in digest.standings if not row.house]
    found = {}
    for place, row in enumerate(rows, 1):
        bot, rating = tournament.bots[row.entrant], digest.ratings.ratings[row.entrant]
        if isinstance(bot, RemoteBot):
            found[bot.key] = TableRow(
                place=place,
                of=len(rows),
                played=row.played,
                rating=round(rating.elo, 1),
                low=None if rating.low is None else round(rating.low, 1),
                high=None if rating.high is None else round(rating.high, 1),
            )
    return found
