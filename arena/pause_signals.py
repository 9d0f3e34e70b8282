"""The operator's two signals: one pauses a match, the other lets it go on.

It imports next to nothing, for it comes first. There are two, because the kernel merges equal signals that are not
yet delivered: of two that toggle, one may be lost.
"""

import atexit
import signal
from collections.abc import Iterator
from contextlib import contextmanager

PAUSE, RESUME = signal.SIGUSR1, signal.SIGUSR2
BOTH = (PAUSE, RESUME)


def ignore() -> None:
    """Let neither of them end this process, as they would by themselves; a match sets its own handler later.

    They are handled, not ignored: a program that this process starts would inherit that, a bot among them.
    """
    for number in BOTH:
        signal.signal(number, _nothing)
        # Python gives up its handlers before the process has ended.
        atexit.register(signal.signal, number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, BOTH)


@contextmanager
def blocked() -> Iterator[None]:
    """Let neither of them reach a process that is started meanwhile, until that calls `ignore`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BOTH)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing(number: int, frame: object) -> None:
    pass
