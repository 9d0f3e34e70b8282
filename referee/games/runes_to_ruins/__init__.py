"""The rules of Runes to Ruins. Numbers like R5 are the rulings in docs/games/runes_to_ruins.md.

`game` has the game class. It uses `symbols` (legal symbols), `checking` (legal actions and their costs), `rounds`
(the resolution of rounds, and the end) with its parts `visions`, `guesses` and `conditions`. They
share the types in `state`.
"""

from referee.games.runes_to_ruins.game import RunesToRuins

__all__ = ["RunesToRuins"]
