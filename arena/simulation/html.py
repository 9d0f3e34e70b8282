"""Matches and results as HTML: the replay page, made by the whole referee, and drawings for notebooks."""

import io
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from markupsafe import Markup
from msgspec.json import decode
from rich.terminal_theme import MONOKAI
from rich.text import Text

from arena.live import board_text
from arena.replay import recorded
from arena.simulation.bots import NAME, BotSource, Rules
from arena.simulation.one_match import VirtualReferee, terms_of
from arena.terminal import Screen
from arena.viewer import page_of
from bots.kit import Bot, Window
from protocol.codec import encode
from protocol.messages import Closed
from protocol.words import Event, View
from referee.display_text import printable
from referee.match import AnyRecord, Policy
from referee.rules import ResolvedAction, Table, WindowClosed

LONGEST_NAME = 100
"""Maximum number of characters in a bot's name, as in bot.toml."""


class ForfeitError(Exception):
    """Raised at the point at which the original bot raised and forfeited."""


class RecordedBot(Bot[Any, Any]):
    """A bot that repeats the recorded actions of its seat."""

    def __init__(self, taken: Sequence[ResolvedAction], windows: int | None) -> None:
        """Repeat the actions `taken`; forfeit after `windows` windows unless it is None."""
        self._taken = taken
        self._windows = windows

    def welcome(self) -> None:
        """Forfeit if the original bot did so before its first window."""
        if self._windows == 0:
            raise ForfeitError

    def decide(self, window: Window[Any]) -> Any:
        """Return the action of this window; request the default where it was used."""
        if window.id < len(self._taken) and not self._taken[window.id].by_default:
            return self._taken[window.id].action
        if window.id + 1 == self._windows:
            raise ForfeitError
        window.submit(None)
        return None

    def closed(self, closed: Closed) -> None:
        """Forfeit if the original bot did so after this window."""
        if closed.window + 1 == self._windows:
            raise ForfeitError


def page(table: Table, forfeits: Mapping[int, int], names: Sequence[str]) -> str:
    """Return the page of the match at a table: see `Match.html`.

    `forfeits` has the number of windows before the forfeit, by seat that forfeited.
    """
    closed = [move.taken for move in table.journal if isinstance(move, WindowClosed)]
    sources = []
    for seat, name in enumerate(names):
        taken = list(filter(None, map(itemgetter(seat), closed)))
        known = name.encode(errors="replace").decode()[:LONGEST_NAME]
        sources.append(BotSource(known, "", "", partial(RecordedBot, taken, forfeits.get(seat))))
    again = Table(table.game, table.deal)
    policy, rules = Policy(), Rules()
    windows: int | None = len(closed)
    if forfeits:
        policy, rules, windows = Policy(fault="forfeit"), Rules(on_error="forfeit"), None
    referee = VirtualReferee(again, sources, rules, terms_of(again, policy, None), policy)
    referee.play_windows(windows)
    # Decoding gives records as read from a transcript, with actions as JSON.
    lines = [decode(encode(record), type=AnyRecord) for record in (referee.header, *referee.records)]
    return page_of(recorded(lines, Path(NAME), unfinished=True))


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
