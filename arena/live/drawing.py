"""Boards with their styles, for rich's terminals. `protocol.text` draws them."""

from collections.abc import Sequence

from rich.text import Text

from protocol.text import drawing_of
from protocol.words import Event, View


def board_text(game: str, view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()) -> Text:
    """That game's board under its heading: see `protocol.text.registry.Board`."""
    return Text.assemble(*drawing_of(game).board(view, events, plain=plain, told=told).runs, no_wrap=True)
