"""Shows a match to people as it goes: as a spectator sees it, as one seat does, or whole, for the host."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from arena.errors import WrongUse
from arena.live.drawing.registry import drawing_of
from arena.terminal import Screen
from protocol.words import View
from referee.rules import Addressed, Table, shown

Eyes = int | Literal["spectator", "host"]
"""Whose eyes; a number is a seat."""


class Watcher:
    """Called with the table after each window; prints what happened and the board."""

    def __init__(self, console: Screen, eyes: Eyes, names: Sequence[str]) -> None:
        self._console = console
        self._eyes = eyes
        self._names = names

    def __call__(self, table: Table, addressed: Sequence[Addressed]) -> None:
        """Shows one step, below an empty line."""
        drawing = drawing_of(table.game.name)
        self._console.print()
        seen = [each for each in addressed if self._sees(each)]
        for each in seen:
            addressee = "" if each.seat is None else f"to seat {each.seat} ({self._names[each.seat]}): "
            self._console.print(f"{addressee}{drawing.words(each.event)}", highlight=False, markup=False)
        board = drawing.board(
            self._view(table), [each.event for each in seen], plain=not self._console.is_terminal
        )
        self._console.print(board, soft_wrap=True)

    def _sees(self, addressed: Addressed) -> bool:
        return addressed.seat is None or self._eyes in (addressed.seat, "host")

    def _view(self, table: Table) -> View:
        if self._eyes == "host":
            return table.game.host_view(table.state)
        return shown(table.game, table.state, None if self._eyes == "spectator" else self._eyes)


def read_eyes(option: str, text: str, seats: int) -> Eyes:
    """What an option says: `spectator`, `host`, or a seat's number.

    Raises:
        WrongUse: it says something else.
    """
    if text in ("spectator", "host"):
        return "spectator" if text == "spectator" else "host"
    with suppress(ValueError):  # Python reads no number of thousands of digits.
        if text.isdecimal() and int(text) < seats:
            return int(text)
    raise WrongUse(f"{option}: {text!r} is neither spectator nor host nor a seat from 0 to {seats - 1}")
