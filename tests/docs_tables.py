"""The sample tables of README and docs: where they are, and the tournaments that they show.

`scripts/sample-tables` plays the tournaments and writes the tables into the pages; `test_docs_tables` checks that
the pages have the columns of today.
"""

import re
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from arena.config import read_tournament
from arena.reports import ratings_table
from arena.reports.tournament import crosstable
from arena.schedule import Contest, format_of
from arena.statistics import digest_of, standings_of
from arena.terminal import Grid, Screen, grid, show
from tests.docs_pages import HOUSE

WIDE = 200
_RULE = re.compile(r" *(─|-){20,}")
_BETWEEN = re.compile(r"  +")


class Sample(Struct, frozen=True):
    """A table of a page."""

    page: str
    number: int
    """Index among the page's tables."""
    file: str
    """File of the tournament, in docs/examples."""
    is_ratings: bool = False
    """True for the ratings below the standings."""


SAMPLES = (
    Sample("README.md", 0, "demo/mist.toml"),
    Sample("docs/tournament.md", 0, "formats/gauntlet.toml"),
    Sample("docs/tournament.md", 1, "formats/swiss.toml"),
    Sample("docs/tournament.md", 2, "formats/ladder.toml"),
    Sample("docs/tournament.md", 3, "demo/mist.toml"),
    Sample("docs/tournament.md", 4, "demo/hive-mind.toml"),
    Sample("docs/tournament.md", 5, "demo/hive-mind.toml", is_ratings=True),
)


def tables_in(text: str) -> list[tuple[int, list[str]]]:
    """Return the tables of a text: the number of the first line, counted from 0, and the lines without indent."""
    lines = text.splitlines()
    tables = []
    for rule, line in enumerate(lines):
        if rule and _RULE.fullmatch(line) and _BETWEEN.search(lines[rule - 1].strip()):
            end = rule + 1
            while end < len(lines) and _BETWEEN.search(lines[end].strip()):
                end += 1
            tables.append((rule - 1, lines[rule - 1 : end]))
    return tables


def table_of(sample: Sample) -> list[str]:
    """Return the lines of a sample's table in its page."""
    _, lines = tables_in((HOUSE / sample.page).read_text(encoding="utf-8"))[sample.number]
    return lines


def expected(sample: Sample) -> Grid:
    """Return the sample's table before the first match: its columns are those that the arena shows today."""
    tournament = read_tournament(HOUSE / "docs/examples" / sample.file)
    spec = tournament.spec
    rows = standings_of(len(tournament.labels), [], tournament.house)
    if sample.is_ratings:
        return ratings_table(digest_of(tournament.labels, [], tournament.house))
    contest = Contest(spec=spec, labels=tournament.labels, house=tournament.house, seed=1, played=[])
    own = format_of(spec).table(contest, rows)
    return crosstable(rows, tournament.labels, tournament.seats) if own is None else grid(own)


def drawn_again(sample: Sample) -> list[str]:
    """Return the table that the arena draws today from the cells in the page."""
    columns = expected(sample).drawn().columns
    made = Grid({str(column.header): column.justify == "right" for column in columns})
    _, _, *rows = table_of(sample)
    for row in rows:
        made.add_row(*_BETWEEN.split(row.strip()))
    screen = Screen(width=WIDE)
    with screen.capture() as capture:
        show(screen, made)
    return [line.rstrip() for line in capture.get().splitlines()]


def main() -> None:
    """Play the tournaments, and write their tables into the pages."""
    for file in dict.fromkeys(sample.file for sample in SAMPLES):
        command = ["scripts/arena", "tournament", f"docs/examples/{file}", "--fresh", *sys.argv[1:]]
        played = subprocess.check_output(command, cwd=HOUSE, text=True)  # noqa: S603 - our own script
        tables = [lines for _, lines in tables_in(played)]
        for sample in SAMPLES:
            if sample.file == file:
                _write(HOUSE / sample.page, sample.number, tables[1 if sample.is_ratings else 0])


def _write(page: Path, number: int, table: list[str]) -> None:
    text = page.read_text(encoding="utf-8")
    first, old = tables_in(text)[number]
    lines = text.splitlines()
    lines[first : first + len(old)] = [line.rstrip() for line in table]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
