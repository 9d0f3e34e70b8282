"""Plays a tournament from what its ledger holds to its end."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import trio
from msgspec import Struct

from arena import event_loop
from arena.checks import FieldCheck, exclude_broken_bots
from arena.config import Entry, Tournament, write_face
from arena.event_loop import CallThread
from arena.quantities import pluralise
from arena.schedule import (
    TWO,
    Block,
    Contest,
    Design,
    EndlessLadder,
    Fixed,
    NotYetScheduled,
    blocks_so_far,
    competing,
    design_of,
    rounds_of,
)
from arena.statistics import CountedMatch, StandingsRow
from arena.terminal import progress_console, say
from arena.tournament.endless import LadderBlocks, blocks_played
from arena.tournament.entries import accept_changes, apply_changes, keep_entry
from arena.tournament.ledger import Ledger
from arena.tournament.notices import NoticeObserver, Notify, no_notices
from arena.tournament.observers import (
    FedStandings,
    LiveProgress,
    MatchObserver,
    Observers,
    keys_of,
    tell_remote_seats,
)
from arena.tournament.provenance import as_begun, begin_or_go_on, left_out_of, names_entered, remedy_of, terms_of
from arena.tournament.results import TournamentResults, collect_results, digest_in_order, matches_that_count
from arena.tournament.results_folder import CHECKS, TRANSCRIPTS, open_ledger
from arena.tournament.runner import BlockRunner, MatchSetup, Settle
from arena.workers import RemoteSeats, WorkerPool, workers_kept
from referee.bot_folder import BotFolder
from referee.host import Publish
from referee.log import SILENT, Logger

LOOK_SECONDS = 0.5
"""Seconds between two looks whether an endless ladder's time is up or, while it idles, whether a change waits."""
MANY = 1_000_000
"""Number of matches for which workers are opened if it is unknown."""
PlayerT = TypeVar("PlayerT")


class FinalResults(TournamentResults, frozen=True, kw_only=True):
    """The results of a tournament at its end."""

    tournament: Tournament
    """The tournament as it was played, without the bots that were left out."""
    contest: Contest
    design: Design

    @property
    def standings(self) -> tuple[StandingsRow, ...]:
        """The standings, best first."""
        return self.digest.standings


class _Stretch(Struct, frozen=True, kw_only=True):
    """The blocks to play until a change in the ledger can be accepted."""

    rounds: Iterable[Callable[[], Iterator[Block | NotYetScheduled]]]
    """The blocks of each round. The next round is requested when one has been played."""
    done: int
    """Number of matches played before."""
    total: int | None
    """Number of matches in all; None: there is no end."""
    first: int = 0
    """Number of the first block."""
    blocks_before: int
    """Number of blocks, from the first, that may have been played before."""
    settle: Settle
    ladder: LadderBlocks | None = None
    """The ladder that chooses the blocks, if it has no end."""


@dataclass
class Run(Generic[PlayerT]):
    """One run of a tournament or a regression test, from what its ledger holds to its end."""

    tournament: Tournament
    players: tuple[PlayerT, ...]
    """The entrants, in the form that the workers take."""
    open_workers: WorkerPool[PlayerT]
    _: KW_ONLY
    check: FieldCheck[PlayerT] | None = None
    """Checks the bots before the first match; None: they are not checked."""
    log: Logger = SILENT

    @property
    def setup(self) -> MatchSetup[PlayerT]:
        """The common part of all matches."""
        results, names = self.tournament.results, self.tournament.labels
        return MatchSetup(
            plan=self.tournament.plan(), players=self.players, names=names, transcripts=results / TRANSCRIPTS
        )

    @contextmanager
    def open_ledger(self, *, fresh: bool) -> Iterator[Ledger]:
        """Open the ledger once the bots were checked. With `fresh`, set earlier results aside after the check.

        Raises:
            WrongUse, MachineCannot, Stopped: see `arena.tournament.results_folder.open_ledger` and `check_field`.
        """
        checked = False

        def check_first() -> None:
            nonlocal checked
            try_out(self.open_workers)
            self.check_field(None)
            checked = True

        with open_ledger(self.tournament.results, fresh=fresh, try_out=check_first) as ledger:
            if not checked:
                self.check_field(ledger)
            yield ledger

    def check_field(self, ledger: Ledger | None) -> None:
        """Check the bots. `ledger` may hold earlier results; None: there is none, or it will be set aside."""
        raise NotImplementedError


@dataclass
class TournamentRun(Run[PlayerT]):
    """One run of a tournament: it plays the matches that are left, and accepts changes of the host meanwhile."""

    _: KW_ONLY
    write_reports: Callable[[Path, TournamentResults], None]
    """Writes the files for people into the results folder, before another arena may open it."""
    time_is_up: Callable[[], bool] | None = None
    """Returns whether an endless ladder is to stop; None: only a signal stops it."""
    enlist: Callable[[Tournament], tuple[tuple[PlayerT, ...], WorkerPool[PlayerT]]] | None = None
    """Returns the players and the workers of a field into which bots have entered; None: no bot can enter."""
    publish: Publish | None = None
    """Publishes the standings on the live feed."""
    notify: Notify = no_notices
    """Receives notices to the host."""
    remote: RemoteSeats | None = None
    """The seats of remote bots, which the pool has, too."""

    def play(self, *, fresh: bool) -> FinalResults:
        """Play what is left.

        Args:
            fresh: whether to set earlier results aside and begin anew.

        Raises:
            WrongUse: the earlier results were played under other terms, or a bot cannot start.
            MachineCannot: it cannot be played to its end now.
            Stopped: a signal came. Another run goes on.
        """
        self._watch = NoticeObserver(self.tournament, self.notify)
        with workers_kept(), self._watch.until_stopped(), self.open_ledger(fresh=fresh) as ledger:
            self._ledger = ledger
            begun, self._seed = self._begin()
            self._watch.go_on(ledger)
            self._fed = None if self.publish is None else FedStandings(begun, self.publish)
            entries = dict[str, Entry]()
            is_over, design = False, None
            while not is_over:
                self._accept_changes(begun)
                self._enter_field(apply_changes(begun, ledger, entries))
                design, is_over = self._play_until_change()
            found = self._final_results(design)
            if self._fed is not None:
                self._fed.tell_final(found.standings, len(found.played))
            self.write_reports(self.tournament.results, found)
            self._watch.over(self.tournament.shown[found.standings[0].entrant], len(found.played))
            return found

    def check_field(self, ledger: Ledger | None) -> None:
        """Check the bots, and leave out those that the terms allow to be left out."""
        begun, entered = None, names_entered(())
        if ledger is not None:
            begun, entered = left_out_of(ledger.terms()), names_entered(ledger.events())
        folder = checks_folder(self.tournament.results)
        self.tournament, self.players = exclude_broken_bots(
            self.tournament, self.players, self.check, folder=folder, begun=begun, entered=entered
        )

    def _begin(self) -> tuple[Tournament, int]:
        """Return the tournament as it is or was begun, and its seed. Copies the folders of all its bots.

        Raises:
            WrongUse: it was begun under other terms.
            MachineCannot: there is no space.
        """
        tournament = as_begun(self.tournament, self._ledger)
        otherwise = f"{tournament.file}: has changed since its results in {tournament.results} were begun"
        terms, remedy = partial(terms_of, tournament), partial(remedy_of, tournament)
        seed = begin_or_go_on(self._ledger, tournament.form.seed, terms, otherwise, remedy)
        for number, bot in enumerate(tournament.bots):
            if number != tournament.house and isinstance(bot, BotFolder):
                keep_entry(tournament.results, bot)
        say_kept(tournament)
        write_face(tournament.form, tournament.file, tournament.results)
        return tournament, seed

    def _accept_changes(self, begun: Tournament) -> None:
        """Accept or refuse the changes that wait in the ledger, and report each."""
        for event, text in accept_changes(begun, self._ledger):
            if event.refused is not None:
                say(f"refused: {text}: {event.refused}")
                self.log.warning("change_refused", change=text, reason=event.refused)
            else:
                say(f"from block {(event.block or 0) + 1} on: {text}")
                self.log.info("change_taken_in", change=text, block=event.block)

    def _enter_field(self, tournament: Tournament) -> None:
        """Continue with the field of this tournament, which changes may have altered."""
        self.tournament = tournament
        if self.remote is not None:
            # The key of a bot that has withdrawn admits it no longer.
            self.remote.barred = keys_of(tournament, competing_now=False)
        if len(tournament.bots) > len(self.players):
            if self.enlist is None:
                raise ValueError("bots have entered, and there is no function that enlists them")
            self.players, self.open_workers = self.enlist(tournament)
        if self._fed is not None:
            self._fed.change(tournament)
        self._watch.change(tournament.labels)

    def _play_until_change(self) -> tuple[Design | None, bool]:
        """Play the matches that are left, up to the block from which a change in the ledger is accepted.

        Returns:
            The design of the schedule, if it was computed; and whether no change waits, or the time is up.
        """
        if isinstance(self.tournament.schedule, EndlessLadder):
            self._play(self._ladder_stretch())
            return None, self._is_time_up()
        schedule, ledger = self.tournament.schedule, self._ledger
        # Fixed schedules need no results, which take gigabytes for a million matches.
        so_far = [] if isinstance(schedule, Fixed) else ledger.results()
        design = _design(self.tournament, self._seed, so_far)
        if self.tournament.seats > TWO:
            say(design.text)
        # Rounds that depend on results are not known yet, nor does `matches` include tie-breaks.
        total = max(design.matches, schedule.matches)
        finished = ledger.finished()
        say_going_on(ledger, pluralise(total, "match"), len(finished), self.tournament.plan().isolation)
        # The blocks to come may depend on each result, unless all are known and no later stage is made of them.
        independent = isinstance(schedule, Fixed) and not self.tournament.stage
        self._play(
            _Stretch(
                rounds=rounds_of(schedule.rounds(self._seed), ledger.results),
                done=len(finished),
                total=total,
                blocks_before=max((block for block, _ in finished), default=-1) + 1,
                settle="by_host" if independent else "last",
            )
        )
        return design, not ledger.waiting()

    def _ladder_stretch(self) -> _Stretch:
        """Return the blocks of an endless ladder, which are chosen while it is played.

        Raises:
            WrongUse: the ledger holds results of other matches, or the folder cannot be written.
            MachineCannot: it cannot be read.
        """
        tournament = self.tournament
        ladder = LadderBlocks.opened(
            tournament.results, self._ledger, tournament.spec, self._seed, tournament.labels
        )
        _give_up_interrupted(self._ledger)
        done = self._ledger.matches()
        isolation = tournament.plan().isolation
        say(f"a ladder without an end, {pluralise(done, 'match')} played before, isolation {isolation}")
        return _Stretch(
            rounds=[lambda: ladder],
            done=done,
            total=None,
            first=ladder.first,
            blocks_before=ladder.first,
            settle="last",
            ladder=ladder,
        )

    def _play(self, stretch: _Stretch) -> None:
        """Play a stretch, and show its progress."""
        screen = progress_console() if self.remote is None else self.remote.screen
        with LiveProgress(screen, stretch.done, stretch.total) as progress:
            event_loop.run(partial(self._play_rounds, stretch, progress))

    async def _play_rounds(self, stretch: _Stretch, progress: LiveProgress) -> None:
        ledger, write, ladder = self._ledger, CallThread(), stretch.ladder
        observers: list[MatchObserver] = [progress]
        if self._fed is not None:
            observers.append(self._fed)
        observers.append(self._watch)
        matches = MANY if stretch.total is None else stretch.total - stretch.done
        async with trio.open_nursery() as nursery:
            idle = trio.CancelScope()
            if ladder is not None:
                nursery.start_soon(self._stop_in_time, idle)
            async with self.open_workers(matches) as workers:
                if self._fed is not None:
                    nursery.start_soon(self._fed.keep, ledger, write, stretch.blocks_before)
                if self.remote is not None:
                    nursery.start_soon(tell_remote_seats, self.remote, self.tournament, self._seed, ledger, write)
                for blocks in stretch.rounds:
                    await BlockRunner(
                        self.setup,
                        blocks,
                        ledger,
                        first=stretch.first,
                        on_block_finished=None if ladder is None else ladder.observe,
                        workers=workers,
                        progress=Observers(tuple(observers)),
                        write=write,
                        log=self.log,
                        change_at=self.tournament.schedule.change_at,
                        time_is_up=None if ladder is None else self._is_time_up,
                        settle=stretch.settle,
                        tell_aside=self._watch.telling_aside(progress.say),
                    ).play()
                    if await write(ledger.waiting):
                        break
                if self.remote is not None and ladder is None:
                    self.remote.over = not await write(ledger.waiting)
            if ladder is not None:
                with idle:
                    await self._wait_for_change(ladder, write)
            nursery.cancel_scope.cancel()

    async def _wait_for_change(self, ladder: LadderBlocks, write: CallThread) -> None:
        """Wait until a change in the ledger waits, when no match would improve the ratings of a ladder."""
        if not (self._is_time_up() or await write(self._ledger.waiting)):
            say(f"no match would improve a rating now: {ladder.why_idle()}; waiting for bots to enter")
        while not await write(self._ledger.waiting):  # noqa: ASYNC110 - another process writes it
            await trio.sleep(LOOK_SECONDS)

    async def _stop_in_time(self, idle: trio.CancelScope) -> None:
        while not self._is_time_up():  # noqa: ASYNC110 - nothing reports it
            await trio.sleep(LOOK_SECONDS)
        idle.cancel()

    def _is_time_up(self) -> bool:
        return self.time_is_up is not None and self.time_is_up()

    def _final_results(self, design: Design | None) -> FinalResults:
        """Return the results at the end; `design` is the schedule's before the last matches, if it was known."""
        tournament, ledger, seed = self.tournament, self._ledger, self._seed
        counting = matches_that_count(ledger, tournament.spec, seed)
        contest = counting.contest(tournament.spec, tournament.shown, tournament.house, seed)
        if design is None or not isinstance(tournament.schedule, Fixed):
            design = _design(tournament, seed, counting.played)
        return collect_results(
            FinalResults,
            ledger,
            counting,
            digest_in_order(contest),
            tournament=tournament,
            design=design,
            spec=tournament.spec,
            contest=contest,
            events=tuple(ledger.events()),
            total=len(counting.played),
        )


def checks_folder(results: Path) -> Path:
    """Return a new folder for the output of a check, in a tournament's results folder."""
    return results / CHECKS / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"


def try_out(open_workers: WorkerPool[PlayerT]) -> None:
    """Open a pool of workers, and play nothing there.

    Raises:
        WrongUse: it cannot be opened with these options.
        MachineCannot: it cannot be opened now.
        Stopped: a signal came.
    """

    async def open_it() -> None:
        async with open_workers(1):
            pass

    event_loop.run(open_it)


def _design(tournament: Tournament, seed: int, results: Sequence[CountedMatch]) -> Design:
    """Return the design of the schedule, as far as it is known after these results."""
    schedule = tournament.schedule
    if isinstance(schedule, EndlessLadder):
        return design_of(blocks_played(results), competing(tournament.spec), tournament.seats)
    if isinstance(schedule, Fixed):
        blocks = schedule.blocks(seed)
    else:
        blocks = blocks_so_far(schedule.rounds(seed), results)
    return design_of(blocks, competing(tournament.spec), tournament.seats)


def say_kept(tournament: Tournament) -> None:
    """Print which bots are kept, if the tournament keeps bots: it may be fewer than the host expects."""
    if tournament.form.policy.processes == "kept":
        say(
            f"bots kept from match to match: {', '.join(tournament.kept) or 'none, because none of them can stay'}"
        )


def say_going_on(ledger: Ledger, most: str, done: int, isolation: str) -> None:
    """Declare interrupted attempts void; print the number of matches to play and of those played before."""
    _give_up_interrupted(ledger)
    done_before = f" ({done} of them played before)" if done else ""
    say(f"{most}{done_before}, isolation {isolation}")


def _give_up_interrupted(ledger: Ledger) -> None:
    """Declare the attempts void that an earlier run left unfinished, and print their number."""
    if stopped := ledger.give_up_unfinished():
        say(f"continuing; {pluralise(stopped, 'match')} had been interrupted")
