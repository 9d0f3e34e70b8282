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
    Six,
    SymbolSet,
    VisionAnswer,
)
from protocol.games.runes_to_ruins.runes import RUNE
from protocol.text import Picture, joined, pairs, viewpoint
from protocol.words import Event

COLUMNS = 3
ACROSS, DOWN = 2 * COLUMNS + 1, 5
"""Columns and lines of a whole symbol, in characters."""
BY_SEAT = "seat {} {}"
GAP = "   "
"""Gap between symbols, narrow enough for five in 80 columns."""
INK = str.maketrans("-|/\\X.", "─│╱╲╳·")  # noqa: RUF001 - lines, not letters
"""Lines in ASCII to box-drawing characters."""


def board(
    view: RunesView | RunesHostView, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
) -> Picture:
    """Draw the symbols that the viewer knows, side by side, under its holdings."""
    del told
    for event in events:
        if isinstance(event, Reveal):
            return _drawn("the end", [], {f"seat {seat}": symbol for seat, symbol in event.symbols.items()}, plain)
    symbols: dict[str, Six] = {}
    if isinstance(view, RunesHostView):
        lines: list[str] = []
        for seat, each in enumerate(view.holdings):
            lines.append(f"seat {seat}: {each.insight} insight, {each.mantra} mantra")
            if each.symbol:
                found = f", found in {each.discovered}" if each.discovered else ""
                symbols[f"seat {seat}{found}"] = each.symbol
        return _drawn(f"round {view.round} (as the host)", lines, symbols, plain)
    if view.symbol:
        symbols["yours"] = view.symbol
    return _drawn(
        f"round {view.round}, {view.rounds} at most ({viewpoint(view.seat)})", _known(view), symbols, plain
    )


def words(event: RunesEvent) -> str:  # noqa: C901, PLR0911, PLR0912 - one line for each kind of event
    """Return a short text for an event, addressed to its seat."""
    match event:
        case Resubmit(attempt=attempt):
            return f"two symbols were the same; all submit anew, attempt {attempt}"
        case SymbolSet(symbol=symbol):
            return f"your symbol: {', '.join(symbol)}"
        case Insight(round=number, earned=earned, positions=positions):
            paid = f"insight for round {number}: {pairs(BY_SEAT, earned)}"
            return f"{paid}; abstained, in place: {pairs(BY_SEAT, positions)}" if positions else paid
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
            shown = f"seat {seat} shows {rune}"
            return shown if position is None else f"{shown} in position {position}"
        case Discovered(seats=seats):
            return f"discovered: seat{'s' * (len(seats) > 1)} {joined(seats)}"
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
        yield "discovered, in round: " + pairs(BY_SEAT, view.discovered)


def _drawn(heading: str, lines: Iterable[str], symbols: Mapping[str, Sequence[str]], plain: bool) -> Picture:
    blocks = [[name, *symbol_lines(symbol, plain=plain)] for name, symbol in symbols.items()]
    rows = map(str.rstrip, map(GAP.join, zip(*map(_padded, blocks), strict=True)))
    return Picture.assemble((f"{heading}\n", "bold"), "\n".join([*lines, *rows]))


def _padded(block: Sequence[str]) -> list[str]:
    width = max(map(len, block))
    return [line.ljust(width) for line in block]


def symbol_lines(symbol: Sequence[str], *, plain: bool) -> list[str]:
    """Draw a symbol as lines: its points, and between them the segments of all its runes."""
    canvas = [[" "] * (2 * ACROSS - 1) for _ in range(2 * DOWN - 1)]
    for line in canvas[::2]:
        line[::2] = "." * ACROSS
    for position, rune in enumerate(symbol):
        top, left = 2 * (position // COLUMNS), 2 * (position % COLUMNS)
        for segment in RUNE[rune].segments.split():
            row, column = divmod(int(segment[0]), 3)
            to_row, to_column = divmod(int(segment[1]), 3)
            line, at = canvas[2 * top + row + to_row], 2 * left + column + to_column
            drawn = _drawn_as(to_row - row, to_column - column)
            line[at] = drawn if line[at] in (" ", drawn) else "X"
    lines = list(map("".join, canvas))
    return lines if plain else [line.translate(INK) for line in lines]


def _drawn_as(down: int, right: int) -> str:
    if not down:
        return "-"
    if not right:
        return "|"
    return "\\" if down * right > 0 else "/"


def _answer(answer: Any) -> str:
    match answer:
        case dict():
            by_seat = cast("dict[str, Any]", answer)
            return pairs(BY_SEAT, dict(zip(by_seat, map(_answer, by_seat.values()), strict=True)))
        case bool():
            return "yes" if answer else "no"
        case list() | tuple():
            return " ".join(map(str, cast("Sequence[Any]", answer)))
        case _:
            return str(answer)
