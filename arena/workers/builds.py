"""Build bots before their first match, and report each build on the terminal because it may be slow."""

from collections.abc import Iterable

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.terminal import progress_console
from referee.bot_folder import BotFolder, BotFolderError, last_part
from referee.sandbox import BuildError, Isolation, SandboxError, built, demand, is_built, log_of

HERE = frozenset({".", "./", "..", "../"})
"""Relative paths that do not name a bot; the name of the folder is shown instead."""


def ready(
    bots: Iterable[BotFolder], isolation: Isolation, failed: dict[int, str] | None = None
) -> list[BotFolder]:
    """Return the bots with their programs built.

    Args:
        bots: Bots to build.
        isolation: Isolation of the sandbox that they are built in.
        failed: Filled with the reason for each failed build, by the bot's index in `bots`; that bot is returned
            unchanged. If None, the first failed build raises `WrongUse`.

    Raises:
        WrongUse: a build failed, and `failed` is None.
        MachineCannot: there is no disk space for the build, or no sandbox to build in.
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
