"""The rules of Mist. Numbers like R5 are the rulings in docs/games/mist.md.

`game` is the entry: the contract of a game. Behind it: `turns` (the state, and what a turn does), `legal` (what
may be submitted) and `worlds` (what a seat must reckon with).
"""

from referee.games.mist.game import Mist
from referee.games.mist.turns import MistState

__all__ = ["Mist", "MistState"]
