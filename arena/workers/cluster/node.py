"""A process on a machine of a cluster that keeps a pool there for one arena, and passes on orders and answers.

Run as `python -m arena.workers.cluster.node SOCKET SLOTS` by `node_line`. A process of its own, because a pool
ends all that are its process's children, and because matches are not to wait for what else a Dask worker does. It
ends, and its pool with it, when the socket is hung up, also because the process at the other end was killed.
"""

import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from arena.workers.api import Play, Worker
from arena.workers.capacity import shares
from arena.workers.pool import open_pool
from arena.workers.worker import serve
from referee.host import Plan, Result, SandboxedBot


@asynccontextmanager
async def _venue(slots: int) -> AsyncIterator[Play[Any]]:
    """One referee process for each core, as on the arena's own machine."""
    async with open_pool(shares(slots, concurrency=slots, workers=None)) as pool:
        yield partial(_play, pool, Counter())


async def _play(
    pool: Sequence[Worker[Any]], busy: Counter[int], plan: Plan, players: Sequence[Any], *, transcript: Path
) -> Result:
    """Has a match played by the worker with the most free slots."""
    chosen = max(range(len(pool)), key=lambda number: pool[number].slots - busy[number])
    busy[chosen] += 1
    try:
        return await pool[chosen].play(plan, players, transcript=transcript)
    finally:
        busy[chosen] -= 1


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), partial(_venue, int(sys.argv[2])), SandboxedBot)
