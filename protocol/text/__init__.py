"""Text for people at `console` and for language models. Pure; each game's own is in `protocol/games/`.

Games import from here `GameText` and the parts of which drawings and notations are made.
"""

from protocol.text.parsing import QUOTED_CHARACTERS, Example, ParseError, Terms, name, number, quoted
from protocol.text.picture import Picture
from protocol.text.registry import (
    GAME_TEXTS,
    Drawing,
    GameText,
    ask,
    drawing_of,
    examples,
    explain,
    if_nothing,
    listed,
    read,
    say,
    say_default,
    words,
)
from protocol.text.tiling import INK, WALL_STYLE, Tile, canvas_text, honeycomb

__all__ = [
    "GAME_TEXTS",
    "INK",
    "QUOTED_CHARACTERS",
    "WALL_STYLE",
    "Drawing",
    "Example",
    "GameText",
    "ParseError",
    "Picture",
    "Terms",
    "Tile",
    "ask",
    "canvas_text",
    "drawing_of",
    "examples",
    "explain",
    "honeycomb",
    "if_nothing",
    "listed",
    "name",
    "number",
    "quoted",
    "read",
    "say",
    "say_default",
    "words",
]
