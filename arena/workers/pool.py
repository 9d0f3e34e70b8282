"""The referee processes of one arena: started, given matches, replaced when they die, and ended in order.

What is played and written is the runner's; this file is the arena's end of `worker`. Call it from the main thread:
the kernel ends a worker with the thread that started it.

A command that opens one pool after another, for a check and then for what counts, opens them within
`workers_kept`: a worker takes longer to start than a short match to play, and so starts once. It enters that as it
begins, so that workers can be forked from a process that has all imports: see `fork_server`.
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

from arena import event_loop, pause_signals
from arena.feed import FeedLine
from arena.workers.api import Worker, WorkerGoneError
from arena.workers.fork_server import ForkedWorker, ForkServer, Request, can_fork
from arena.workers.protocol import Answer, Done, decoded, encoded, error_of, framed, frames, order
from referee.host import Plan, Result
from referee.linux import cgroups
from referee.linux.orphans import adopt_orphans, children, end_all
from referee.log import NO_LOG, OperatorLog

COMMAND = (sys.executable, "-m", "arena.workers.worker")
"""A worker, but for what it is told on its command line."""
FAREWELL_SECONDS = 30
"""How long a worker may take to end its matches; then it is killed, and its bots with it. They take one or two."""


@asynccontextmanager
async def open_pool(
    slots: Sequence[int],
    command: Sequence[str] = COMMAND,
    feed: FeedLine | None = None,
    log: OperatorLog = NO_LOG,
    cores: Sequence[frozenset[int]] = (),
) -> AsyncIterator[list[Worker[Any]]]:
    """Workers that play so many matches at once, each. At the end nothing of them or of their bots is left.

    `feed`: where they publish what spectators may know. `log`: the operator's, which they inherit. `cores`:
    those that each worker has for itself and its bots, at least as many as there are workers; empty: all have all.
    """
    adopt_orphans()
    pool = _Pool({child.pid for child in children()})
    async with trio.open_nursery() as nursery:
        own = cores or [frozenset(os.sched_getaffinity(0))] * len(slots)
        processes = [_Process(pool, command, feed, log, each) for each, _ in zip(own, slots, strict=False)]
        for process in processes:
            nursery.start_soon(process.keep)
        yield [Worker(play=process.play, slots=own) for process, own in zip(processes, slots, strict=True)]
        nursery.cancel_scope.cancel()


@contextmanager
def workers_kept() -> Iterator[None]:
    """Keep workers that are idle when their pool closes for the next pool; end those that are left.

    Those with a line to a feed or to the operator's log are not kept. A block within another ends only workers
    that may hold bots of its matches (`processes = "kept"`): no bot stays from one tournament of a season to the
    next. Not to be called from trio.
    """
    global _kept, _server  # they belong to this process, as its children do
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
"""Workers that wait for the next pool; None: none are kept."""
_server: ForkServer | None = None
"""Forks workers; None: they are started as programs."""


@dataclass(frozen=True)
class _Started:
    """A worker's process."""

    process: "subprocess.Popen[bytes] | ForkedWorker"
    line: socket.socket
    """The arena's end of the pair over which it gets its orders."""
    scratch: str
    """The folder for all that it writes beside transcripts."""
    told: tuple[str, ...]
    """The command line, but for its end of the pair."""
    cores: frozenset[int]
    """It and its bots run on these."""
    may_hold_bots: bool = False
    """It has played matches whose bots stay for the next."""

    def is_alive(self) -> bool:
        """Return whether it runs. A process that has ended stays for `end` to take leave of."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    async def end(self, pool: "_Pool") -> None:
        """End it, and clear away what is left of it."""
        await _end(self.process, trio.SocketStream(trio.socket.from_stdlib_socket(self.line)))
        await pool.left(self.process.pid)
        await trio.to_thread.run_sync(shutil.rmtree, self.scratch, True)


def _start(command: Sequence[str], left: Sequence[int | None], cores: frozenset[int]) -> _Started:
    """Start a worker; `left`: file descriptors for it to inherit. A worker that was kept is taken first."""
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
    with theirs, pause_signals.blocked(), _on(cores):
        # Not by trio: it would start it from a thread, and with that thread's end the worker would be killed.
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            [*command, *map(str, (theirs.fileno(), os.getpid(), *left))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno(), *[each for each in left if each is not None]],
            # What a killed one leaves behind lies in one place.
            env=os.environ | {"TMPDIR": scratch},
            process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
        )
    return _Started(process, ours, scratch, told, cores)


def _fork(told: tuple[str, ...], left: Sequence[int | None], cores: frozenset[int]) -> _Started | None:
    """Have a worker forked; None: nobody forks."""
    global _server  # noqa: PLW0603 - see `workers_kept`
    if _server is None:
        return None
    with ExitStack() as undo:
        ours, theirs = socket.socketpair()
        undo.enter_context(ours)
        scratch = tempfile.mkdtemp(prefix="arena-")
        undo.callback(shutil.rmtree, scratch, ignore_errors=True)
        feed, log = left
        request = Request(scratch=scratch, cores=cores, has_feed=feed is not None, has_log=log is not None)
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
    """Run this thread on these cores meanwhile: what it starts inherits them, and so do a worker's bots."""
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
    """End workers that were kept, if there are any."""
    if workers and _kept is not None:
        _kept[:] = [each for each in _kept if each not in workers]
        event_loop.run(partial(_end_all, workers))


async def _end_all(workers: Sequence[_Started]) -> None:
    """End workers that were kept and that no pool took."""
    pool = _Pool({child.pid for child in children()})
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            for worker in workers:
                nursery.start_soon(worker.end, pool)


class _Pool:
    """What the workers of one arena share: the knowledge of which processes are theirs."""

    def __init__(self, others: set[int]) -> None:
        """`others`: children that this process had before."""
        self._spared = others

    def joins(self, pid: int) -> None:
        """A worker was started."""
        self._spared.add(pid)

    async def left(self, pid: int) -> None:
        """A worker is gone: what is left of its bots is ended."""
        self._spared.discard(pid)
        # First: who is frozen cannot be ended otherwise.
        await trio.to_thread.run_sync(cgroups.sweep)
        # Asked anew each time: another worker may join meanwhile.
        await end_all(
            lambda: [child.pid for child in children() if child.pid not in self._spared | cgroups.guards()]
        )


class _Call:
    """A match that was ordered."""

    def __init__(self) -> None:
        self.answered = trio.Event()
        self.answer: Answer | None = None
        """None, once answered: the worker is gone."""


class _Process:
    """One worker, and its successors."""

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
        """File descriptors for it to inherit."""
        self._may_hold_bots = False
        self._may_be_kept = self._left == [None, None]
        """The operator's log tells when a worker is gone, and may be closed before the next pool."""
        self._numbers = count(1)
        self._calls: dict[int, _Call] = {}
        self._orders, self._to_send = trio.open_memory_channel[bytes](sys.maxsize)
        self._last_words = ""

    async def play(self, plan: Plan, players: Sequence[Any], *, transcript: Path) -> Result:
        """See `runner.Worker`."""
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
        """Starts the process once there is something to play, and another when it is gone, until cancelled."""
        while True:
            await self._live(await self._to_send.receive())
            calls, self._calls = self._calls, {}
            self._orders, self._to_send = trio.open_memory_channel[bytes](sys.maxsize)
            for call in calls.values():
                call.answered.set()

    async def _live(self, first: bytes) -> None:
        """One process, from its start to its end; `first` is its first order."""
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
        """Takes its answers, until it is gone."""
        async for frame in frames(stream):
            answer: Answer = decoded(frame, Answer)
            call = self._calls.pop(answer.number)
            call.answer = answer
            call.answered.set()


def ending(code: int) -> str:
    """How a process ended."""
    if code >= 0:
        return f"exit code {code}"
    return (
        f"killed by {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"killed by signal {-code}"
    )


async def _send(stream: trio.SocketStream, first: bytes, orders: trio.MemoryReceiveChannel[bytes]) -> None:
    # If it is gone, that is noticed where its answers are waited for.
    with suppress(trio.BrokenResourceError):
        await stream.send_all(first)
        async for frame in orders:
            await stream.send_all(frame)


async def _end(process: "subprocess.Popen[bytes] | ForkedWorker", stream: trio.SocketStream) -> None:
    """Hangs up, which a worker understands, and waits until it is gone."""
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
