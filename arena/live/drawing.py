"""Boards with their styles, for rich's terminals, alone or with text beside them. `protocol.text` draws them."""

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from arena.terminal import Screen, shortened
from protocol.text import drawing_of
from protocol.words import Event, View

BESIDE = 26
"""Columns that text to the right of a board needs; with fewer, it is placed below."""
GAP = "  "
LONGEST_NAME = 40
"""Longest name within a text, in columns."""
SEATS = re.compile(r"\bseats? \d+(?:, \d+)*")
"""Pattern of seats in the text of events."""
_NUMBER = re.compile(r"\d+")


def board_text(game: str, view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()) -> Text:
    """Return a game's board under its heading: see `protocol.text.registry.Board`."""
    return Text.assemble(*drawing_of(game).board(view, events, plain=plain, told=told).runs, no_wrap=True)


def with_names(words: str, names: Sequence[str]) -> str:
    """Return the words of an event with each seat's name, where it is known: `seat 0 (anna) goes first`."""

    def named(number: re.Match[str]) -> str:
        seat = int(number[0])
        name = names[seat] if seat < len(names) else ""
        return f"{seat} ({shortened(name, LONGEST_NAME)})" if name else str(seat)

    return SEATS.sub(lambda seats: _NUMBER.sub(named, seats[0]), words)


def laid_out(screen: Screen, board: Text, words: Sequence[str], *, width: int) -> list[Text]:
    """Return the lines of a board with text to its right, or below if the board is too wide for that."""
    drawn = board.split("\n")
    across = max((line.cell_len for line in drawn), default=0)
    if width - across - len(GAP) < BESIDE:
        return [*drawn, *_wrapped(screen, words, width)]
    told = list(_wrapped(screen, words, width - across - len(GAP)))
    lines = []
    for at in range(max(len(drawn), len(told))):
        line = drawn[at].copy() if at < len(drawn) else Text()
        if at < len(told):
            line.pad_right(across - line.cell_len)
            line.append(GAP).append_text(told[at])
        lines.append(line)
    return lines


def part_of(lines: Sequence[Text], *, scroll: int, width: int, height: int) -> tuple[list[Text], int]:
    """Return the visible lines and the index of the first; `scroll` may be larger than possible."""
    first = max(0, min(scroll, len(lines) - height))
    shown = [line.copy() for line in lines[first : first + height]]
    for line in shown:
        line.truncate(width)
    return shown, first


def joined(lines: Sequence[Text]) -> Text:
    """Join lines to one text that is not wrapped."""
    text = Text("\n", no_wrap=True, overflow="crop").join(lines)
    text.no_wrap, text.overflow = True, "crop"
    return text


def _wrapped(screen: Screen, words: Sequence[str], width: int) -> Iterator[Text]:
    for each in words:
        first, *rest = screen.render_str(each).wrap(screen, max(1, width - len(GAP))) or [Text()]
        yield first
        for line in rest:
            yield Text(GAP).append_text(line)
