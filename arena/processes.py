"""A pool of processes that share the work of one command."""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

PR_SET_PDEATHSIG = 1


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
