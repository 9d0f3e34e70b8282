"""`arena report`: show the results of a tournament that is over or being played."""

from pathlib import Path
from typing import Annotated

import click
from msgspec import Struct

from arena.commands.options import UsageOption
from arena.errors import WrongUse
from arena.options import option, options
from arena.pages import write_report, write_season_report, write_waiting
from arena.quantities import pluralise
from arena.reports import (
    asides_json,
    attempts_text,
    conduct_table,
    digest_json,
    events_of,
    field_usage,
    left_out_json,
    matches_text,
    not_begun_json,
    not_begun_lines,
    notes,
    print_result,
    print_season,
    prior_text,
    ratings_table,
    reports_json,
    season_json,
    seats_table,
    show_crosstable,
    terms_told,
    usage_table,
    write_csv,
)
from arena.schedule import format_of
from arena.season import SeasonResults, season_folder, season_in
from arena.terminal import print_json, results_console, show
from arena.tournament import TRANSCRIPTS, NotBegun, TournamentResults, entries_until, find_ledger, load_results

OUT = click.Path(path_type=Path, dir_okay=False)


class ReportOptions(Struct, frozen=True, kw_only=True):
    """Options for the output of a report."""

    html: Annotated[Path | None, option("Write a page with plots, in one file.", type=OUT)] = None
    table: Annotated[Path | None, option("Write a table with a row for each bot.", "--csv", type=OUT)] = None
    usage: UsageOption = False
    as_json: Annotated[bool, option("Print the report as JSON.", "--json")] = False


@click.command("report")
@click.argument("results", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@options(ReportOptions)
def command(results: Path, *, asked: ReportOptions) -> None:
    """Show ratings with intervals, seats, conduct and time of a tournament, by its results folder or its file.

    Of a season, show each stage's table, and who goes on.
    """
    try:
        if (folder := season_folder(results)) is not None:
            _report_season(season_in(folder), asked)
        else:
            _report_tournament(find_ledger(results), asked)
    except NotBegun as waiting:
        _report_waiting(waiting, asked)


def _report_tournament(ledger: Path, asked: ReportOptions) -> None:
    """Report one tournament. Raises NotBegun."""
    found = load_results(ledger)
    terms, digest = found.terms, found.digest
    logs = ledger.parent / TRANSCRIPTS
    if asked.html is not None:
        write_report(asked.html, ledger.parent, found)
    if asked.table is not None:
        write_csv(asked.table, found)
    if asked.as_json:
        attempts = {"void": len(found.voids), "set_aside": len(found.set_aside), "lost": len(found.lost)}
        content = terms_told(terms) | digest_json(digest) | {"matches_in_all": found.total} | attempts
        content |= {"reports": reports_json(digest.labels, found.reports, logs)}
        content["left_out"] = left_out_json(found)
        content["entries_until"] = entries_until(terms, found.events)
        content["changes"] = events_of(found)
        content |= asides_json(found.asides, digest.labels)
        print_json(content)
    else:
        _print(found, logs, usage=asked.usage)


def _report_waiting(waiting: NotBegun, asked: ReportOptions) -> None:
    """Report that a competition has not begun, and which bots cannot start."""
    if asked.table is not None:
        raise WrongUse(f"--csv: {waiting.format_message()}")
    if asked.html is not None:
        write_waiting(asked.html, waiting)
    if asked.as_json:
        print_json(not_begun_json(waiting))
    else:
        screen = results_console()
        for line in not_begun_lines(waiting):
            screen.say(line)


def _print(found: TournamentResults, logs: Path, *, usage: bool) -> None:
    """Print the report of one tournament."""
    screen, terms, digest = results_console(), found.terms, found.digest
    matches = f"{matches_text(found)} {'match' if digest.matches == found.total == 1 else 'matches'}"
    told_words = (f"{word} processes" if name == "processes" else word for name, word in terms_told(terms).items())
    screen.say(", ".join([f"{matches} in {pluralise(digest.blocks, 'block')}", *told_words]))
    contest = found.contest
    if contest is not None and format_of(contest.spec).table(contest, digest.standings) is not None:
        print_result(screen, contest, digest.standings, digest.seats)
        screen.print()
    show_crosstable(screen, digest.standings, digest.labels, digest.seats)
    for line in attempts_text(found):
        screen.say(line)
    for line in notes(digest.labels, found.reports, logs):
        screen.say(line)
    tables = [ratings_table(digest), seats_table(digest), conduct_table(digest)]
    if usage:
        tables.append(usage_table(*field_usage(digest, found.reports)))
    for each in tables:
        screen.print()
        show(screen, each)
    if said := prior_text(digest):
        screen.say(said)


def _report_season(found: SeasonResults, asked: ReportOptions) -> None:
    """Report the tables of a season's stages."""
    if asked.table is not None:
        raise WrongUse(f"--csv: is for one tournament: give the results folder of a stage in {found.folder}")
    if asked.html is not None:
        write_season_report(asked.html, found)
    if asked.as_json:
        print_json(season_json(found))
    else:
        print_season(results_console(), found, usage=asked.usage)
