"""Has the bots built that need it, before their first match, and says so: a build may take its time."""

from collections.abc import Iterable

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.terminal import progress_console
from referee.bot_folder import BotFolder, BotFolderError
from referee.sandbox import BuildError, Isolation, SandboxError, built, demand, is_built, log_of


def ready(bots: Iterable[BotFolder], isolation: Isolation) -> list[BotFolder]:
    """The bots, each with its program made.

    Raises:
        WrongUse: a build failed.
        MachineCannot: there is no space for what it makes, or no sandbox to make it in.
    """
    return [_ready(bot, isolation) for bot in bots]


def _ready(bot: BotFolder, isolation: Isolation) -> BotFolder:
    if not bot.build:
        return bot
    if not is_built(bot, isolation):
        progress_console().say(f"building {bot.given}")
    try:
        demand(isolation)
        return built(bot, isolation)
    except BuildError as error:
        for line in error.said:
            progress_console().say(f"  {line}")
        raise WrongUse(str(error)) from None
    except BotFolderError as error:
        raise WrongUse(str(error)) from None
    except SandboxError as error:
        raise MachineCannot(str(error)) from None
    except OSError as error:
        raise cannot_write(log_of(bot, isolation).parent, error) from None
