"""The tasks that the arena submits to a Dask worker, which runs them in its threads.

Matches are played by a node, a child process of the Dask worker. Arguments and results are bytes as defined in
`protocol`. The functions return errors instead of raising them, because Dask would pickle a raised error.
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
    """Take an `Asked`, and return the `Arrival` with this worker's code, capacity and missing bots."""
    bots = decoded(asked, Asked).bots
    missing = dict.fromkeys(bot.content for bot in bots if not is_whole(bot.content))
    return encoded(Arrival(arena=own_content(), calibrated=capacity.calibrated(), missing=tuple(missing)))


def keep_bot(content: str, archive: bytes) -> bytes:
    """Store a bot that was missing, and return the problem or null as JSON."""
    try:
        bot_archive.keep(content, archive)
    except Exception as error:  # noqa: BLE001 - returned, not raised: see above
        return encoded(str(error))
    return encoded(None)


def make_ready(asked: bytes) -> bytes:
    """Take an `Asked`, build its bots in this machine's sandbox, and return the problem or null as JSON."""
    needs = decoded(asked, Asked)
    try:
        for bot in needs.bots:
            _ready(bot, needs.isolation)
    except Exception as error:  # noqa: BLE001 - returned, not raised: see above
        return encoded(str(error))
    return encoded(None)


def play(ordered: bytes) -> bytes:
    """Take an `Ordered`, play the match, and return the `Returned`."""
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
    """End an arena's matches without waiting, because this function runs in the Dask worker's event loop."""
    send_home(arena)


def _ready(bot: BotFolder, isolation: Isolation) -> None:
    """Build this machine's copy of a bot, and remember the state of its files."""
    here = bot_archive.arrived(bot)
    if here.build:
        demand(isolation)
    here = built(here, isolation)
    with _LOCK:
        _READY[bot.content, isolation] = (here, _files(here.folder))


def _unchanged(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """Return this machine's built copy of a bot, after checking that its files have not changed.

    The check compares file metadata and does not read the contents again.

    Raises:
        BotsGoneError: the bot was not made ready, or its files have changed.
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
    """Return metadata that shows whether a file or folder has changed, for each path in a folder."""
    found = {}
    for path in folder.rglob("*"):
        seen = path.lstat()
        # The times of a folder are ignored: a bot without a sandbox may write there, which does no harm by itself.
        of_file = () if stat.S_ISDIR(seen.st_mode) else (seen.st_size, seen.st_mtime_ns)
        found[path] = (seen.st_ino, seen.st_mode, *of_file)
    return found


_LOCK = Lock()
_READY: dict[tuple[str, Isolation], tuple[BotFolder, dict[Path, tuple[int, ...]]]] = {}
"""Built copies of bots on this machine with the metadata of their files, by content hash and isolation."""
