"""The rules of each game, pure; and the registry of all games. A game is imported when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from referee.games.registry import GAMES

if TYPE_CHECKING:
    from referee.games.fight_for_a_name.game import FightForAName
    from referee.games.hive_mind import HiveMind
    from referee.games.mist import Mist
    from referee.games.pointing.game import Pointing
    from referee.games.runes_to_ruins import RunesToRuins

__all__ = [
    "GAMES",
    "FightForAName",
    "HiveMind",
    "Mist",
    "Pointing",
    "RunesToRuins",
]


_PLACES = {
    "FightForAName": "referee.games.fight_for_a_name.game",
    "HiveMind": "referee.games.hive_mind",
    "Mist": "referee.games.mist",
    "Pointing": "referee.games.pointing.game",
    "RunesToRuins": "referee.games.runes_to_ruins",
}


def __getattr__(name: str) -> Any:
    """Import a game's class."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
