"""The rules of Pointing: start to read with `game`."""

from referee.games.pointing.game import Pointing

__all__ = ["Pointing"]
