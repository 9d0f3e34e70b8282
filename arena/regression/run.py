"""The run of a regression test until it is decided, or to its limit."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
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
from arena.checks import check_field, forget_refusal, write_refusal
from arena.config import label_of
from arena.errors import AnswerIsNo, WrongUse
from arena.options import default_folder
from arena.quantities import pluralise
from arena.regression.model import (
    BASE,
    HEAD,
    TEST,
    USAGE,
    BlockTally,
    Regression,
    SeatedResult,
    State,
    UsageFinding,
    leaning,
    points_ahead,
    usage_finding,
    uses_of,
    verdict_of,
)
from arena.schedule import ScheduledMatch
from arena.statistics import (
    BotReport,
    SprtVerdict,
    StandingsRow,
    anytime,
    reports_of,
    standings_of,
)
from arena.terminal import Screen, Words, progress_console
from arena.tournament import (
    Asides,
    BlockRunner,
    Gauge,
    Ledger,
    Run,
    Terms,
    begin_or_go_on,
    checks_folder,
    say_going_on,
    say_kept,
    terms_of,
)
from referee.display_text import printable_name
from referee.host import AttemptResult

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
    """Interval of that difference; see `arena.statistics.anytime.interval`."""
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
    def verdict(self) -> SprtVerdict:
        """Verdict of all tests together."""
        return verdict_of(self.state, self.usage)


class HeadBrokenError(AnswerIsNo):
    """Head cannot start, so the test is rejected without a match."""


@dataclass
class RegressionRun(Run[PlayerT]):
    """One run of a regression test, whose bots and results folder are those of its tournament."""

    _: KW_ONLY
    regression: Regression

    def play(self, *, fresh: bool) -> Finding:
        """Play the rest of the test and return its result. `fresh` moves earlier results aside and starts anew.

        Raises:
            HeadBrokenError: head cannot start.
            WrongUse: the folder holds results with other terms.
            MachineCannot: the test cannot be finished now.
            Stopped: a signal arrived; the next run continues.
        """
        started, arena = monotonic(), self.tournament
        with self.open_ledger(fresh=fresh) as ledger:
            otherwise = f"{arena.results}: its results are of a test with other terms"
            seed = begin_or_go_on(ledger, arena.form.seed, partial(_terms, self.regression), otherwise)
            tally = _tally_of(self.regression, ledger)
            say_kept(arena)
            self._play_rest(ledger, tally, seed)
            return _finding(self.regression, ledger, tally, seed, monotonic() - started)

    def check_field(self, ledger: Ledger | None) -> None:
        """Play one short match with each bot, unless the test has begun.

        Raises:
            HeadBrokenError: head never started.
            WrongUse: another bot never started.
        """
        if self.check is None or not self.check.plays or (ledger is not None and ledger.terms()):
            return
        bots, folder = self.tournament.bots, checks_folder(self.tournament.results)
        forget_refusal(folder)
        broken: dict[int, str] = {}
        named = {}
        for each in check_field(self.tournament, self.players, self.check, folder):
            if each.broken:
                broken[each.entrant] = each.broken
                named[f"{each.label} ({label_of(bots[each.entrant].given)})"] = each.broken
        if broken:
            write_refusal(folder, named)
        for entrant, why in broken.items():
            if entrant != HEAD:
                flag = "--base" if entrant == BASE else "--field"
                raise WrongUse(f"{flag}: {bots[entrant].given}: {why}; logs: {folder}")
        if broken:
            given = printable_name(bots[HEAD].given)
            raise HeadBrokenError(f"rejected: head ({given}) {broken[HEAD]}; logs: {folder}")

    def _play_rest(self, ledger: Ledger, tally: BlockTally, seed: int) -> None:
        """Play until the test is decided, then abandon the matches in progress, which would not count."""
        regression, done = self.regression, tally.blocks
        most = regression.limit * regression.seatings
        limit = f"at most {pluralise(most, 'match', ',')}"
        say_going_on(ledger, limit, done * regression.seatings, self.setup.plan.isolation)
        if tally.decided or done == regression.limit:
            return
        # An earlier run with a higher limit may have finished matches beyond this one.
        left = max(1, most - len(ledger.finished()))
        playing = trio.CancelScope()
        with RegressionProgress(progress_console(), regression, tally, playing.cancel) as progress:

            async def play_all() -> None:
                with playing:
                    async with self.open_workers(left) as workers:
                        await BlockRunner(
                            self.setup,
                            lambda: takewhile(lambda _: not tally.decided, regression.blocks(seed)),
                            ledger,
                            workers=workers,
                            progress=progress,
                            log=self.log,
                            settle="at_once",
                            tell_aside=progress.say,
                        ).play()

            event_loop.run(play_all)
        ledger.give_up_unfinished()


def folder_for(regression: Regression) -> Path:
    """Return the default results folder. Each set of terms has its own, so that repeating a command continues."""
    terms = _terms(regression, regression.arena.form.seed or 0)
    name = sha256(msgspec.json.encode(terms, order="deterministic")).hexdigest()[:DIGITS]
    return default_folder(f"runs/regress/{regression.arena.form.game}-{name}")


def _terms(regression: Regression, seed: int) -> Terms:
    """Return the terms that the result depends on. The limit is left out, so that a later run may raise it."""
    terms = terms_of(regression.arena, seed)
    del terms["format"], terms["blocks"]
    for key, value in msgspec.to_builtins(regression.test).items():
        terms[f"{TEST}{key}"] = value
    for limit in regression.usage:
        terms[f"{USAGE}{limit.resource}"] = limit.most
    return terms


def _tally_of(regression: Regression, ledger: Ledger) -> BlockTally:
    """Return the tests after the ledger's results, including those of incomplete blocks."""
    tally = BlockTally(regression)
    for played, reports in ledger.played():
        uses = uses_of(reports, played.windows, played.conduct)
        tally.ended(played.block, played.seating, SeatedResult(played.entrants, played.outcome, uses))
    return tally


def _finding(regression: Regression, ledger: Ledger, tally: BlockTally, seed: int, seconds: float) -> Finding:
    """Build the result from all blocks up to the deciding one; ignore later ones."""
    entrants = len(regression.arena.bots)
    rows = sorted(standings_of(entrants, ledger.results(end=tally.blocks)), key=lambda row: row.entrant)
    ahead = points_ahead(regression.test, tally.observations)
    mean = fmean(ahead) if ahead else 0.0
    return Finding(
        seed=seed,
        state=tally.state,
        blocks=tally.blocks,
        mean=mean,
        interval=anytime.interval(ahead),
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

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """See `arena.tournament.observers.MatchObserver`."""
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

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """See `arena.tournament.observers.MatchObserver`."""
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
