"""The rules of each game, without I/O, and the registry of all games. A game is imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from protocol.games.listing import ENTRIES
from referee.games.registry import ENCODERS, GAMES

if TYPE_CHECKING:
    from referee.games.fight_for_a_name import FightForAName
    from referee.games.hive_mind import HiveMind
    from referee.games.mist import Mist
    from referee.games.pointing import Pointing
    from referee.games.runes_to_ruins import RunesToRuins

__all__ = [
    "ENCODERS",
    "GAMES",
    "FightForAName",
    "HiveMind",
    "Mist",
    "Pointing",
    "RunesToRuins",
]


def __getattr__(name: str) -> Any:
    """Import a game's class."""
    for entry in ENTRIES.values():
        module, kind = entry.rules.split(":")
        if kind == name:
            return getattr(import_module(module), kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
