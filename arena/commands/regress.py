"""`arena regress`: is a bot's new version better than its old one? Its exit code is for CI."""

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
from arena.quantities import counted
from arena.regression import (
    HEAD,
    Asked,
    Explained,
    Finding,
    HeadBrokenError,
    Regression,
    asking,
    explain,
    folder_for,
    play_regression,
    regression_of,
)
from arena.reports import (
    attempts_text,
    broken_markdown,
    decisions_table,
    explained_json,
    explained_lines,
    explained_markdown,
    explained_rows,
    finding_json,
    finding_lines,
    finding_markdown,
    finding_table,
    head_lost,
    outcomes_table,
    rows_left_out,
    usage_table,
)
from arena.schedule import MOST_BLOCKS
from arena.statistics import EloModel, Verdict
from arena.tables import show
from arena.terminal import command_line, print_json, results_console, say
from arena.tournament import TRANSCRIPTS
from arena.workers import Where, matches_at_once, ready, venue_for
from referee.sandbox import Isolation

EXPLAINED = 20
BLOCKS = click.IntRange(1, MOST_BLOCKS)
"""Of base's matches, unless it is said: some minutes at most, for bots that take seconds a match."""


@click.command("regress")
@click.argument("game", shell_complete=complete_games)
@click.option("--base", shell_complete=complete_bots, required=True, metavar="BOT", help="The old version.")
@click.option("--head", shell_complete=complete_bots, required=True, metavar="BOT", help="The new version.")
@click.option("--variant", shell_complete=complete_variants, help="Variant of the game.  [default: the game's]")
@click.option("--options", help="The game's options, as a JSON object.")
@click.option("--elo0", type=float, help="Two seats: head's advantage in Elo under H0.  [default: 0]")
@click.option("--elo1", type=float, help="Two seats: head's advantage in Elo under H1.  [default: 5]")
@click.option("--elo-model", "model", type=click.Choice(get_args(EloModel)), help="[default: normalized]")
@click.option("--low", type=float, help="More seats: head's advantage in points a match under H0.  [default: 0]")
@click.option(
    "--high", type=float, help="More seats: head's advantage in points a match under H1.  [default: 0.05]"
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Bound on the rate of accepting H1 wrongly."
)
@click.option(
    "--beta", type=float, default=0.05, show_default=True, help="Bound on the rate of accepting H0 wrongly."
)
@click.option(
    "--field",
    shell_complete=complete_bots,
    multiple=True,
    metavar="BOT",
    help="More seats: bot of the other seats; repeatable.",
)
@click.option("--rotations", type=BLOCKS, help="More seats: number of seatings of a deal.  [default: all]")
@click.option(
    "--blocks", type=BLOCKS, default=40_000, show_default=True, help="Limit on blocks; then the test is undecided."
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
    "--explain",
    "explains",
    is_flag=True,
    help="After the test, show which of base's decisions head would make otherwise.",
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
    explains: bool,
    limit: int | None,
    keep_bots: bool,
    checks: bool,
    feed: str | None,
    log: str | None,
    usage: bool,
    **given: Any,
) -> None:
    """Test whether head is better at GAME than base. After a stop, the same command goes on.

    A BOT is a folder, FOLDER@REVISION or a sample bot's name. Blocks count in the order of the schedule, and the
    test ends as soon as it is sure.

    Exit codes: 0 accepted, H1 fits better than H0; 1 rejected, H0 fits better; 2 wrong use or bad input; 3
    undecided after --blocks, or this machine cannot do it: then the last line says so, and --json has no verdict.
    """
    if limit is not None and not explains:
        raise WrongUse("--limit: says how many matches --explain asks about")
    if transcripts is not None and explains:
        raise WrongUse("--explain: reads transcripts in the results folder; --transcripts puts them elsewhere")
    asked = Asked(
        policy=replace(read_policy(given), processes="kept" if keep_bots else "fresh"),
        caps=caps_given(caps),
        **{name: given[name] for name in Asked.__struct_fields__ if name in given},
    )
    regression = regression_of(asked)
    where = folder_for(regression) if results is None else results
    regression = replace(regression, arena=replace(regression.arena, results=where))
    if summary is not None:
        # Tried before hours of play, not after.
        _add(summary, "")
    place = Where(on=on, transcripts=transcripts, concurrency=concurrency, workers=workers, patience=patience)
    try:
        finding = _played(regression, place, fresh=fresh, checks=checks, feed=feed, log=log)
    except HeadBrokenError as broken:
        _tell_broken(regression, broken.format_message(), as_json=as_json, summary=summary)
        raise
    if not as_json:
        _print(regression, finding, transcripts, usage=usage)
    if summary is not None:
        _add(summary, finding_markdown(regression, finding))
    at_once = concurrency or matches_at_once()
    matches = None if not explains else _explained(regression, finding, at_once=at_once, limit=limit or EXPLAINED)
    if as_json:
        content = finding_json(regression, finding)
        content |= {} if matches is None else {"explained": explained_json(matches)}
        print_json(content)
    elif matches is not None:
        _print_explained(regression, matches)
    if summary is not None and matches is not None:
        _add(summary, explained_markdown(matches, regression.arena.seats))
    _answer(finding, regression)


def _tell_broken(regression: Regression, why: str, *, as_json: bool, summary: Path | None) -> None:
    """For CI: head cannot start."""
    if as_json:
        print_json({"verdict": Verdict.REJECTED.value, "broken": why})
    if summary is not None:
        _add(summary, broken_markdown(regression, why))


def _played(
    regression: Regression, where: Where, *, fresh: bool, checks: bool, feed: str | None, log: str | None
) -> Finding:
    arena = regression.arena
    with open_log(log) as events, open_feed(feed_asked(feed, arena.results)) as line:
        players, venue = venue_for(where, arena.bots, arena.form.isolation, fresh=fresh, feed=line, log=events)
        check = check_asked(where, arena, {}, plays=checks)
        try:
            return play_regression(regression, players, venue, fresh=fresh, check=check, log=events.logger)
        except Stopped as stopped:
            again = command_line(*(word for word in sys.argv[1:] if word != "--fresh"))
            raise Stopped(stopped.signal, f"stopped; to go on where it was: {again}") from None


def _print(regression: Regression, finding: Finding, elsewhere: str | None, *, usage: bool) -> None:
    """The final table, and what it comes to."""
    screen = results_console()
    show(screen, finding_table(regression, finding))
    screen.print()
    if usage:
        show(screen, usage_table(regression.arena.labels, [report.total for report in finding.reports]))
        screen.print()
    for line in finding_lines(regression, finding):
        screen.say(line)
    for line in attempts_text(finding):
        screen.say(line)
    transcripts = elsewhere or regression.arena.results / TRANSCRIPTS
    screen.say(f"transcripts: {transcripts}")


def _explained(regression: Regression, finding: Finding, *, at_once: int, limit: int) -> list[Explained] | None:
    """What head answers to base's questions; None where it cannot be asked: the test's answer stands."""
    arena = regression.arena
    try:
        (head,) = ready((arena.folders[HEAD],), arena.form.isolation)
        open_asking = asking(head, arena.plan())
        return explain(regression, finding.state.blocks, open_asking, at_once=at_once, limit=limit)
    except (WrongUse, MachineCannot) as error:
        say(f"arena: not explained: {error.format_message()}")
        return None


def _print_explained(regression: Regression, matches: list[Explained]) -> None:
    screen, seats = results_console(), regression.arena.seats
    screen.print()
    if explained_rows(matches, seats):
        show(screen, decisions_table(matches, seats))
        if more := rows_left_out(matches, seats):
            screen.say(f"the first of each match; {more} more are in --json")
        screen.print()
    show(screen, outcomes_table(matches))
    screen.print()
    for line in explained_lines(matches):
        screen.say(line)


def _add(file: Path, text: str) -> None:
    """Added, not written over: a CI's summary may hold what earlier steps said."""
    try:
        with file.open("a", encoding="utf-8") as page:
            page.write(text)
    except OSError as error:
        raise cannot_write(file, error) from None


def _answer(finding: Finding, regression: Regression) -> None:
    """The exit code."""
    verdict = finding.state.verdict
    if verdict is Verdict.REJECTED:
        raise AnswerIsNo(f"rejected: head is not better{head_lost(finding)}")
    if verdict is Verdict.UNDECIDED:
        raise Undecided(
            f"undecided after {counted(regression.limit, 'block')}; more --blocks would go on from here"
            f"{head_lost(finding)}"
        )
