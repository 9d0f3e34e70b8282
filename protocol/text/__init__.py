"""Text for people at `console` and for language models. Pure; each game's own is in `protocol/games/`.

Games import from here `GameText` and the parts of which drawings and notations are made.
"""

from protocol.text.drawing import INK, WALL_STYLE, Picture, Tile, canvas_text, honeycomb, joined, pairs, viewpoint
from protocol.text.registry import (
    GAME_TEXTS,
    QUOTED_CHARACTERS,
    Drawing,
    Example,
    GameText,
    InputTerms,
    ParseError,
    drawing_of,
    explain,
    if_nothing,
    listed,
    name,
    number,
    quoted,
    read,
    say,
    say_default,
    text_of,
)

__all__ = [
    "GAME_TEXTS",
    "INK",
    "QUOTED_CHARACTERS",
    "WALL_STYLE",
    "Drawing",
    "Example",
    "GameText",
    "InputTerms",
    "ParseError",
    "Picture",
    "Tile",
    "canvas_text",
    "drawing_of",
    "explain",
    "honeycomb",
    "if_nothing",
    "joined",
    "listed",
    "name",
    "number",
    "pairs",
    "quoted",
    "read",
    "say",
    "say_default",
    "text_of",
    "viewpoint",
]
