"""Pointing's maps as trees and loops, and the targets once they are revealed."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import assert_never

from protocol.games.pointing import (
    Map,
    PointingEvent,
    PointingHostView,
    PointingView,
    Reveal,
    Round,
    Section,
    Targets,
    Tied,
    Tree,
)
from protocol.text import Picture, joined, pairs, viewpoint
from protocol.words import Event

WIDTH = 80
"""Width of the drawing in columns."""
GAP = "    "
HANGING = " " * len("round 1: ")
ASCII = str.maketrans("├└─│●◯┄▶", "+`-|o@.>")
LEGEND = "● seat, its branches point at it; ◯ in a loop, each points at the next; ┄ cut"


def board(
    view: PointingView | PointingHostView, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
) -> Picture:
    """Draw the newest map under its heading; after the reveal, the targets of all three rounds."""
    del told
    for event in events:
        if isinstance(event, Reveal):
            return _drawn(_reveal(event), plain)
    if isinstance(view, PointingHostView):
        return _drawn(_host(view), plain)
    return _drawn(_seat(view), plain)


def words(event: PointingEvent) -> str:
    """Return a short text for an event."""
    match event:
        case Map(round=number, sections=sections):
            found = ["one alone" if section.size == 1 else _kind(section) for section in sections]
            return f"round {number}: {joined(found)}"
        case Tied(seats=seats):
            return f"the winners vote on seats {joined(seats)}"
        case Reveal(scores=scores):
            ordered = dict(sorted(scores.items(), key=lambda item: (-item[1], int(item[0]))))
            return "points: " + pairs("seat {} {}", ordered)
        case _ as unreachable:
            assert_never(unreachable)


def _seat(view: PointingView) -> Iterator[str]:
    yield f"{_heading(view.round, view.tied)} ({viewpoint(view.seat)})"
    if view.targets:
        yield "you pointed at " + ", then ".join("nobody" if seat is None else f"{seat}" for seat in view.targets)
    if view.maps:
        yield from _map(view.maps[-1])


def _host(view: PointingHostView) -> Iterator[str]:
    yield f"{_heading(view.round, view.tied)} (as the host)"
    if view.rounds:
        yield from _folded(_pointers(view.rounds[-1].targets), "")
    if view.maps:
        yield from _map(view.maps[-1])


def _reveal(event: Reveal) -> Iterator[str]:
    yield "the end"
    for number, played in enumerate(event.rounds, 1):
        yield from _folded(f"round {number}: {_pointers(played.targets)}", HANGING)
        yield from _folded(f"{HANGING}points {_points(played)}", HANGING)


def _folded(line: str, indent: str) -> list[str]:
    return wrap(line, WIDTH, subsequent_indent=indent)


def _heading(number: int, tied: Sequence[int]) -> str:
    if tied:
        return f"after three rounds, a vote on seats {joined(tied)}"
    return f"round {number}" if number <= 3 else "after three rounds"  # noqa: PLR2004 - a match has three


def _map(sections: Sequence[Section]) -> Iterator[str]:
    """Yield lines with sections side by side, as many as fit."""
    row: list[list[str]] = []
    for block in map(_section, sections):
        if row and sum(_width(each) + len(GAP) for each in row) + _width(block) > WIDTH:
            yield from _beside(row)
            row = []
        row.append(block)
    yield from _beside(row)


def _section(section: Section) -> list[str]:
    title = _kind(section)
    if section.kind == "loop":
        lines = [title]
        for trees in section.shape:
            lines += _hung("◯", trees, "┄")
        return lines
    return [f"{title}, cut" if section.cut else title, *_hung("●", section.shape, "─")]


def _hung(mark: str, branches: Iterable[Tree], way: str) -> Iterator[str]:
    """Yield a seat, and below it those who point at it."""
    yield mark
    branches = list(branches)
    for number, branch in enumerate(branches):
        is_last = number == len(branches) - 1
        head, rest = ("└" + way, "  ") if is_last else ("├" + way, "│ ")
        for at, line in enumerate(_hung("●", branch, "─")):
            yield (rest if at else head) + line


def _beside(blocks: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = list(map(_width, blocks))
    for cells in zip_longest(*blocks, fillvalue=""):
        yield GAP.join(map(str.ljust, cells, widths)).rstrip()


def _width(block: Sequence[str]) -> int:
    return max(map(len, block))


def _kind(section: Section) -> str:
    return section.kind if section.size == 1 else f"{section.kind} of {section.size}"


def _pointers(targets: Targets) -> str:
    return "  ".join(f"{seat}▶{'-' if target is None else target}" for seat, target in targets.items())


def _points(played: Round) -> str:
    return pairs("{}:{}", played.points, "  ")


def _drawn(lines: Iterable[str], plain: bool) -> Picture:
    heading, *rest = lines
    text = Picture.assemble((heading + "\n", "bold"), "\n".join(rest), ("\n" + LEGEND, "bright_black"))
    return Picture(text.plain.translate(ASCII)) if plain else text
