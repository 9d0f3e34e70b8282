"""A referee process that ends as the arena expects it to, or whose own start the machine has too little for."""

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from arena.workers import worker
from arena.workers.api import PlayMatch
from arena.workers.protocol import Answer, decoded, encoded, error_of, framed, frames, order
from referee.host import Plan

PLAN = Plan(match="m", game="mist", variant="", seed=1)

ROOT = Path(__file__).parents[3]
WORKER = """
import socket
from contextlib import asynccontextmanager
from arena.workers.worker import serve

ours, theirs = socket.socketpair()

@asynccontextmanager
async def venue():
    print("open", flush=True)
    try:
        yield None
    finally:
        print("closed", flush=True)

serve(theirs, venue, object)
"""


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_a_signal_stops_closes_its_venue_and_ends_with_128_and_the_signals_number(
    stop: signal.Signals,
) -> None:
    with subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-c", WORKER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        assert "open\n" == worker.stdout.readline()
        worker.send_signal(stop)
        assert "closed\n" == worker.stdout.readline()
        assert 128 + stop == worker.wait(timeout=60)


@asynccontextmanager
async def nothing_left() -> AsyncIterator[PlayMatch[Any]]:
    no_more()
    yield cast("PlayMatch[Any]", None)


def no_more() -> int:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


async def test_each_order_is_answered_with_what_has_run_out() -> None:
    """It ended once, and its matches were given to twenty others, which ended, too."""
    ours, theirs = socket.socketpair()
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
    players: Sequence[str] = ("a", "b")
    answers: Any = frames(stream)
    with theirs, trio.fail_after(30):
        async with trio.open_nursery() as nursery, aclosing(answers) as came:
            nursery.start_soon(worker._serve, theirs, nothing_left, str)
            for number in (1, 2):
                await stream.send_all(framed(encoded(order(number, PLAN, players, Path("m.jsonl")))))
                answer = decoded(await anext(came), Answer)
                error = error_of(answer)
                assert (number, errno.EMFILE) == (answer.number, getattr(error, "errno", None))
            await stream.aclose()


PARENT = """
import os, subprocess, sys
line = sys.argv[1]
command = [sys.executable, "-m", "arena.workers.worker", line, str(os.getpid()), "None", "None"]
worker = subprocess.Popen(command, pass_fds=[int(line)])
print(worker.pid, flush=True)
worker.wait()
"""


async def test_a_worker_ends_with_its_arena_also_where_it_hears_nothing_any_more() -> None:
    """It may be stopped, or somebody else hold its line open: nothing stays of it when its arena is killed."""
    ours, theirs = socket.socketpair()
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
    async with stream:
        with theirs, trio.fail_after(60):
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own interpreter, and our own words
                [sys.executable, "-c", PARENT, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdout=subprocess.PIPE,
            )
            with process:
                assert process.stdout is not None
                worker_pid = int(await trio.to_thread.run_sync(process.stdout.readline))
                ends = os.pidfd_open(worker_pid)
                try:
                    answers: Any = frames(stream)
                    async with aclosing(answers) as came:
                        await stream.send_all(framed(encoded(order(1, PLAN, ["no bot"], Path("m.jsonl")))))
                        await anext(came)  # It has begun: what ties it to its arena is done.
                    os.kill(worker_pid, signal.SIGSTOP)
                    process.kill()
                    await trio.lowlevel.wait_readable(ends)
                finally:
                    with suppress(ProcessLookupError):
                        signal.pidfd_send_signal(ends, signal.SIGKILL)
                    os.close(ends)
