"""Which game is drawn how. A game without a drawing is shown as its view stands: a sixth game needs none."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct
from rich.text import Text

from arena.live.drawing import fight_for_a_name, hive_mind, mist, pointing, runes_to_ruins
from protocol.codec import encode
from protocol.words import Event, View


class Board(Protocol):
    """Draws a view, and the events told just before it; `plain` for ASCII only.

    `told`: every event that the viewer was told up to here, where a board shows what is remembered.
    """

    def __call__(  # noqa: D102 - see the class
        self, view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
    ) -> Text: ...


class Drawing(Struct, frozen=True):
    """How one game is shown to people."""

    board: Board
    words: Callable[[Event], str]
    """One event in a few words."""


def _json_board(view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()) -> Text:
    """Any game's view, as JSON."""
    del events, plain, told
    return Text(msgspec.json.format(encode(view), indent=2).decode())


def _json_words(event: Event) -> str:
    return encode(event).decode()


AS_JSON = Drawing(_json_board, _json_words)
DRAWINGS = {
    "mist": Drawing(mist.board, mist.words),
    "fight-for-a-name": Drawing(fight_for_a_name.board, fight_for_a_name.words),
    "hive-mind": Drawing(hive_mind.board, hive_mind.words),
    "pointing": Drawing(pointing.board, pointing.words),
    "runes-to-ruins": Drawing(runes_to_ruins.board, runes_to_ruins.words),
}


def drawing_of(game: str) -> Drawing:
    """How that game is shown."""
    return DRAWINGS.get(game, AS_JSON)
