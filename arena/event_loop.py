"""Trio's event loop for matches, with an orderly end when a signal stops the arena."""

import gc
import math
import resource
import signal
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

import trio

from arena.errors import Stopped
from arena.processes import LIFE_SECONDS, show_life
from referee.linux.awake_clock import AwakeClock

TWICE_SECONDS = 2.0
"""Maximum seconds between two Ctrl-C that end a command whose bot has the terminal."""
AnswerT = TypeVar("AnswerT")
ItemT = TypeVar("ItemT")
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals of Ctrl-C, of `kill`, and of a closed terminal."""
GARBAGE = (20_000, 10, 10)
"""Thresholds of the garbage collector. Python's default of 700 objects costs each decision a tenth more time. The
oldest generation includes all current matches; it is rarely collected, because finished matches leave no
cycles."""


def run(play: Callable[[], Awaitable[AnswerT]], *, ctrl_c: int = 1) -> AnswerT:
    """Run `play` in trio until it returns, with the start-up objects hidden from the garbage collector.

    These objects live as long as the process, and a full collection of them would delay every match's clock. All
    times and deadlines use a clock that stops while this process is stopped.

    Args:
        play: the function to run.
        ctrl_c: number of Ctrl-C that stop it, each within `TWICE_SECONDS` of the one before.

    Raises:
        Stopped: a signal arrived. All tasks were cancelled where they waited; Python's own handling of Ctrl-C
        could
            interrupt the cleanup. A second Ctrl-C still can.
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


async def share_out(items: Iterable[ItemT], tasks: int, work: Callable[[ItemT], Awaitable[None]]) -> None:
    """Call `work` with each item, in a number of tasks that take the items in order, one at a time."""
    left = iter(items)

    async def take_items() -> None:
        for item in left:
            await work(item)

    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(take_items)


class CallThread:
    """Makes calls one at a time in a thread, so that the event loop, with the clocks of matches, does not wait."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(1)

    async def __call__(self, call: Callable[[], AnswerT]) -> AnswerT:
        """Return the call's result."""
        return await trio.to_thread.run_sync(call, limiter=self._limiter)


def _open_files() -> None:
    """Raise the limit of open files to its maximum: each bot needs about twenty, and a shell allows 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _until_stopped(play: Callable[[], Awaitable[AnswerT]], ctrl_c: int) -> AnswerT:
    caught: list[int] = []
    async with trio.open_nursery() as nursery:
        await nursery.start(_stop_at_signal, nursery.cancel_scope, caught, ctrl_c)
        nursery.start_soon(_show_life)
        answer = await play()
        nursery.cancel_scope.cancel()
        return answer
    raise Stopped(caught[0])


async def _show_life() -> None:
    """Show that the event loop works, for a process of a server."""
    while True:
        show_life()
        await trio.sleep(LIFE_SECONDS)


async def _stop_at_signal(
    running: trio.CancelScope, caught: list[int], ctrl_c: int, task_status: trio.TaskStatus[None]
) -> None:
    """Cancel `running` at a stop signal. Signals that were ignored at our start (`nohup`, `&`) remain ignored."""
    heeded = [each for each in STOPS if signal.getsignal(each) is not signal.SIG_IGN]
    with trio.open_signal_receiver(*heeded) as signals:
        task_status.started()
        count, last = 0, -math.inf
        async for number in signals:
            now = trio.current_time()
            if now - last > TWICE_SECONDS:
                count = 0
            count += 1
            last = now
            if number != signal.SIGINT or count >= ctrl_c:
                caught.append(number)
                break
    running.cancel()
