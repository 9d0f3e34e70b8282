"""Matches and results as HTML for notebooks: the terminal's drawing, with escaped text."""

import io
from collections.abc import Sequence

from markupsafe import Markup
from rich.terminal_theme import MONOKAI
from rich.text import Text

from arena.live import board_text
from arena.terminal import Screen
from protocol.words import Event, View
from referee.printable import printable

STYLE = "font-family:monospace;line-height:1.2;display:inline-block;background:#0c0c0c;color:#d9d9d9;padding:1em"
PAGE = f'<pre style="{STYLE}">{{code}}</pre>'
COLUMNS = 120
FRAME = "width:100%;height:46em;border:0;display:block"
LARGEST_FRAME = 4_000_000
"""Maximum number of characters in a frame; notebooks are read and written as a whole."""


def board(heading: str, game: str, view: View, events: Sequence[Event]) -> str:
    """Return a board under a heading; the events before it add to the drawing."""
    return _html(Text(heading), board_text(game, view, events[-1:], plain=False, told=events))


def frame(heading: str, page: str) -> str | None:
    """Return a page in a frame under a heading, or None if it is too large to be kept in a notebook.

    The page has an origin of its own, so that its content cannot reach the notebook or its kernel.
    """
    if len(page) > LARGEST_FRAME:
        return None
    shown = Markup('<iframe sandbox="allow-scripts" srcdoc="{}" title="{}" style="{}"></iframe>')
    return text(heading) + str(shown.format(page, printable(heading), FRAME))


def text(words: str) -> str:
    """Return plain text as HTML."""
    return _html(Text(words))


def _html(*parts: Text) -> str:
    screen = Screen(
        file=io.StringIO(),
        record=True,
        width=COLUMNS,
        force_terminal=True,
        force_jupyter=False,  # With True the text would be displayed at once.
        color_system="truecolor",
        emoji=False,
        markup=False,
        highlight=False,
    )
    for part in parts:
        screen.print(part, soft_wrap=True)
    return screen.export_html(theme=MONOKAI, code_format=PAGE, inline_styles=True)
