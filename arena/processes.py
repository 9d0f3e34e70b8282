"""Processes of our own that share the work of one command."""

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
    """A pool of fresh processes. When the block ends, what they have not begun is left undone.

    If it ends by an exception, they are killed: what they are at may take long.
    """
    # Here: most commands have no need of them.
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
    """In a process of the pool: Ctrl-C is its parent's to heed, and it does not outlive that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
