"""Bots that no chain of meetings connects: no output shows how likely one is the stronger."""

from io import StringIO
from pathlib import Path

from click.testing import CliRunner

from arena.commands.main import main
from arena.reports import NOT_COMPARABLE
from arena.reports.standings import digest_json, ratings_table
from arena.statistics import Digest, digest_of
from arena.terminal import Screen, show
from tests.arena.pages.folders import folder_of
from tests.arena.simulated import result

PLAYED = [
    result(block, seating, entrants, [[0], [1]])
    for block, entrants in enumerate([(0, 1), (2, 3)] * 3)
    for seating in range(2)
]
"""A beat B, and C beat D."""


def two_groups() -> Digest:
    return digest_of(("A", "B", "C", "D"), PLAYED)


def test_the_table_says_not_comparable_where_two_neighbours_never_met() -> None:
    output = StringIO()
    show(Screen(file=output, width=120), ratings_table(two_groups()))
    assert NOT_COMPARABLE in output.getvalue()


def test_the_json_has_null() -> None:
    bots = {bot["bot"]: bot["superiority"] for bot in digest_json(two_groups())["bots"]}
    assert bots["A"]["C"] is None is bots["D"]["B"]
    assert bots["A"]["B"] > 0.5 > bots["D"]["C"]


def test_the_report_page_says_it_in_each_such_cell_and_not_on_the_diagonal(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "cup", ("A", "B", "C", "D"), PLAYED)
    page = CliRunner().invoke(main, ["report", str(folder), "--html", str(tmp_path / "page.html")])
    assert 0 == page.exit_code, page.output
    assert 8 == (tmp_path / "page.html").read_text().count(NOT_COMPARABLE)
