"""Plays a tournament from where it stands to its end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from arena import event_loop
from arena.checks import FieldCheck, settled
from arena.config import Tournament
from arena.quantities import counted
from arena.schedule import TWO, Blocks, Contest, Design, Fixed, blocks_so_far, design_of, format_of, rounds_of
from arena.statistics import Played, StandingsRow, digest_of, reports_of
from arena.terminal import progress_console, say
from arena.tournament.feed_standings import AlsoFed, FedStandings
from arena.tournament.ledger import Ledger
from arena.tournament.progress import LiveProgress
from arena.tournament.provenance import begin_or_go_on, left_out_of, terms_of
from arena.tournament.results import Results
from arena.tournament.results_folder import CHECKS, TRANSCRIPTS, open_ledger
from arena.tournament.runner import InThread, MatchSetup, play_blocks
from arena.workers import Venue
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
    check: FieldCheck[PlayerT] | None = None,
    publish: Publish | None = None,
    log: Logger = SILENT,
) -> FinalResults:
    """Plays what is left.

    Args:
        tournament: what is to be played.
        players: the entrants, as the venue's workers want them.
        open_venue: gives the workers.
        fresh: begin anew.
        write_reports: writes what people read of it into the results folder, while no other arena may.
        check: how bots are checked before the first match of a new tournament; None: they are not.
        publish: takes the standings for the live feed; None: there is none.
        log: the operator's.

    Raises:
        WrongUse: the results there are were played under other terms; or a bot cannot start.
        MachineCannot: it cannot be played to its end now.
        Stopped: a signal came; run again, it goes on.
    """
    looked: list[tuple[Tournament, tuple[PlayerT, ...]]] = []

    def look(begun: Mapping[str, str] | None = None) -> None:
        folder = checks_folder(tournament.results)
        looked.append(settled(tournament, players, check, folder=folder, begun=begun))

    def look_first() -> None:
        try_out(open_venue)
        look()

    with open_ledger(tournament.results, fresh=fresh, try_out=look_first) as ledger:
        if not looked:
            look(left_out_of(ledger.terms()))
        [(tournament, players)] = looked
        otherwise = f"{tournament.file}: not as when its results in {tournament.results} were begun"
        seed = begin_or_go_on(ledger, tournament.form.seed, partial(terms_of, tournament), otherwise)
        schedule = tournament.schedule
        field = match_setup(tournament, players)
        # Not read for nothing: of a million matches they are gigabytes.
        so_far = [] if isinstance(schedule, Fixed) else ledger.results()
        design = _design(tournament, seed, so_far)
        if tournament.seats > TWO:
            say(design.text)
        # Rounds that depend on results are not known yet, nor does `matches` know of tie-breaks.
        total = max(design.matches, schedule.matches)
        rounds = rounds_of(schedule.rounds(seed), ledger.results)
        fed = None if publish is None else FedStandings(tournament, publish)
        say_kept(tournament)
        _play_rest(field, ledger, rounds, total, open_venue=open_venue, fed=fed, log=log)
        results = ledger.results()
        contest = Contest(
            spec=tournament.spec, labels=tournament.labels, house=tournament.house, seed=seed, played=results
        )
        in_order = partial(format_of(tournament.spec).in_order, contest)
        digest = digest_of(tournament.labels, results, tournament.house, in_order)
        if fed is not None:
            fed.tell_final(digest.standings, len(results))
        found = FinalResults(
            tournament=tournament,
            terms=ledger.terms(),
            design=design if isinstance(schedule, Fixed) else _design(tournament, seed, results),
            played=results,
            spec=tournament.spec,
            contest=contest,
            digest=digest,
            reports=reports_of(len(tournament.labels), ledger.reports()),
            voids=ledger.voids(),
            set_aside=ledger.set_aside(),
            lost=ledger.lost_with_workers(),
            total=len(results),
        )
        write_reports(tournament.results, found)
        return found


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
    rounds = schedule.rounds(seed)
    blocks = next(rounds)() if isinstance(schedule, Fixed) else blocks_so_far(rounds, results)
    return design_of(blocks, len(tournament.form.bots), tournament.seats)


def say_kept(tournament: Tournament) -> None:
    """Which bots are kept, where that is asked for: one may have thought that more were."""
    if tournament.form.policy.processes == "kept":
        say(f"bots kept from match to match: {', '.join(tournament.kept) or 'none, for none can stay'}")


def say_going_on(ledger: Ledger, most: str, done: int, field: MatchSetup[PlayerT]) -> None:
    """What is to be played, and how much of it was played before; what was interrupted then is given up."""
    if stopped := ledger.give_up_unfinished():
        say(f"going on; {counted(stopped, 'match')} had been interrupted")
    done_before = f" ({done} of them played before)" if done else ""
    say(f"{most}{done_before}, isolation {field.plan.isolation}")


def _play_rest(
    field: MatchSetup[PlayerT],
    ledger: Ledger,
    rounds: Iterator[Blocks],
    total: int,
    *,
    open_venue: Venue[PlayerT],
    fed: FedStandings | None,
    log: Logger,
) -> None:
    """Plays the matches that are left."""
    finished = ledger.finished()
    done = len(finished)
    say_going_on(ledger, counted(total, "match"), done, field)
    with LiveProgress(progress_console(), done, total) as progress:

        async def play_all() -> None:
            write = InThread()
            followed = progress if fed is None else AlsoFed(progress, fed)
            async with open_venue(total - done) as workers, trio.open_nursery() as nursery:
                if fed is not None:
                    before = max((block for block, _ in finished), default=-1) + 1
                    nursery.start_soon(fed.keep, ledger, write, before)
                # The next round is made when this one is played: it may depend on it.
                for blocks in rounds:
                    await play_blocks(
                        field, blocks, ledger, workers=workers, progress=followed, write=write, log=log
                    )
                nursery.cancel_scope.cancel()

        event_loop.run(play_all)
