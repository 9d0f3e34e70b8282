"""Processes of the arena: the signals that pause a match, and pools that share the work of one command.

Every process of the arena loads this module first, so it imports almost nothing.
"""

import atexit
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

PR_SET_PDEATHSIG = 1
PAUSE, RESUME = signal.SIGUSR1, signal.SIGUSR2
"""Signals of the operator. There are two, because the kernel merges equal signals that are not delivered yet: with
a single signal that toggles, one could be lost."""
PAUSE_SIGNALS = (PAUSE, RESUME)


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


def _end_with(parent: int) -> None:
    """Set up a process of the pool: leave Ctrl-C to the parent, and die with the parent."""
    # Imported late, because only processes of a pool need it.
    import ctypes  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
