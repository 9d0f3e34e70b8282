"""The rules of each game, without I/O, and the registry of all games. A game is imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from referee.games.registry import GAMES, PLACES

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


def __getattr__(name: str) -> Any:
    """Import a game's class."""
    for place in PLACES.values():
        module, kind = place.split(":")
        if kind == name:
            return getattr(import_module(module), kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
