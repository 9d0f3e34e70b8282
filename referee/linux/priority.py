"""How much of the processors the kernel gives a process, and whom it lets go first."""

import os
from contextlib import suppress
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")


def be_nice(niceness: int) -> None:
    """Lets other processes go first: of this thread, and of all threads and processes that it starts later.

    The kernel may share processors out among sessions first (sched(7), "The autogroup feature"). Then niceness
    counts within a session only, and the session has one of its own. That is set if this process leads its
    session: else others in it, which are not ours to slow down, would be slower too.
    """
    nice = os.nice(niceness)
    with suppress(OSError):
        # When it wakes up, it interrupts nobody; unlike SCHED_IDLE it has its share on a busy machine.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            AUTOGROUP.write_text(str(nice))
