"""The sockets of all lines in one level-triggered epoll, which trio watches: no line needs a task that waits."""

import os
import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from referee.wire.loop_lag import LoopProbe

IN, OUT = select.EPOLLIN, select.EPOLLOUT
AT_ONCE = 256
"""The most sockets that are handled before other tasks run. The others are reported again at the next poll."""

Ready = Callable[[int], None]
"""A function called with the events of a ready socket. It must not block."""


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
