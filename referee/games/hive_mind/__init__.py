"""The rules of Hive Mind, all three variants: `game` is where to start reading.

`hive` knows the board and its shapes, `state` what a match is made of, `checking` what may be submitted, `play`
what comes of it, `scoring` what points there are, `result` who wins and who goes. Numbers like R5 are the rulings
in docs/games/hive_mind.md.
"""

from referee.games.hive_mind.game import HiveMind

__all__ = ["HiveMind"]
