"""The tasks that the arena submits to a Dask worker, which runs them in its threads.

Matches are played by a node, a child process of the Dask worker; each arena that uses the worker has one. A node
exits when its connection closes, so it also exits if this process is killed. Arguments and results are bytes as
defined in `transfer`. The functions return errors instead of raising them, because Dask would pickle a raised
error.
"""

import select
import socket
import stat
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from arena.workers.api import WorkerGoneError
from arena.workers.cluster.transfer import (
    Arrival,
    Asked,
    BotsGoneError,
    BuildReply,
    Ordered,
    Store,
    arrived_bot,
    bots_gone,
    returned,
    store_bot,
)
from arena.workers.machine import build_here, calibrated, own_content
from arena.workers.protocol import Answer, Done, MatchOrder, decoded, encoded, failed, framed, take_frames
from referee.bot_folder import BotFolder, is_whole
from referee.host import SandboxedBot
from referee.sandbox import Isolation, built, demand

IDLE_SECONDS = 60
"""Seconds without a match before a node is ended, because its arena may have disappeared without notice."""
READ_BYTES = 65_536


def node_of(arena: str, slots: int) -> "NodeProcess":
    """Return the node of an arena, and start it if there is none.

    Raises:
        WorkerGoneError: the arena has left the cluster.
    """
    with _LOCK:
        if arena in _LEFT:
            raise WorkerGoneError("its arena has left")
        if arena not in _NODES:
            _NODES[arena] = NodeProcess(arena, slots)
        return _NODES[arena]


def send_home(arena: str) -> None:
    """Start to end an arena's node and its matches, and refuse later orders; do not wait for the end."""
    with _LOCK:
        _LEFT.add(arena)
        if arena in _NODES:
            _NODES[arena].retire()


class NodeProcess:
    """A process of `arena.workers.cluster.node`, and its unanswered matches."""

    def __init__(self, arena: str, slots: int) -> None:
        """Start the node; `slots` is the maximum number of concurrent matches of the arena."""
        self._arena = arena
        self._numbers = count(1)
        self._calls: dict[int, _OrderedMatch] = {}
        self._sending = Lock()
        """Lock that prevents two threads from mixing the bytes of their orders."""
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - the arena's own interpreter and arguments
                [sys.executable, "-m", "arena.workers.cluster.node", str(theirs.fileno()), str(slots)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # a Ctrl-C at the terminal ends the Dask worker first, and the node through it
            )
        Thread(target=self._hear, name=f"arena {arena}", daemon=True).start()

    def play(self, order: MatchOrder) -> Answer:
        """Play a match on the node, and block until it is answered.

        Raises:
            WorkerGoneError: the node has exited or was retired.
        """
        call = _OrderedMatch()
        with _LOCK:
            if _NODES.get(self._arena) is not self:
                raise WorkerGoneError("its node is gone")
            number = next(self._numbers)
            self._calls[number] = call
        try:
            with self._sending:
                self._ours.sendall(framed(encoded(replace(order, number=number))))
        except OSError:
            self.retire()
        call.answered.wait()
        if call.answer is None:
            raise WorkerGoneError(f"its node is gone: exit code {self._process.returncode}")
        return call.answer

    def retire(self) -> None:
        """Shut the socket down, which makes the node abandon its matches and exit."""
        try:
            self._ours.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def _hear(self) -> None:
        """Receive answers until the node closes the socket or is idle for `IDLE_SECONDS`."""
        held = bytearray()
        while came := self._receive():
            held += came
            for frame in take_frames(held):
                self._answered(frame)
        with _LOCK:
            if _NODES.get(self._arena) is self:
                del _NODES[self._arena]
        self.retire()
        self._process.wait()
        self._ours.close()
        for call in self._calls.values():
            call.answered.set()

    def _receive(self) -> bytes:
        """Return received bytes, or b"" if the socket is closed or the node is idle."""
        while not select.select([self._ours], [], [], IDLE_SECONDS)[0]:
            with _LOCK:
                if not self._calls:
                    # From here on, no match can be sent to this node.
                    del _NODES[self._arena]
                    return b""
        try:
            return self._ours.recv(READ_BYTES)
        except OSError:
            return b""

    def _answered(self, frame: bytes) -> None:
        answer: Answer = decoded(frame, Answer)
        with _LOCK:
            call = self._calls.pop(answer.number)
        call.answer = answer
        call.answered.set()


class _OrderedMatch:
    """An ordered match."""

    def __init__(self) -> None:
        self.answered = Event()
        self.answer: Answer | None = None
        """The node's answer; None after `answered` is set if the node exited."""


_LOCK = Lock()
_NODES: dict[str, NodeProcess] = {}
"""Nodes that accept matches, by arena."""
_LEFT: set[str] = set()
"""Arenas that have left the cluster. Each connection uses a new random name, so no name in this set returns."""


def arrive(asked: bytes) -> bytes:
    """Take an `Asked`, and return the `Arrival` with this worker's code, capacity and missing bots."""
    bots = decoded(asked, Asked).bots
    missing = dict.fromkeys(bot.content for bot in bots if not is_whole(bot.content))
    return encoded(Arrival(arena=own_content(), calibrated=calibrated(), missing=tuple(missing)))


def keep_bot(content: str, archive: bytes) -> bytes:
    """Store a bot that was missing, and return the problem or null as JSON."""
    try:
        store_bot(content, archive)
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


def build(asked: bytes) -> bytes:
    """Take an `Asked` with one bot, build it in this machine's sandbox, and return the `BuildReply`."""
    needs = decoded(asked, Asked)
    (bot,) = needs.bots
    try:
        reply = BuildReply(report=build_here(arrived_bot(bot), needs.isolation))
    except Exception as error:  # noqa: BLE001 - returned, not raised: see above
        reply = BuildReply(lack=str(error) or repr(error))
    return msgspec.msgpack.encode(reply)


def play(ordered: bytes) -> bytes:
    """Take an `Ordered`, play the match, and return the `Returned`."""
    task: Ordered = decoded(ordered, Ordered)
    order: MatchOrder = decoded(task.order, MatchOrder)
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
    here = arrived_bot(bot)
    if here.build:
        demand(isolation)
    here = built(here, isolation)
    with _READY_LOCK:
        _READY[bot.content, isolation] = (here, _files(here.folder))


def _unchanged(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """Return this machine's built copy of a bot, after checking that its files have not changed.

    The check compares file metadata and does not read the contents again.

    Raises:
        BotsGoneError: the bot was not made ready, or its files have changed.
    """
    with _READY_LOCK:
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


_READY_LOCK = Lock()
_READY: dict[tuple[str, Isolation], tuple[BotFolder, dict[Path, tuple[int, ...]]]] = {}
"""Built copies of bots on this machine with the metadata of their files, by content hash and isolation."""
