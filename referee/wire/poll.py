"""The sockets of all lines in one level-triggered epoll, which trio watches: no line needs a task that waits.

Also records when trio's loop last polled for I/O, so that lines know how early received frames may have arrived.
"""

import os
import select
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from referee.linux.awake_clock import AwakeClock
from referee.linux.processes import ThreadCounters

WORTH_KEEPING = 0.001
"""Seconds of work below which the loop does not count as behind."""
KEPT = 10_000
TURN_SECONDS = 0.005
"""Seconds of work after which a task with more work lets others run."""
LEAST_TURN_SECONDS = 0.0005
"""The shortest turn in seconds: many busy tasks must not keep each other from all progress."""
OVERSLEPT_SECONDS = 0.002
"""Seconds by which a poll may oversleep: it rounds up to whole milliseconds. A longer sleep was held up."""
IN, OUT = select.EPOLLIN, select.EPOLLOUT
AT_ONCE = 256
"""The most sockets that are handled before other tasks run. The others are reported again at the next poll."""
Ready = Callable[[int], None]
"""A function called with the events of a ready socket. It must not block."""


class LoopProbe(trio.abc.Instrument):
    """Records when trio's loop last polled for I/O, and how early the frames found then may have arrived.

    A loop that was held up (by a long garbage collection, by a busy machine) finds frames late; these must not
    count as late. The kernel's count of voluntary switches shows whether the last poll slept: its duration would
    not
    distinguish sleeping from being preempted. The kernel also counts how long the thread then waited for a
    processor: on a busy machine the frame that wakes it may have arrived long before it runs.

    If a poll overslept its timeout by more than its wait for a processor explains, the process was stopped, or the
    machine stood still. Frames found then may have arrived at any time since the poll started.
    """

    def __init__(self) -> None:
        clock = trio.lowlevel.current_clock()
        self._awake = clock if isinstance(clock, AwakeClock) else None
        self.now = clock.current_time
        """Cached trio clock; `trio.current_time` looks it up on every call."""
        self._asleep = self._waited = 0.0
        """The start of the last poll, and how long this thread had waited for processors by then."""
        self._yields = self._stops = 0
        """Numbers of times that the thread had yielded its processor by then, and had been stopped."""
        self._thread = ThreadCounters() if self._awake is None else self._awake.thread
        self.looked = self.now()
        """The end of the last poll, on trio's clock. Frames that it did not find arrived later."""
        self.came = self.looked
        """The earliest time at which the frames found by the last poll may have arrived."""
        self._busy: deque[tuple[float, float]] = deque(maxlen=KEPT)

    def before_io_wait(self, timeout: float) -> None:
        """See `trio.abc.Instrument`."""
        # To read the clock once more would make it take the sleep for ended.
        now = self.now() if self._awake is None or timeout <= 0 else self._awake.fell_asleep
        if now - self.looked > WORTH_KEEPING:
            self._busy.append((now, now - self.looked))
        if timeout > 0:
            self._asleep = now
            if self._awake is None:
                self._thread.read()
            else:
                self._stops = self._awake.stops  # It has read the thread's counters just now.
            self._yields, self._waited = self._thread.yields, self._thread.waited

    def after_io_wait(self, timeout: float) -> None:
        """See `trio.abc.Instrument`."""
        now = self.now()
        if timeout > 0:
            self._thread.read()
        if timeout > 0 and self._thread.yields != self._yields:
            delay = self._thread.waited - self._waited
            stopped = self._awake is not None and self._awake.stops != self._stops
            overslept = now - self._asleep - timeout - delay > OVERSLEPT_SECONDS
            # Never before the sleep: no frame was there then.
            self.came = self._asleep if stopped or overslept else max(self._asleep, now - delay)
        else:
            self.came = self.looked
        self.looked = now

    def behind(self, since: float) -> float:
        """Return the longest event-loop stall since a time on trio's clock, in seconds."""
        longest = self.now() - self.looked
        if longest <= WORTH_KEEPING:
            longest = 0.0
        for end, length in reversed(self._busy):
            if end < since:
                break
            longest = max(longest, length)
        return longest

    def stopped(self, since: float) -> float:
        """Return the seconds for which this process was stopped since a time on trio's clock, if it knows."""
        return 0.0 if self._awake is None else self._awake.stopped(since)

    def turn_ends(self, began: float) -> float:
        """Return the end of a turn that starts at a time on trio's clock, after which others must run."""
        return max(self.looked + TURN_SECONDS, began + LEAST_TURN_SECONDS)

    def close(self) -> None:
        """Close the file of the thread's counters, if it belongs to this object."""
        if self._awake is None:
            self._thread.close()


class Poll:
    """Calls functions when the sockets that they watch are ready. Made by `open_poll`."""

    def __init__(self, probe: LoopProbe) -> None:
        self.probe = probe
        self._epoll = select.epoll()
        self._ready: dict[int, Ready] = {}
        self._soon: list[Callable[[], None]] = []
        # Becomes readable to wake the task that waits.
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._wake, IN)

    def watch(self, descriptor: int, events: int, ready: Ready) -> None:
        """Call `ready` whenever a socket is ready for one of these events; with no events, stop watching it.

        A socket without events must not stay in the epoll: its other end's closing would be reported for ever.
        """
        if not events:
            if self._ready.pop(descriptor, None) is not None:
                self._epoll.unregister(descriptor)
        elif descriptor in self._ready:
            self._ready[descriptor] = ready
            self._epoll.modify(descriptor, events)
        else:
            self._epoll.register(descriptor, events)
            self._ready[descriptor] = ready

    def soon(self, call: Callable[[], None]) -> None:
        """Call a function after other sockets have had their turn."""
        if not self._soon:
            os.eventfd_write(self._wake, 1)
        self._soon.append(call)

    async def run(self) -> None:
        """Wait for sockets and call their functions, until cancelled."""
        poll, ready, descriptor = self._epoll.poll, self._ready, self._epoll.fileno()
        while True:
            await trio.lowlevel.wait_readable(descriptor)
            soon, self._soon = self._soon, []
            if soon:
                os.eventfd_read(self._wake)
            for socket, events in poll(0, AT_ONCE):
                # An earlier call may have stopped watching it.
                if socket in ready:
                    ready[socket](events)
            for call in soon:
                call()

    def close(self) -> None:
        """Close the descriptors. No socket may be watched any more."""
        self._epoll.close()
        os.close(self._wake)


@asynccontextmanager
async def open_poll() -> AsyncIterator[Poll]:
    """Open a poll. All sockets must have been removed before it closes."""
    probe = LoopProbe()
    poll = Poll(probe)
    trio.lowlevel.add_instrument(probe)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll.run)
            yield poll
            nursery.cancel_scope.cancel()
    finally:
        trio.lowlevel.remove_instrument(probe)
        probe.close()
        poll.close()
