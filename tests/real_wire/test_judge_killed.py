"""The judge is killed twenty times under its supervisor: each submission is judged to its end, and enters once."""

import io
import os
import signal
import sys
import tarfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
import trio
from msgspec import Struct

from arena.portal import supervisor
from arena.portal.supervisor import ServerProcess, Supervisor, read_reports
from arena.submissions import ENDED, State
from referee.bot_folder import BUILT_IN
from referee.log import SILENT
from tests.arena.submissions.judging import Court, begun_cup, versions
from tests.real_wire.processes import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
TEAMS = ("Red Pandas", "Blue Whales", "Grey Wolves", "Green Frogs", "Black Cats", "White Owls")
KILLS = 20
MOST_KILLS = 2
"""Maximum kills while one submission is judged: with more, it would wait for minutes until the next attempt."""
KILLED_AT: tuple[State, ...] = ("received", "unpacked", "built", "checked")
"""States at whose events the judge is killed; the event with which it begins has the first."""

NEW_EVENTS = """
    SELECT id, submission, state FROM submission_events WHERE id > ? AND text != 'received' ORDER BY id
"""


class Event(Struct, frozen=True):
    """A step of a submission."""

    id: int
    submission: int
    state: State


def archive(number: int) -> bytes:
    """Return a bot that is like no other; each second one never starts."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        for path in sorted((BUILT_IN / "mist_random").glob("bot.*")):
            content = path.read_bytes()
            if path.suffix == ".py":
                content = content + b"# %d\n" % number if is_good(number) else b"raise SystemExit(%d)\n" % number
            info = tarfile.TarInfo(path.name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return made.getvalue()


def is_good(number: int) -> bool:
    return number % 2 == 0


def moment(submission: int, kills: int) -> State:
    """Return the state at which the judge is killed next: another one for each submission and each time."""
    states = len(KILLED_AT) if is_good(submission) else len(KILLED_AT) - 1
    return KILLED_AT[(submission // 2 + kills) % states]


async def kill_judge(court: Court) -> int:
    """Kill the judge at the moments of each submission until all are over; return how often it was killed."""
    killed = Counter[int]()
    last = 0
    while not all(each.is_over for each in court.submissions.all()):
        query = (
            "SELECT id, submission, state FROM submission_events WHERE id > ? AND text != 'received' ORDER BY id"
        )
        for event in court.database.rows(Event, query, last):
            last, kills = event.id, killed[event.submission]
            is_enough = kills >= MOST_KILLS or killed.total() >= KILLS
            if event.state != moment(event.submission, kills) or is_enough:
                continue
            (report,) = read_reports(court.competition.server)
            if report.pid is not None:
                os.kill(report.pid, signal.SIGKILL)
                killed[event.submission] += 1
        await trio.sleep(0.02)
    return killed.total()


def test_killed_twenty_times_the_judge_loses_nothing_and_does_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)  # Bots of root run as others.
    for pause in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(supervisor, pause, 0.1)
    file = begun_cup(tmp_path)
    judge = ServerProcess("judge", (sys.executable, "-m", "arena", "judge", str(file)))

    async def supervise(court: Court) -> int:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Supervisor([judge], court.competition.server, SILENT).run)
            with trio.fail_after(PATIENCE_SECONDS):
                kills = await kill_judge(court)
            nursery.cancel_scope.cancel()
        return kills

    with closing(Court(file)) as court:
        number = 0
        for _ in range(2):
            for team in TEAMS:
                number += 1
                assert number == court.submit(team, archive(number)).id
        assert KILLS <= trio.run(supervise, court)
        for each in court.submissions.all():
            assert ("entered" if is_good(each.id) else "refused") == each.state, each
            states = [event.state for event in court.submissions.events(each)]
            assert 1 == sum(states.count(state) for state in ENDED)
        assert (0, 0) == (court.submissions.queue().waiting, court.submissions.queue().in_work)
        assert number // 2 == len({content for _, content, _ in versions(file)}) == len(versions(file))
