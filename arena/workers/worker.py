"""A referee process, which plays the matches that the arena orders over an inherited socket.

Run as `python -m arena.workers.worker SOCKET ARENA_PID FEED LOG`. SOCKET is a file descriptor; FEED and LOG are
the file descriptors of the live feed's socket and of the operator's log, or None. The process makes no decision
about a tournament and writes only transcripts and the log, so it can be killed at any moment. The kernel kills it
when the arena exits.
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

from arena import event_loop
from arena.errors import SIGNALLED, Stopped
from arena.processes import ignore_pause_signals
from arena.workers.api import PlayMatch
from arena.workers.protocol import Done, MatchOrder, decoded, encoded, failed, framed, frames
from referee import log
from referee.host import AttemptResult, Plan, Publish, SandboxedBot, open_kept_bots, play
from referee.wire import open_wire

FEED, LOG = 3, 4
"""Positions of their descriptors on the command line."""
SET_PDEATHSIG, SET_NAME = 1, 15
"""Options of Linux's `prctl`: the signal at the parent's death, and the process name that `ps` shows."""
NAME = b"arena-worker"
OpenPlayer = Callable[[], AbstractAsyncContextManager[PlayMatch[Any]]]
"""Function that opens the resources shared by all matches of this process, and yields a `PlayMatch`."""


def main(open_player: OpenPlayer, player: Any) -> None:
    """Serve the arena until it closes the socket; `player` is the type of its players."""
    ctypes.CDLL(None).prctl(SET_NAME, NAME, 0, 0, 0)
    ignore_pause_signals()
    end_with(int(sys.argv[2]))
    serve(socket.socket(fileno=int(sys.argv[1])), open_player, player)


def serve(control: socket.socket, open_player: OpenPlayer, player: Any) -> None:
    """Play the matches that are ordered over a socket, until it is closed; exit the process on a signal."""
    try:
        event_loop.run(partial(_serve, control, open_player, player))
    except Stopped as stopped:
        sys.exit(SIGNALLED + stopped.signal)


def end_with(arena: int) -> None:
    """Have the kernel kill this process when its parent, the arena, exits; its bots then exit too."""
    ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != arena:
        # The arena exited before the signal at its death was set.
        sys.exit(1)


async def _serve(control: socket.socket, open_player: OpenPlayer, player: Any) -> None:
    """Play all ordered matches concurrently; the arena limits how many it orders."""
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(control))
    answers, to_send = trio.open_memory_channel[bytes](sys.maxsize)
    async with AsyncExitStack() as stack:
        play = await _opened(open_player, stack)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send, stream, to_send)
            async for frame in frames(stream):
                nursery.start_soon(_play, play, decoded(frame, MatchOrder), player, answers)
            nursery.cancel_scope.cancel()


async def _opened(open_player: OpenPlayer, stack: AsyncExitStack) -> PlayMatch[Any]:
    """Open the resources and return the play function; after an `OSError`, return one that raises this error."""
    try:
        return await stack.enter_async_context(open_player())
    except OSError as error:
        short = error

    async def refused(plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
        del plan, players, transcript
        raise short

    return refused


async def _send(stream: trio.SocketStream, answers: trio.MemoryReceiveChannel[bytes]) -> None:
    async for answer in answers:
        await stream.send_all(answer)


async def _play(
    play: PlayMatch[Any], order: MatchOrder, player: Any, answers: trio.MemorySendChannel[bytes]
) -> None:
    """Play one match and queue its answer."""
    try:
        players = decoded(order.players, tuple[player, ...])
        result = await play(order.whole_plan(), players, transcript=order.transcript)
    except Exception as error:  # noqa: BLE001 - the arena interprets every error
        answer: Any = failed(order.number, error)
    else:
        answer = Done(number=order.number, result=result)
    answers.send_nowait(framed(encoded(answer)))


@asynccontextmanager
async def open_local_player() -> AsyncIterator[PlayMatch[SandboxedBot]]:
    """Open the resources that all matches of a process share: wire, persistent bots, live feed, operator's log."""
    feed, descriptor = _inherited(FEED), _inherited(LOG)
    publish = None if feed is None else _inherited_feed(feed)
    with log.inherited(descriptor) as events:
        logger = events.logger.bind(worker=os.getpid())
        async with open_wire() as wire, open_kept_bots(wire) as kept:
            yield partial(play, wire=wire, kept=kept, publish=publish, log=logger)


def _inherited_feed(descriptor: int) -> Publish:
    """Return a function that publishes to the live feed over an inherited socket."""
    from arena.feed import inherited  # noqa: PLC0415 - most matches have no feed

    return inherited(descriptor).publish


def _inherited(position: int) -> int | None:
    """Return the file descriptor at a position of the command line, or None."""
    return None if sys.argv[position] == "None" else int(sys.argv[position])


if __name__ == "__main__":
    main(open_local_player, SandboxedBot)
