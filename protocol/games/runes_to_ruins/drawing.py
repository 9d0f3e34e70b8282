"""Symbols of Runes to Ruins, drawn from their runes' segments, and a viewer's other knowledge."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Discovered,
    GuessAnswer,
    Insight,
    LearnedAnswer,
    Mirrored,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesEvent,
    RunesHostView,
    RunesView,
    SymbolSet,
    VisionAnswer,
)
from protocol.games.runes_to_ruins.runes import RUNE
from protocol.text import Picture
from protocol.words import Event

COLUMNS = 3
ACROSS, DOWN = 2 * COLUMNS + 1, 5
"""Columns and lines of a whole symbol, in characters."""
GAP = "   "
"""Gap between symbols, narrow enough for five in 80 columns."""
INK = {"-": "─", "|": "│", "/": "╱", "\\": "╲", "X": "╳", ".": "·"}  # noqa: RUF001 - lines, not letters
"""Lines in ASCII to box-drawing characters."""


def board(
    view: RunesView | RunesHostView, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
) -> Picture:
    """Draw the symbols that the viewer knows, side by side, under its holdings."""
    del told
    for event in events:
        if isinstance(event, Reveal):
            return _drawn("the end", [], {f"seat {seat}": symbol for seat, symbol in event.symbols.items()}, plain)
    if isinstance(view, RunesHostView):
        lines = [
            f"seat {seat}: {each.insight} insight, {each.mantra} mantra" for seat, each in enumerate(view.holdings)
        ]
        symbols = {
            f"seat {seat}" + (f", found in {each.discovered}" if each.discovered else ""): each.symbol
            for seat, each in enumerate(view.holdings)
            if each.symbol
        }
        return _drawn(f"round {view.round} (as the host)", lines, symbols, plain)
    eyes = "as a spectator" if view.seat is None else f"as seat {view.seat}"
    symbols = {"yours": view.symbol} if view.symbol else {}
    return _drawn(f"round {view.round}, {view.rounds} at most ({eyes})", _known(view), symbols, plain)


def words(event: RunesEvent) -> str:  # noqa: C901, PLR0911, PLR0912 - one line for each kind of event
    """Return a short text for an event, addressed to its seat."""
    match event:
        case Resubmit(attempt=attempt):
            return f"two symbols were the same; all submit anew, attempt {attempt}"
        case SymbolSet(symbol=symbol):
            return f"your symbol: {', '.join(symbol)}"
        case Insight(round=number, earned=earned, positions=positions):
            paid = _pairs(earned) + (f"; abstained, in place: {_pairs(positions)}" if positions else "")
            return f"insight for round {number}: {paid}"
        case ConditionWon(condition=condition):
            return f"condition {condition} won the vote"
        case VisionAnswer(kind=kind, answer=answer):
            return f"vision {kind}: {_answer(answer)}"
        case Mirrored(of=seat, kind=kind, answer=answer):
            return f"mirrored, of seat {seat}, {kind}: {_answer(answer)}"
        case LearnedAnswer(index=index, answer=answer, mantra=mantra):
            return f"learned {index}: {_answer(answer)}, {mantra} mantra"
        case GuessAnswer(index=index, exact=exact, moved=moved, group=group):
            return f"guess {index}: {exact} exact, {moved} moved, {group} by group"
        case Revealed(seat=seat, rune=rune, position=position):
            return f"seat {seat} shows {rune}" + ("" if position is None else f" in position {position}")
        case Discovered(seats=seats):
            return f"discovered: seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"
        case Purse(insight=insight, mantra=mantra):
            return f"you hold {insight} insight and {mantra} mantra"
        case Reveal(symbols=symbols):
            return "; ".join(f"seat {seat}: {', '.join(symbol)}" for seat, symbol in symbols.items())
        case _ as unreachable:
            assert_never(unreachable)


def _known(view: RunesView) -> Iterator[str]:
    if view.insight is not None:
        yield f"{view.insight} insight, {view.mantra} mantra"
    if view.discovered:
        yield "discovered, in round: " + _pairs(view.discovered)


def _drawn(heading: str, lines: Iterable[str], symbols: Mapping[str, Sequence[str]], plain: bool) -> Picture:
    blocks = [[name, *symbol_lines(symbol, plain=plain)] for name, symbol in symbols.items()]
    rows = [GAP.join(_padded(block, at) for block in blocks).rstrip() for at in range(2 * DOWN if blocks else 0)]
    return Picture.assemble((f"{heading}\n", "bold"), "\n".join([*lines, *rows]))


def _padded(block: Sequence[str], at: int) -> str:
    return block[at].ljust(max(map(len, block)))


def symbol_lines(symbol: Sequence[str], *, plain: bool) -> list[str]:
    """Draw a symbol as lines: its points, and between them the segments of all its runes."""
    canvas = {(2 * row, 2 * column): "." for row in range(DOWN) for column in range(ACROSS)}
    for position, rune in enumerate(symbol):
        top, left = 2 * (position // COLUMNS), 2 * (position % COLUMNS)
        for segment in RUNE[rune].segments.split():
            (row, column), (to_row, to_column) = (divmod(int(point), 3) for point in segment)
            at = (2 * top + row + to_row, 2 * left + column + to_column)
            line = "-" if row == to_row else "|" if column == to_column else _slant(row, column, to_row, to_column)
            canvas[at] = "X" if canvas.get(at, line) != line else line
    text = [
        "".join(canvas.get((row, column), " ") for column in range(2 * ACROSS - 1)) for row in range(2 * DOWN - 1)
    ]
    return text if plain else ["".join(INK.get(character, character) for character in line) for line in text]


def _slant(row: int, column: int, to_row: int, to_column: int) -> str:
    return "\\" if (to_row - row) * (to_column - column) > 0 else "/"


def _answer(answer: Any) -> str:
    match answer:
        case dict():
            by_seat = cast("dict[str, Any]", answer)
            return ", ".join(f"seat {seat} {_answer(each)}" for seat, each in by_seat.items())
        case bool():
            return "yes" if answer else "no"
        case list() | tuple():
            return " ".join(map(str, cast("Sequence[Any]", answer)))
        case _:
            return str(answer)


def _pairs(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"seat {seat} {number}" for seat, number in numbers.items())
