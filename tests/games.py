"""The games that have what a test needs. A game declares only the parts that it has."""

from collections.abc import Iterable

from protocol.text import GAME_TEXTS
from referee.games import ENCODERS, GAMES
from referee.rules import Game

WITH_CHOICES = [name for name, game in GAMES.items() if game.choices]
"""Games that build legal actions."""
WITH_WORLDS = [name for name, game in GAMES.items() if type(game).worlds is not Game.worlds]
"""Games that draw worlds."""
WITH_ENCODER = list(ENCODERS)
"""Games that can be learnt."""
WITH_TEXT = list(GAME_TEXTS)
"""Games with texts for people and language models."""


def with_variants(games: Iterable[str]) -> list[tuple[str, str]]:
    """Return each variant of these games, as (game, variant)."""
    return [(name, variant.name) for name in games for variant in GAMES[name].variants]
