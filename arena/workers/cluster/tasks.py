"""What the arena has done by a Dask worker: these functions are its tasks, and run in its threads.

Nothing is played in the Dask worker itself: that is a node's, a process beside it. All that goes in and out is
bytes, see `protocol`; no function raises, for Dask would pickle the error.
"""

import tempfile
from functools import cache
from pathlib import Path

from msgspec import Raw
from msgspec.structs import replace

from arena.workers import capacity
from arena.workers.cluster import bot_archive
from arena.workers.cluster.node_line import node_of, send_home
from arena.workers.cluster.protocol import Arrival, Asked, Ordered, returned
from arena.workers.cluster.store import Store
from arena.workers.own_code import own_content
from arena.workers.protocol import Done, Order, decoded, encoded, failed
from referee.bot_folder import BotFolder, is_whole
from referee.host import SandboxedBot
from referee.sandbox import Isolation, built, demand


def arrive(asked: bytes) -> bytes:
    """Says what is here, and what is missing for a tournament: `Asked`, `Arrival`."""
    bots = decoded(asked, Asked).bots
    missing = dict.fromkeys(bot.content for bot in bots if not is_whole(bot.content))
    return encoded(Arrival(arena=own_content(), calibrated=capacity.calibrated(), missing=tuple(missing)))


def keep_bot(content: str, archive: bytes) -> bytes:
    """Keeps a bot that was missing; what is wrong with it, or null."""
    try:
        bot_archive.keep(content, archive)
    except Exception as error:  # noqa: BLE001 - returned, not raised: see above
        return encoded(str(error))
    return encoded(None)


def make_ready(asked: bytes) -> bytes:
    """Has the bots built that need it, in a sandbox here: `Asked`; what is wrong, or null."""
    needs = decoded(asked, Asked)
    try:
        for bot in needs.bots:
            _ready(bot, needs.isolation)
    except Exception as error:  # noqa: BLE001 - returned, not raised: see above
        return encoded(str(error))
    return encoded(None)


def play(ordered: bytes) -> bytes:
    """Plays a match: `Ordered`, `Returned`."""
    task: Ordered = decoded(ordered, Ordered)
    order: Order = decoded(task.order, Order)
    with tempfile.TemporaryDirectory(prefix="arena-match-", ignore_cleanup_errors=True) as scratch:
        transcript = Path(scratch, order.transcript.name)
        try:
            players = [
                SandboxedBot(_ready(player.folder, task.isolation))
                for player in decoded(order.players, tuple[SandboxedBot, ...])
            ]
            here = replace(order, players=Raw(encoded(players)), transcript=transcript)
            answer = node_of(task.arena, task.slots).play(here)
            if isinstance(answer, Done) and task.store is not None:
                place = Store(task.store).move(transcript)
                return returned(replace(answer, result=replace(answer.result, transcript=place)))
            return returned(answer, transcript.parent)
        except Exception as error:  # noqa: BLE001 - returned, not raised: see above
            return returned(failed(order.number, error))


def leave(arena: str) -> None:
    """Ends all that is played for an arena. Does not wait: it is called in the Dask worker's own loop."""
    send_home(arena)


@cache
def _ready(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """The bot as it lies here, built. Looked at once: what is in the cache is no bot's to change."""
    here = bot_archive.arrived(bot)
    if here.build:
        demand(isolation)
    return built(here, isolation)
