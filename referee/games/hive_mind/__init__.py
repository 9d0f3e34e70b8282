"""The rules of Hive Mind in three variants: start to read with `game`.

`hive` has the values of a board, `state` the state of a match, `checking` the check of actions, `play` their
effects, `scoring` the points, `result` the ranking, prizes and elimination. Numbers like R5 are the rulings in
docs/games/hive_mind.md.
"""

from referee.games.hive_mind.game import HiveMind

__all__ = ["HiveMind"]
