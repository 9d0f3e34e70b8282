"""The rules and encoders of all games, without I/O. A game is imported on first use.

`protocol.games.listing` lists the games.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from protocol.games.listing import ENTRIES, Parts
from referee.rules import AnyGame, Game

if TYPE_CHECKING:
    from referee.encoding import Encoder
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

GAMES: Parts[AnyGame] = Parts("rules", expected=Game)
"""The rules of each game. A referee process imports only the games that it plays."""
ENCODERS: "Parts[Encoder]" = Parts("encoder")
"""The encoder of observations of each game that has one."""


def __getattr__(name: str) -> Any:
    """Import a game's class."""
    for entry in ENTRIES.values():
        module, kind = entry.rules.split(":")
        if kind == name:
            return getattr(import_module(module), kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
