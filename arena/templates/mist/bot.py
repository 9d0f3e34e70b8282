"""A bot for Mist to start from: one piece a turn, on a cell that it does not see to be taken."""

from typing import Any

from bots.kit import Window, run
from protocol.games.mist import MistView

CELLS = [
    f"{row}{number}"
    for row, length in zip("ABCDEFGHI", (5, 6, 7, 8, 9, 8, 7, 6, 5), strict=True)
    for number in range(1, length + 1)
]


def decide(window: Window[MistView]) -> dict[str, Any]:
    """The action for an open window. `window.view` is everything this seat may know now."""
    view = window.view
    if window.name == "first":
        return {"first": view.seat}
    taken = {cell for cell, holds in view.visible.items() if holds != "empty"}
    free = [cell for cell in CELLS if cell not in taken and cell not in view.forbidden]
    return {"cells": [window.luck.choice(free)]}


if __name__ == "__main__":
    run(decide, view_type=MistView)
