"""Tables of results, of which nothing is cut: the same at a terminal and in a file, in ASCII in the latter."""

import sys
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD, Box
from rich.cells import cell_len, chop_cells
from rich.console import JustifyMethod
from rich.measure import Measurement
from rich.segment import Segments
from rich.table import Table  # noqa: TID251 - this is the door
from rich.text import Text

from arena.terminal import Screen
from referee.printable import printable_name

PLAIN_HEAD = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
NARROW_WORDS = 16
"""Columns that words are given where the terminal is too narrow for the table; the rest goes below."""
LONGEST_CELL = 160
"""Columns of a cell, at most: a path may have 4,096 letters, and a table is to stay one."""
LONGEST_HEADING = 30
NO_LIMIT = 10_000


class Grid:
    """A table whose cells are words and numbers, shown as they stand; many of the words are strangers' names."""

    def __init__(self, headings: dict[str, bool]) -> None:
        """Each heading says whether its column holds numbers."""
        box = SIMPLE_HEAD if sys.stdout.isatty() else PLAIN_HEAD
        self.table = Table(box=box, show_edge=False, pad_edge=False, collapse_padding=True)
        for heading, is_number in headings.items():
            justify: JustifyMethod = "right" if is_number else "left"
            self.table.add_column(
                _cell(heading, LONGEST_HEADING), justify=justify, no_wrap=is_number, overflow="fold"
            )

    def add_row(self, *cells: str) -> None:
        """One row."""
        self.table.add_row(*map(_cell, cells))


def grid_of(headings: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ("bot",)) -> Grid:
    """A table of these rows: all columns but those of `words` hold numbers."""
    grid = Grid({heading: heading not in words for heading in headings})
    for row in rows:
        grid.add_row(*row)
    return grid


def _cell(text: str, most: int = LONGEST_CELL) -> Text:
    return Text(shortened(printable_name(text), most))


def shortened(text: str, most: int) -> str:
    """The text with its middle left out where it is wider than so many columns: names differ at either end."""
    if cell_len(text) <= most:
        return text
    half = (most - 1) // 2
    end = chop_cells(text[::-1], half)[0][::-1]
    return f"{chop_cells(text, most - 1 - half)[0]}…{end}"


def show(screen: Screen, grid: Grid) -> None:
    """Prints a table whole: where it is too wide its words are folded, and if that is not enough it stays so."""
    table = grid.table
    if _width(screen, table) > screen.width:
        for column in table.columns:
            if not column.no_wrap:
                column.max_width = NARROW_WORDS
    # Not by itself: rich would cut it to the screen.
    lines = Segments(screen.render(table, screen.options.update(max_width=_width(screen, table))))
    screen.print(lines, crop=False, end="")


def _width(screen: Screen, table: Table) -> int:
    """How wide it would like to be, whatever the screen's width."""
    return Measurement.get(screen, screen.options.update(max_width=NO_LIMIT), table).maximum
