"""The pool of one arena's referee processes: start them, send them matches, replace them if they exit, end them.

The tournament's runner decides which matches are played and writes the results; this module is the arena's end of
`worker`. Call it from the main thread: the kernel kills a worker when the thread that started it exits.

A command that opens several pools, such as one for a check and one for the tournament, opens them within
`workers_kept`. Workers are then started once, because a start takes longer than a short match. The command should
enter `workers_kept` first of all, so that workers can be forked from a process that has done all imports; see
`fork_server`.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import trio

from arena import event_loop
from arena.feed import FeedLine
from arena.processes import pause_signals_blocked
from arena.workers.api import Worker, WorkerGoneError
from arena.workers.fork_server import ForkedWorker, ForkRequest, ForkServer, can_fork
from arena.workers.protocol import Answer, Done, decoded, encoded, error_of, framed, frames, order
from referee.host import AttemptResult, Plan
from referee.linux import cgroups
from referee.linux.guard import guards
from referee.linux.processes import adopt_orphans, end_all, own_children
from referee.log import NO_LOG, OperatorLog

COMMAND = (sys.executable, "-m", "arena.workers.worker")
"""Command that starts a worker, without its arguments."""
FAREWELL_SECONDS = 30
"""Seconds for a worker to end its matches before it and its bots are killed; one or two are usual."""


@asynccontextmanager
async def open_pool(
    slots: Sequence[int],
    command: Sequence[str] = COMMAND,
    feed: FeedLine | None = None,
    log: OperatorLog = NO_LOG,
    cores: Sequence[frozenset[int]] = (),
) -> AsyncIterator[list[Worker[Any]]]:
    """Open a pool of workers, and end all of their processes and bots when the context exits.

    Args:
        slots: Number of concurrent matches of each worker.
        command: Command that starts a worker, without its arguments.
        feed: Live feed to which workers publish events for spectators.
        log: Operator's log, which workers inherit.
        cores: Cores of each worker and its bots, for at least as many workers as there are; if empty, each worker
            uses all cores.
    """
    adopt_orphans()
    pool = _Pool({child.pid for child in own_children()})
    async with trio.open_nursery() as nursery:
        own = cores or [frozenset(os.sched_getaffinity(0))] * len(slots)
        processes = [_Process(pool, command, feed, log, each) for each, _ in zip(own, slots, strict=False)]
        for process in processes:
            nursery.start_soon(process.keep)
        yield [Worker(play=process.play, slots=own) for process, own in zip(processes, slots, strict=True)]
        nursery.cancel_scope.cancel()


@contextmanager
def workers_kept() -> Iterator[None]:
    """Reuse idle workers of a closed pool for the next pool, and end the unused ones when the context exits.

    Workers that are connected to a feed or to the operator's log are not reused. A nested context ends only
    workers that may hold bots of its matches (`processes = "kept"`), so that no bot persists from one tournament
    of a season to the next. Do not call this from trio.
    """
    global _kept, _server  # They belong to this process, like its children.
    if _kept is not None:
        try:
            yield
        finally:
            _end_kept([each for each in _kept if each.may_hold_bots])
        return
    _kept, _server = [], ForkServer() if can_fork() else None
    try:
        yield
    finally:
        _end_kept(list(_kept))
        server, _kept, _server = _server, None, None
        if server is not None:
            server.close()


_kept: "list[_Started] | None" = None
"""Idle workers for the next pool; None outside of `workers_kept`."""
_server: ForkServer | None = None
"""The server that forks workers; None if workers are started as programs."""


@dataclass(frozen=True)
class _Started:
    """A running worker's process and its resources."""

    process: "subprocess.Popen[bytes] | ForkedWorker"
    line: socket.socket
    """The arena's end of the socket pair for orders and answers."""
    scratch: str
    """Folder for the worker's temporary files."""
    told: tuple[str, ...]
    """The command line without the socket's descriptor and the arena's pid."""
    cores: frozenset[int]
    """Cores on which the worker and its bots run."""
    may_hold_bots: bool = False
    """True if the worker has played matches whose bots persist for the next match."""

    def is_alive(self) -> bool:
        """Return whether the process runs. An exited process is left for `end` to wait for."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    async def end(self, pool: "_Pool") -> None:
        """End the worker, the rest of its bots, and its folder."""
        await _end(self.process, trio.SocketStream(trio.socket.from_stdlib_socket(self.line)))
        await pool.left(self.process.pid)
        await trio.to_thread.run_sync(shutil.rmtree, self.scratch, True)


def _start(command: Sequence[str], left: Sequence[int | None], cores: frozenset[int]) -> _Started:
    """Return an idle worker with the same arguments, or start one that inherits the file descriptors `left`."""
    told = (*command, *map(str, left))
    kept = [] if _kept is None else _kept
    for each in kept:
        if each.told == told and each.cores == cores and each.is_alive():
            kept.remove(each)
            return each
    if command == COMMAND and (forked := _fork(told, left, cores)):
        return forked
    ours, theirs = socket.socketpair()
    scratch = tempfile.mkdtemp(prefix="arena-")
    with theirs, pause_signals_blocked(), _on(cores):
        # Trio would start the process from another thread, and the kernel would kill it when that thread exits.
        process = subprocess.Popen(  # noqa: S603 - the arena's own interpreter and arguments
            [*command, *map(str, (theirs.fileno(), os.getpid(), *left))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno(), *[each for each in left if each is not None]],
            # All temporary files of a killed worker are in this folder.
            env=os.environ | {"TMPDIR": scratch},
            process_group=0,  # only the arena should receive a Ctrl-C at the terminal
        )
    return _Started(process, ours, scratch, told, cores)


def _fork(told: tuple[str, ...], left: Sequence[int | None], cores: frozenset[int]) -> _Started | None:
    """Fork a worker from the server and return it, or None if no server runs."""
    global _server  # noqa: PLW0603 - see `workers_kept`
    if _server is None:
        return None
    with ExitStack() as undo:
        ours, theirs = socket.socketpair()
        undo.enter_context(ours)
        scratch = tempfile.mkdtemp(prefix="arena-")
        undo.callback(shutil.rmtree, scratch, ignore_errors=True)
        feed, log = left
        request = ForkRequest(scratch=scratch, cores=cores, has_feed=feed is not None, has_log=log is not None)
        with theirs:
            worker = _server.start(request, [theirs.fileno(), *[each for each in left if each is not None]])
        if worker is not None:
            undo.pop_all()
            return _Started(worker, ours, scratch, told, cores)
    _server.close()
    _server = None
    return None


@contextmanager
def _on(cores: frozenset[int]) -> Iterator[None]:
    """Run this thread on these cores within the context; processes started there, and their bots, inherit them."""
    before = os.sched_getaffinity(0)
    if cores == before:
        yield
        return
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _end_kept(workers: Sequence[_Started]) -> None:
    """End idle workers and remove them from `_kept`."""
    if workers and _kept is not None:
        _kept[:] = [each for each in _kept if each not in workers]
        event_loop.run(partial(_end_all, workers))


async def _end_all(workers: Sequence[_Started]) -> None:
    """End idle workers concurrently."""
    pool = _Pool({child.pid for child in own_children()})
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            for worker in workers:
                nursery.start_soon(worker.end, pool)


class _Pool:
    """The process ids that a cleanup must spare, shared by all workers of one arena."""

    def __init__(self, others: set[int]) -> None:
        """Create a pool; `others` are the pids of earlier children of this process."""
        self._spared = others

    def joins(self, pid: int) -> None:
        """Add a started worker to the spared processes."""
        self._spared.add(pid)

    async def left(self, pid: int) -> None:
        """Remove an exited worker, and end its remaining bots."""
        self._spared.discard(pid)
        # Frozen bots can only be ended through their control groups, so these are swept first.
        await trio.to_thread.run_sync(cgroups.sweep)
        # The children are listed again for each round, because another worker may start in between.
        await end_all(lambda: [child.pid for child in own_children() if child.pid not in self._spared | guards()])


class _Call:
    """An ordered match."""

    def __init__(self) -> None:
        self.answered = trio.Event()
        self.answer: Answer | None = None
        """The worker's answer; None after `answered` is set if the worker exited."""


class _Process:
    """One worker and its replacements."""

    def __init__(
        self,
        pool: _Pool,
        command: Sequence[str],
        feed: FeedLine | None,
        log: OperatorLog,
        cores: frozenset[int],
    ) -> None:
        self._pool = pool
        self._cores = cores
        self._command = command
        self._log = log.logger
        self._left = [None if feed is None else feed.fileno(), log.descriptor]
        """File descriptors that the worker inherits: feed and log."""
        self._may_hold_bots = False
        self._may_be_kept = self._left == [None, None]
        """True if the worker may be reused: not with a feed or a log, which may close before the next pool."""
        self._numbers = count(1)
        self._calls: dict[int, _Call] = {}
        self._orders, self._to_send = trio.open_memory_channel[bytes](sys.maxsize)
        self._last_words = ""

    async def play(self, plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
        """Play a match for `arena.workers.api.Worker`."""
        self._may_hold_bots |= plan.policy.processes == "kept"
        number = next(self._numbers)
        call = self._calls[number] = _Call()
        self._orders.send_nowait(framed(encoded(order(number, plan, players, transcript))))
        await call.answered.wait()
        if call.answer is None:
            raise WorkerGoneError(self._last_words)
        if isinstance(call.answer, Done):
            return call.answer.result
        raise error_of(call.answer)

    async def keep(self) -> None:
        """Start the process when there is a match to play, and replace it if it exits; run until cancelled."""
        while True:
            await self._live(await self._to_send.receive())
            calls, self._calls = self._calls, {}
            self._orders, self._to_send = trio.open_memory_channel[bytes](sys.maxsize)
            for call in calls.values():
                call.answered.set()

    async def _live(self, first: bytes) -> None:
        """Run one process from its start to its exit; `first` is its first order."""
        worker = _start(self._command, self._left, self._cores)
        process = worker.process
        self._pool.joins(process.pid)
        self._log.info("worker_come", worker=process.pid)
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(worker.line))
        has_hung_up = False
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_send, stream, first, self._to_send)
                await self._hear(stream)
                has_hung_up = True
                nursery.cancel_scope.cancel()
        finally:
            if _kept is not None and self._may_be_kept and not (has_hung_up or self._calls) and worker.is_alive():
                _kept.append(replace(worker, may_hold_bots=worker.may_hold_bots or self._may_hold_bots))
            else:
                with trio.CancelScope(shield=True):
                    await worker.end(self._pool)
                self._last_words = ending(process.wait())
                self._log.info("worker_gone", worker=process.pid, cause=self._last_words, matches=len(self._calls))

    async def _hear(self, stream: trio.SocketStream) -> None:
        """Receive answers until the worker closes the socket."""
        async for frame in frames(stream):
            answer: Answer = decoded(frame, Answer)
            call = self._calls.pop(answer.number)
            call.answer = answer
            call.answered.set()


def ending(code: int) -> str:
    """Describe how a process ended, from its exit code."""
    if code >= 0:
        return f"exit code {code}"
    return (
        f"killed by {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"killed by signal {-code}"
    )


async def _send(stream: trio.SocketStream, first: bytes, orders: trio.MemoryReceiveChannel[bytes]) -> None:
    # `_hear` notices when the worker has exited.
    with suppress(trio.BrokenResourceError):
        await stream.send_all(first)
        async for frame in orders:
            await stream.send_all(frame)


async def _end(process: "subprocess.Popen[bytes] | ForkedWorker", stream: trio.SocketStream) -> None:
    """Close the stream, which makes the worker exit, and wait for it; kill it after `FAREWELL_SECONDS`."""
    await trio.aclose_forcefully(stream)
    descriptor = os.pidfd_open(process.pid)
    try:
        with trio.move_on_after(FAREWELL_SECONDS):
            await trio.lowlevel.wait_readable(descriptor)
        process.kill()
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)
    process.wait()
