"""Boards with their styles, for rich's terminals. `protocol.text` draws them."""

import re
from collections.abc import Sequence

from rich.text import Text

from arena.tables import shortened
from protocol.text import drawing_of
from protocol.words import Event, View

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
