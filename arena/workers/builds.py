"""Has the bots built that need it, before their first match, and says so: a build may take its time."""

from collections.abc import Iterable

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.terminal import progress_console
from referee.bot_folder import BotFolder, BotFolderError, last_part
from referee.sandbox import BuildError, Isolation, SandboxError, built, demand, is_built, log_of

HERE = frozenset({".", "./", "..", "../"})
"""Names of bots that say nothing: they are called as the folder that they stand for."""


def ready(
    bots: Iterable[BotFolder], isolation: Isolation, failed: dict[int, str] | None = None
) -> list[BotFolder]:
    """The bots, each with its program made.

    Args:
        bots: in an order.
        isolation: of the sandbox that they are built in.
        failed: takes why a build failed, by the bot's place in the order, and that bot stays as it is; None: the
            first build that fails is raised.

    Raises:
        WrongUse: a build failed.
        MachineCannot: there is no space for what it makes, or no sandbox to make it in.
    """
    found = []
    for number, bot in enumerate(bots):
        try:
            found.append(_ready(bot, isolation))
        except WrongUse as error:
            if failed is None:
                raise
            failed[number] = error.format_message().removeprefix(f"{bot.given}: ")
            found.append(bot)
    return found


def _ready(bot: BotFolder, isolation: Isolation) -> BotFolder:
    if not bot.build:
        return bot
    if not is_built(bot, isolation):
        name = last_part(bot.given) if bot.given in HERE else bot.given
        progress_console().say(f"building {name}")
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
