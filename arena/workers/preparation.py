"""Prepare this machine for matches: build the bots, and check the resources for all concurrent matches."""

from collections.abc import Iterable, Sequence

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.quantities import pluralise
from arena.terminal import progress_console
from referee.bot_folder import BotFolder, BotFolderError, last_part
from referee.host import files_allowed, files_needed, processes_left, processes_needed, too_long_for_sockets
from referee.sandbox import BuildError, Isolation, SandboxError, built, demand, is_built, kept_from, log_of

HERE = frozenset({".", "./", "..", "../"})
"""Relative paths that do not name a bot; the name of the folder is shown instead."""


def ready(
    bots: Iterable[BotFolder], isolation: Isolation, failed: dict[int, str] | None = None
) -> list[BotFolder]:
    """Return the bots with their programs built.

    Each build is reported on the terminal, because it may be slow.

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


def demand_room(
    bots: Iterable[BotFolder], isolation: Isolation, *, seats: int, shares: Sequence[int], of_worker: bool = True
) -> None:
    """Raise `MachineCannot` if this machine lacks resources for the matches.

    Otherwise bots would be charged for the lack, or matches would become void.

    Args:
        bots: Bots that play.
        isolation: Isolation of their sandboxes.
        seats: Number of seats in a match.
        shares: Number of concurrent matches per playing process.
        of_worker: Whether matches are played by worker processes instead of this process.

    Raises:
        MachineCannot: a resource is too small; the text says how much is needed.
    """
    try:
        too_long = too_long_for_sockets(of_worker=of_worker)
    except OSError as error:
        raise MachineCannot(f"TMPDIR: no folder for temporary files can be written: {error.strerror}") from None
    if too_long is not None:
        raise MachineCannot(too_long)
    bots = tuple(bots)
    for bot in bots:
        if lack := kept_from(bot.limits, isolation):
            raise MachineCannot(f"{bot.given}: {lack}")
    at_once, allowed = max(shares, default=1), files_allowed()
    needed = max(files_needed(at_once, seats), *[bot.limits.files for bot in bots], 0)
    if allowed is not None and needed > allowed:
        raise MachineCannot(
            f"{_matches(at_once, seats)} in one process need {needed} open files, and this machine allows "
            f"{allowed}: ulimit -Hn {needed}, or fewer at once{_concurrency(at_once)}"
        )
    of_bot = max([bot.limits.processes for bot in bots], default=0)
    wanted, left = processes_needed(sum(shares), seats, len(shares), of_bot), processes_left()
    if isolation != "none" and left is not None and wanted > left[0]:
        room, bound = max(0, left[0]), left[1]
        raise MachineCannot(
            f"{_matches(sum(shares), seats)} may have {wanted} processes and threads, and there is room for "
            f"{room} more ({bound}): raise that, play fewer at once{_concurrency(sum(shares))}, or lower "
            "`processes` in the limits of the bots"
        )


def _matches(at_once: int, seats: int) -> str:
    return f"{pluralise(at_once, 'match')} of {pluralise(seats, 'bot')} at once"


def _concurrency(at_once: int) -> str:
    return " (--concurrency)" if at_once > 1 else ""
