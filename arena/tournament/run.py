"""Plays a tournament from where it stands to its end."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from arena import event_loop
from arena.checks import FieldCheck, exclude_broken_bots
from arena.config import Entry, Tournament
from arena.quantities import pluralise
from arena.schedule import (
    TWO,
    Contest,
    Design,
    EndlessLadder,
    Event,
    Fixed,
    blocks_so_far,
    competing,
    design_of,
    format_of,
    rounds_of,
)
from arena.statistics import Played, StandingsRow, digest_of, reports_of
from arena.terminal import progress_console, say
from arena.tournament.endless import blocks_played, play_ladder
from arena.tournament.entries import changed, keep_entry, take_in
from arena.tournament.feed_standings import AlsoFed, FedStandings
from arena.tournament.ledger import Ledger
from arena.tournament.notices import Notify, Watch, nobody
from arena.tournament.progress import LiveProgress
from arena.tournament.provenance import as_begun, begin_or_go_on, left_out_of, names_entered, remedy_of, terms_of
from arena.tournament.remote_field import keep_up, keys_of
from arena.tournament.results import Results, results_that_count
from arena.tournament.results_folder import CHECKS, TRANSCRIPTS, open_ledger
from arena.tournament.runner import InThread, MatchSetup, Settle, play_blocks
from arena.workers import RemoteSeats, Venue, workers_kept
from referee.bot_folder import BotFolder
from referee.host import Publish
from referee.log import SILENT, Logger

PlayerT = TypeVar("PlayerT")


class FinalResults(Results, frozen=True, kw_only=True):
    """How a tournament came out."""

    tournament: Tournament
    """As it was played: without the bots that were left out."""
    contest: Contest
    """The results as the format counts them."""
    design: Design

    @property
    def standings(self) -> tuple[StandingsRow, ...]:
        """The standings, best first."""
        return self.digest.standings


def play_tournament(
    tournament: Tournament,
    players: tuple[PlayerT, ...],
    open_venue: Venue[PlayerT],
    *,
    fresh: bool,
    write_reports: Callable[[Path, Results], None],
    time_is_up: Callable[[], bool] | None = None,
    enlist: Callable[[Tournament], tuple[tuple[PlayerT, ...], Venue[PlayerT]]] | None = None,
    check: FieldCheck[PlayerT] | None = None,
    publish: Publish | None = None,
    notify: Notify = nobody,
    remote: RemoteSeats | None = None,
    log: Logger = SILENT,
) -> FinalResults:
    """Plays what is left, and takes in what hosts change meanwhile.

    Args:
        tournament: what is to be played.
        players: the entrants, as the venue's workers want them.
        open_venue: gives the workers.
        fresh: begin anew.
        write_reports: writes what people read of it into the results folder, while no other arena may.
        time_is_up: whether a ladder without an end is to stop; None: it goes on until a signal comes.
        enlist: gives the players and the workers of a field in which bots have entered; None: none can.
        check: how bots are checked before the first match of a new tournament; None: they are not.
        publish: takes the standings for the live feed; None: there is none.
        notify: takes notices to the host.
        remote: the seats of bots that come with a key, which is the venue's; None: there are none.
        log: the operator's.

    Raises:
        WrongUse: the results there are were played under other terms; or a bot cannot start.
        MachineCannot: it cannot be played to its end now.
        Stopped: a signal came; run again, it goes on.
    """
    looked: list[tuple[Tournament, tuple[PlayerT, ...]]] = []

    def look(begun: Mapping[str, str] | None = None, events: Sequence[Event] = ()) -> None:
        folder, entered = checks_folder(tournament.results), names_entered(events)
        looked.append(exclude_broken_bots(tournament, players, check, folder=folder, begun=begun, entered=entered))

    def look_first() -> None:
        try_out(open_venue)
        look()

    watch = Watch(tournament, notify)
    with (
        workers_kept(),
        watch.until_stopped(),
        open_ledger(tournament.results, fresh=fresh, try_out=look_first) as ledger,
    ):
        if not looked:
            look(left_out_of(ledger.terms()), ledger.events())
        [(tournament, players)] = looked
        tournament, seed = _begun(tournament, ledger)
        watch.go_on(ledger)
        fed = None if publish is None else FedStandings(tournament, publish)
        entries = dict[str, Entry]()
        while True:
            _take_in(tournament, ledger, log)
            now = changed(tournament, ledger, entries)
            _bar(now, remote)
            if len(now.bots) > len(players):
                if enlist is None:
                    raise ValueError("nobody enlists the bots that have entered")
                players, open_venue = enlist(now)
            if fed is not None:
                fed.change(now)
            design, over = _play_rest(
                now,
                players,
                ledger,
                seed,
                open_venue=open_venue,
                time_is_up=time_is_up or _never,
                fed=fed,
                watch=watch,
                remote=remote,
                log=log,
            )
            if over:
                break
        found = _final_results(now, ledger, seed, design)
        if fed is not None:
            fed.tell_final(found.standings, len(found.played))
        write_reports(tournament.results, found)
        watch.over(now.shown[found.standings[0].entrant], len(found.played))
        return found


def _bar(tournament: Tournament, remote: RemoteSeats | None) -> None:
    """Lets nobody in any more with the key of a bot that has withdrawn."""
    if remote is not None:
        remote.barred = keys_of(tournament, competing_now=False)


def _begun(tournament: Tournament, ledger: Ledger) -> tuple[Tournament, int]:
    """The tournament as it is or was begun, and its seed. From now on all its bots have been copied.

    Raises:
        WrongUse: it was begun under other terms.
        MachineCannot: there is no space.
    """
    tournament = as_begun(tournament, ledger)
    otherwise = f"{tournament.file}: has changed since its results in {tournament.results} were begun"
    terms, remedy = partial(terms_of, tournament), partial(remedy_of, tournament)
    seed = begin_or_go_on(ledger, tournament.form.seed, terms, otherwise, remedy)
    for number, bot in enumerate(tournament.bots):
        if number != tournament.house and isinstance(bot, BotFolder):
            keep_entry(tournament.results, bot)
    say_kept(tournament)
    return tournament, seed


def _take_in(tournament: Tournament, ledger: Ledger, log: Logger) -> None:
    """Takes in the changes that wait, and says which."""
    for event, text in take_in(tournament, ledger):
        if event.refused is not None:
            say(f"refused: {text}: {event.refused}")
            log.warning("change_refused", change=text, reason=event.refused)
        else:
            say(f"from block {(event.block or 0) + 1} on: {text}")
            log.info("change_taken_in", change=text, block=event.block)


def _never() -> bool:
    return False


def _final_results(tournament: Tournament, ledger: Ledger, seed: int, design: Design | None) -> FinalResults:
    """What it came to; `design`: as it was before the last matches, if it was known."""
    spec, labels, house = tournament.spec, tournament.shown, tournament.house
    first, results, running, _ = results_that_count(ledger, spec, seed)
    contest = Contest(spec=spec, labels=labels, house=house, seed=seed, played=results, running=running)
    in_order = partial(format_of(tournament.spec).in_order, contest)
    return FinalResults(
        tournament=tournament,
        terms=ledger.terms(),
        design=design
        if design is not None and isinstance(tournament.schedule, Fixed)
        else _design(tournament, seed, results),
        played=results,
        spec=tournament.spec,
        contest=contest,
        digest=digest_of(labels, results, house, in_order),
        reports=reports_of(len(labels), ledger.reports(first=first)),
        voids=ledger.voids(),
        set_aside=ledger.set_aside(),
        lost=ledger.lost_with_workers(),
        asides=ledger.asides(),
        events=tuple(ledger.events()),
        total=len(results),
    )


def checks_folder(results: Path) -> Path:
    """A new folder for what a check writes, among a tournament's results."""
    return results / CHECKS / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"


def match_setup(tournament: Tournament, players: tuple[PlayerT, ...]) -> MatchSetup[PlayerT]:
    """What all matches of a tournament, or of a regression test, have in common."""
    return MatchSetup(
        plan=tournament.plan(),
        players=players,
        names=tournament.labels,
        transcripts=tournament.results / TRANSCRIPTS,
    )


def try_out(open_venue: Venue[PlayerT]) -> None:
    """Opens a venue, and plays nothing there.

    Raises:
        WrongUse: it cannot be as it was asked for.
        MachineCannot: it cannot be opened now.
        Stopped: a signal came.
    """

    async def open_it() -> None:
        async with open_venue(1):
            pass

    event_loop.run(open_it)


def _design(tournament: Tournament, seed: int, results: Sequence[Played]) -> Design:
    """What the schedule comes to: where it depends on results, as far as these lead."""
    schedule = tournament.schedule
    if isinstance(schedule, EndlessLadder):
        return design_of(blocks_played(results), competing(tournament.spec), tournament.seats)
    rounds = schedule.rounds(seed)
    blocks = next(rounds)() if isinstance(schedule, Fixed) else blocks_so_far(rounds, results)
    return design_of(blocks, competing(tournament.spec), tournament.seats)


def say_kept(tournament: Tournament) -> None:
    """Which bots are kept, where that is asked for: one may have thought that more were."""
    if tournament.form.policy.processes == "kept":
        say(
            f"bots kept from match to match: {', '.join(tournament.kept) or 'none, because none of them can stay'}"
        )


def say_going_on(ledger: Ledger, most: str, done: int, field: MatchSetup[PlayerT]) -> None:
    """What is to be played, and how much of it was played before; what was interrupted then is given up."""
    if stopped := ledger.give_up_unfinished():
        say(f"continuing; {pluralise(stopped, 'match')} had been interrupted")
    done_before = f" ({done} of them played before)" if done else ""
    say(f"{most}{done_before}, isolation {field.plan.isolation}")


def _play_rest(
    tournament: Tournament,
    players: tuple[PlayerT, ...],
    ledger: Ledger,
    seed: int,
    *,
    open_venue: Venue[PlayerT],
    time_is_up: Callable[[], bool],
    fed: FedStandings | None,
    watch: Watch,
    remote: RemoteSeats | None,
    log: Logger,
) -> tuple[Design | None, bool]:
    """Plays the matches that are left, up to where a change that waits in the ledger can be taken in.

    Returns what the schedule came to before, if it was known, and whether no change waits or the time is up.
    """
    schedule, field = tournament.schedule, match_setup(tournament, players)
    if isinstance(schedule, EndlessLadder):
        return None, play_ladder(
            tournament,
            field,
            ledger,
            seed,
            open_venue=open_venue,
            time_is_up=time_is_up,
            fed=fed,
            watch=watch,
            beside=None if remote is None else partial(keep_up, remote, tournament, seed, ledger),
            screen=None if remote is None else remote.screen,
            log=log,
        )
    # Not read for nothing: of a million matches they are gigabytes.
    so_far = [] if isinstance(schedule, Fixed) else ledger.results()
    design = _design(tournament, seed, so_far)
    if tournament.seats > TWO:
        say(design.text)
    # Rounds that depend on results are not known yet, nor does `matches` know of tie-breaks.
    total = max(design.matches, schedule.matches)
    finished = ledger.finished()
    done = len(finished)
    say_going_on(ledger, pluralise(total, "match"), done, field)
    # What comes next depends on each result, but where all blocks are known and no other stage is made of them.
    settle: Settle = "by_host" if isinstance(schedule, Fixed) and not tournament.stage else "last"
    screen = progress_console() if remote is None else remote.screen
    with LiveProgress(screen, done, total) as progress:

        async def play_all() -> None:
            write = InThread()
            followed = watch.beside(progress if fed is None else AlsoFed(progress, fed), tournament.labels)
            async with open_venue(total - done) as workers, trio.open_nursery() as nursery:
                if fed is not None:
                    before = max((block for block, _ in finished), default=-1) + 1
                    nursery.start_soon(fed.keep, ledger, write, before)
                if remote is not None:
                    nursery.start_soon(keep_up, remote, tournament, seed, ledger, write)
                # The next round is made when this one is played: it may depend on it.
                for blocks in rounds_of(schedule.rounds(seed), ledger.results):
                    await play_blocks(
                        field,
                        blocks,
                        ledger,
                        workers=workers,
                        progress=followed,
                        write=write,
                        log=log,
                        change_at=schedule.change_at,
                        settle=settle,
                        tell_aside=watch.telling_aside(progress.say),
                    )
                    if await write(ledger.waiting):
                        break
                if remote is not None:
                    remote.over = not await write(ledger.waiting)
                nursery.cancel_scope.cancel()

        event_loop.run(play_all)
    return design, not ledger.waiting()
