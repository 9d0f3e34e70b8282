"""Games, variants and options as a command line names them."""

import os
from typing import Any

from msgspec import Raw

from arena.errors import WrongUse
from protocol.words import Options
from referee.games import GAMES
from referee.rules import BadSetupError, Game
from referee.suggestions import did_you_mean, with_known_options


def variant_named(game: Game[Any], name: str | None) -> str:
    """Return the requested variant's name; the game's default if it is None.

    Raises:
        WrongUse: the game has no such variant.
    """
    names = [variant.name for variant in game.variants]
    if name is not None and name not in names:
        raise WrongUse(f"--variant: {game.name} has no {name!r}; {did_you_mean(name, names, 'variants')}")
    return name or names[0]


def game_named(name: str, option: str) -> Game[Any]:
    """Return the game of this name; `option`: where the command line names it.

    Raises:
        WrongUse: there is no such game.
    """
    if name not in GAMES:
        raise WrongUse(f"{option}: there is no {name!r}; {did_you_mean(name, GAMES, 'games')}")
    return GAMES[name]


def rules_asked(game: str, variant: str | None, options: str | None) -> tuple[Game[Any], str, Options]:
    """Return the game, variant and complete options that a command line requests; `options` is JSON.

    Raises:
        WrongUse: there is no such game, or it has no such variant or options.
    """
    rules = game_named(game, "GAME")
    chosen = variant_named(rules, variant)
    try:
        return rules, chosen, rules.read_options(chosen, None if options is None else Raw(os.fsencode(options)))
    except BadSetupError as error:
        raise WrongUse(f"--{with_known_options(str(error), rules.options)}") from None
