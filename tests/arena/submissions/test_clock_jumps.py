"""The machine's clock is set forward or back: what a server holds by its own time, and how it goes on."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from arena.accounts import Database
from arena.sqlite_file import RecordClock, uptime, wall_time
from arena.submissions.store import SubmissionRefused
from tests.arena.submissions.servers import Server

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Machine:
    """A machine's clock, which can be set; and how long it runs."""

    def __init__(self) -> None:
        self.set_by = self.passed = timedelta(0)

    def watch(self, database: Database) -> None:
        """Let a database, which was just opened, read this clock."""
        latest = database.value(database.latest)
        database._clock = RecordClock(
            latest,
            wall=lambda: wall_time() + self.set_by + self.passed,
            elapsed=lambda: uptime() + self.passed,
            tell=lambda _: None,
        )


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def watched(tmp_path: Path, machine: Machine) -> Iterator[Server]:
    with closing(Server(tmp_path / "server")) as server:
        machine.watch(server.database)
        yield server


def reopened(server: Server, machine: Machine) -> Server:
    """Return the server as a process sees it that was started now."""
    again = Server(server.database.path.parent)
    machine.watch(again.database)
    return again


def test_set_back_no_order_changes_and_nothing_lasts_longer_than_by_that(
    watched: Server, machine: Machine
) -> None:
    mia = watched.member()
    session = watched.accounts.open_session(mia)
    first = watched.submit(mia, b"first")
    machine.set_by = -2 * DAY
    with closing(reopened(watched, machine)) as again:
        second = again.submit(mia, b"second")
        assert second.created >= first.created
        assert 2 == again.submissions.quota(mia.team or 0).used_today
        assert mia == again.accounts.session(session)
        machine.passed += 30 * DAY - machine.set_by
        assert again.accounts.session(session) is None


def test_set_back_a_job_that_failed_waits_its_pause_and_no_longer(watched: Server, machine: Machine) -> None:
    submission = watched.submit(watched.member())
    jobs = watched.submissions.jobs
    assert jobs.take("judge") is not None
    machine.set_by = -2 * DAY
    watched.submissions.fail(submission.id, "a trouble")
    assert jobs.take("judge") is None
    machine.passed += timedelta(minutes=1)
    assert jobs.take("judge") is not None


def test_set_forward_and_put_right_the_server_goes_on_with_times_that_are_ahead(
    watched: Server, machine: Machine
) -> None:
    """Sessions that were over by then stay over; everything else can be had anew."""
    mia = watched.member()
    session = watched.accounts.open_session(mia)
    key = watched.accounts.new_token(mia, "laptop", "sign-in")
    machine.set_by = 60 * DAY
    late = watched.submit(mia, b"first")
    assert watched.accounts.session(session) is None
    machine.set_by = timedelta(0)
    with closing(reopened(watched, machine)) as again:
        assert again.accounts.token(key) is not None
        assert again.accounts.session(again.accounts.open_session(mia)) == mia
        machine.passed += HOUR
        after = again.submit(mia, b"second")
        assert after.created >= late.created
        machine.passed += DAY
        assert 0 == again.submissions.quota(mia.team or 0).used_today


def test_set_forward_a_deadline_is_over_until_the_host_extends_it(tmp_path: Path, machine: Machine) -> None:
    until = [(wall_time() + DAY).isoformat()]
    with closing(Server(tmp_path / "server", entries_until=lambda: until[0])) as server:
        machine.watch(server.database)
        mia = server.member()
        server.submit(mia, b"in time")
        machine.set_by = 2 * DAY
        with pytest.raises(SubmissionRefused, match="entries were taken until"):
            server.submit(mia, b"late")
        machine.set_by = timedelta(0)
        with pytest.raises(SubmissionRefused, match="entries were taken until"):
            server.submit(mia, b"late")
        until[0] = (wall_time() + 3 * DAY).isoformat()
        assert "received" == server.submit(mia, b"late").state


def test_an_upload_whose_record_is_being_written_stays_however_the_clock_was_set(
    watched: Server, machine: Machine
) -> None:
    watched.member()
    machine.set_by = 2 * DAY
    watched.accounts.audit("anything", "", None, None)
    machine.set_by = timedelta(0)
    upload = watched.upload(b"bot")
    assert 0 == watched.submissions.remove_old()
    assert watched.store.path(upload.hash).exists()
    old = time.time() - 2 * HOUR.total_seconds()
    os.utime(watched.store.path(upload.hash), (old, old))
    assert 1 == watched.submissions.remove_old()
