"""A process that workers are forked from: it has imported what they need, and does nothing else.

The arena forks it as a command begins, so that workers import nothing again. A worker must be the arena's child:
the kernel ends it with the arena, and tells the arena how it ended. So the server forks a process that forks the
worker and ends at once. The worker is an orphan then, and the arena adopts the orphans below it.
"""

import atexit
import errno
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct

from arena import pause_signals
from arena.workers import worker
from referee import sandbox
from referee.host import SandboxedBot
from referee.linux.orphans import adopt_orphans

REQUEST_BYTES, DESCRIPTORS = 65_536, 3
SHORT_OF = b"E"
"""Before the number of an error: no worker could be forked."""


class Request(Struct, frozen=True, array_like=True):
    """A worker to be forked. With it come descriptors: its line to the arena, and those that it has beside."""

    scratch: str
    cores: frozenset[int]
    has_feed: bool
    has_log: bool


class ForkedWorker:
    """A worker's process: as much of `subprocess.Popen` as the pool needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def kill(self) -> None:
        """Kill it, unless it was waited for: then the number may be another process's."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code; negative for a signal."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


def can_fork() -> bool:
    """Return whether this process may be forked for workers.

    Other threads would be missing in the fork, and the locks that they hold would stay locked. Control groups, and
    the process that warm bots are forked from, belong to the process that made them.
    """
    return len(list(Path("/proc/self/task").iterdir())) == 1 and not sandbox.is_in_use()


class ForkServer:
    """The arena's end of it."""

    def __init__(self) -> None:
        """Fork it. Call it from the main thread, outside of trio's loop, and only if `can_fork`.

        Raises:
            OSError: no process or descriptor is to be had.
        """
        adopt_orphans()
        arena = os.getpid()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, pause_signals.blocked():
            self._pid = os.fork()
            if self._pid == 0:
                self._control.close()
                _run(theirs, arena)

    def start(self, request: Request, descriptors: Sequence[int]) -> ForkedWorker | None:
        """Have a worker forked, as this process's child. Blocks for some milliseconds. None: the server is gone.

        Raises:
            OSError: no process or descriptor is to be had.
        """
        try:
            socket.send_fds(self._control, [msgspec.msgpack.encode(request)], descriptors)
            answer = self._control.recv(REQUEST_BYTES)
        except OSError:
            return None
        if answer.startswith(SHORT_OF):
            error = int(answer.removeprefix(SHORT_OF))
            raise OSError(error, os.strerror(error))
        return ForkedWorker(int(answer)) if answer else None

    def close(self) -> None:
        """End it, and wait until it is gone. Workers live on."""
        self._control.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _run(control: socket.socket, arena: int) -> NoReturn:
    """Serve in the fork, and be a worker in a fork of that. None of them goes on with what the arena was doing."""
    code = 1
    try:
        atexit._clear()  # noqa: SLF001 - what Python itself does in its forks: these are the arena's
        _serve(control, arena)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001 - there is nobody to raise it to
        sys.excepthook(*sys.exc_info())
    try:
        # As Python ends, but for taking itself apart: that would copy the memory that all share.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
        atexit._run_exitfuncs()  # noqa: SLF001
    finally:
        os._exit(code)


def _serve(control: socket.socket, arena: int) -> None:
    """Fork workers until the arena is gone. In a worker this returns when its work is done."""
    os.setpgid(0, 0)  # A Ctrl-C at the terminal is the arena's to act on.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    os.close(nothing)
    worker.end_with(arena)
    # What is here now is never looked at by a collection again: a page that is not touched is shared.
    gc.collect()
    gc.freeze()
    while True:
        words, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        if not words:
            return
        request = msgspec.msgpack.decode(words, type=Request)
        if len(descriptors) != 1 + request.has_feed + request.has_log:
            answer = SHORT_OF + b"%d" % errno.EMFILE
        else:
            answer = _fork_orphan()
        if not answer:
            control.close()
            _be_worker(request, descriptors, arena)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(answer)


def _fork_orphan() -> bytes:
    """Fork a process that the arena adopts: return what to answer to the arena, and nothing in that process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        try:
            between = os.fork()
        except OSError as error:
            return SHORT_OF + b"%d" % (error.errno or errno.EAGAIN)
        if between == 0:
            ours.close()
            _fork_and_end(theirs)
            theirs.recv(1)  # Nothing ever comes: it ends when the process between has ended.
            return b""
        theirs.close()
        _, status = os.waitpid(between, 0)
        failed = os.waitstatus_to_exitcode(status)
        return SHORT_OF + b"%d" % abs(failed) if failed else ours.recv(REQUEST_BYTES)


def _fork_and_end(server: socket.socket) -> None:
    """Fork, tell the server the number of the fork, and end; return in the fork."""
    try:
        number = os.fork()
    except OSError as error:
        os._exit(error.errno or errno.EAGAIN)
    if number:
        os.setpgid(number, number)  # By now: whoever ends a group ends no worker that is in another's.
        server.send(b"%d" % number)
        os._exit(0)


def _be_worker(request: Request, descriptors: list[int], arena: int) -> None:
    """Be what `python -m arena.workers.worker` is."""
    os.sched_setaffinity(0, request.cores)
    os.environ["TMPDIR"] = tempfile.tempdir = request.scratch
    line, *beside = map(str, descriptors)
    feed = beside.pop(0) if request.has_feed else "None"
    log = beside.pop(0) if request.has_log else "None"
    sys.argv[1:] = [line, str(arena), feed, log]
    worker.main(worker.open_local_venue, SandboxedBot)
