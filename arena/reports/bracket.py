"""A knock-out's bracket drawn with characters: rounds from left to right, with lines to the winners. Pure."""

from collections.abc import Sequence
from itertools import chain

from msgspec import Struct
from rich.cells import cell_len

from arena.schedule import Tie
from arena.terminal import shortened
from referee.display_text import printable_name


class Strokes(Struct, frozen=True):
    """Characters of the lines."""

    upper: str
    """Line after the upper bot of a meeting."""
    lower: str
    """Line after the lower bot of a meeting."""
    side: str
    """Vertical line between both."""
    joint: str
    """Line before the winner."""


BOXES = Strokes(" ─┐ ", " ─┘ ", "  │ ", "  ├─")
ASCII = Strokes(" -. ", " -' ", "  | ", "  |-")
LONGEST_NAME = 40
"""Maximum width of a name, because a bracket has the names of all rounds next to each other."""
Column = dict[int, str]
"""Text by row."""


def draw(bracket: Sequence[Sequence[Tie]], labels: Sequence[str], strokes: Strokes) -> list[str]:
    """Return the lines of the drawing. A round that is not finished shows the bots that reached it."""
    if not bracket:
        return []
    labels = [shortened(printable_name(label), LONGEST_NAME) for label in labels]
    columns: list[Column] = []
    for turn, ties in enumerate(bracket):
        names, lines = _names(ties, turn, labels), _lines(ties, turn, strokes)
        columns += [_aligned(names), lines]
    columns.append(_winners(bracket, labels))
    rows = list(chain.from_iterable(columns))
    widths = [max(map(cell_len, column.values()), default=0) for column in columns]
    drawing = []
    for row in range(min(rows, default=0), max(rows, default=0) + 1):
        line = ""
        for column, width in zip(columns, widths, strict=True):
            line += _filled(column.get(row, ""), width)
        drawing.append(line.rstrip())
    return drawing


def _filled(text: str, width: int) -> str:
    """Return a text padded to a width; a character may be two columns wide, or none."""
    return text + " " * (width - cell_len(text))


def _row(turn: int, place: int) -> int:
    """Return the row of a place in a round: half-way between the places of the meeting that leads to it."""
    return ((2 * place + 1) << turn) - 1


def _names(ties: Sequence[Tie], turn: int, labels: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return name and points by row; a bot without an opponent is shown only in the next round."""
    found = {}
    for number, tie in enumerate(ties):
        if tie.other is not None:
            for side, bot in enumerate((tie.one, tie.other)):
                found[_row(turn, 2 * number + side)] = (labels[bot], points_text(tie, side))
    return found


def points_text(tie: Tie, side: int) -> str:
    """Return a bot's points as text, with those of tie-breaks: `2`, `2+1.5`."""
    more = f"+{tie.tie_breaks[side]:g}" if any(tie.tie_breaks) else ""
    return f"{tie.points[side]:g}{more}"


def _aligned(names: dict[int, tuple[str, str]]) -> Column:
    """Return the column with names aligned left and points aligned right."""
    left = max((cell_len(name) for name, _ in names.values()), default=0)
    right = max((len(points) for _, points in names.values()), default=0)
    return {row: f"{_filled(name, left)} {points:>{right}}" for row, (name, points) in names.items()}


def _lines(ties: Sequence[Tie], turn: int, strokes: Strokes) -> Column:
    """Return the column of lines from both bots of each meeting to its winner."""
    found: Column = {}
    for number, tie in enumerate(ties):
        if tie.other is not None:
            top, bottom = _row(turn, 2 * number), _row(turn, 2 * number + 1)
            found |= dict.fromkeys(range(top + 1, bottom), strokes.side)
            found |= {top: strokes.upper, bottom: strokes.lower, _row(turn + 1, number): strokes.joint}
    return found


def _winners(bracket: Sequence[Sequence[Tie]], labels: Sequence[str]) -> Column:
    """Return the column of the winners of the last round."""
    return {
        _row(len(bracket), number): f" {labels[tie.winner]}"
        for number, tie in enumerate(bracket[-1])
        if tie.winner is not None
    }
