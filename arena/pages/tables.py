"""Tables of pages, and the glossary for spectators, which explains words of their headings. Pure."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from arena.quantities import MISSING, Column

BETWEEN = "between"
"""Kind of a cell that holds the text between names."""
ZERO = "zero"
"""Kind of a cell whose number is 0, which is shown faintly."""
Row = TypeVar("Row")


class Cell(Struct, frozen=True):
    """A cell of a table."""

    text: str
    href: str = ""
    kind: str = ""
    """CSS class of the cell."""
    picture: str = ""
    """Address of a picture of a match's last position, which replaces `text`."""
    parts: tuple["Cell", ...] = ()
    """Names and the text between them (kind `between`), which replace `text`, so that names are not split."""


class RowMarks(Struct, frozen=True):
    """Values of a row that the filter of a list of matches compares."""

    entrants: tuple[int, ...]
    """Numbers of the bots by seat."""
    ends: tuple[str, ...]
    """Words for how the match ended, such as `usual` or `crashed`."""


class PageTable(Struct, frozen=True):
    """A table whose columns are explained below it."""

    title: str
    columns: Sequence[Column[Any]]
    rows: list[list[Cell]]
    sortable: bool = True
    head: str = "bot"
    """Heading of the column that names the rows."""
    marks: Sequence["RowMarks"] = ()
    """Values by which a script filters the rows; empty: they are not filtered."""

    @property
    def about(self) -> list[tuple[str, str]]:
        """Headings with their meanings."""
        return [(column.heading, column.meaning) for column in self.columns if column.meaning]


def table(
    title: str,
    columns: Sequence[Column[Row]],
    rows: Sequence[Row],
    *,
    head: str = "bot",
    href: Callable[[Row], str] | None = None,
    faint_zeros: bool = False,
) -> PageTable:
    """Return a table of these rows.

    Args:
        title: the caption.
        columns: the columns. A value may be a `Cell`, which is shown as it is.
        rows: the rows from top to bottom.
        head: heading of the column that names the rows.
        href: returns the link of a row's name; "" for none.
        faint_zeros: True to show counts of 0 faintly.
    """
    shown = []
    for row in rows:
        cells = []
        for column in columns:
            link = ""
            if href is not None and column.heading == head:
                link = href(row)
            cells.append(_cell_of(column, column.value(row), link, faint_zeros=faint_zeros))
        shown.append(cells)
    return PageTable(title, columns, shown, head=head)


def _cell_of(column: Column[Row], value: Any, link: str, *, faint_zeros: bool) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None:
        return Cell(MISSING, link)
    if faint_zeros and isinstance(value, int) and value == 0:
        return Cell(column.text(value), link, ZERO)
    return Cell(column.text(value), link)


def listed(names: Sequence[str], between: str = ", ") -> list[Cell]:
    """Return names with the same text between them, as parts of a cell."""
    found: list[Cell] = []
    for name in names:
        found += [Cell(between, kind=BETWEEN), Cell(name)]
    return found[1:]


def in_line(*parts: Cell | str) -> Cell:
    """Return a cell of several names; strings are the text between them."""
    return Cell("", parts=tuple(part if isinstance(part, Cell) else Cell(part, kind=BETWEEN) for part in parts))


def plain_text(cell: Cell) -> str:
    """Return a cell's text without links."""
    return cell.text + "".join(map(plain_text, cell.parts))


GLOSSARY = {
    "95 % interval": "The range in which the true rating most likely lies. The more results, the narrower it is.",
    "bot": "A program that plays.",
    "bracket": "The tree of a knock-out: who met whom, and who went on.",
    "Buchholz": "The sum of the points of a bot's opponents, which orders bots with equal points.",
    "bye": "A round in which a bot has no opponent.",
    "conduct": "How a bot behaved in a match: ok, or its first fault.",
    "deal": "One start of a game, with all that is random in it. Each deal is played several times, with the bots "
    "in other seats, so that luck and seats even out.",
    "default": "The move that the game makes for a bot that sends no legal action in time.",
    "elimination candidate": "The last bot, which would leave before the next match by the game's rules.",
    "Elo": "The scale of ratings: 400 points more are odds of 10 to 1.",
    "fault": "Misconduct for which the referee ends a bot's match, such as a crash, too many messages or a wrong "
    "start.",
    "forfeit": "The loss of a match by a fault.",
    "garnet": "Money of the game. Its rules give or take some at the end; it counts for no place.",
    "gauntlet": "A format in which some bots meet all others, and the others do not meet.",
    "house bot": "A bot of the host that fills empty seats. It does not compete.",
    "knock-out": "A format in which a bot that loses a meeting leaves the tournament.",
    "ladder": "A format in which bots of similar rating meet.",
    "match": "One game from its deal to its result. 18a and 18b are matches from the same deal, number 18.",
    "mean points": "Points per match. A match has 1 point for the first place and 0 for the last, in between the "
    "share of the other seats that were ranked below; a tie counts half.",
    "move": "What a bot does when the game asks it to act.",
    "named winner": "A bot that the game's rules call a winner. There may be several.",
    "place": "A bot's position in a table, or a seat's in a match.",
    "points": "The result of a match as a number from 0 (last) to 1 (first).",
    "rating": "A bot's strength as one number, estimated from all results; the average is 0.",
    "referee": "The program that knows all secrets of a match, applies the rules and tells each bot what it may "
    "know.",
    "refused message": "A message of a bot that the referee could not act on, for example an illegal move.",
    "replay": "A match to look at again, move by move, as everybody saw it or as one bot did.",
    "round robin": "A format in which everyone meets everyone.",
    "season": "Several stages, such as groups and a final.",
    "seat": "A place at the table, counted from 0.",
    "stage": "A part of a season: one tournament, or one for each group.",
    "step": "A position of a replay: the start, or what follows a move, or several moves at the same time.",
    "Swiss": "A format in which bots with about as many points meet.",
    "time per move": "The thinking time that the referee counts for a bot's move.",
    "token": "A prize that the game's rules give besides the score.",
    "transcript": "The file of everything that the referee received and sent in a match. Anybody can check it.",
    "void attempt": "A match that does not count, because the referee or the machine was at fault.",
    "withdrawn": "A bot that plays no more. Its results stay.",
}
"""Meaning of each word, in alphabetical order."""
OF_COLUMNS = {
    "95 % interval": "95 % interval",
    "Buchholz": "Buchholz",
    "W-T-L": "points",
    "bot": "bot",
    "byes": "bye",
    "conduct": "conduct",
    "defaults": "default",
    "faults": "fault",
    "house": "house bot",
    "longest": "time per move",
    "match": "match",
    "matches": "deal",
    "matches lost by a fault": "fault",
    "mean points": "mean points",
    "median time per move": "time per move",
    "place": "place",
    "points": "points",
    "rating": "rating",
    "refused": "refused message",
    "seat": "seat",
    "seats": "seat",
    "time per move": "time per move",
}
"""Glossary word of each column heading."""
GLOSSARY_PATH = "glossary.html"


def anchor(word: str) -> str:
    """Return the id of a word's entry on the page."""
    return re.sub("[^a-z0-9]", "-", word.lower()).strip("-")
