"""The scheduling priority of this process."""

import os
from contextlib import suppress
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")


def be_nice(niceness: int) -> None:
    """Lower the priority of this thread, and of all threads and processes that it starts later.

    The kernel may divide processor time among sessions first (sched(7), "The autogroup feature"). Then niceness
    counts only within a session, and the session has a niceness of its own. That is set only if this process leads
    its
    session: otherwise other programs in the session would be slowed down too.
    """
    nice = os.nice(niceness)
    with suppress(OSError):
        # A batch process preempts no other when it wakes; unlike SCHED_IDLE, it has its share on a busy machine.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            AUTOGROUP.write_text(str(nice))
