"""Bots for tests of matches in this process. They lie in a module: other processes must be able to import them."""

from collections.abc import Mapping, Sequence
from typing import Any

from bots.kit import Bot, Window
from protocol.games.mist import ChooseFirst, MistEvent, MistView, Turn
from protocol.games.mist.board import BOARD
from protocol.messages import Rejected
from protocol.words import Outcome


def free(forbidden: Sequence[str], visible: Mapping[str, str]) -> list[str]:
    """Return the cells that a turn may name and that do not show a piece."""
    return [cell for cell in BOARD.names if cell not in forbidden and visible.get(cell, "empty") == "empty"]


def quick(window: Window[MistView]) -> ChooseFirst | Turn:
    """One piece, on any cell that it does not see to be taken."""
    if window.name == "first":
        return ChooseFirst(first=0)
    return Turn(cells=(window.rng.choice(free(window.view.forbidden, window.view.visible)),))


def plain(window: Window) -> dict[str, Any]:  # type: ignore[type-arg]
    """Return the action of `quick` as plain JSON values; it has no annotation."""
    if window.name == "first":
        return {"first": 0}
    return {"cells": [window.rng.choice(free(window.view["forbidden"], window.view["visible"]))]}


def illegal(window: Window[MistView]) -> Any:
    """Name a cell that does not exist, once the seat may place."""
    return {"first": 0} if window.name == "first" else {"cells": ["Z9"]}


def broken(window: Window[MistView]) -> Any:
    """Raise an error in the fourth turn."""
    if window.name == "turn" and window.view.turn >= 4:
        raise RuntimeError("out of ideas")
    return quick(window)


class Scribbler(Bot[MistView, MistEvent]):
    """Changes all that it is given, and forgets that it did."""

    def __init__(self) -> None:
        self.heard = 0

    def welcome(self) -> None:
        """Spoils the times."""
        self.match.clock.main_ms.clear()
        self.match.options["max_turns"] = 1

    def over(self, outcome: Outcome) -> None:
        """Spoils the scores."""
        assert outcome.scores
        outcome.scores["0"] = 10**6

    def event(self, event: MistEvent) -> None:
        """Spoils the board of an event."""
        self.heard += 1
        getattr(event, "visible", {}).clear()

    def decide(self, window: Window[MistView]) -> Any:
        """Decides as `quick`, then spoils the view."""
        action = quick(window)
        window.view.visible.clear()
        window.view.visible["A1"] = "opponent"
        return action


class Hasty(Bot[MistView, MistEvent]):
    """Submits early, changes its mind, and is corrected once."""

    def decide(self, window: Window[MistView]) -> Any:
        """First legal, at last not."""
        window.submit(quick(window))
        return None if window.id % 2 else {"cells": ["Z9"]}

    def rejected(self, rejected: Rejected) -> Any:
        """Every third time it has another idea."""
        return {"cells": ["A1"]} if rejected.window is not None and rejected.window % 3 == 0 else None
