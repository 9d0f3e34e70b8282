"""A server process that forks workers, so that each worker starts with its imports already done.

The arena forks the server when a command starts. A worker must be the arena's child, so that the kernel
kills it when the arena exits, and reports to the arena how it exited. The server therefore forks an intermediate
process, which forks the worker and exits at once. This makes the worker an orphan, and the arena adopts orphans
among its descendants.
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

from arena.processes import pause_signals_blocked
from arena.workers import worker
from referee import sandbox
from referee.host import SandboxedBot
from referee.linux.processes import adopt_orphans

REQUEST_BYTES, DESCRIPTORS = 65_536, 3
SHORT_OF = b"E"
"""Prefix of the error number in an answer, if no worker could be forked."""


class ForkRequest(Struct, frozen=True, array_like=True):
    """A request to fork a worker.

    File descriptors are sent with it: the worker's socket to the arena, then those of the feed and the log.
    """

    scratch: str
    cores: frozenset[int]
    has_feed: bool
    has_log: bool


class ForkedWorker:
    """A forked worker's process, with the part of `subprocess.Popen` that the pool needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def kill(self) -> None:
        """Kill the process, unless `wait` has returned: its pid may then belong to another process."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until the process exits, and return its exit code; the code is negative for a signal."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


def can_fork() -> bool:
    """Return whether this process may be forked for workers.

    Other threads would be missing in the fork, and their locks would never be released. Control groups and the
    prefork server of bots belong to the process that created them.
    """
    return len(list(Path("/proc/self/task").iterdir())) == 1 and not sandbox.is_in_use()


class ForkServer:
    """The arena's handle of the server process."""

    def __init__(self) -> None:
        """Fork the server. Call this from the main thread, outside of trio's loop, and only if `can_fork`.

        Raises:
            OSError: the system is out of processes or file descriptors.
        """
        adopt_orphans()
        arena = os.getpid()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, pause_signals_blocked():
            self._pid = os.fork()
            if self._pid == 0:
                self._control.close()
                _run(theirs, arena)

    def start(self, request: ForkRequest, descriptors: Sequence[int]) -> ForkedWorker | None:
        """Fork a worker as a child of this process, and return it, or None if the server has exited.

        This call blocks for some milliseconds.

        Raises:
            OSError: the system is out of processes or file descriptors.
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
        """Kill the server and wait until it has exited. Its workers continue to run."""
        self._control.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _run(control: socket.socket, arena: int) -> NoReturn:
    """Run the server, and in its forks a worker. Never return to the arena's code."""
    code = 1
    try:
        atexit._clear()  # noqa: SLF001 - Python does so in its forks, too; the functions are the arena's
        _serve(control, arena)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001 - no caller could catch it
        sys.excepthook(*sys.exc_info())
    try:
        # These are Python's exit steps without its finalization, which would copy the memory that forks share.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
        atexit._run_exitfuncs()  # noqa: SLF001
    finally:
        os._exit(code)


def _serve(control: socket.socket, arena: int) -> None:
    """Fork workers until the arena disconnects. In a worker, return when its work is done."""
    os.setpgid(0, 0)  # Only the arena should receive a Ctrl-C at the terminal.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    os.close(nothing)
    worker.end_with(arena)
    # The garbage collector ignores frozen objects from here on, so their memory pages remain shared.
    gc.collect()
    gc.freeze()
    while True:
        words, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        if not words:
            return
        request = msgspec.msgpack.decode(words, type=ForkRequest)
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
    """Fork a process that the arena adopts. Return the answer to the arena, or b"" in the new process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        try:
            between = os.fork()
        except OSError as error:
            return SHORT_OF + b"%d" % (error.errno or errno.EAGAIN)
        if between == 0:
            ours.close()
            _fork_and_end(theirs)
            theirs.recv(1)  # This returns when the intermediate process has exited; no data is ever sent.
            return b""
        theirs.close()
        _, status = os.waitpid(between, 0)
        failed = os.waitstatus_to_exitcode(status)
        return SHORT_OF + b"%d" % abs(failed) if failed else ours.recv(REQUEST_BYTES)


def _fork_and_end(server: socket.socket) -> None:
    """Fork, send the pid of the fork to the server, and exit. Return only in the fork."""
    try:
        number = os.fork()
    except OSError as error:
        os._exit(error.errno or errno.EAGAIN)
    if number:
        os.setpgid(number, number)  # The worker has its own group before the arena learns its pid.
        server.send(b"%d" % number)
        os._exit(0)


def _be_worker(request: ForkRequest, descriptors: list[int], arena: int) -> None:
    """Run a worker, as `python -m arena.workers.worker` does."""
    os.sched_setaffinity(0, request.cores)
    os.environ["TMPDIR"] = tempfile.tempdir = request.scratch
    line, *beside = map(str, descriptors)
    feed = beside.pop(0) if request.has_feed else "None"
    log = beside.pop(0) if request.has_log else "None"
    sys.argv[1:] = [line, str(arena), feed, log]
    worker.main(worker.open_local_player, SandboxedBot)
