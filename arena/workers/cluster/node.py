"""A node: a process on a cluster's machine that runs a pool for one arena, and passes on orders and answers.

`tasks` runs it as `python -m arena.workers.cluster.node SOCKET SLOTS`. It is separate from the Dask worker
because a pool ends all children of its process, and because other work of the Dask worker must not delay matches.
The node and its pool end when the other end of the socket closes, even if the Dask worker was killed.
"""

import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from arena.workers.api import PlayMatch, Worker
from arena.workers.machine import shares
from arena.workers.pool import open_pool
from arena.workers.worker import serve
from referee.host import AttemptResult, Plan, SandboxedBot


@asynccontextmanager
async def _open_player(slots: int) -> AsyncIterator[PlayMatch[Any]]:
    """Open a pool with one referee process per core at most, as on the arena's own machine."""
    async with open_pool(shares(slots, concurrency=slots, workers=None)) as pool:
        yield partial(_play, pool, Counter())


async def _play(
    pool: Sequence[Worker[Any]], busy: Counter[int], plan: Plan, players: Sequence[Any], *, transcript: Path
) -> AttemptResult:
    """Play a match on the worker with the most free slots."""
    chosen = max(range(len(pool)), key=lambda number: pool[number].slots - busy[number])
    busy[chosen] += 1
    try:
        return await pool[chosen].play(plan, players, transcript=transcript)
    finally:
        busy[chosen] -= 1


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), partial(_open_player, int(sys.argv[2])), SandboxedBot)
