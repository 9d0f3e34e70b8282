"""The sockets of all lines under one level-triggered poll, which trio watches: not a task and a wait a line."""

import os
import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from referee.wire.loop_lag import LoopProbe

IN, OUT = select.EPOLLIN, select.EPOLLOUT
AT_ONCE = 256
"""Sockets that are looked after before other tasks run; the others are still there at the next look."""

Ready = Callable[[int], None]
"""Called with the events of a socket that is ready. It does not wait."""


class Poll:
    """Calls those who watch a socket when there is something to do. Made by `open_poll`."""

    def __init__(self, probe: LoopProbe) -> None:
        self.probe = probe
        self._epoll = select.epoll()
        self._ready: dict[int, Ready] = {}
        self._soon: list[Callable[[], None]] = []
        # Becomes readable to wake the task that waits.
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._wake, IN)

    def watch(self, descriptor: int, events: int, ready: Ready) -> None:
        """Calls `ready` whenever a socket is ready for one of these events; for none, forgets it.

        A socket that nobody watches must be forgotten: its other end's going would be told again and again.
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
        """Makes a call after others have had their turn."""
        if not self._soon:
            os.eventfd_write(self._wake, 1)
        self._soon.append(call)

    async def run(self) -> None:
        """Makes the calls, until it is cancelled."""
        poll, ready, descriptor = self._epoll.poll, self._ready, self._epoll.fileno()
        while True:
            await trio.lowlevel.wait_readable(descriptor)
            soon, self._soon = self._soon, []
            if soon:
                os.eventfd_read(self._wake)
            for socket, events in poll(0, AT_ONCE):
                # It may have been forgotten by one of the calls before.
                if socket in ready:
                    ready[socket](events)
            for call in soon:
                call()

    def close(self) -> None:
        """Gives up what it holds open. Nobody watches anything any more."""
        self._epoll.close()
        os.close(self._wake)


@asynccontextmanager
async def open_poll() -> AsyncIterator[Poll]:
    """One of a process's polls. All who watch must have stopped before it closes."""
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
