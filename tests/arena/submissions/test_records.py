"""Submissions: received once, counted, withdrawn, restored and kept by a rule."""

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from arena.config import ServerTerms
from arena.submissions.records import REPORTED
from arena.submissions.store import SubmissionRefused
from tests.arena.submissions.servers import MEGABYTE, Server, hash_of


def refusal(server: Server, team: str = "Red Pandas", content: bytes = b"x") -> SubmissionRefused:
    account = server.member(team, "Ada")
    with pytest.raises(SubmissionRefused) as caught:
        server.submit(account, content)
    return caught.value


def judge_all(server: Server, state: str = "refused") -> None:
    """End all waiting submissions."""
    while (job := server.submissions.jobs.take("judge")) is not None:
        assert server.submissions.advance(job.subject, state, "judged", ends=True, cpu_ms=5)  # type: ignore[arg-type]


def test_a_submission_is_recorded_with_its_job_and_its_first_event(server: Server) -> None:
    mia = server.member()
    receipt = server.submissions.receive(mia, server.upload(b"bot"), "../\x1bevil.zip", note="faster\x1b[2J")
    found = receipt.submission
    assert (found.state, found.bot, found.team_name, found.account_name) == (
        "received",
        "Red Pandas",
        "Red Pandas",
        "Mia",
    )
    assert (found.upload, found.size, found.counts) == (hash_of(b"bot"), 3, True)
    assert "\x1b" not in found.note + found.filename
    assert [(event.state, event.text) for event in server.submissions.events(found)] == [("received", "received")]
    place = server.submissions.place(found)
    assert place is not None
    assert place.text == "1st of 1"
    assert server.submissions.by_public(found.public) == found
    assert server.submissions.counts_by_state()["received"] == 1


def test_the_same_request_is_one_submission(server: Server) -> None:
    mia = server.member()
    upload = server.upload(b"bot")
    first = server.submissions.receive(mia, upload, "a.zip", request="key")
    again = server.submissions.receive(mia, upload, "a.zip", request="key")
    assert (first.repeated, again.repeated) == (False, True)
    assert first.submission.id == again.submission.id
    with pytest.raises(SubmissionRefused, match="another upload"):
        server.submissions.receive(mia, server.upload(b"other"), "a.zip", request="key")
    other = server.submissions.receive(server.member("Blue Whales"), upload, "a.zip", request="key")
    assert not other.repeated
    assert len(server.submissions.all()) == 2


def test_an_upload_that_waits_is_not_queued_twice_and_a_judged_one_is_named(server: Server) -> None:
    mia = server.member()
    first = server.submit(mia)
    again = server.submissions.receive(mia, server.upload(b"bot"), "b.zip")
    assert (again.repeated, again.same_as) == (True, first.public)
    judge_all(server)
    third = server.submissions.receive(mia, server.upload(b"bot"), "b.zip")
    assert (third.repeated, third.same_as) == (False, first.public)
    assert server.submissions.events(third.submission)[0].text.startswith("received; the same archive as that of ")


def test_a_day_and_the_queue_have_quotas(tmp_path: Path) -> None:
    terms = ServerTerms(submissions_per_day=3, in_flight=2)
    with closing(Server(tmp_path, terms)) as server:
        mia = server.member()
        server.submit(mia, b"1")
        server.submit(mia, b"2")
        caught = refusal(server)
        assert "2 submissions of yours are not judged yet" in caught.text
        assert caught.why == "quota"
        judge_all(server)
        server.submit(mia, b"3")
        judge_all(server)
        caught = refusal(server)
        assert "all of today's are used" in caught.text
        assert caught.retry_after is not None
        assert 0 < caught.retry_after <= 86_401
        assert server.submissions.quota(mia.team or 0).used_today == 3
        server.submit(server.member("Blue Whales"), b"4")


def test_a_new_day_begins_at_midnight_of_the_databases_clock(tmp_path: Path) -> None:
    with closing(Server(tmp_path, ServerTerms(submissions_per_day=1))) as server:
        mia = server.member()
        server.submit(mia, b"1")
        judge_all(server)
        refusal(server)
        day = server.database.after(-86_400)
        server.database.update("UPDATE submissions SET created = ?", day)
        server.submit(mia, b"2")


def test_what_the_arena_fails_at_is_tried_again_and_counts_against_no_quota(tmp_path: Path) -> None:
    with closing(Server(tmp_path, ServerTerms(submissions_per_day=2, in_flight=1))) as server:
        mia = server.member()
        found = server.submit(mia, b"1")
        for attempt in range(1, 6):
            job = server.submissions.jobs.take("judge")
            assert job is not None
            assert job.attempts == attempt
            told = server.submissions.fail(found.id, "no space on /secret/path")
            assert told is (attempt == 5)
            with server.database.change():
                server.database.update("UPDATE jobs SET not_before = NULL")
        now = server.submissions.by_id(found.id)
        assert now is not None
        assert (now.state, now.counts) == ("received", False)
        texts = [event.text for event in server.submissions.events(found)]
        assert "the host is told" in texts[-1]
        assert not any("/secret" in text for text in texts)
        (entry, *_) = server.accounts.audit_log()
        assert entry.action == "judge failed"
        quota = server.submissions.quota(mia.team or 0)
        assert (quota.used_today, quota.in_flight) == (0, 0)
        server.submit(mia, b"2")


def test_without_a_verdict_for_an_hour_the_host_and_the_team_are_told_once(tmp_path: Path) -> None:
    with closing(Server(tmp_path, ServerTerms(submissions_per_day=1))) as server:
        mia, host = server.member(), server.accounts.accept(server.accounts.invite(None), "Hana")
        found = server.submit(mia, b"1")
        server.submit(server.member("Blue Whales"), b"2")
        server.database.update("UPDATE jobs SET created = ? WHERE subject = ?", "2020-01-01T00:00:00", found.id)
        server.submissions.pause(host, paused=True)
        assert [] == server.submissions.report_late()
        server.submissions.pause(host, paused=False)
        assert [] == server.submissions.report_late()
        server.database.update("UPDATE audit SET at = ?", "2020-01-01T00:00:00")
        assert [found.id] == [each.id for each in server.submissions.report_late()]
        assert [] == server.submissions.report_late()
        now = server.submissions.by_id(found.id)
        assert now is not None
        assert (False, True) == (now.counts, "no verdict after 60 min" in now.failure)
        assert REPORTED == server.submissions.events(found)[-1].text
        assert "judge failed" == server.accounts.audit_log()[0].action
        assert [found.id] == [each.id for each in server.submissions.in_trouble()]
        assert server.submissions.jobs.take("judge") is not None
        server.submit(mia, b"3")


def test_when_none_is_late_nothing_is_written(tmp_path: Path) -> None:
    with (
        closing(Server(tmp_path, ServerTerms())) as server,
        closing(sqlite3.connect(server.database.path, isolation_level=None)) as other,
    ):
        server.submit(server.member(), b"1")
        other.execute("BEGIN IMMEDIATE")
        assert [] == server.submissions.report_late()


def test_a_failed_job_waits_longer_each_time(server: Server) -> None:
    found = server.submit(server.member())
    pauses = []
    for _ in range(6):
        server.database.update("UPDATE jobs SET not_before = NULL")
        assert server.submissions.jobs.take("judge") is not None
        server.submissions.fail(found.id, "why")
        due = datetime.fromisoformat(server.database.value("SELECT not_before FROM jobs"))
        pauses.append(round((due - datetime.fromisoformat(server.database.now())).total_seconds()))
        assert server.submissions.jobs.take("judge") is None
    assert pauses == [1, 10, 60, 600, 3600, 3600]


def test_a_waiting_submission_can_be_withdrawn_and_one_that_is_entered_cannot(server: Server) -> None:
    mia = server.member()
    found = server.submit(mia)
    server.submissions.withdraw(found, mia)
    assert server.submissions.jobs.take("judge") is None
    assert not server.submissions.advance(found.id, "unpacked", "late judge")
    with pytest.raises(SubmissionRefused, match="too late"):
        server.submissions.withdraw(found, mia)
    other = server.submit(mia, b"2")
    assert server.submissions.begin_entry(other.id, "{}")
    with pytest.raises(SubmissionRefused, match="too late"):
        server.submissions.withdraw(other, mia)
    assert not server.submissions.begin_entry(found.id, "{}")


def test_an_earlier_version_comes_back_and_does_not_count(server: Server) -> None:
    mia = server.member()
    first = server.submit(mia, b"1")
    judge_all(server, "entered")
    server.submit(mia, b"2")
    judge_all(server, "entered")
    back = server.submissions.restore(first, mia)
    assert (back.upload, back.restores, back.counts) == (first.upload, first.id, False)
    assert server.submissions.quota(mia.team or 0).used_today == 2
    with pytest.raises(SubmissionRefused, match="not your team's"):
        server.submissions.restore(first, server.member("Blue Whales"))
    server.store.remove(first.upload)
    with pytest.raises(SubmissionRefused, match="removed"):
        server.submissions.restore(first, mia)


def test_earlier_versions_come_back_as_often_per_day_as_new_ones(tmp_path: Path) -> None:
    with closing(Server(tmp_path, ServerTerms(submissions_per_day=2))) as server:
        mia = server.member()
        found = server.submit(mia)
        for _ in range(2):
            server.submissions.withdraw(server.submissions.restore(found, mia), mia)
        with pytest.raises(SubmissionRefused, match="2 times per day") as caught:
            server.submissions.restore(found, mia)
        assert caught.value.why == "quota"
        server.submit(mia, b"2")


def test_after_the_deadline_nothing_is_received(tmp_path: Path) -> None:
    until = ["2999-01-01T00:00:00+00:00"]
    with closing(Server(tmp_path, entries_until=lambda: until[0])) as server:
        mia = server.member()
        found = server.submit(mia)
        judge_all(server, "entered")
        until[0] = "2020-01-01T00:00:00+02:00"
        caught = refusal(server)
        assert (caught.why, caught.text) == ("closed", "entries were taken until 2020-01-01T00:00:00+02:00")
        with pytest.raises(SubmissionRefused, match="entries were taken"):
            server.submissions.restore(found, mia)


def test_uploads_are_kept_by_the_rule(tmp_path: Path) -> None:
    with closing(Server(tmp_path, ServerTerms(versions_kept=2, in_flight=9))) as server:
        mia = server.member()
        plays = server.submit(mia, b"plays")
        judge_all(server, "entered")
        old = [server.submit(mia, bytes([number])) for number in range(3)]
        judge_all(server)
        waits = server.submit(mia, b"waits")
        lost = server.upload(b"never recorded")
        young = server.upload(b"arrives")
        for each in [plays, *old, waits]:
            os.utime(server.store.path(each.upload), (0, 0))
        os.utime(server.store.path(lost.hash), (0, 0))
        logs = {each.id: server.submissions.logs / each.public for each in [plays, *old, waits]}
        for folder in logs.values():
            folder.mkdir(parents=True)
        assert server.submissions.remove_old() == 2
        assert [old[0].id] == [id_ for id_, folder in logs.items() if not folder.exists()]
        there = {path.name for path in (tmp_path / "uploads").glob("??/*")}
        assert there == {plays.upload, old[1].upload, old[2].upload, waits.upload, young.hash}
        gone = server.submissions.by_id(old[0].id)
        assert gone is not None
        assert gone.removed
        server.database.update("UPDATE submissions SET changed = ? WHERE state = 'refused'", "2020-01-01")
        assert server.submissions.remove_old() == 2


def test_a_team_has_so_much_disk_and_no_more(tmp_path: Path) -> None:
    with closing(Server(tmp_path, ServerTerms(disk_mb=2, versions_kept=2, in_flight=9))) as server:
        mia = server.member()
        server.submit(mia, bytes(MEGABYTE))
        caught = refusal(server, content=bytes(MEGABYTE + 1))
        assert "your uploads would take 2 MB, and a team has 2 MB" in caught.text
        server.submit(server.member("Blue Whales"), bytes(MEGABYTE + 1))


def test_the_host_pauses_refuses_and_retries(server: Server) -> None:
    host = server.accounts.accept(server.accounts.invite(None), "Hana")
    found = server.submit(server.member())
    server.submissions.pause(host, paused=True)
    assert server.submissions.jobs.take("judge") is None
    assert server.submissions.queue().paused
    server.submissions.pause(host, paused=False)
    job = server.submissions.jobs.take("judge")
    assert job is not None
    server.submissions.fail(found.id, "why")
    server.submissions.retry(found, host)
    assert server.submissions.jobs.take("judge") is not None
    server.submissions.refuse(found, host, "a copy\x1b of another bot")
    assert server.submissions.events(found)[-1].text == r"refused by the host: a copy\x1b of another bot"
    assert [entry.action for entry in server.accounts.audit_log(count=4)] == [
        "submission refused",
        "submission tried again",
        "judge goes on",
        "judge paused",
    ]


def test_logs_are_read_by_their_names_alone(server: Server) -> None:
    found = server.submit(server.member())
    folder = server.submissions.logs / found.public
    folder.mkdir(parents=True)
    (folder / "build.log").write_bytes(b"\x1b[2Jerror")
    (folder.parent / "secret").write_text("secret")
    assert server.submissions.log_names(found) == ["build.log"]
    assert server.submissions.log(found, "build.log") == b"\x1b[2Jerror"
    for name in ("../secret", "/etc/passwd", "..", "", "other"):
        assert server.submissions.log(found, name) is None
