"""Matches and results as HTML, for notebooks: a terminal's drawing, its words escaped."""

import io
from collections.abc import Sequence

from rich.terminal_theme import MONOKAI
from rich.text import Text

from arena.live import board_text
from arena.terminal import Screen
from protocol.words import Event, View

STYLE = "font-family:monospace;line-height:1.2;display:inline-block;background:#0c0c0c;color:#d9d9d9;padding:1em"
PAGE = f'<pre style="{STYLE}">{{code}}</pre>'
COLUMNS = 120


def board(heading: str, game: str, view: View, events: Sequence[Event]) -> str:
    """A board under a heading, with what the events before it add to the drawing."""
    return _html(Text(heading), board_text(game, view, events[-1:], plain=False, told=events))


def text(words: str) -> str:
    """Words as they stand."""
    return _html(Text(words))


def _html(*parts: Text) -> str:
    screen = Screen(
        file=io.StringIO(),
        record=True,
        width=COLUMNS,
        force_terminal=True,
        force_jupyter=False,  # Else it would be shown at once.
        color_system="truecolor",
        emoji=False,
        markup=False,
        highlight=False,
    )
    for part in parts:
        screen.print(part, soft_wrap=True)
    return screen.export_html(theme=MONOKAI, code_format=PAGE, inline_styles=True)
