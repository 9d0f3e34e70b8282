"""The run of a regression test until it is decided, or to its limit."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import TypeVar

import msgspec
import trio
from msgspec import Struct
from rich.progress import TimeElapsedColumn

from arena import event_loop
from arena.checks import FieldCheck, check_field, forget_refusal, write_refusal
from arena.config import label_of
from arena.errors import AnswerIsNo, WrongUse
from arena.options import default_folder
from arena.quantities import pluralise
from arena.regression.model import (
    BASE,
    HEAD,
    BlockTally,
    Regression,
    SeatedResult,
    State,
    UsageFinding,
    interval,
    leaning,
    points_ahead,
    usage_finding,
    uses_of,
    verdict_of,
)
from arena.schedule import Match
from arena.statistics import (
    BotReport,
    StandingsRow,
    Verdict,
    reports_of,
    standings_of,
)
from arena.terminal import Screen, Words, progress_console
from arena.tournament import (
    Asides,
    BlockRunner,
    Gauge,
    Ledger,
    MatchSetup,
    Terms,
    begin_or_go_on,
    checks_folder,
    match_setup,
    open_ledger,
    say_going_on,
    say_kept,
    terms_of,
    try_out,
)
from arena.workers import Venue
from referee.display_text import printable_name
from referee.host import Result
from referee.log import SILENT, Logger

PlayerT = TypeVar("PlayerT")
DIGITS = 12
"""Number of hash digits in the name of a results folder."""


class Finding(Struct, frozen=True):
    """Result of a regression test."""

    seed: int
    state: State
    """State of the test of strength."""
    blocks: int
    """Number of blocks that count: all up to the one that decided all tests."""
    mean: float
    """Head's mean points per match minus base's, over all blocks that count."""
    interval: tuple[float, float]
    """Interval of that difference; see `arena.regression.model.interval`."""
    standings: tuple[StandingsRow, ...]
    """Standings over the blocks that count, indexed by entrant."""
    reports: tuple[BotReport, ...]
    """Faults and resource use over the same blocks, indexed by entrant."""
    voids: list[tuple[int, int, str]]
    """Block, seating and reason of each void attempt."""
    lost: list[tuple[int, int, str]]
    """Block, seating and reason of each attempt whose referee process ended early."""
    seconds: float
    """Duration of this run, without earlier ones."""
    asides: Asides = Asides()
    """Blocks that were set aside, because one bot made them void repeatedly."""
    usage: tuple[UsageFinding, ...] = ()
    """Results of the tests of time and memory."""

    @property
    def verdict(self) -> Verdict:
        """Verdict of all tests together."""
        return verdict_of(self.state, [each.state for each in self.usage])


class HeadBrokenError(AnswerIsNo):
    """Head cannot start, so the test is rejected without a match."""


def play_regression(
    regression: Regression,
    players: tuple[PlayerT, ...],
    open_venue: Venue[PlayerT],
    *,
    fresh: bool,
    check: FieldCheck[PlayerT] | None = None,
    log: Logger = SILENT,
) -> Finding:
    """Play the rest of a test and return its result.

    Args:
        regression: the test.
        players: the entrants, in the form that `open_venue` takes.
        open_venue: opens the workers.
        fresh: moves earlier results aside and starts anew.
        check: checks in a new test that each bot starts; None skips this.
        log: the operator's log.

    Raises:
        HeadBrokenError: head cannot start.
        WrongUse: the folder holds results with other terms.
        MachineCannot: the test cannot be finished now.
        Stopped: a signal arrived; the next run continues.
    """
    started = monotonic()
    folder = regression.arena.results

    looked = check is None

    def look() -> None:
        nonlocal looked
        if check is not None and check.plays and not looked:
            _check_starts(regression, players, check)
        looked = True

    def look_first() -> None:
        try_out(open_venue)
        look()

    with open_ledger(folder, fresh=fresh, try_out=look_first) as ledger:
        if not ledger.terms():
            look()
        otherwise = f"{folder}: its results are of a test with other terms"
        seed = begin_or_go_on(ledger, regression.arena.form.seed, partial(_terms, regression), otherwise)
        tally = _tally_of(regression, ledger)
        field = match_setup(regression.arena, players)
        say_kept(regression.arena)
        _play_rest(regression, field, ledger, tally, seed, open_venue=open_venue, log=log)
        return _finding(regression, ledger, tally, seed, monotonic() - started)


def _check_starts(regression: Regression, players: tuple[PlayerT, ...], check: FieldCheck[PlayerT]) -> None:
    """Play one short match with each bot.

    Raises:
        HeadBrokenError: head never started.
        WrongUse: another bot never started.
    """
    arena = regression.arena
    folder = checks_folder(arena.results)
    forget_refusal(folder)
    found = check_field(arena, players, check, folder)
    broken = [each for each in found if each.broken]
    if broken:
        named = {f"{each.label} ({label_of(arena.bots[each.entrant].given)})": each.broken for each in broken}
        write_refusal(folder, named)
    for each in broken:
        if each.entrant != HEAD:
            flag = "--field"
            if each.entrant == BASE:
                flag = "--base"
            raise WrongUse(f"{flag}: {arena.bots[each.entrant].given}: {each.broken}; logs: {folder}")
    if broken:
        given = printable_name(arena.bots[HEAD].given)
        raise HeadBrokenError(f"rejected: head ({given}) {broken[0].broken}; logs: {folder}")


def folder_for(regression: Regression) -> Path:
    """Return the default results folder. Each set of terms has its own, so that repeating a command continues."""
    terms = _terms(regression, regression.arena.form.seed or 0)
    name = sha256(msgspec.json.encode(terms, order="deterministic")).hexdigest()[:DIGITS]
    return default_folder(f"runs/regress/{regression.arena.form.game}-{name}")


def _terms(regression: Regression, seed: int) -> Terms:
    """Return the terms that the result depends on. The limit is left out, so that a later run may raise it."""
    terms = terms_of(regression.arena, seed)
    del terms["format"], terms["blocks"]
    limits = {f"usage.{limit.resource}": limit.most for limit in regression.usage}
    return terms | {f"test.{key}": value for key, value in msgspec.to_builtins(regression.test).items()} | limits


def _tally_of(regression: Regression, ledger: Ledger) -> BlockTally:
    """Return the tests after the ledger's results, including those of incomplete blocks."""
    tally = BlockTally(regression)
    for played, reports in ledger.played():
        uses = uses_of(reports, played.windows, played.conduct)
        tally.ended(played.block, played.seating, SeatedResult(played.entrants, played.outcome, uses))
    return tally


def _play_rest(
    regression: Regression,
    field: MatchSetup[PlayerT],
    ledger: Ledger,
    tally: BlockTally,
    seed: int,
    *,
    open_venue: Venue[PlayerT],
    log: Logger,
) -> None:
    """Play until the test is decided, then abandon the matches in progress, which would not count."""
    done = tally.blocks
    limit = f"at most {pluralise(regression.limit * regression.seatings, 'match', ',')}"
    say_going_on(ledger, limit, done * regression.seatings, field.plan.isolation)
    if tally.decided or done == regression.limit:
        return
    # An earlier run with a higher limit may have finished matches beyond this one.
    left = max(1, regression.limit * regression.seatings - len(ledger.finished()))
    playing = trio.CancelScope()
    blocks = partial(takewhile, lambda _: not tally.decided)
    with RegressionProgress(progress_console(), regression, tally, playing.cancel) as progress:

        async def play_all() -> None:
            with playing:
                async with open_venue(left) as workers:
                    await BlockRunner(
                        field,
                        lambda: blocks(regression.blocks(seed)),
                        ledger,
                        workers=workers,
                        progress=progress,
                        log=log,
                        settle="at_once",
                        tell_aside=progress.say,
                    ).play()

        event_loop.run(play_all)
    ledger.give_up_unfinished()


def _finding(regression: Regression, ledger: Ledger, tally: BlockTally, seed: int, seconds: float) -> Finding:
    """Build the result from all blocks up to the deciding one; ignore later ones."""
    entrants = len(regression.arena.bots)
    rows = sorted(standings_of(entrants, ledger.results(end=tally.blocks)), key=lambda row: row.entrant)
    ahead = points_ahead(regression.test, tally.observations)
    mean = 0.0
    if ahead:
        mean = fmean(ahead)
    return Finding(
        seed=seed,
        state=tally.state,
        blocks=tally.blocks,
        mean=mean,
        interval=interval(ahead),
        usage=tuple(map(usage_finding, tally.usage)),
        standings=tuple(rows),
        reports=reports_of(entrants, ledger.reports(tally.blocks)),
        voids=ledger.voids(),
        lost=ledger.lost_with_workers(),
        asides=ledger.asides(),
        seconds=seconds,
    )


class RegressionProgress(Gauge):
    """Progress of a test on standard error: a bar at a terminal, otherwise a line from time to time."""

    def __init__(
        self, console: Screen, regression: Regression, tally: BlockTally, decided: Callable[[], None]
    ) -> None:
        """Call `decided` once, after the deciding block."""
        super().__init__(console, Words("blocks"), TimeElapsedColumn())
        self._test = regression.test
        self._seatings = regression.seatings
        self._tally = tally
        self._decided = decided
        self._task = self._bar.add_task(self._found(), total=regression.limit, completed=tally.blocks)

    def ended(self, match: Match, result: Result) -> None:
        """See `arena.tournament.observers.Progress`."""
        if result.outcome is None:
            raise ValueError(f"a void attempt at {match.name} was given as a result")
        before = self._tally.blocks
        uses = uses_of(result.reports, result.windows, result.conduct)
        self._tally.ended(match.block, match.seating, SeatedResult(match.entrants, result.outcome, uses))
        self._bar.update(self._task, completed=self._tally.blocks, description=self._found())
        self._say_now_and_then()
        # Matches in progress may still end after the deciding one.
        if self._tally.decided and before < self._tally.blocks:
            self._decided()

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `arena.tournament.observers.Progress`."""
        del set_aside
        self._tally.again(match.block)
        self._tell_void(match, reason)

    def _said(self) -> str:
        matches = pluralise(self._tally.blocks * self._seatings, "match", ",")
        return f"{matches}: {self._found()}{self._lost_said()}"

    def _found(self) -> str:
        """Return the more likely answer, such as `head is better: 43 % of the evidence needed`."""
        answer, share = leaning(self._test, self._tally.state)
        said = [f"{answer}: {100 * share:.0f} % of the evidence needed"]
        for walk in self._tally.usage:
            blocks = f"{walk.state.within} of {pluralise(walk.state.blocks, 'block')}"
            said.append(f"{walk.limit.resource} within {walk.limit.most:g} times in {blocks}")
        return "; ".join(said)
