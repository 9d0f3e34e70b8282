"""What the arena has done by a Dask worker: these functions are its tasks, and run in its threads.

Nothing is played in the Dask worker itself: that is a node's, a process beside it. All that goes in and out is
bytes, see `protocol`; no function raises, for Dask would pickle the error.
"""

import stat
import tempfile
from pathlib import Path
from threading import Lock

from msgspec import Raw
from msgspec.structs import replace

from arena.workers import capacity
from arena.workers.cluster import bot_archive
from arena.workers.cluster.node_line import node_of, send_home
from arena.workers.cluster.protocol import Arrival, Asked, BotsGoneError, Ordered, bots_gone, returned
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
            bots = [player.folder for player in decoded(order.players, tuple[SandboxedBot, ...])]
            players = [SandboxedBot(_unchanged(bot, task.isolation)) for bot in bots]
            here = replace(order, players=Raw(encoded(players)), transcript=transcript)
            answer = node_of(task.arena, task.slots).play(here)
            for bot in bots:
                _unchanged(bot, task.isolation)
            if isinstance(answer, Done) and task.store is not None:
                place = Store(task.store).move(transcript)
                return returned(replace(answer, result=replace(answer.result, transcript=place)))
            return returned(answer, transcript.parent)
        except BotsGoneError:
            return bots_gone()
        except Exception as error:  # noqa: BLE001 - returned, not raised: see above
            return returned(failed(order.number, error))


def leave(arena: str) -> None:
    """Ends all that is played for an arena. Does not wait: it is called in the Dask worker's own loop."""
    send_home(arena)


def _ready(bot: BotFolder, isolation: Isolation) -> None:
    """Has the bot as it lies here built, and remembers what its files are."""
    here = bot_archive.arrived(bot)
    if here.build:
        demand(isolation)
    here = built(here, isolation)
    with _LOCK:
        _READY[bot.content, isolation] = (here, _files(here.folder))


def _unchanged(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """The bot as it was made ready, whose files are as they were then; their content is not read again.

    Raises:
        BotsGoneError: they are not.
    """
    with _LOCK:
        found = _READY.get((bot.content, isolation))
    if found is None:
        raise BotsGoneError
    here, files = found
    try:
        same = files.items() <= _files(here.folder).items()
    except OSError:
        same = False
    if not same:
        raise BotsGoneError
    return replace(here, given=bot.given)


def _files(folder: Path) -> dict[Path, tuple[int, ...]]:
    """What tells of each file and folder in a folder whether it is the same."""
    found = {}
    for path in folder.rglob("*"):
        seen = path.lstat()
        # A folder's times change when a bot without a sandbox writes there: that alone does no harm.
        of_file = () if stat.S_ISDIR(seen.st_mode) else (seen.st_size, seen.st_mtime_ns)
        found[path] = (seen.st_ino, seen.st_mode, *of_file)
    return found


_LOCK = Lock()
_READY: dict[tuple[str, Isolation], tuple[BotFolder, dict[Path, tuple[int, ...]]]] = {}
"""By content: each bot as it lies here, built, and its files."""
