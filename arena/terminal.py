"""Output of text and tables: results to standard output, everything else to standard error.

All output of the arena goes through this module. Text may be untrusted, such as a bot's output or an entry's name.
It can neither control the terminal nor is it read as markup.
"""

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import compress, takewhile
from pathlib import Path
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD, Box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType  # noqa: TID251 - this is the door
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,  # noqa: TID251 - this is the door
)
from rich.segment import Segment, Segments
from rich.table import Table as RichTable  # noqa: TID251 - this is the door
from rich.text import Text

from arena.quantities import Table
from referee.display_text import printable, printable_name

WIDE = 200
"""Width in columns without a terminal, so that output into a file is not cut."""
_BEYOND_ASCII = re.compile("[^\x00-\x7e]+")


class Screen(Console):
    """A console that shows text without reading it as markup."""

    def say(self, line: str) -> None:
        """Print one line of any text without folding it, so that a path in it can be copied."""
        self.print(Text(printable(line)), soft_wrap=True)

    def render_str(self, text: str, **how: Any) -> Text:
        """Render a string without markup and emoji codes; make it printable before its width is measured."""
        return super().render_str(_printable(text), **how | {"markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object and make the text of its segments printable."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(_printable(segment.text), segment.style)


def _printable(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def results_console() -> Screen:
    """Return a console for standard output."""
    return Screen(width=None if sys.stdout.isatty() else WIDE, emoji=False, markup=False, highlight=False)


def progress_console() -> Screen:
    """Return a console for standard error."""
    width = None if sys.stderr.isatty() else WIDE
    return Screen(stderr=True, width=width, emoji=False, markup=False, highlight=False)


def say(line: str) -> None:
    """Print one line to standard error."""
    progress_console().say(line)


class Words(TextColumn):
    """Text next to a progress bar; by default the task's description."""

    def __init__(self, words: str = "{task.description}") -> None:
        super().__init__(words, markup=False)

    def render(self, task: Task) -> Text:
        """See `TextColumn`."""
        return Text(printable(self.text_format.format(task=task)))


def progress_bar(screen: Screen, *columns: ProgressColumn, transient: bool = False) -> Progress:
    """Return a progress bar with description, count and further columns; it is shown only at a terminal."""
    parts = (Words(), BarColumn(), MofNCompleteColumn(), *columns)
    return Progress(*parts, console=screen, disable=not screen.is_terminal, transient=transient)


def arguments(*words: str | Path, options: tuple[str | Path, ...] = ()) -> tuple[str | Path, ...]:
    """Return a command's arguments and options in an order in which no argument is parsed as an option.

    A bot's label or folder may begin with a hyphen.
    """
    if any(str(word).startswith("-") for word in words):
        return (*options, "--", *words)
    return (*words, *options)


def command_line(*words: str | Path) -> str:
    """Return an arena command for people to type, quoted for a shell, with `ARENA_COMMAND` as its name if set."""
    return f"{os.environ.get('ARENA_COMMAND', 'arena')} {shlex.join(map(str, words))}"


def print_json(content: Any) -> None:
    """Write a value as JSON to standard output, on one line without characters that control a terminal."""
    sys.stdout.write(json_line(content) + "\n")


def print_json_list(rows: Iterable[Any]) -> None:
    """Write a JSON array to standard output, one row per line, without holding the whole array in memory."""
    sys.stdout.write("[")
    separator = "\n"
    for row in rows:
        sys.stdout.write(separator + json_line(row))
        separator = ",\n"
    sys.stdout.write("\n]\n")


def json_line(content: Any) -> str:
    r"""Return a value as JSON in which control characters and invisible ones are written as `\uNNNN`."""
    text = msgspec.json.encode(content).decode()
    if text.isascii() and "\x7f" not in text:
        return text
    return _BEYOND_ASCII.sub(lambda found: "".join(map(_escaped, found[0])), text)


def _escaped(char: str) -> str:
    """Return a printable character, or a JSON escape: a surrogate pair beyond the first 65,536 characters."""
    if printable(char) == char:
        return char
    return re.sub("....", r"\\u\g<0>", char.encode("utf-16-be").hex())


PLAIN_HEAD = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
NARROW_WORDS = 16
"""Width of text columns if the terminal is too narrow for the table; longer text is folded."""
LONGEST_CELL = 160
"""Maximum width of a cell in columns; a path of up to 4,096 characters would break the table."""
LONGEST_HEADING = 30
FEWEST_ROWS = 2
"""Minimum number of rows for summarizing columns with equal cells."""
NO_LIMIT = 10_000


class Grid:
    """A table whose cells hold text and numbers; much of the text is untrusted and is never read as markup."""

    def __init__(self, headings: dict[str, bool]) -> None:
        """Create an empty table. `headings` maps each heading to whether its column holds numbers."""
        self._headings = [_cell(heading, LONGEST_HEADING) for heading in headings]
        self._are_numbers = list(headings.values())
        self._rows: list[tuple[Text, ...]] = []

    def add_row(self, *cells: str) -> None:
        """Add a row; missing cells at its end are empty."""
        missing = len(self._headings) - len(cells)
        self._rows.append(tuple(map(_cell, (*cells, *[""] * missing))))

    def same_columns(self) -> list[int]:
        """Return the indices of the columns, except the first two, whose cells are all equal."""
        if len(self._rows) < FEWEST_ROWS:
            return []
        same: list[int] = []
        for number, column in enumerate(zip(*self._rows, strict=True)):
            first, *others = map(str, column)
            if number > 1 and others == [first] * len(others):
                same.append(number)
        return same

    def heading(self, column: int) -> str:
        """Return the heading of a column by its index."""
        return self._headings[column].plain

    def said(self, columns: Iterable[int]) -> str:
        """Return the headings and values of columns whose cells are all equal, as text."""
        return ", ".join(f"{self._headings[column]} {self._rows[0][column]}" for column in sorted(columns))

    def drawn(self, *, most: int | None = None, without: Collection[int] = ()) -> RichTable:
        """Return the table.

        `most` limits the width of text columns; `without` are the indices of omitted columns.
        """
        box = SIMPLE_HEAD if sys.stdout.isatty() else PLAIN_HEAD
        table = RichTable(box=box, show_edge=False, pad_edge=False, collapse_padding=True)
        shown = [column not in without for column in range(len(self._headings))]
        for heading, is_number in compress(zip(self._headings, self._are_numbers, strict=True), shown):
            if is_number:
                table.add_column(heading, justify="right", no_wrap=True, overflow="fold")
            else:
                table.add_column(heading, overflow="fold", max_width=most)
        for row in self._rows:
            table.add_row(*compress(row, shown))
        return table


def grid(table: Table[Any]) -> Grid:
    """Return a table as it is shown at a terminal."""
    made = Grid({column.heading: not column.is_text for column in table.columns})
    for row in table.cells():
        made.add_row(*row)
    return made


def grid_of(headings: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str]) -> Grid:
    """Return a table of these rows; all columns except those in `words` hold numbers."""
    grid = Grid({heading: heading not in words for heading in headings})
    for row in rows:
        grid.add_row(*row)
    return grid


def _cell(text: str, most: int = LONGEST_CELL) -> Text:
    return Text(shortened(printable_name(text), most))


def shortened(text: str, most: int) -> str:
    """Return the text in at most `most` columns, shortened in the middle, because names differ at their ends."""
    if cell_len(text) <= most:
        return text
    half = (most - 1) // 2
    end = chop_cells(text[::-1], half)[0][::-1]
    return f"{chop_cells(text, most - 1 - half)[0]}…{end}"


def distinct_names(names: Sequence[str], most: int) -> list[str]:
    """Return the names as they are shown: at most `most` columns wide, and distinct."""
    whole = list(map(printable_name, names))
    shown = [shortened(name, most) for name in whole]
    alike: dict[str, list[int]] = {}
    for number, name in enumerate(shown):
        alike.setdefault(name, []).append(number)
    for cut, numbers in alike.items():
        if len(numbers) > 1:
            others = {name for name in shown if name != cut}
            apart = _told_apart(list(map(whole.__getitem__, numbers)), most, others)
            for number, name in zip(numbers, apart, strict=True):
                shown[number] = name
    return shown


def _told_apart(names: Sequence[str], most: int, others: Collection[str]) -> list[str]:
    """Shorten names with equal ends so that they differ from each other and from `others`."""
    middle = most // 2
    for head in sorted(range(most - 1), key=lambda place: abs(place - middle)):
        found = [_without_middle(name, head, most) for name in names]
        if len(set(found)) == len(found) and not set(found) & set(others):
            return found
    # The names differ only in the middle, so their ends are omitted.
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    start = max(0, len(list(alike)) - most // 4)
    found = [f"…{chop_cells(name[start:], most - 2)[0]}…" for name in names]
    if len(set(found)) == len(found) and not set(found) & set(others):
        return found
    numbered: list[str] = []
    for number, name in enumerate(names, start=1):
        end = f" {number}"
        numbered.append(f"{shortened(name, most - len(end))}{end}")
    return numbered


def _without_middle(text: str, head: int, most: int) -> str:
    """Return the first `head` columns of a text, an ellipsis, and its last columns; `most` columns in total."""
    first = chop_cells(text, head)[0] if head else ""
    return f"{first}…{chop_cells(text[::-1], most - 1 - head)[0][::-1]}"


def show(screen: Screen, grid: Grid) -> None:
    """Print a whole table.

    If the table is too wide, its text is folded. If it is still too wide, columns with equal cells are moved to a
    line below the table, starting with the last one. A table that is then still too wide is printed as it is.
    """
    table = grid.drawn()
    same, aside = grid.same_columns(), set[int]()
    if _width(screen, table) > screen.width:
        table = grid.drawn(most=NARROW_WORDS)
    while same and _width(screen, table) > screen.width:
        aside.add(same.pop())
        table = grid.drawn(most=NARROW_WORDS, without=aside)
    # The table is rendered at its full width first, because rich would cut it to the screen.
    lines = Segments(screen.render(table, screen.options.update(max_width=_width(screen, table))))
    screen.print(lines, crop=False, end="")
    if aside:
        screen.say(f"in all rows: {grid.said(aside)}")


def fits(screen: Screen, grid: Grid) -> bool:
    """Return whether `show` can show a table within the screen's width."""
    # Results against one opponent do not belong into the line below a table.
    aside = [column for column in grid.same_columns() if not grid.heading(column).isdecimal()]
    return _width(screen, grid.drawn(most=NARROW_WORDS, without=aside)) <= screen.width


def _width(screen: Screen, table: RichTable) -> int:
    """Return the natural width of a table, regardless of the screen's width."""
    return Measurement.get(screen, screen.options.update(max_width=NO_LIMIT), table).maximum
