"""The rules of The Fight For a Name: start to read with `game`."""

from referee.games.fight_for_a_name.game import FightForAName

__all__ = ["FightForAName"]
