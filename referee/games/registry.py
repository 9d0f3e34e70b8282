"""All games, by name. A sixth game is one line here."""

from typing import Any

from referee.games.fight_for_a_name.game import FightForAName
from referee.games.hive_mind import HiveMind
from referee.games.mist import Mist
from referee.games.pointing.game import Pointing
from referee.games.runes_to_ruins import RunesToRuins
from referee.rules import Game

GAMES: dict[str, Game[Any]] = {
    game.name: game for game in (Mist(), HiveMind(), Pointing(), FightForAName(), RunesToRuins())
}
