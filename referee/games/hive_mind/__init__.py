"""The rules of Hive Mind in three variants: start to read with `game`.

`state` has the state of a match and the values of a Hive, `legal` the check of actions and how they are built,
`play` their effects, `scoring` the points, ranking, prizes and elimination. Numbers like R5 are the rulings in
docs/games/hive_mind.md.
"""

from referee.games.hive_mind.game import HiveMind

__all__ = ["HiveMind"]
