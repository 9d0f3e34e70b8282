"""A referee process: plays the matches that the arena orders, over a socket that it was given.

Run as `python -m arena.workers.worker SOCKET ARENA_PID FEED LOG`: file descriptors of a live feed's socket and of
the operator's log come last, or None. It decides nothing about a tournament and writes nothing but transcripts and
the log, so that it can be killed at any moment. It ends with the arena, however that ends.
"""

import ctypes
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio

from arena import event_loop, pause_signals
from arena.errors import SIGNALLED, Stopped
from arena.workers.api import Play
from arena.workers.protocol import Done, Order, decoded, encoded, failed, framed, frames
from referee import log
from referee.host import Plan, Publish, Result, SandboxedBot, open_kept_bots, play
from referee.wire import open_wire

FEED, LOG = 3, 4
"""Where on the command line their descriptors are."""
SET_PDEATHSIG, SET_NAME = 1, 15
"""`prctl` of Linux: the signal that the kernel sends a process when its parent is gone; what `ps` calls it."""
NAME = b"arena-worker"
Venue = Callable[[], AbstractAsyncContextManager[Play[Any]]]
"""Opens what all matches of this process share, and gives what plays one."""


def main(open_venue: Venue, player: Any) -> None:
    """Serves the arena until it hangs up; `player` is the type of its players."""
    ctypes.CDLL(None).prctl(SET_NAME, NAME, 0, 0, 0)
    pause_signals.ignore()
    end_with(int(sys.argv[2]))
    serve(socket.socket(fileno=int(sys.argv[1])), open_venue, player)


def serve(control: socket.socket, open_venue: Venue, player: Any) -> None:
    """Plays what is ordered over a socket, until that is hung up or a signal comes; it ends the process then."""
    try:
        event_loop.run(partial(_serve, control, open_venue, player))
    except Stopped as stopped:
        sys.exit(SIGNALLED + stopped.signal)


def end_with(arena: int) -> None:
    """Tie this process's life to its parent's, the arena's, and with its own its bots'."""
    ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != arena:
        # The arena was gone before its death could be our end.
        sys.exit(1)


async def _serve(control: socket.socket, open_venue: Venue, player: Any) -> None:
    """Plays what is ordered, all at once: how much that is, is the arena's to say."""
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(control))
    answers, to_send = trio.open_memory_channel[bytes](sys.maxsize)
    async with AsyncExitStack() as stack:
        play = await _opened(open_venue, stack)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send, stream, to_send)
            async for frame in frames(stream):
                nursery.start_soon(_play, play, decoded(frame, Order), player, answers)
            nursery.cancel_scope.cancel()


async def _opened(open_venue: Venue, stack: AsyncExitStack) -> Play[Any]:
    """Opens the venue; where the machine has run out of something, each order is answered with that."""
    try:
        return await stack.enter_async_context(open_venue())
    except OSError as error:
        short = error

    async def refused(plan: Plan, players: Sequence[Any], *, transcript: Path) -> Result:
        del plan, players, transcript
        raise short

    return refused


async def _send(stream: trio.SocketStream, answers: trio.MemoryReceiveChannel[bytes]) -> None:
    async for answer in answers:
        await stream.send_all(answer)


async def _play(play: Play[Any], order: Order, player: Any, answers: trio.MemorySendChannel[bytes]) -> None:
    """Plays one match, and answers."""
    try:
        players = decoded(order.players, tuple[player, ...])
        result = await play(order.whole_plan(), players, transcript=order.transcript)
    except Exception as error:  # noqa: BLE001 - whatever it is, the arena says what it means
        answer: Any = failed(order.number, error)
    else:
        answer = Done(number=order.number, result=result)
    answers.send_nowait(framed(encoded(answer)))


@asynccontextmanager
async def open_local_venue() -> AsyncIterator[Play[SandboxedBot]]:
    """What all matches of a process share: wire, bots that stay, line to the feed, operator's log."""
    feed, descriptor = _inherited(FEED), _inherited(LOG)
    publish = None if feed is None else _inherited_feed(feed)
    with log.inherited(descriptor) as events:
        logger = events.logger.bind(worker=os.getpid())
        async with open_wire() as wire, open_kept_bots(wire) as kept:
            yield partial(play, wire=wire, kept=kept, publish=publish, log=logger)


def _inherited_feed(descriptor: int) -> Publish:
    """Return what publishes over a socket that this process inherited."""
    from arena.feed import inherited  # noqa: PLC0415 - most matches have no feed

    return inherited(descriptor).publish


def _inherited(position: int) -> int | None:
    """A descriptor from the command line; None: there is none."""
    return None if sys.argv[position] == "None" else int(sys.argv[position])


if __name__ == "__main__":
    main(open_local_venue, SandboxedBot)
