"""The rules of each game, pure; and the registry of all games."""

from referee.games.fight_for_a_name.game import FightForAName
from referee.games.hive_mind import HiveMind
from referee.games.mist import Mist
from referee.games.pointing.game import Pointing
from referee.games.registry import GAMES
from referee.games.runes_to_ruins import RunesToRuins

__all__ = [
    "GAMES",
    "FightForAName",
    "HiveMind",
    "Mist",
    "Pointing",
    "RunesToRuins",
]
