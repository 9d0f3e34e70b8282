"""The rules of Mist. Numbers like R5 are the rulings in docs/games/mist.md.

`game` implements the contract of a game. It uses `turns` (the state and its changes), `legal` (the legal actions)
and `worlds` (states that fit a seat's events).
"""

from referee.games.mist.game import Mist
from referee.games.mist.turns import MistState

__all__ = ["Mist", "MistState"]
