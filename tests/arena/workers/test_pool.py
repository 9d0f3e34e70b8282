"""Which of the arena's children are its workers, while they come and go."""

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.feed import FeedLine
from arena.workers import pool
from arena.workers.api import Worker
from referee.host import Plan
from referee.linux.processes import own_children
from referee.log import Writer, opened


@pytest.fixture(autouse=True)
def _nothing_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What forks workers would be one more child of the tests' own process: `test_fork_server` is about it."""
    monkeypatch.setattr(pool, "can_fork", lambda: False)


async def test_a_worker_that_joins_while_another_ones_bots_are_ended_is_spared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two workers may be killed at once: what replaces the first is there before the second is cleared away."""
    before = {child.pid for child in own_children()}
    workers = pool._Pool(before)
    started: list[subprocess.Popen[bytes]] = []
    doomed: list[list[int]] = []

    def child() -> int:
        started.append(subprocess.Popen(["sleep", "60"]))  # noqa: S607 - our own words
        return started[-1].pid

    async def two_looks(find: Callable[[], list[int]]) -> None:
        doomed.append(find())
        workers.joins(child())
        doomed.append(find())

    monkeypatch.setattr(pool, "end_all", two_looks)
    try:
        left_behind = child()
        await workers.left(os.getpid())
        assert [[left_behind], [left_behind]] == doomed
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (-9, "killed by SIGKILL"),
        (-15, "killed by SIGTERM"),
        (-99, "killed by signal 99"),
    ],
)
def test_the_end_of_a_worker_is_described_in_words(code: int, words: str) -> None:
    assert words == pool.ending(code)


PLAYS = """
import os, sys, trio
from contextlib import asynccontextmanager
from pathlib import Path
from arena.workers import worker
from tests.arena.stand_in import result

AT_ONCE, folder = 2, Path({folder!r})
playing = []

@asynccontextmanager
async def venue():
    yield play
    # It ends in its own time, as one does that has bots to end.
    with trio.CancelScope(shield=True):
        await trio.sleep(0.2)
    (folder / "ended in order").touch()

async def play(plan, players, *, transcript):
    playing.append(plan)
    while len(playing) < AT_ONCE:
        await trio.sleep(0.01)
    return result(plan, players, transcript)

worker.main(venue, str)
"""


def descriptors() -> int:
    """Count those that this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_worker_plays_later_orders_too_and_ends_in_order(tmp_path: Path) -> None:
    """Both matches are played at once, or neither. Nothing of the worker is left: neither it nor a descriptor."""
    command = (sys.executable, "-c", PLAYS.format(folder=str(tmp_path)))
    played: list[str] = []

    async def play(worker: Worker[str], match: str) -> None:
        plan = Plan(match=match, game="g", variant="v", seed=0)
        came = await worker.play(plan, ("a", "b"), transcript=tmp_path / match)
        played.append(came.match)

    with trio.fail_after(60):
        await trio.to_thread.run_sync(int)  # What trio itself opens for threads, and keeps.
        gc.collect()  # What earlier tests left to the collector is not closed meanwhile.
        before, open_before = {child.pid for child in own_children()}, descriptors()
        async with pool.open_pool([2], command) as (worker,), trio.open_nursery() as nursery:
            for match in ("one", "two"):
                nursery.start_soon(play, worker, match)
                await trio.testing.wait_all_tasks_blocked()
        assert {"one", "two"} == set(played)
        assert (tmp_path / "ended in order").exists()
        assert before == {child.pid for child in own_children()}
        assert open_before == descriptors()


class Lingers:
    """A process that ends a while after it was killed: its memory is given back first."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(["sleep", "60"])  # noqa: S607 - our own words
        self.pid = self._child.pid
        self.was_killed = trio.Event()
        self.blocked = False

    def kill(self) -> None:
        self.was_killed.set()

    def wait(self) -> None:
        self.blocked = self._child.poll() is None
        self.end()

    def end(self) -> None:
        self._child.kill()
        self._child.wait()

    async def end_late(self) -> None:
        """End it a while after it was killed, as a task of the loop that others may not hold up."""
        await self.was_killed.wait()
        await trio.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)


async def test_a_worker_that_takes_long_to_die_holds_up_no_other_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "FAREWELL_SECONDS", 0.05)
    process = Lingers()
    ours, theirs = socket.socketpair()
    try:
        with theirs, trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(process.end_late)
                stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
                await pool._end(process, stream)  # type: ignore[arg-type]
        assert (True, False) == (process.was_killed.is_set(), process.blocked)
    finally:
        process.end()


PUBLISHES = """
from arena.workers import worker
from tests.arena.stand_in import result

async def play(plan, players, *, transcript, publish, log, **_):
    publish("match/m", b"told")
    log.info("played", match=plan.match)
    return result(plan, ("a", "b"), transcript)

worker.play = play
worker.main(worker.open_local_player, str)
"""


async def test_feed_and_log_of_a_worker_go_to_their_own_destinations(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    writer = Writer(opened(str(tmp_path / "log")))
    with ours, theirs, trio.fail_after(60):
        command = (sys.executable, "-c", PUBLISHES)
        async with pool.open_pool([1], command, FeedLine(theirs), writer.log) as (worker,):
            await worker.play(Plan(match="one", game="g", variant="v", seed=0), (), transcript=tmp_path / "m")
        assert ours.recv(1_000).endswith(b"told")
        assert 0 == writer.close()
    assert 1 == (tmp_path / "log").read_text().count('"event":"played"')


SAYS_WHO_PLAYS = """
import os, trio
from contextlib import asynccontextmanager
from arena.workers import worker
from tests.arena.stand_in import result

@asynccontextmanager
async def venue():
    yield play

async def play(plan, players, *, transcript):
    transcript.write_text(str(os.getpid()))
    if plan.match == "endless":
        await trio.sleep_forever()
    return result(plan, players, transcript)

worker.main(venue, str)
"""
KEEPS = (sys.executable, "-c", SAYS_WHO_PLAYS)


async def play_in_a_pool(transcript: Path, command: Sequence[str] = KEEPS, match: str = "short") -> int:
    """Open a pool for one match, and return which process played it; of an endless match, as it began."""
    plan = Plan(match=match, game="g", variant="v", seed=0)
    transcript.unlink(missing_ok=True)
    with trio.fail_after(60):
        async with pool.open_pool([1], command) as (worker,), trio.open_nursery() as nursery:
            nursery.start_soon(partial(worker.play, plan, ("a", "b"), transcript=transcript))
            while not (transcript.exists() and transcript.read_text()):  # noqa: ASYNC110 - another process writes
                await trio.sleep(0.01)
            if match == "endless":
                nursery.cancel_scope.cancel()
    return int(transcript.read_text())


def play_one(transcript: Path, command: Sequence[str] = KEEPS, match: str = "short") -> int:
    """Call `play_in_a_pool` in a loop of its own."""
    return trio.run(play_in_a_pool, transcript, command, match)


def test_a_worker_with_nothing_to_do_when_its_pool_closes_plays_in_the_next(tmp_path: Path) -> None:
    before, file = {child.pid for child in own_children()}, tmp_path / "m"
    assert play_one(file) != play_one(file)
    with pool.workers_kept():
        first = play_one(file)
        assert {first} == {child.pid for child in own_children()} - before
        with pool.workers_kept():
            assert first == play_one(file)
        assert first == play_one(file)
    assert before == {child.pid for child in own_children()}
    assert play_one(file) != first


def test_a_worker_that_is_at_a_match_or_was_told_otherwise_is_not_kept_for_the_next(tmp_path: Path) -> None:
    """Bots of a match that was given up still run in it; another command line may name a feed or a log."""
    before, file = {child.pid for child in own_children()}, tmp_path / "m"
    with pool.workers_kept():
        busy = play_one(file, match="endless")
        assert before == {child.pid for child in own_children()}
        free = play_one(file)
        other = play_one(file, (*KEEPS[:2], f"{SAYS_WHO_PLAYS}#"))
        assert {free, other} == {child.pid for child in own_children()} - before
    assert 3 == len({busy, free, other})
    assert before == {child.pid for child in own_children()}


def test_a_kept_worker_that_was_killed_is_replaced(tmp_path: Path) -> None:
    before, file = {child.pid for child in own_children()}, tmp_path / "m"
    with pool.workers_kept():
        killed = play_one(file)
        os.kill(killed, signal.SIGKILL)
        os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
        assert killed != play_one(file)
    assert before == {child.pid for child in own_children()}
