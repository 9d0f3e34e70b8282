"""The rules of each game, pure; and the registry of all games."""

from referee.games.fight_for_a_name.game import FightForAName
from referee.games.hexes import Place, centred_rows
from referee.games.hive_mind import HiveMind
from referee.games.mist import BOARD, Mist
from referee.games.pointing.game import Pointing
from referee.games.registry import GAMES
from referee.games.runes_to_ruins import RunesToRuins

__all__ = [
    "BOARD",
    "GAMES",
    "FightForAName",
    "HiveMind",
    "Mist",
    "Place",
    "Pointing",
    "RunesToRuins",
    "centred_rows",
]
