"""A competition's report: the standings as one file that needs no other."""

from contextlib import closing
from pathlib import Path

from arena.pages.assets import content
from arena.pages.competition import overview_of
from arena.pages.standings import standings_parts
from arena.pages.template import markup, render
from arena.pages.words import facts, state_of, terms
from arena.reports import write_csv, write_whole
from arena.tournament import LEDGER, PAGE, TABLE, Ledger, Results, is_held


def write_beside(folder: Path, found: Results) -> None:
    """Writes the report and the table with a row a bot into a results folder.

    Raises:
        WrongUse: they cannot be written there.
        MachineCannot: there is no space.
    """
    write_report(folder / PAGE, folder, found)
    write_csv(folder / TABLE, found)


def write_report(path: Path, folder: Path, found: Results) -> None:
    """Writes the report of a results folder; see `write_beside`."""
    write_whole(path, report_of(folder, found))


def report_of(folder: Path, found: Results) -> str:
    """The report as HTML, without a script."""
    with closing(Ledger(folder / LEDGER)) as ledger:
        overview = overview_of(found, ledger.times(), running=is_held(folder))
    return render(
        "report",
        title=folder.resolve().name,
        css=markup(content("site.css").decode()),
        here="",
        state=state_of(overview),
        facts=facts(overview),
        terms=terms(overview),
        pages=[],
        **standings_parts(overview, lambda _: ""),
    )
