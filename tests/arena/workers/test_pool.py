"""Which of the arena's children are its workers, while they come and go."""

import os
import subprocess
from collections.abc import Callable

import pytest

from arena.workers import pool
from referee.linux.orphans import children


async def test_a_worker_that_joins_while_another_ones_bots_are_ended_is_spared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two workers may be killed at once: what replaces the first is there before the second is cleared away."""
    before = {child.pid for child in children()}
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
