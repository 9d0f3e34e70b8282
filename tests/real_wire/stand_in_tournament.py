"""A tournament of stand-ins as a process of its own, to be killed: FILE on the command line, JSON on output.

Its workers are this same program, called as `arena.workers.worker` is.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import trio

from arena.workers import worker
from arena.workers.api import PlayMatch, Worker
from arena.workers.pool import open_pool
from referee.host.plan import AttemptResult, Plan
from tests.arena.stand_in import result
from tests.real_wire.processes import SLOW

LUCK = Random()
MODULE = "tests.real_wire.stand_in_tournament"


async def play_for_a_moment(plan: Plan, players: object, *, transcript: Path) -> AttemptResult:
    """Take up to 30 ms (or 3 s), so that matches end in another order each time."""
    slow = os.environ.get(SLOW)
    await trio.sleep(LUCK.uniform(0, 3 if slow and Path(slow).exists() else 0.03))
    return result(plan, players, transcript)  # type: ignore[arg-type]


@asynccontextmanager
async def venue() -> AsyncIterator[PlayMatch[str]]:
    """Nothing is shared."""
    yield play_for_a_moment


def crew(matches: int) -> AbstractAsyncContextManager[list[Worker[Any]]]:
    """Two workers."""
    del matches
    return open_pool([2, 2], (sys.executable, "-m", MODULE))


def main() -> None:
    """Plays the file's tournament.

    Whoever kills workers may hit one match any number of times: where starts are slow, more than once a start.
    """
    # Here: its workers, of which many are killed and started again, need none of it.
    import msgspec  # noqa: PLC0415

    from arena.config.tournament_file import TournamentFile, read_tournament, results_of  # noqa: PLC0415
    from arena.pages.report import write_beside  # noqa: PLC0415
    from arena.reports.tournament import results_json  # noqa: PLC0415
    from arena.tournament import runner  # noqa: PLC0415
    from arena.tournament.entries import copies_of_file  # noqa: PLC0415
    from arena.tournament.run import TournamentRun  # noqa: PLC0415
    from referee.bot_folder.strict_toml import read_toml  # noqa: PLC0415

    runner.INTERRUPTIONS = sys.maxsize
    file = Path(sys.argv[1])
    kept = copies_of_file(results_of(file, read_toml(file, TournamentFile)), withdrawn_only=True)
    tournament = read_tournament(file, kept)
    results = TournamentRun(
        tournament,
        tournament.labels,
        crew,
        write_reports=write_beside,
        enlist=lambda changed: (changed.labels, crew),
    ).play(fresh=False)
    sys.stdout.buffer.write(msgspec.json.encode(results_json(results.tournament, results)))


if sys.argv[1].isdecimal():
    worker.main(venue, str)
else:
    main()
