"""Processes of the arena: the signals that pause a match, and pools that share the work of one command.

Every process of the arena loads this module first, so it imports almost nothing.
"""

import atexit
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from time import CLOCK_BOOTTIME, clock_gettime
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

PR_SET_PDEATHSIG = 1
PAUSE, RESUME = signal.SIGUSR1, signal.SIGUSR2
"""Signals of the operator. There are two, because the kernel merges equal signals that are not delivered yet: with
a single signal that toggles, one could be lost."""
PAUSE_SIGNALS = (PAUSE, RESUME)
Order = TypeVar("Order")
Made = TypeVar("Made")
IDLE_SECONDS = 60.0
"""Seconds after which a side process without orders ends."""
START_SECONDS = 20.0
"""Seconds that a side process may need to start, in addition to those for its first order."""
LIFE = "ARENA_LIFE"
"""Variable with the path of the file in which a process of a server shows that it lives."""
LIFE_SECONDS = 10.0
"""Seconds between two signs of life."""
_own_life = (os.getpid(), os.environ.pop(LIFE, ""))
"""The number of this process and the path of its file; processes that it starts have no file."""


def show_life(path: str = "") -> None:
    """Write the machine's uptime into the file that shows that this process lives; nothing if it has none.

    The uptime, and not the time: a clock that is set would make the process look dead, or alive for ever.
    """
    owner, own = _own_life
    if path or (own and owner == os.getpid()):
        with suppress(OSError):  # A full disk must not end the process.
            file = os.open(path or own, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, b"%016.3f" % clock_gettime(CLOCK_BOOTTIME), 0)
            finally:
                os.close(file)


def seconds_without_life(path: Path) -> float:
    """Return the seconds since the last sign of life in a file; 0 if there is none that can be read."""
    try:
        return max(0.0, clock_gettime(CLOCK_BOOTTIME) - float(path.read_bytes()[:32]))
    except (OSError, ValueError):
        return 0.0


def ignore_pause_signals() -> None:
    """Prevent both signals from ending this process, which is their default; a match sets its own handler later.

    An empty handler is used, not `SIG_IGN`, because programs that this process starts, such as bots, would inherit
    `SIG_IGN`.
    """
    for number in PAUSE_SIGNALS:
        signal.signal(number, lambda *_: None)
        # Python removes its handlers before the process has exited.
        atexit.register(signal.signal, number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PAUSE_SIGNALS)


@contextmanager
def pause_signals_blocked() -> Iterator[None]:
    """Block both signals in processes that are started inside the block, until they ignore them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, PAUSE_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def process_pool(processes: int) -> Iterator["ProcessPoolExecutor"]:
    """Yield a pool of fresh processes. At the end of the block, work that has not started is cancelled.

    If the block ends by an exception, the processes are killed, because their current work may take long.
    """
    # Imported late, because most commands do not need a pool.
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from multiprocessing import active_children, get_context  # noqa: PLC0415

    others = set(active_children())
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _end_with, (os.getpid(),))
    try:
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def made_in_processes(
    make: Callable[[Order], Made], orders: Iterable[Order], processes: int, ahead: int
) -> Iterator[tuple[Order, Made | None]]:
    """Yield the orders in sequence, each with the result of `make`, or None if the order ended its process.

    `ahead` is the number of orders per process that are queued ahead of the next result.
    """
    # Imported late, as above.
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    rest, asked = iter(orders), deque[Order]()
    while True:
        under_way: deque[Future[Made]] = deque()
        with process_pool(processes) as pool:
            try:
                while True:
                    for order in islice(rest, ahead * processes - len(asked)):
                        asked.append(order)
                        under_way.append(pool.submit(make, order))
                    if not asked:
                        return
                    result = under_way.popleft().result()
                    yield asked.popleft(), result
            except BrokenProcessPool:
                pass  # One of the orders under way may have killed it: each gets a process of its own.
        while asked:
            with process_pool(1) as pool:
                try:
                    while asked:
                        result = pool.submit(make, asked[0]).result()
                        yield asked.popleft(), result
                except BrokenProcessPool:
                    yield asked.popleft(), None


class ProcessLostError(Exception):
    """A side process ended or took too long."""


class SideProcess(Generic[Order, Made]):
    """A process for work that may never end or may end its process. It starts with the first order.

    It ends when it has been idle for a while, or when its parent ends. Any thread may call.
    """

    def __init__(self, make: Callable[[Order], Made]) -> None:
        """`make` is called in the process; it must be a function of a module."""
        # Imported late, because most commands do not need it.
        from threading import Lock  # noqa: PLC0415

        self._make = make
        self._lock = Lock()
        self._connection: Connection | None = None
        self._process: SpawnProcess | None = None

    def ask(self, order: Order, seconds: float) -> Made:
        """Return the result of `make` for an order.

        Raises:
            ProcessLostError: the process ended, or was killed after `seconds` seconds.
        """
        with self._lock:
            for attempt in range(2):
                started = self._process is None
                try:
                    return self._ask(order, seconds)
                except (EOFError, OSError):
                    self.kill()
                    # One that was there already may have ended because it was idle.
                    if started or attempt:
                        break
            raise ProcessLostError("its process ended")

    def _ask(self, order: Order, seconds: float) -> Made:
        connection = self._connection
        if connection is None:
            connection = self._start()
            seconds += START_SECONDS
        connection.send(order)
        if not connection.poll(seconds):
            self.kill()
            raise ProcessLostError(f"it took longer than {seconds:g} s")
        result: Made = connection.recv()
        return result

    def _start(self) -> "Connection":
        from multiprocessing import get_context  # noqa: PLC0415

        context = get_context("spawn")
        connection, its = context.Pipe()
        self._process = context.Process(target=_answer, args=(self._make, its), daemon=True)
        with pause_signals_blocked():
            self._process.start()
        its.close()
        self._connection = connection
        return connection

    def kill(self) -> None:
        """Kill the process; the next order starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None


def _answer(make: Callable[[Order], Made], connection: "Connection") -> None:
    """Answer a side process's orders until it is idle or its parent ends."""
    ignore_pause_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while connection.poll(IDLE_SECONDS):
            connection.send(make(connection.recv()))
    os._exit(0)


def _end_with(parent: int) -> None:
    """Set up a process of the pool: leave Ctrl-C to the parent, and die with the parent."""
    # Imported late, because only processes of a pool need it.
    import ctypes  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
