"""Registry of all games by name. A new game needs one line here."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

from referee.rules import Game


class Games(MutableMapping[str, Game[Any]]):
    """Games by name, created on first access, so that a referee process imports only the games it plays."""

    def __init__(self, places: dict[str, str]) -> None:
        """Store `places`, which has the form of `PLACES`."""
        self._games: dict[str, str | Game[Any]] = {**places}

    def __getitem__(self, name: str) -> Game[Any]:
        game = self._games[name]
        if isinstance(game, str):
            module, kind = game.split(":")
            game = self._games[name] = getattr(import_module(module), kind)()
        return game

    def __setitem__(self, name: str, game: Game[Any]) -> None:
        self._games[name] = game

    def __delitem__(self, name: str) -> None:
        del self._games[name]

    def __contains__(self, name: object) -> bool:
        return name in self._games

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def __len__(self) -> int:
        return len(self._games)


PLACES = {
    "mist": "referee.games.mist:Mist",
    "hive-mind": "referee.games.hive_mind:HiveMind",
    "pointing": "referee.games.pointing.game:Pointing",
    "fight-for-a-name": "referee.games.fight_for_a_name.game:FightForAName",
    "runes-to-ruins": "referee.games.runes_to_ruins:RunesToRuins",
}
"""Module and class of each game, as MODULE:CLASS; indexed by the game's name."""
GAMES = Games(PLACES)
