"""Games, variants and options as a command line names them."""

import os
from typing import Any

from msgspec import Raw

from arena.errors import WrongUse
from protocol.words import Options
from referee.games import GAMES
from referee.rules import BadSetupError, Game


def variant_named(game: Game[Any], name: str | None) -> str:
    """The name of the variant that is asked for; the game's default if none is.

    Raises:
        WrongUse: the game has no such variant.
    """
    names = [variant.name for variant in game.variants]
    if name is not None and name not in names:
        raise WrongUse(f"--variant: {game.name} has no {name!r}; it has {', '.join(names)}")
    return name or names[0]


def rules_asked(game: str, variant: str | None, options: str | None) -> tuple[Game[Any], str, Options]:
    """The game, variant and options in force that a command line asks for; `options` are JSON.

    Raises:
        WrongUse: there is no such game, or it has no such variant or options.
    """
    if game not in GAMES:
        raise WrongUse(f"GAME: there is no {game!r}; there are {', '.join(GAMES)}")
    rules = GAMES[game]
    chosen = variant_named(rules, variant)
    try:
        return rules, chosen, rules.read_options(chosen, None if options is None else Raw(os.fsencode(options)))
    except BadSetupError as error:
        raise WrongUse(f"--{error}") from None
