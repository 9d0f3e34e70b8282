"""Text for people at `console` and for language models. Pure; each game's own is in `protocol/games/`.

Games import from here `GameText` and the parts of which drawings and notations are made.
"""

from protocol.text.drawing import INK, WALL_STYLE, Picture, Tile, canvas_text, honeycomb
from protocol.text.registry import (
    GAME_TEXTS,
    QUOTED_CHARACTERS,
    Drawing,
    Example,
    GameText,
    ParseError,
    Terms,
    ask,
    drawing_of,
    examples,
    explain,
    if_nothing,
    listed,
    name,
    number,
    quoted,
    read,
    say,
    say_default,
    words,
)

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
