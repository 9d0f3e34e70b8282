"""Each game in text, for people at `console` and for language models: pure, one file per game in each folder."""

from protocol.text.parsing import ParseError, Terms, quoted
from protocol.text.picture import Picture
from protocol.text.registry import (
    GAME_TEXTS,
    Drawing,
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

__all__ = [
    "GAME_TEXTS",
    "Drawing",
    "ParseError",
    "Picture",
    "Terms",
    "ask",
    "drawing_of",
    "examples",
    "explain",
    "if_nothing",
    "listed",
    "quoted",
    "read",
    "say",
    "say_default",
    "words",
]
