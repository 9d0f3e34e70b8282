"""`arena new-bot`: a folder with a bot that plays at once, to be made better."""

from pathlib import Path

import click
import msgspec

from arena.commands.completion import complete_games
from arena.errors import WrongUse, cannot_write
from arena.terminal import command_line, results_console
from referee.bot_folder import FILE
from referee.games import GAMES

TEMPLATES = Path(__file__).parent.parent / "templates"
"""One folder a game; `any` for games without."""
PROGRAM = "bot.py"


@click.command("new-bot")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--game", shell_complete=complete_games, default=next(iter(GAMES)), show_default=True, help="Game of the bot."
)
def command(folder: Path, game: str) -> None:
    """Write a bot to start from into FOLDER, which must be new or empty."""
    if game not in GAMES:
        raise WrongUse(f"--game: there is no {game!r}; there are {', '.join(GAMES)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise WrongUse(f"{folder}: is not empty")
        (folder / FILE).write_text(_bot_toml(folder.resolve().name, game))
        (folder / PROGRAM).write_text(_template(game).read_text())
    except OSError as error:
        raise cannot_write(folder, error) from None
    rules = GAMES[game]
    seats = rules.seats(rules.read_options(rules.variants[0].name, None))
    results_console().say(f"edit `decide` in {folder / PROGRAM}; it plays already:")
    results_console().say(command_line("match", game, *[folder] * seats))


def _template(game: str) -> Path:
    own = TEMPLATES / game / PROGRAM
    return own if own.exists() else TEMPLATES / "any" / PROGRAM


def _bot_toml(name: str, game: str) -> str:
    quoted = msgspec.json.encode(name).decode()
    return f'name = {quoted}\nversion = "0.1"\ncommand = ["python", "{PROGRAM}"]\ngames = ["{game}"]\n'
