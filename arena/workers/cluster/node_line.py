"""A Dask worker's connections to its nodes; each arena that uses the worker has one node.

These functions are called from the Dask worker's threads. A node exits when its connection closes, so it also
exits if this process is killed.
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
"""Seconds without a match before a node is ended, because its arena may have disappeared without notice."""
READ_BYTES = 65_536


def node_of(arena: str, slots: int) -> "Node":
    """Return the node of an arena, and start it if there is none.

    Raises:
        WorkerGoneError: the arena has left the cluster.
    """
    with _LOCK:
        if arena in _LEFT:
            raise WorkerGoneError("its arena has left")
        if arena not in _NODES:
            _NODES[arena] = Node(arena, slots)
        return _NODES[arena]


def send_home(arena: str) -> None:
    """Start to end an arena's node and its matches, and refuse later orders; do not wait for the end."""
    with _LOCK:
        _LEFT.add(arena)
        if arena in _NODES:
            _NODES[arena].retire()


class Node:
    """A process of `arena.workers.cluster.node`, and its unanswered matches."""

    def __init__(self, arena: str, slots: int) -> None:
        """Start the node; `slots` is the maximum number of concurrent matches of the arena."""
        self._arena = arena
        self._numbers = count(1)
        self._calls: dict[int, _Call] = {}
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

    def play(self, order: Order) -> Answer:
        """Play a match on the node, and block until it is answered.

        Raises:
            WorkerGoneError: the node has exited or was retired.
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


class _Call:
    """An ordered match."""

    def __init__(self) -> None:
        self.answered = Event()
        self.answer: Answer | None = None
        """The node's answer; None after `answered` is set if the node exited."""


_LOCK = Lock()
_NODES: dict[str, Node] = {}
"""Nodes that accept matches, by arena."""
_LEFT: set[str] = set()
"""Arenas that have left the cluster. Each connection uses a new random name, so no name in this set returns."""
