"""Starts trio's loop for matches to be played in, and ends it in order when the arena is asked to stop."""

import gc
import math
import resource
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import trio

from arena.errors import Stopped
from referee.linux.awake_clock import AwakeClock

TWICE_SECONDS = 2.0
"""Two Ctrl-C within so long end a command whose bot has the terminal."""
AnswerT = TypeVar("AnswerT")
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill`, and a terminal that was closed."""
GARBAGE = (20_000, 10, 10)
"""Objects, and rounds, before the collector looks for cycles: Python's own 700 cost each decision a tenth more.
The last round walks through all matches under way; it is rare, for those that have ended leave no cycles."""


def run(play: Callable[[], Awaitable[AnswerT]], *, ctrl_c: int = 1) -> AnswerT:
    """Runs until it is done, with a collector of garbage that never walks through what start-up made.

    That lives as long as the process; a full collection that walked it would hold up every match's clock.
    All times and deadlines are those of a clock that stands while this process is stopped.

    `ctrl_c`: how many Ctrl-C stop it, each within `TWICE_SECONDS` of the one before.

    Raises:
        Stopped: a signal came. All that was running has been ended, each task where it was waiting: left to
            Python, Ctrl-C could strike in the midst of clearing up. A second one may.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    _open_files()
    clock = AwakeClock()
    try:
        return trio.run(partial(_until_stopped, play, ctrl_c), clock=clock)
    finally:
        clock.close()


def _open_files() -> None:
    """Lets this process have as many files open as it may: each bot takes some twenty, and a shell gives 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _until_stopped(play: Callable[[], Awaitable[AnswerT]], ctrl_c: int) -> AnswerT:
    caught: list[int] = []
    async with trio.open_nursery() as nursery:
        await nursery.start(_stop_at_signal, nursery.cancel_scope, caught, ctrl_c)
        answer = await play()
        nursery.cancel_scope.cancel()
        return answer
    raise Stopped(caught[0])


async def _stop_at_signal(
    running: trio.CancelScope, caught: list[int], ctrl_c: int, task_status: trio.TaskStatus[None]
) -> None:
    """Ends what is running at the first signal; not one that was ignored at our start (`nohup`, `&`)."""
    heeded = [each for each in STOPS if signal.getsignal(each) is not signal.SIG_IGN]
    with trio.open_signal_receiver(*heeded) as signals:
        task_status.started()
        count, last = 0, -math.inf
        async for number in signals:
            now = trio.current_time()
            count = count + 1 if now - last <= TWICE_SECONDS else 1
            last = now
            if number != signal.SIGINT or count >= ctrl_c:
                caught.append(number)
                break
    running.cancel()
