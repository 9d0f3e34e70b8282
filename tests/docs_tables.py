"""The sample tables of README and docs: where they are, and the commands that print them.

`scripts/sample-tables` runs the commands and writes the tables into the pages; `test_docs_tables` checks that the
pages have the columns of today.
"""

import re
import subprocess
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from runpy import run_path
from socket import socket
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from arena.config import read_tournament
from arena.reports import decisions_table, finding_table, outcomes_table, ratings_table
from arena.reports.matches import match_table
from arena.reports.tournament import crosstable
from arena.schedule import Contest, format_of
from arena.statistics import digest_of, standings_of
from arena.terminal import Grid, Screen, grid, show
from referee.host import Plan
from tests.arena.reports.test_regression import WON, found, two
from tests.arena.stand_in import outcome, result
from tests.docs_pages import HOUSE

WIDE = 200
_RULE = re.compile(r" *(─|-){20,}")
_BETWEEN = re.compile(r"  +")


class Sample(Struct, frozen=True):
    """A table of a page."""

    page: str
    number: int
    """Index among the page's tables."""
    drawn: Callable[[], Grid]
    """Returns the table as the arena draws it today, without rows or with others."""
    command: tuple[str, ...]
    """Command that prints the table."""
    index: int = 0
    """Index among the tables that the command prints."""


def _contest(file: str) -> Contest:
    """Return a tournament of docs/examples before its first match."""
    entered = read_tournament(HOUSE / "docs/examples" / file)
    return Contest(spec=entered.spec, labels=entered.labels, house=entered.house, seed=1, played=[])


def _standings(file: str) -> Grid:
    contest = _contest(file)
    rows = standings_of(len(contest.labels), [], contest.house)
    own = format_of(contest.spec).table(contest, rows)
    return crosstable(rows, contest.labels, contest.spec.seats) if own is None else grid(own)


def _ratings(file: str) -> Grid:
    contest = _contest(file)
    return ratings_table(digest_of(contest.labels, [], contest.house))


def _of_tournament(page: str, number: int, file: str, drawn: Callable[[str], Grid] = _standings) -> Sample:
    """Return a sample of a tournament's output, which has the standings above the ratings."""
    command = ("scripts/arena", "tournament", f"docs/examples/{file}", "--fresh")
    return Sample(page, number, partial(drawn, file), command, index=int(drawn is _ratings))


def _of_match() -> Grid:
    names = ("alice (remote)", "mist_random")
    ended = replace(outcome((0,), (1,)), scores={"0": 32, "1": 3})
    plan = Plan(match="m", game="mist", variant="heaven-and-hell", seed=1)
    return match_table(replace(result(plan, names, Path("m.jsonl")), outcome=ended), names)


def _of_libraries() -> Grid:
    table: Grid = run_path(str(HOUSE / "scripts/learning_libraries.py"))["table_of"]([])
    return table


HOSTED = "hosted"
"""Command that stands for `arena host` with a remote bot of the same machine."""
REGRESS = ("scripts/arena", "regress", "mist", "--fresh", "--base")
EXPLAINED = (
    *REGRESS,
    "mist_cautious",
    "--head",
    "mist_hunter",
    *["--elo1", "200", "--seed", "3", "--blocks", "2", "--explain"],
)
SAMPLES = (
    _of_tournament("README.md", 0, "demo/mist.toml"),
    _of_tournament("docs/tournament.md", 0, "formats/gauntlet.toml"),
    _of_tournament("docs/tournament.md", 1, "formats/swiss.toml"),
    _of_tournament("docs/tournament.md", 2, "formats/ladder.toml"),
    _of_tournament("docs/tournament.md", 3, "demo/mist.toml"),
    _of_tournament("docs/tournament.md", 4, "demo/hive-mind.toml"),
    _of_tournament("docs/tournament.md", 5, "demo/hive-mind.toml", _ratings),
    Sample(
        "docs/regression.md",
        0,
        lambda: finding_table(two(), found(WON)),
        (*REGRESS, "mist_random", "--head", "mist_cautious", "--slower", "2"),
    ),
    Sample("docs/regression.md", 1, lambda: decisions_table([], seats=2), EXPLAINED, index=1),
    Sample("docs/regression.md", 2, lambda: outcomes_table([]), EXPLAINED, index=2),
    Sample("docs/remote.md", 0, _of_match, (HOSTED,)),
    Sample("docs/learning.md", 0, _of_libraries, ("scripts/learning_libraries",)),
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


def drawn_again(sample: Sample) -> list[str]:
    """Return the table that the arena draws today from the cells in the page."""
    columns = sample.drawn().drawn().columns
    made = Grid({str(column.header): column.justify == "right" for column in columns})
    _, _, *rows = table_of(sample)
    for row in rows:
        made.add_row(*_BETWEEN.split(row.strip()))
    screen = Screen(width=WIDE)
    with screen.capture() as capture:
        show(screen, made)
    return [line.rstrip() for line in capture.get().splitlines()]


def main() -> None:
    """Run the commands whose tables the pages show, and write the tables into the pages."""
    parser = ArgumentParser("scripts/sample-tables", description=main.__doc__)
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="default: all but docs/learning.md, which takes long"
    )
    pages = parser.parse_args().pages or {sample.page for sample in SAMPLES} - {"docs/learning.md"}
    wanted = [sample for sample in SAMPLES if sample.page in pages]
    for command in dict.fromkeys(sample.command for sample in wanted):
        tables = [lines for _, lines in tables_in(_output(command))]
        for sample in wanted:
            if sample.command == command:
                _write(HOUSE / sample.page, sample.number, tables[sample.index])


def _output(command: Sequence[str]) -> str:
    """Return what a command prints."""
    if command == (HOSTED,):
        return _hosted()
    # Tests that reject a bot, and those of libraries, end with another exit code than 0.
    return subprocess.run(command, cwd=HOUSE, text=True, stdout=subprocess.PIPE, check=False).stdout  # noqa: S603


def _hosted() -> str:
    """Return what `arena host` prints of a match with a remote bot, which joins from the same machine."""
    arena = str(HOUSE / "scripts/arena")
    with TemporaryDirectory() as folder, socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        for name in ("host", "alice"):
            subprocess.run([arena, "remote", "keys", name], cwd=folder, check=True)  # noqa: S603 - our own script
        keys = ["--host-key", "host.key", "--key", "alice.key_secret"]
        join = [arena, "remote", "join", f"tcp://{address}", "mist_cautious", *keys]
        host = [
            arena,
            "host",
            "mist",
            "remote:alice.key",
            "mist_random",
            "--key",
            "host.key_secret",
            "--at",
            address,
        ]
        with subprocess.Popen(join, cwd=folder) as author:  # noqa: S603
            try:
                return subprocess.check_output(host, cwd=folder, text=True)  # noqa: S603
            finally:
                author.terminate()


def _write(page: Path, number: int, table: list[str]) -> None:
    text = page.read_text(encoding="utf-8")
    first, old = tables_in(text)[number]
    lines = text.splitlines()
    lines[first : first + len(old)] = [line.rstrip() for line in table]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
