"""What a shell offers for the names that a command line takes: games, their variants, bots."""

from click import Context, Parameter
from click.shell_completion import CompletionItem

from referee.bot_folder import built_in
from referee.games import GAMES


def complete_games(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Games whose names begin so."""
    del context, parameter
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_variants(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Variants of the game that the command line names before; of all games if it names none."""
    del parameter
    # An option that still lacks its value keeps click from telling which word is the game.
    asked = [context.params.get("game"), *context.args]
    games = [game for name, game in GAMES.items() if name in asked] or GAMES.values()
    return [variant.name for game in games for variant in game.variants if variant.name.startswith(incomplete)]


def complete_bots(context: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Built-in bots whose names begin so, and folders."""
    del context, parameter
    # Folders first: bash forgets what was offered before them.
    folders = CompletionItem(incomplete, type="dir")
    return [folders, *(CompletionItem(name) for name in built_in() if name.startswith(incomplete))]
