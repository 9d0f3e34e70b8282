"""A Dask worker's end of the line to its nodes: one for each arena that has matches played there.

Called from the Dask worker's threads. A node ends with its line, however this process ends.
"""

import select
import socket
import subprocess
import sys
from itertools import count
from threading import Event, Lock, Thread

from msgspec.structs import replace

from arena.workers.api import WorkerGoneError
from arena.workers.protocol import Answer, Order, decoded, encoded, framed, take_frames

IDLE_SECONDS = 60
"""A node that has had nothing to play for so long is sent home: its arena may be gone without a word."""
READ_BYTES = 65_536


def node_of(arena: str, slots: int) -> "Node":
    """The node that plays for an arena, started if it has none.

    Raises:
        WorkerGoneError: that arena has said that it leaves.
    """
    with _LOCK:
        if arena in _LEFT:
            raise WorkerGoneError("its arena has left")
        if arena not in _NODES:
            _NODES[arena] = Node(arena, slots)
        return _NODES[arena]


def send_home(arena: str) -> None:
    """Ends all that is played for an arena, also what it asked for just before. Does not wait for the end."""
    with _LOCK:
        _LEFT.add(arena)
        if arena in _NODES:
            _NODES[arena].retire()


class Node:
    """One `arena.workers.cluster.node`, and the matches that it was given."""

    def __init__(self, arena: str, slots: int) -> None:
        """`slots`: how many matches the arena will ask for at once."""
        self._arena = arena
        self._numbers = count(1)
        self._calls: dict[int, _Call] = {}
        self._sending = Lock()
        """Or two orders could come in pieces, one in the other."""
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
                [sys.executable, "-m", "arena.workers.cluster.node", str(theirs.fileno()), str(slots)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # a Ctrl-C at the Dask worker's terminal ends that, and so this, in order
            )
        Thread(target=self._hear, name=f"arena {arena}", daemon=True).start()

    def play(self, order: Order) -> Answer:
        """Has a match played; waits for it.

        Raises:
            WorkerGoneError: the node is gone, or was sent home.
        """
        call = _Call()
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
        """Hangs up, which it understands at once; its matches are given up."""
        try:
            self._ours.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def _hear(self) -> None:
        """Takes its answers, until it is gone, or has had nothing to do for long."""
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
        """What it says; nothing: that was all."""
        while not select.select([self._ours], [], [], IDLE_SECONDS)[0]:
            with _LOCK:
                if not self._calls:
                    # No match can be given to it from here on.
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


class _Call:
    """A match that was ordered."""

    def __init__(self) -> None:
        self.answered = Event()
        self.answer: Answer | None = None
        """None, once answered: the node is gone."""


_LOCK = Lock()
_NODES: dict[str, Node] = {}
"""By arena. Those that may still be given matches."""
_LEFT: set[str] = set()
"""Arenas that have gone in order: a run of the arena has a name of its own, so they do not come back."""
