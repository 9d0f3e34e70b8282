"""Informs remote bots of their standings while their tournament is played, and its door of withdrawals."""

from collections.abc import Sequence
from functools import partial

import trio

from arena.config import Tournament
from arena.schedule import Contest, Entered, Event, Withdrawn, competing, format_of
from arena.statistics import Played, RunningRating, digest_of
from arena.tournament.ledger import Ledger
from arena.tournament.results import results_that_count
from arena.tournament.runner import LedgerCall
from arena.workers import RemoteSeats
from protocol.news import TableRow
from referee.host import RemoteBot, remote_bot

LOOK_SECONDS = 1.0
IDLE_SHARE = 20
"""Computing the standings takes at most this fraction of the time, as its reciprocal."""
SURE = 1.96
"""Standard errors on each side of a rating for an interval of 95 %."""


def keys_of(tournament: Tournament, *, competing_now: bool) -> set[str]:
    """Return the keys of the remote bots that compete now, or of the other remote bots."""
    active = set(competing(tournament.spec))
    named = {number: bot.key for number, bot in enumerate(tournament.bots) if isinstance(bot, RemoteBot)}
    here = {key for number, key in named.items() if number in active}
    return here if competing_now else set(named.values()) - here


async def keep_up(
    remote: RemoteSeats, tournament: Tournament, seed: int, ledger: Ledger, write: LedgerCall
) -> None:
    """Inform the remote seats of withdrawals and standings, until cancelled."""
    counted, next_count = -1, trio.current_time()
    while True:
        events = await write(ledger.events) if await write(ledger.waiting) else []
        remote.await_no_more(withdrawing(tournament, events))
        if remote.matches > counted and trio.current_time() >= next_count:
            began, counted = trio.current_time(), remote.matches
            _, played, running, _ = await write(partial(results_that_count, ledger, tournament.spec, seed))
            if played:
                count = partial(standings_by_key, tournament, seed, played, running)
                remote.standings = await trio.to_thread.run_sync(count)
            next_count = trio.current_time() + IDLE_SHARE * (trio.current_time() - began)
        await trio.sleep(LOOK_SECONDS)


def withdrawing(tournament: Tournament, events: Sequence[Event]) -> set[str]:
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


def standings_by_key(
    tournament: Tournament, seed: int, played: list[Played], running: tuple[RunningRating, ...] = ()
) -> dict[str, TableRow]:
    """Return the row of each remote bot in the standings, by its key.

    Args:
        tournament: the tournament.
        seed: its seed.
        played: the matches that count, in schedule order.
        running: the ratings of an endless ladder; empty for other formats.
    """
    spec, labels, house = tournament.spec, tournament.shown, tournament.house
    contest = Contest(spec=spec, labels=labels, house=house, seed=seed, played=played, running=running)
    digest = digest_of(labels, played, house, partial(format_of(spec).in_order, contest))
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
