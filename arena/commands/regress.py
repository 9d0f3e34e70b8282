"""`arena regress`: is a bot's new version better than its old one? Its exit code is for CI."""

import os
import sys
from pathlib import Path
from typing import Any, get_args

import click
from msgspec.structs import replace

from arena.commands.completion import complete_bots, complete_games, complete_variants
from arena.commands.options import (
    cap_option,
    caps_given,
    check_asked,
    check_option,
    clock_option,
    feed_asked,
    feed_option,
    log_option,
    open_log,
    policy_options,
    read_policy,
    usage_option,
    warm_option,
    where_options,
)
from arena.errors import AnswerIsNo, MachineCannot, Stopped, Undecided, WrongUse, cannot_write
from arena.feed import open_feed
from arena.output_folders import refuse_in_bot
from arena.quantities import pluralise
from arena.regression import (
    HEAD,
    QUESTION_NAMES,
    DecisionDiff,
    Finding,
    HeadBrokenError,
    Regression,
    RegressionOptions,
    asking,
    explain,
    folder_for,
    play_regression,
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
from arena.schedule import MOST_BLOCKS
from arena.statistics import EloModel, Verdict
from arena.tables import show
from arena.terminal import command_line, print_json, results_console, say
from arena.tournament import TRANSCRIPTS
from arena.workers import Where, matches_at_once, ready, venue_for, workers_kept
from referee.linux.files import write_bytes_whole
from referee.sandbox import Isolation

EXPLAINED = 20
"""Of base's matches, unless it is said: some minutes at most, for bots that take seconds a match."""
BLOCKS = click.IntRange(1, MOST_BLOCKS)


@click.command("regress")
@click.argument("game", shell_complete=complete_games)
@click.option("--base", shell_complete=complete_bots, required=True, metavar="BOT", help="The old version.")
@click.option("--head", shell_complete=complete_bots, required=True, metavar="BOT", help="The new version.")
@click.option("--variant", shell_complete=complete_variants, help="Variant of the game.  [default: the game's]")
@click.option("--options", help="The game's options, as a JSON object.")
@click.option(
    "--question",
    type=click.Choice(QUESTION_NAMES),
    help="What is asked: is head better, not worse, or much better?  [default: better]",
)
@click.option(
    "--slower",
    type=float,
    metavar="RATIO",
    help="Also fail head if its processor time per move is more than RATIO times base's.",
)
@click.option(
    "--larger",
    type=float,
    metavar="RATIO",
    help="Also fail head if its peak memory is more than RATIO times base's.",
)
@click.option(
    "--field",
    shell_complete=complete_bots,
    multiple=True,
    metavar="BOT",
    help="A fixed opponent: base and head each play against the field; repeatable."
    "  [default with two seats: base and head meet; with more: a random bot]",
)
@click.option("--elo0", type=float, help="In place of --question: head's advantage in Elo under H0.")
@click.option("--elo1", type=float, help="In place of --question: head's advantage in Elo under H1.")
@click.option("--elo-model", "model", type=click.Choice(get_args(EloModel)), help="[default: normalized]")
@click.option(
    "--low", type=float, help="In place of --question, with a field: advantage in points a match under H0."
)
@click.option(
    "--high", type=float, help="In place of --question, with a field: advantage in points a match under H1."
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Bound on the rate of accepting head wrongly."
)
@click.option(
    "--beta", type=float, default=0.05, show_default=True, help="Bound on the rate of rejecting head wrongly."
)
@click.option("--rotations", type=BLOCKS, help="More seats: number of seatings of a deal.  [default: all]")
@click.option(
    "--blocks", type=BLOCKS, default=40_000, show_default=True, help="Limit on blocks; then the test is undecided."
)
@click.option(
    "--same-content",
    is_flag=True,
    help="Test even if base and head have the same content, for example to check the test itself.",
)
@click.option("--seed", type=int, help="Seed of all deals.  [default: drawn, and kept with the results]")
@clock_option
@click.option("--isolation", type=click.Choice(get_args(Isolation)), default="strict", show_default=True)
@warm_option
@click.option(
    "--keep-bots", is_flag=True, help="Keep bots that can stay for the next match: quicker, less strict."
)
@where_options
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Folder for ledger and transcripts.  [default: runs/regress/..., one for each set of terms]",
)
@click.option("--fresh", is_flag=True, help="Begin anew; move earlier results into a folder within theirs.")
@check_option
@feed_option
@log_option
@usage_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--markdown", "summary", type=click.Path(path_type=Path), metavar="FILE", help="Add a summary for CI to FILE."
)
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the result as JUnit XML to FILE."
)
@click.option(
    "--explain",
    "explains",
    is_flag=True,
    help="After the test, show which of base's decisions head would make differently.",
)
@click.option("--limit", type=BLOCKS, help="With --explain: number of base's matches.  [default: the first 20]")
@cap_option
@policy_options
def command(
    *,
    caps: tuple[str, ...],
    fresh: bool,
    concurrency: int | None,
    workers: int | None,
    on: str,
    patience: int,
    transcripts: str | None,
    results: Path | None,
    as_json: bool,
    summary: Path | None,
    junit: Path | None,
    explains: bool,
    limit: int | None,
    keep_bots: bool,
    checks: bool,
    same_content: bool,
    feed: str | None,
    log: str | None,
    usage: bool,
    **given: Any,
) -> None:
    """Test whether head is better at GAME than base. After a stop, the same command goes on.

    A BOT is a folder, FOLDER@REVISION or a sample bot's name. Blocks count in the order of the schedule, and the
    test ends as soon as it is sure.

    Exit codes: 0 accepted, head is better (or what --question asks); 1 rejected, or head cannot start; 2 wrong use
    or bad input; 3 undecided after --blocks, or this machine cannot do it: then the last line says so, and --json
    has no verdict. If base and head have the same content, the test is undecided before its first match.
    """
    if limit is not None and not explains:
        raise WrongUse("--limit: has no effect without --explain")
    if transcripts is not None and explains:
        raise WrongUse("--explain: reads transcripts in the results folder; --transcripts puts them elsewhere")
    asked = RegressionOptions(
        policy=replace(read_policy(given), processes="kept" if keep_bots else "fresh"),
        caps=caps_given(caps),
        **{name: given[name] for name in RegressionOptions.__struct_fields__ if name in given},
    )
    regression = regression_of(asked)
    where = _results_folder(regression, results)
    regression = replace(regression, arena=replace(regression.arena, results=where))
    if summary is not None:
        # Tried before hours of play, not after.
        _add(summary, "")
    _write_junit(junit, unplayed_junit(regression, Verdict.UNDECIDED, "the test has begun and not ended yet"))
    _check_contents(regression, insists=same_content, as_json=as_json, summary=summary, junit=junit)
    place = Where(on=on, transcripts=transcripts, concurrency=concurrency, workers=workers, patience=patience)
    try:
        finding = _played(regression, place, fresh=fresh, checks=checks, feed=feed, log=log)
    except HeadBrokenError as broken:
        _tell_broken(regression, broken.format_message(), as_json=as_json, summary=summary, junit=junit)
        raise
    if not as_json:
        _print(regression, finding, transcripts, usage=usage)
    if summary is not None:
        _add(summary, finding_markdown(regression, finding))
    _write_junit(junit, finding_junit(regression, finding))
    at_once = concurrency or matches_at_once()
    matches = None if not explains else _explained(regression, finding, at_once=at_once, limit=limit or EXPLAINED)
    if as_json:
        head = problems_of("head", regression.arena.folders[HEAD], finding.reports[HEAD])
        content = finding_json(regression, finding) | {"problems": problems_json(head)}
        content |= {} if matches is None else {"explained": explained_json(matches)}
        print_json(content)
    elif matches is not None:
        _print_explained(regression, matches)
    if summary is not None and matches is not None:
        _add(summary, explained_markdown(matches, regression.arena.seats))
    _answer(finding, regression)


def _write_junit(path: Path | None, content: bytes) -> None:
    """Write a report for CI systems, if one was asked for."""
    if path is None:
        return
    try:
        write_bytes_whole(path, content)
    except OSError as error:
        raise cannot_write(path, error) from None


def _tell_broken(
    regression: Regression, why: str, *, as_json: bool, summary: Path | None, junit: Path | None
) -> None:
    """For CI: head cannot start."""
    if as_json:
        found = problem("head", regression.arena.folders[HEAD], why)
        print_json({"verdict": Verdict.REJECTED.value, "broken": why, "problems": problems_json([found])})
    _write_junit(junit, unplayed_junit(regression, Verdict.REJECTED, why))
    if summary is not None:
        _add(summary, unplayed_markdown(regression, Verdict.REJECTED, why))


def _results_folder(regression: Regression, asked: Path | None) -> Path:
    if asked is None:
        return folder_for(regression)
    refuse_in_bot(asked, "--results")
    return asked


def _check_contents(
    regression: Regression, *, insists: bool, as_json: bool, summary: Path | None, junit: Path | None
) -> None:
    """Raise `Undecided` if base and head have the same content, unless the user insists; tell CI."""
    why = same_content_text(regression)
    if insists or why is None:
        return
    if as_json:
        print_json({"verdict": Verdict.UNDECIDED.value, "same_content": regression.arena.folders[HEAD].content})
    if summary is not None:
        _add(summary, unplayed_markdown(regression, Verdict.UNDECIDED, why))
    _write_junit(junit, unplayed_junit(regression, Verdict.UNDECIDED, why))
    raise Undecided(why)


def _played(
    regression: Regression, where: Where, *, fresh: bool, checks: bool, feed: str | None, log: str | None
) -> Finding:
    arena = regression.arena
    with workers_kept(), open_log(log) as events, open_feed(feed_asked(feed, arena.results)) as line:
        players, venue = venue_for(
            where, arena.bots, arena.form.isolation, seats=arena.seats, fresh=fresh, feed=line, log=events
        )
        check = check_asked(where, arena, {}, plays=checks)
        try:
            return play_regression(regression, players, venue, fresh=fresh, check=check, log=events.logger)
        except Stopped as stopped:
            again = command_line(*(word for word in sys.argv[1:] if word != "--fresh"))
            raise Stopped(stopped.signal, f"stopped; to go on where it was: {again}") from None


def _print(regression: Regression, finding: Finding, elsewhere: str | None, *, usage: bool) -> None:
    """What it comes to, first what head won; then the table, and the statistics."""
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
    """What head answers to base's questions; None where it cannot be asked: the test's answer stands."""
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
    """Added, not written over: a CI's summary may hold what earlier steps said."""
    # A fifo that nobody reads would be waited for.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
    try:
        descriptor = os.open(file, flags, 0o666)
        os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "w", encoding="utf-8") as page:
            page.write(text)
    except OSError as error:
        raise cannot_write(file, error) from None


def _answer(finding: Finding, regression: Regression) -> None:
    """The exit code."""
    verdict, why = finding.verdict, verdict_text(regression.test, finding)
    if verdict is Verdict.REJECTED:
        raise AnswerIsNo(f"{why}{head_lost(finding)}")
    if verdict is Verdict.UNDECIDED:
        matches = pluralise(finding.blocks * regression.seatings, "match", ",")
        hopeless = [each.limit.resource for each in finding.usage if each.state.is_over and each.ratio is None]
        remedy = (
            f"{' and '.join(hopeless)} could not be measured"
            if hopeless
            else "give more --blocks to continue from here"
        )
        raise Undecided(f"undecided after {matches}; {remedy}{head_lost(finding)}")
