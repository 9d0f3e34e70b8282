"""The operator's two signals: one pauses a match, the other resumes it.

This module is loaded first, so it imports almost nothing. There are two signals, because the kernel merges equal
signals that are not delivered yet: with a single signal that toggles, one could be lost.
"""

import atexit
import signal
from collections.abc import Iterator
from contextlib import contextmanager

PAUSE, RESUME = signal.SIGUSR1, signal.SIGUSR2
BOTH = (PAUSE, RESUME)


def ignore() -> None:
    """Prevent both signals from ending this process, which is their default; a match sets its own handler later.

    An empty handler is used, not `SIG_IGN`, because programs that this process starts, such as bots, would inherit
    `SIG_IGN`.
    """
    for number in BOTH:
        signal.signal(number, _nothing)
        # Python removes its handlers before the process has exited.
        atexit.register(signal.signal, number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, BOTH)


@contextmanager
def blocked() -> Iterator[None]:
    """Block both signals in processes that are started inside the block, until they call `ignore`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BOTH)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing(number: int, frame: object) -> None:
    pass
