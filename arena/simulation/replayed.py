"""Page of a match in this process: the whole referee replays and records its actions."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.json import decode

from arena.replay import recorded
from arena.simulation.bots import Source
from arena.simulation.player import NAME, Rules
from arena.simulation.refereed import Hall, terms_of
from arena.viewer import page_of
from bots.kit import Bot, Window
from protocol.codec import encode
from protocol.messages import Closed
from referee.match import AnyRecord, Policy
from referee.rules import Table, Taken, WindowClosed

LONGEST_NAME = 100
"""Maximum number of characters in a bot's name, as in bot.toml."""


class ForfeitError(Exception):
    """Raised at the point at which the original bot raised and forfeited."""


class Script(Bot[Any, Any]):
    """A bot that repeats the recorded actions of its seat."""

    def __init__(self, taken: Sequence[Taken], windows: int | None) -> None:
        """Repeat the actions `taken`; forfeit after `windows` windows unless it is None."""
        self._taken = taken
        self._windows = windows

    def welcome(self) -> None:
        """Forfeit if the original bot did so before its first window."""
        if self._windows == 0:
            raise ForfeitError

    def decide(self, window: Window[Any]) -> Any:
        """Return the action of this window; request the default where it was used."""
        taken = self._taken[window.id] if window.id < len(self._taken) else Taken(None, by_default=True)
        if not taken.by_default:
            return taken.action
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
        taken = [each for parts in closed if (each := parts[seat]) is not None]
        known = name.encode(errors="replace").decode()[:LONGEST_NAME]
        sources.append(Source(known, "", "", partial(Script, taken, forfeits.get(seat))))
    again = Table(table.game, table.deal)
    policy = Policy(fault="forfeit") if forfeits else Policy()
    rules = Rules(on_error="forfeit" if forfeits else "raise")
    hall = Hall(again, sources, rules, terms_of(again, policy, None), policy)
    hall.play_windows(None if forfeits else len(closed))
    # Decoding gives records as read from a transcript, with actions as JSON.
    lines = [decode(encode(record), type=AnyRecord) for record in (hall.header, *hall.records)]
    return page_of(recorded(lines, Path(NAME), unfinished=True))
