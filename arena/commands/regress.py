"""`arena regress`: test whether a bot's new version is better than its old one. The exit code is for CI."""

import os
import sys
from pathlib import Path
from typing import Annotated

import click
from msgspec import Struct
from msgspec.structs import replace

from arena.checks import check_asked
from arena.commands.options import (
    CapsOption,
    CheckOption,
    FeedOption,
    LogOption,
    PolicyOptions,
    UsageOption,
    caps_given,
    feed_asked,
    open_log,
    read_policy,
)
from arena.errors import AnswerIsNo, MachineCannot, Stopped, Undecided, WrongUse, writing
from arena.feed import open_feed
from arena.options import JsonOption, complete_games, option, options, refuse_in_bot
from arena.quantities import pluralise
from arena.regression import (
    HEAD,
    Blocks,
    DecisionDiff,
    Finding,
    HeadBrokenError,
    Regression,
    RegressionOptions,
    RegressionRun,
    asking,
    explain,
    folder_for,
    regression_of,
    same_content_text,
)
from arena.reports import (
    attempts_text,
    decision_rows,
    decisions_table,
    explained_json,
    explained_lines,
    explained_markdown,
    finding_json,
    finding_junit,
    finding_lines,
    finding_markdown,
    finding_table,
    head_lost,
    outcomes_table,
    problem,
    problems_json,
    problems_of,
    rows_left_out,
    unplayed_junit,
    unplayed_markdown,
    usage_table,
    verdict_text,
)
from arena.statistics import SprtVerdict
from arena.terminal import command_line, print_json, results_console, say, show
from arena.tournament import TRANSCRIPTS
from arena.workers import Placement, PoolSetup, matches_at_once, ready, workers_kept
from referee.linux.files import write_bytes_whole

EXPLAINED = 20
"""Default number of base's matches: some minutes at most for bots that take seconds per match."""


class OutcomeOptions(Struct, frozen=True, kw_only=True):
    """Options for where a test's results go, and how they are shown."""

    results: Annotated[
        Path | None,
        option(
            "Folder for ledger and transcripts.  [default: runs/regress/..., one for each set of terms]",
        ),
    ] = None
    fresh: Annotated[bool, option("Begin anew; move earlier results into a folder within theirs.")] = False
    checks: CheckOption = True
    feed: FeedOption = None
    log: LogOption = None
    usage: UsageOption = False
    as_json: JsonOption = False
    summary: Annotated[
        Path | None,
        option("Add a summary for CI to FILE.", "--markdown", metavar="FILE"),
    ] = None
    junit: Annotated[Path | None, option("Write the result as JUnit XML to FILE.", metavar="FILE")] = None
    explains: Annotated[
        bool,
        option("After the test, show which of base's decisions head would make differently.", "--explain"),
    ] = False
    limit: Annotated[
        Blocks | None, option("With --explain: number of base's matches.  [default: the first 20]")
    ] = None
    caps: CapsOption = ()
    policy: PolicyOptions = PolicyOptions()


@click.command("regress")
@click.argument("game", shell_complete=complete_games)
@options(RegressionOptions, "test")
@options(Placement, "where")
@options(OutcomeOptions)
def command(game: str, *, test: RegressionOptions, where: Placement, asked: OutcomeOptions) -> None:
    """Test whether head is better at GAME than base. After a stop, the same command goes on.

    A BOT is a folder, FOLDER@REVISION or a sample bot's name. Blocks count in the order of the schedule, and the
    test ends as soon as it is sure.

    Exit codes: 0 accepted, head is better (or what --question asks); 1 rejected, or head cannot start; 2 wrong use
    or bad input; 3 undecided after --blocks, or this machine cannot do it: then the last line says so, and --json
    has no verdict. If base and head have the same content, the test is undecided before its first match.
    """
    if asked.limit is not None and not asked.explains:
        raise WrongUse("--limit: has no effect without --explain")
    if where.transcripts is not None and asked.explains:
        raise WrongUse("--explain: reads transcripts in the results folder; --transcripts puts them elsewhere")
    policy = read_policy(asked.policy)
    regression = regression_of(replace(test, game=game, policy=policy, caps=caps_given(asked.caps)))
    results = asked.results or folder_for(regression)
    if asked.results is not None:
        refuse_in_bot(asked.results, "--results")
    regression = replace(regression, arena=replace(regression.arena, results=results))
    if asked.summary is not None:
        # Checked before hours of play.
        _add(asked.summary, "")
    _write_junit(
        asked.junit, unplayed_junit(regression, SprtVerdict.UNDECIDED, "the test has begun and not ended yet")
    )
    why = same_content_text(regression)
    if why is not None and not test.same_content:
        _tell_undecided(regression, why, asked)
        raise Undecided(why)
    try:
        finding = _played(regression, where, asked)
    except HeadBrokenError as broken:
        _tell_broken(regression, broken.format_message(), asked)
        raise
    _report(regression, finding, where, asked)
    _answer(finding, regression)


def _report(regression: Regression, finding: Finding, where: Placement, asked: OutcomeOptions) -> None:
    """Print and write the result, and compare decisions if requested."""
    if not asked.as_json:
        _print(regression, finding, where.transcripts, usage=asked.usage)
    if asked.summary is not None:
        _add(asked.summary, finding_markdown(regression, finding))
    _write_junit(asked.junit, finding_junit(regression, finding))
    matches = None
    if asked.explains:
        at_once = where.concurrency or matches_at_once()
        matches = _explained(regression, finding, at_once=at_once, limit=asked.limit or EXPLAINED)
    if asked.as_json:
        head = problems_of("head", regression.arena.folders[HEAD], finding.reports[HEAD])
        content = finding_json(regression, finding) | {"problems": problems_json(head)}
        if matches is not None:
            content["explained"] = explained_json(matches)
        print_json(content)
    elif matches is not None:
        _print_explained(regression, matches)
    if asked.summary is not None and matches is not None:
        _add(asked.summary, explained_markdown(matches, regression.arena.seats))


def _write_junit(path: Path | None, content: bytes) -> None:
    """Write a report for CI systems if `path` is given."""
    if path is None:
        return
    with writing(path):
        write_bytes_whole(path, content)


def _tell_broken(regression: Regression, why: str, asked: OutcomeOptions) -> None:
    """Report to CI that head cannot start."""
    if asked.as_json:
        found = problem("head", regression.arena.folders[HEAD], why)
        print_json({"verdict": SprtVerdict.REJECTED.value, "broken": why, "problems": problems_json([found])})
    _write_junit(asked.junit, unplayed_junit(regression, SprtVerdict.REJECTED, why))
    if asked.summary is not None:
        _add(asked.summary, unplayed_markdown(regression, SprtVerdict.REJECTED, why))


def _tell_undecided(regression: Regression, why: str, asked: OutcomeOptions) -> None:
    """Report to CI that base and head have the same content."""
    if asked.as_json:
        print_json(
            {"verdict": SprtVerdict.UNDECIDED.value, "same_content": regression.arena.folders[HEAD].content}
        )
    if asked.summary is not None:
        _add(asked.summary, unplayed_markdown(regression, SprtVerdict.UNDECIDED, why))
    _write_junit(asked.junit, unplayed_junit(regression, SprtVerdict.UNDECIDED, why))


def _played(regression: Regression, where: Placement, asked: OutcomeOptions) -> Finding:
    arena, fresh = regression.arena, asked.fresh
    with workers_kept(), open_log(asked.log) as events, open_feed(feed_asked(asked.feed, arena.results)) as line:
        setup = PoolSetup(where=where, isolation=arena.form.isolation, seats=arena.seats, feed=line, log=events)
        players, pool = setup.pool_for(arena.bots, fresh=fresh)
        check = check_asked(where, arena, {}, plays=asked.checks)
        try:
            run = RegressionRun(arena, players, pool, check=check, log=events.logger, regression=regression)
            return run.play(fresh=fresh)
        except Stopped as stopped:
            again = command_line(*(word for word in sys.argv[1:] if word != "--fresh"))
            raise Stopped(stopped.signal, f"stopped; to go on where it was: {again}") from None


def _print(regression: Regression, finding: Finding, elsewhere: str | None, *, usage: bool) -> None:
    """Print what head won, then the table and the statistics."""
    screen = results_console()
    first, *rest = finding_lines(regression, finding)
    screen.say(first)
    screen.print()
    show(screen, finding_table(regression, finding))
    screen.print()
    if usage:
        show(screen, usage_table(regression.arena.labels, [report.total for report in finding.reports]))
        screen.print()
    for line in rest:
        screen.say(line)
    for line in attempts_text(finding):
        screen.say(line)
    transcripts = elsewhere or regression.arena.results / TRANSCRIPTS
    screen.say(f"transcripts: {transcripts}")


def _explained(regression: Regression, finding: Finding, *, at_once: int, limit: int) -> list[DecisionDiff] | None:
    """Return the differences of decisions, or None if head cannot be asked."""
    arena = regression.arena
    try:
        (head,) = ready((arena.folders[HEAD],), arena.form.isolation)
        open_asking = asking(head, arena.plan())
        return explain(regression, finding.state.blocks, open_asking, at_once=at_once, limit=limit)
    except (WrongUse, MachineCannot) as error:
        say(f"arena: cannot explain the differences: {error.format_message()}")
        return None


def _print_explained(regression: Regression, matches: list[DecisionDiff]) -> None:
    screen, seats = results_console(), regression.arena.seats
    screen.print()
    if decision_rows(matches, seats):
        show(screen, decisions_table(matches, seats))
        if more := rows_left_out(matches, seats):
            screen.say(f"only the first of each match is shown; --json has {more} more")
        screen.print()
    show(screen, outcomes_table(matches))
    screen.print()
    for line in explained_lines(matches):
        screen.say(line)


def _add(file: Path, text: str) -> None:
    """Append text to a file, because a CI's summary may have the text of earlier steps."""
    # Opening a fifo without a reader would block.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
    with writing(file):
        descriptor = os.open(file, flags, 0o666)
        os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "w", encoding="utf-8") as page:
            page.write(text)


def _answer(finding: Finding, regression: Regression) -> None:
    """Raise the error with the command's exit code, unless head is accepted."""
    verdict, why = finding.verdict, verdict_text(regression.test, finding)
    if verdict is SprtVerdict.REJECTED:
        raise AnswerIsNo(f"{why}{head_lost(finding)}")
    if verdict is SprtVerdict.UNDECIDED:
        matches = pluralise(finding.blocks * regression.seatings, "match", ",")
        hopeless = [each.limit.resource for each in finding.usage if each.state.is_over and each.ratio is None]
        remedy = "give more --blocks to continue from here"
        if hopeless:
            remedy = f"{' and '.join(hopeless)} could not be measured"
        raise Undecided(f"undecided after {matches}; {remedy}{head_lost(finding)}")
