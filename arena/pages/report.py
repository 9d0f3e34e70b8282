"""Reports: a competition's standings, a season or a stress test as one self-contained HTML file."""

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena.pages.competition import Competition, overview_of, reports_of_test
from arena.pages.matches import match_table
from arena.pages.season import SeasonPages
from arena.pages.standings import standings_context
from arena.pages.template import render
from arena.pages.words import State, facts, state_of, terms
from arena.reports import write_csv, write_whole
from arena.season import SeasonResults, title_of
from arena.statistics import Reported
from arena.tournament import LEDGER, PAGE, TABLE, TRANSCRIPTS, Ledger, NotBegun, TournamentResults, is_held

MOST_MATCHES = 100
"""Maximum number of matches in a report: the last ones of the schedule."""


def write_beside(folder: Path, found: TournamentResults) -> None:
    """Write the report and the CSV table of bots into a results folder.

    Raises:
        WrongUse: the files cannot be written there.
        MachineCannot: there is no space.
    """
    write_report(folder / PAGE, folder, found)
    write_csv(folder / TABLE, found)


def write_waiting(path: Path, waiting: NotBegun) -> None:
    """Write a report of a competition that has not begun; raises as `write_beside`."""
    values = {"title": title_of(waiting.folder), "state": State("stopped", waiting.text)}
    lines = [] if waiting.refused is None else waiting.refused.lines
    write_whole(path, render("waiting_report", lines=lines, **values))


def stress_page(values: Mapping[str, Any]) -> str:
    """Return the page of a stress test as one self-contained HTML file; `values` are those of its template."""
    return render("stress", **values)


def write_report(path: Path, folder: Path, found: TournamentResults) -> None:
    """Write the report of a results folder; raises as `write_beside`."""
    write_whole(path, report_of(folder, found, path.absolute().parent))


def report_of(folder: Path, found: TournamentResults, place: Path) -> str:
    """Return the report as HTML without scripts. Links to transcripts are relative to the folder `place`."""
    with closing(Ledger(folder / LEDGER)) as ledger:
        overview = overview_of(found, ledger.times(), reports_of_test(ledger), running=is_held(folder))
        last = range(len(overview.index) - 1, max(-1, len(overview.index) - 1 - MOST_MATCHES), -1)
        matches = ledger.some(overview.index.keys(last))
    transcripts = os.path.relpath(folder / TRANSCRIPTS, place)

    def href(match: Reported) -> str:
        return "" if os.sep in match.transcript else f"{quote(transcripts)}/{quote(match.transcript)}"

    return render(
        "report",
        title=title_of(folder),
        here="",
        state=state_of(overview),
        facts=facts(overview),
        terms=terms(overview),
        pages=[],
        matches=match_table(overview, matches, href),
        more_matches=len(overview.index) > MOST_MATCHES,
        **standings_context(overview, lambda _: "", teams={}, count=len(found.digest.labels)),
    )


def write_season_report(path: Path, found: SeasonResults) -> None:
    """Write the page of a season as one self-contained file.

    Raises:
        WrongUse: the file cannot be written there, or a ledger is not valid.
        MachineCannot: there is no space.
    """
    competitions = [Competition(part.name, part.folder) for stage in found.stages for part in stage.parts]
    season = SeasonPages("season", found.folder, competitions)
    place = path.absolute().parent

    def href(competition: Competition, entrant: int | None) -> str:
        page = competition.folder.absolute() / PAGE
        return f"{competition.folder.name}/{PAGE}" if entrant is None and page.parent.parent == place else ""

    write_whole(path, render("season_report", title=season.title, **season.context(href)))


def write_season_beside(found: SeasonResults) -> None:
    """Write the page of a season into its results folder."""
    write_season_report(found.folder / PAGE, found)
