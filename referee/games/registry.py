"""All games, by name. A sixth game is one line here."""

from typing import Any

from referee.games.hive_mind import HiveMind
from referee.games.mist import Mist
from referee.rules import Game

GAMES: dict[str, Game[Any]] = {game.name: game for game in (Mist(), HiveMind())}
