"""Plays a regression test from where it stands until it is decided, or to its limit."""

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

from arena import event_loop
from arena.checks import FieldCheck, check_field, forget_refusal, write_refusal
from arena.config import label_of
from arena.errors import AnswerIsNo, WrongUse
from arena.output_folders import default_folder
from arena.quantities import counted
from arena.regression.model import (
    BASE,
    HEAD,
    BlockTally,
    Regression,
    SeatedResult,
    State,
    interval,
    points_ahead,
    verdict_of,
)
from arena.regression.progress import RegressionProgress
from arena.regression.usage import UsageFinding, usage_finding, uses_of
from arena.statistics import (
    BotReport,
    StandingsRow,
    Verdict,
    reports_of,
    standings_of,
)
from arena.terminal import progress_console
from arena.tournament import (
    Asides,
    Ledger,
    MatchSetup,
    Terms,
    begin_or_go_on,
    checks_folder,
    match_setup,
    open_ledger,
    play_blocks,
    say_going_on,
    say_kept,
    terms_of,
    try_out,
)
from arena.workers import Venue
from referee.log import SILENT, Logger
from referee.printable import printable_name

PlayerT = TypeVar("PlayerT")
DIGITS = 12
"""So many of a hash are in the name of a results folder."""


class Finding(Struct, frozen=True):
    """How a regression test came out."""

    seed: int
    state: State
    """Of the test of strength."""
    blocks: int
    """How many count: those up to the one that decided all tests."""
    mean: float
    """Head's points a match minus base's, over all that count."""
    interval: tuple[float, float]
    """Of that difference; see `regression.model.interval`."""
    standings: tuple[StandingsRow, ...]
    """By entrant, of the blocks that counted."""
    reports: tuple[BotReport, ...]
    """The same: what went wrong, and what the bots used."""
    voids: list[tuple[int, int, str]]
    """Block, seating and reason of every void attempt."""
    lost: list[tuple[int, int, str]]
    """The same of attempts whose referee process ended before them."""
    seconds: float
    """How long this run played; earlier ones are not counted."""
    asides: Asides = Asides()
    """Blocks that were void again and again because of one bot."""
    usage: tuple[UsageFinding, ...] = ()
    """The tests of time and memory."""

    @property
    def verdict(self) -> Verdict:
        """What all tests together say."""
        return verdict_of(self.state, [each.state for each in self.usage])


class HeadBrokenError(AnswerIsNo):
    """Head cannot start: the answer is no, and no match is needed for it."""


def play_regression(
    regression: Regression,
    players: tuple[PlayerT, ...],
    open_venue: Venue[PlayerT],
    *,
    fresh: bool,
    check: FieldCheck[PlayerT] | None = None,
    log: Logger = SILENT,
) -> Finding:
    """Plays what is left of it. `players` are the entrants, as the venue wants them.

    A new test begins with a `check` that each bot starts; None: it does not.

    Raises:
        HeadBrokenError: head cannot start.
        WrongUse: the results there are were played under other terms.
        MachineCannot: it cannot be played to its end now.
        Stopped: a signal came; run again, it goes on.
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
    """Plays one short match with each bot.

    Raises:
        HeadBrokenError: head never started.
        WrongUse: another bot did not, so that there is no test.
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
            flag = "--base" if each.entrant == BASE else "--field"
            raise WrongUse(f"{flag}: {arena.bots[each.entrant].given}: {each.broken}; logs: {folder}")
    if broken:
        given = printable_name(arena.bots[HEAD].given)
        raise HeadBrokenError(f"rejected: head ({given}) {broken[0].broken}; logs: {folder}")


def folder_for(regression: Regression) -> Path:
    """Where results go unless it is said: a folder for each set of terms, so that the same command goes on."""
    terms = _terms(regression, regression.arena.form.seed or 0)
    name = sha256(msgspec.json.encode(terms, order="deterministic")).hexdigest()[:DIGITS]
    return default_folder(f"runs/regress/{regression.arena.form.game}-{name}")


def _terms(regression: Regression, seed: int) -> Terms:
    """All that the finding depends on. Not the limit: a test that is undecided may go on with a higher one."""
    terms = terms_of(regression.arena, seed)
    del terms["format"], terms["blocks"]
    limits = {f"usage.{limit.resource}": limit.most for limit in regression.usage}
    return terms | {f"test.{key}": value for key, value in msgspec.to_builtins(regression.test).items()} | limits


def _tally_of(regression: Regression, ledger: Ledger) -> BlockTally:
    """The test as the ledger leaves it. Matches of blocks that were stopped half-way are known too: they stand."""
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
    """Plays until it is decided. What is being played then is given up: it would not count."""
    done = tally.blocks
    limit = f"at most {counted(regression.limit * regression.seatings, 'match', ',')}"
    say_going_on(ledger, limit, done * regression.seatings, field)
    if tally.decided or done == regression.limit:
        return
    # Those beyond a limit that was higher before are finished too.
    left = max(1, regression.limit * regression.seatings - len(ledger.finished()))
    playing = trio.CancelScope()
    blocks = partial(takewhile, lambda _: not tally.decided)
    with RegressionProgress(progress_console(), regression, tally, playing.cancel) as progress:

        async def play_all() -> None:
            with playing:
                async with open_venue(left) as workers:
                    await play_blocks(
                        field,
                        lambda: blocks(regression.blocks(seed)),
                        ledger,
                        workers=workers,
                        progress=progress,
                        log=log,
                        settle="at_once",
                        tell_aside=progress.say,
                    )

        event_loop.run(play_all)
    ledger.give_up_unfinished()


def _finding(regression: Regression, ledger: Ledger, tally: BlockTally, seed: int, seconds: float) -> Finding:
    """What it came to: of the blocks up to the one that decided, whatever else was played."""
    entrants = len(regression.arena.bots)
    rows = sorted(standings_of(entrants, ledger.results(end=tally.blocks)), key=lambda row: row.entrant)
    ahead = points_ahead(regression, tally.observations)
    return Finding(
        seed=seed,
        state=tally.state,
        blocks=tally.blocks,
        mean=fmean(ahead) if ahead else 0.0,
        interval=interval(ahead),
        usage=tuple(map(usage_finding, tally.usage)),
        standings=tuple(rows),
        reports=reports_of(entrants, ledger.reports(tally.blocks)),
        voids=ledger.voids(),
        lost=ledger.lost_with_workers(),
        asides=ledger.asides(),
        seconds=seconds,
    )
