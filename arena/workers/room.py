"""Check before the first match whether this machine has the resources for all concurrent matches."""

from collections.abc import Iterable, Sequence

from arena.errors import MachineCannot
from arena.quantities import pluralise
from referee.bot_folder import BotFolder
from referee.host import files_allowed, files_needed, processes_left, processes_needed, too_long_for_sockets
from referee.sandbox import Isolation, kept_from


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
