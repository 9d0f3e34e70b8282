"""CSV and Markdown, in which untrusted text must do no harm, and files that are written whole."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from arena.errors import cannot_write
from arena.quantities import Column, Table
from arena.reports.standings import cause_columns, columns_for_programs
from arena.statistics import BotColumn, BotReport, Digest
from arena.tournament import TournamentResults
from referee.display_text import printable, printable_name
from referee.linux.files import write_bytes_whole

Row = TypeVar("Row")
_FORMULA = re.compile(r"\s*[=+\-@|%＝＋－＠]")  # noqa: RUF001 - some spreadsheets treat wide letters like the others
"""Start of a text that a spreadsheet would evaluate."""
_ACTIVE = re.compile(
    r"[\\|`<>\[\]!&*~#$]|(?<![^\W_])_|_(?![^\W_])|:(?=//|[\w+-]+:)|(?<=mailto):|(?<=xmpp):|(?<=www)\.",
    re.IGNORECASE,
)
"""Markdown syntax: code, HTML, links, images, entities, emphasis, the end of a cell, and escapes.

Some renderers make links of bare addresses, and pictures of `:word:`.
"""
_LEADING = re.compile(r"^(\d*)([-+=.)])(?=[-+=\s])")
"""Start of a list, a rule or a heading."""
_AT = re.compile(r"(?<!\w)@(?=\w)|@(?=[\w-]+\.)")
"""Mention of a user, who would be notified, or mail address. A backslash has no effect here, but code has."""


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV, one line each. No cell is a formula to a spreadsheet."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")  # noqa: TID251 - the only use
    for row in rows:
        writer.writerow(map(_csv_cell, row))
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """Return a value for CSV. A text that would be a formula gets a `'` in front, as spreadsheets expect."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) else text


def escaped(text: str) -> str:
    """Return a text for Markdown that is shown literally, on one line."""
    return _AT.sub("`@`", _LEADING.sub(r"\1\\\2", _ACTIVE.sub(r"\\\g<0>", printable_name(text))))


def markdown_table(table: Table[Any]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return table_lines(table.headings, table.cells())


def table_lines(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table with these cells."""
    lines = [_row(headings), "| " + " | ".join(["---"] * len(headings)) + " |"]
    return [*lines, *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees either the old content or the new one, never a part.

    Raises:
        WrongUse: the file cannot be written there.
        MachineCannot: there is no space.
    """
    try:
        write_bytes_whole(path, text.encode())
    except OSError as error:
        raise cannot_write(path, error) from None


def write_csv(path: Path, results: TournamentResults) -> None:
    """Write the CSV table of a tournament's bots.

    Raises:
        WrongUse: the file cannot be written there.
        MachineCannot: there is no space.
    """
    write_whole(path, digest_csv(results.digest, results.reports))


def digest_csv(digest: Digest, reports: Sequence[BotReport]) -> str:
    """Return one line of CSV per bot, best first: its figures, mean points by seat, and against each other bot.

    `reports` are indexed by entrant.
    """
    columns = [*columns_for_programs(digest), *cause_columns(reports)]
    columns += [_mean_in_seat(digest, seat) for seat in range(digest.seats)]
    columns += [_mean_against(digest, other.entrant) for other in digest.standings]
    return csv_head(columns) + csv_rows(columns, digest.standings)


def csv_head(columns: Sequence[Column[Any]]) -> str:
    """Return the first line of a table as CSV."""
    return csv_text([[column.key for column in columns]])


def csv_rows(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> str:
    """Return rows of a table as CSV, one line each."""

    def values(row: Row) -> list[Any]:
        return [column.value(row) for column in columns]

    return csv_text(map(values, rows))


def _mean_in_seat(digest: Digest, seat: int) -> BotColumn:
    name = f"seat {seat}"
    return Column(name, lambda row: digest.by_bot_and_seat[row.entrant][seat].mean, key=name)


def _mean_against(digest: Digest, other: int) -> BotColumn:
    name = f"against {digest.labels[other]}"
    return Column(name, lambda row: getattr(row.against.get(other), "mean", None), key=name)
