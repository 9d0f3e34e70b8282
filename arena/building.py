"""Has the bots built that need it, before their first match, and says so: a build may take its time."""

from collections.abc import Iterable

from arena.exits import WrongUse
from arena.results_folder import cannot_write
from arena.screens import progress_console
from referee.bot_build import built, built_folder
from referee.bot_folder import BotFolder, BotFolderError
from referee.plan import Isolation


def ready(bots: Iterable[BotFolder], isolation: Isolation) -> list[BotFolder]:
    """The bots, each with its program made.

    Raises:
        WrongUse: a build failed.
        MachineCannot: there is no space for what it makes, or no sandbox to make it in.
    """
    return [_ready(bot, isolation) for bot in bots]


def _ready(bot: BotFolder, isolation: Isolation) -> BotFolder:
    if bot.build and not built_folder(bot).is_dir():
        progress_console().print(f"building {bot.given}", highlight=False, markup=False)
    try:
        return built(bot, isolation)
    except BotFolderError as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        raise cannot_write(built_folder(bot), error) from None
