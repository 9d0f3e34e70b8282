"""A knock-out's bracket drawn with letters: rounds from left to right, lines from two to the one that went on."""

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len

from arena.schedule import Tie
from arena.tables import shortened
from referee.printable import printable_name


class Strokes(Struct, frozen=True):
    """What lines are drawn with."""

    upper: str
    """Behind the upper one of two."""
    lower: str
    side: str
    joint: str
    """Before the one that went on."""


BOXES = Strokes(" ─┐ ", " ─┘ ", "  │ ", "  ├─")
ASCII = Strokes(" -. ", " -' ", "  | ", "  |-")
LONGEST_NAME = 40
"""Columns of a name, at most: a bracket has one for each round beside each other."""
Column = dict[int, str]
"""Row to text."""


def draw(bracket: Sequence[Sequence[Tie]], labels: Sequence[str], strokes: Strokes) -> list[str]:
    """The lines of the drawing. Of a round that is not played to its end, those who got there are shown."""
    if not bracket:
        return []
    labels = [shortened(printable_name(label), LONGEST_NAME) for label in labels]
    columns: list[Column] = []
    for turn, ties in enumerate(bracket):
        names, lines = _names(ties, turn, labels), _lines(ties, turn, strokes)
        columns += [_aligned(names), lines]
    columns.append(_winners(bracket, labels))
    height = max((row for column in columns for row in column), default=0) + 1
    widths = [max(map(cell_len, column.values()), default=0) for column in columns]
    first = min((row for column in columns for row in column), default=0)
    return [
        "".join(
            _filled(column.get(row, ""), width) for column, width in zip(columns, widths, strict=True)
        ).rstrip()
        for row in range(first, height)
    ]


def _filled(text: str, width: int) -> str:
    """The text with spaces up to so many columns, of which some letters take two and some none."""
    return text + " " * (width - cell_len(text))


def _row(turn: int, place: int) -> int:
    """The row of a place in a round: half-way between the two that it comes from."""
    return ((2 * place + 1) << turn) - 1


def _names(ties: Sequence[Tie], turn: int, labels: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Name and points by row; a tie without an opponent has its bot in the next round only."""
    found = {}
    for number, tie in enumerate(ties):
        if tie.other is not None:
            for side, bot in enumerate((tie.one, tie.other)):
                found[_row(turn, 2 * number + side)] = (labels[bot], points_text(tie, side))
    return found


def points_text(tie: Tie, side: int) -> str:
    """Points, and those of tie-breaks: `2`, `2+1.5`."""
    more = f"+{tie.tie_breaks[side]:g}" if any(tie.tie_breaks) else ""
    return f"{tie.points[side]:g}{more}"


def _aligned(names: dict[int, tuple[str, str]]) -> Column:
    """Names to the left, points to the right."""
    left = max((cell_len(name) for name, _ in names.values()), default=0)
    right = max((len(points) for _, points in names.values()), default=0)
    return {row: f"{_filled(name, left)} {points:>{right}}" for row, (name, points) in names.items()}


def _lines(ties: Sequence[Tie], turn: int, strokes: Strokes) -> Column:
    """From each two to the one between them."""
    found: Column = {}
    for number, tie in enumerate(ties):
        if tie.other is not None:
            top, bottom = _row(turn, 2 * number), _row(turn, 2 * number + 1)
            found |= dict.fromkeys(range(top + 1, bottom), strokes.side)
            found |= {top: strokes.upper, bottom: strokes.lower, _row(turn + 1, number): strokes.joint}
    return found


def _winners(bracket: Sequence[Sequence[Tie]], labels: Sequence[str]) -> Column:
    """Those who went on from the last round that is drawn."""
    return {
        _row(len(bracket), number): f" {labels[tie.winner]}"
        for number, tie in enumerate(bracket[-1])
        if tie.winner is not None
    }
