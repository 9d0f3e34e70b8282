"""The judge: what becomes of submissions, with stand-ins for sandboxes and matches."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.errors import MachineCannot, Stopped, WrongUse
from arena.submissions import scrimmages
from arena.submissions.jobs import TOLD_AFTER, Job
from arena.submissions.judge import SAME, judge_lock
from arena.submissions.records import REPORTED
from arena.submissions.store import SubmissionRefused
from tests.arena.cups import play_cup
from tests.arena.submissions.judging import Court, begun_cup, versions


@pytest.fixture
def court(tmp_path: Path) -> Iterator[Court]:
    with closing(Court(begun_cup(tmp_path))) as court:
        yield court


def texts(court: Court, submission: object) -> list[tuple[str, str]]:
    return [(event.state, event.text) for event in court.submissions.events(submission)]  # type: ignore[arg-type]


def test_a_submission_passes_all_states_and_enters_once(court: Court, tmp_path: Path) -> None:
    found = court.submit("Red Pandas", "v1")
    court.judge_all()
    now = court.now(found)
    assert (now.state, now.entered) == ("entered", "Red Pandas")
    assert [state for state, _ in texts(court, found)] == [
        "received",
        "received",
        "unpacked",
        "built",
        "checked",
        "entered",
    ]
    verdict = now.verdict
    assert verdict is not None
    assert (verdict.passed, verdict.logs, verdict.steps[0].name) == (True, ("build.log",), "starts")
    assert [(label, before) for label, _, before in versions(tmp_path / "cup.toml")] == [("Red Pandas", None)]
    assert court.submissions.place(found) is None
    assert court.said == ["Red Pandas: entered as Red Pandas"]
    court.judge_all()
    assert len(versions(tmp_path / "cup.toml")) == 1


def test_a_later_one_is_its_next_version_and_a_bot_of_the_file_belongs_to_the_team_of_its_name(
    court: Court, tmp_path: Path
) -> None:
    for team, archive in [("Red Pandas", "v1"), ("Red Pandas", "v2"), ("a", "v3")]:
        court.submit(team, archive)
    court.judge_all()
    assert {(label, before) for label, _, before in versions(tmp_path / "cup.toml")} == {
        ("Red Pandas", None),
        ("Red Pandas v2", 2),
        ("a v2", 0),
    }


def test_what_plays_already_is_refused_kindly_and_an_earlier_version_may_come_back(court: Court) -> None:
    first = court.submit("Red Pandas", "v1")
    court.judge_all()
    again = court.submit("Red Pandas", "v1")
    court.judge_all()
    assert court.now(again).verdict is not None
    assert texts(court, again)[-1] == ("refused", SAME)
    assert court.examiner.discarded == [], "what plays is kept"
    court.submit("Red Pandas", "v2")
    court.judge_all()
    back = court.submissions.restore(court.now(first), court.member("Red Pandas"))
    court.judge_all()
    assert court.now(back).entered == "Red Pandas v3"


@pytest.mark.parametrize(
    ("team", "archive", "reason"),
    [
        ("Red Pandas", "no-archive", "has no bot.toml"),
        ("Red Pandas", "unfit", "never started: no hello in 10 s"),
        ("A", "v1", "A: looks like a: only upper and lower case differ; give it another name"),
    ],
)
def test_a_refusal_says_why(court: Court, team: str, archive: str, reason: str) -> None:
    found = court.submit(team, archive)
    court.judge_all()
    now = court.now(found)
    assert texts(court, found)[-1] == ("refused", reason)
    assert (now.state, now.counts, court.submissions.quota(now.team).in_flight) == ("refused", True, 0)
    assert court.said == [f"{team}: refused: {reason}"]
    assert len(court.examiner.discarded) == (archive == "unfit")


def test_before_the_beginning_it_waits_and_of_a_team_the_newest_enters(tmp_path: Path) -> None:
    file = begun_cup(tmp_path, begin=False)
    with closing(Court(file)) as court:
        first, second = court.submit("Red Pandas", "v1"), court.submit("Red Pandas", "v2")
        court.judge_all()
        court.judge_all()
        assert [court.now(first).state, court.now(second).state] == ["withdrawn", "checked"]
        assert texts(court, second)[-1][1] == "passed; it enters later: the competition has not begun"
        assert court.submissions.quota(court.now(first).team).in_flight == 0
        play_cup(file)
        court.judge_all()
        assert court.now(second).state == "entered"
        assert len(court.examiner.examined) == 2
    assert [label for label, _, _ in versions(file)] == ["Red Pandas"]


def test_who_was_in_time_enters_after_the_deadline_and_nobody_else(tmp_path: Path) -> None:
    file = begun_cup(tmp_path, begin=False)
    text = file.read_text().replace("[server]", "entries_until = 2999-01-01T00:00:00Z\n[server]")
    file.write_text(text)
    play_cup(file)
    with closing(Court(file)) as court:
        in_time = court.submit("Red Pandas", "v1")
        late = court.submit("Blue Whales", "v2")
        soon = "2026-01-01T00:00:00+00:00"
        court.database.update("UPDATE submissions SET created = ? WHERE id = ?", soon, in_time.id)
        court.database.update("UPDATE submissions SET created = '3000-01-01T00:00:00+00:00' WHERE id = ?", late.id)
        court.judge_all()
        assert court.now(in_time).state == "entered"
        assert texts(court, late)[-1][0] == "refused"
        assert "entries were taken until 2999-01-01" in texts(court, late)[-1][1]


def test_what_the_arena_fails_at_is_nobodys_fault_and_ends_well(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = court.submit("Red Pandas", "v1")
    troubles: list[Exception] = [
        MachineCannot("no sandbox at /secret"),
        OSError(28, "No space left on device", "/secret"),
        WrongUse("cup.toml:1: game: gone"),
        RuntimeError("a fault"),
    ]
    start = court.examiner.start

    def fail(*args: object) -> None:
        if troubles:
            raise troubles.pop()
        start(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(court.examiner, "start", fail)
    court.judge_all()
    now = court.now(found)
    assert (now.state, now.counts, now.failure) == ("entered", False, "")
    said = [text for _, text in texts(court, found)]
    assert sum("does not count against your quota" in text for text in said) == 4
    assert not any("secret" in text for text in said)
    assert court.said[:2] == [
        "Red Pandas: not judged, and tried again: RuntimeError('a fault')",
        "Red Pandas: not judged, and tried again: cup.toml:1: game: gone",
    ]


def test_an_upload_that_the_disk_has_lost_or_changed_is_the_arenas_failure(court: Court) -> None:
    lost, changed = court.submit("Red Pandas", "v1"), court.submit("Blue Whales", "v2")
    court.store.remove(lost.upload)
    court.store.path(changed.upload).write_text("another")
    court.judge_all()
    assert {"received"} == {court.now(each).state for each in (lost, changed)}
    assert "is no longer what was received" in court.now(changed).failure
    with court.store.begin() as part:
        part.write(b"v1")
        part.finish()
    court.submissions.retry(lost, court.member("Red Pandas"))
    court.judge_all()
    assert "entered" == court.now(lost).state


def test_who_passed_and_cannot_be_entered_is_on_the_hosts_desk_until_it_is(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of the arena's")

    found = court.submit("Red Pandas", "v1")
    with monkeypatch.context() as patched:
        patched.setattr(court.judge, "_write", fail)
        for attempt in range(1, TOLD_AFTER + 1):
            court.judge_all()
            assert (attempt == TOLD_AFTER) == bool(court.submissions.in_trouble())
    assert "checked" == court.now(found).state
    assert (REPORTED, False) == (texts(court, found)[-1][1], "fault" in str(texts(court, found)))
    court.judge_all()
    assert ("entered", []) == (court.now(found).state, court.submissions.in_trouble())


def test_transcripts_of_practice_are_kept_of_the_latest_and_of_those_that_are_not_over(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrimmages, "KEPT", 1)
    court.submit("Red Pandas", "v1")
    court.judge_all()
    mia = court.member("Red Pandas")
    asked = [court.scrimmages.ask(mia, ["mist_random"], 1) for _ in range(3)]
    for each in asked:
        court.scrimmages.folder(each).mkdir(parents=True)
    court.database.update("UPDATE scrimmages SET state = 'played' WHERE id != ?", asked[0].id)
    assert 1 == court.scrimmages.remove_old()
    assert [True, False, True] == [court.scrimmages.folder(each).exists() for each in asked]


def test_on_a_busy_machine_one_practice_match_a_minute_is_played(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    court.submit("Red Pandas", "v1")
    court.judge_all()
    court.scrimmages.ask(court.member("Red Pandas"), ["mist_random"], 2)
    played: list[Job] = []

    def play(job: Job) -> None:
        played.append(job)
        court.submissions.put_back(job)

    monkeypatch.setattr(court.judge._scrimmages, "play", play)
    monkeypatch.setattr(os, "getloadavg", lambda: (1e6, 1e6, 1e6))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    court.judge._practised = now
    for seconds, count in ((59, 0), (1, 1), (59, 1), (1, 2)):
        now += seconds
        court.judge.work()
        assert count == len(played)


def test_a_signal_stops_the_judge_and_the_job_waits(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    found = court.submit("Red Pandas", "v1")

    def stop(*args: object) -> None:
        raise Stopped(15)

    with monkeypatch.context() as patched:
        patched.setattr(court.examiner, "start", stop)
        with pytest.raises(Stopped):
            court.judge_all()
    assert (court.now(found).counts, court.now(found).attempts) == (True, 0)
    court.judge_all()
    assert court.now(found).state == "entered"


def test_withdrawn_while_it_is_judged_it_does_not_enter(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    found = court.submit("Red Pandas", "v1")
    build = court.examiner.build

    def withdraw(*args: object) -> None:
        court.submissions.withdraw(found, court.member("Red Pandas"))
        build(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(court.examiner, "build", withdraw)
    court.judge_all()
    assert court.now(found).state == "withdrawn"
    assert not court.examiner.examined


def test_a_bot_that_competes_is_withdrawn_and_may_come_back(court: Court, tmp_path: Path) -> None:
    mia = court.member("Red Pandas")
    with pytest.raises(SubmissionRefused, match="no bot that competes"):
        court.competition.withdraw(court.submissions, mia)
    found = court.submit("Red Pandas", "v1")
    court.judge_all()
    court.competition.withdraw(court.submissions, mia)
    assert court.now(found).state == "withdrawn"
    assert "Red Pandas" not in court.competition.competitors()
    back = court.submit("Red Pandas", "v1")
    court.judge_all()
    assert court.now(back).state == "entered"
    assert "Red Pandas" in court.competition.competitors()


def test_there_is_one_judge_at_a_time(court: Court, tmp_path: Path) -> None:
    with judge_lock(court.competition.server), pytest.raises(WrongUse, match="another judge is at work"):
        court.judge_all()
    with judge_lock(court.competition.server):
        done = CliRunner().invoke(main, ["judge", str(tmp_path / "cup.toml"), "--once"])
    assert (done.exit_code, "another judge is at work" in done.stderr) == (2, True)


def test_a_clock_that_is_set_back_changes_no_order(court: Court) -> None:
    first = court.submit("Red Pandas", "v1")
    clock = court.database._clock
    assert clock is not None
    wall = clock._wall
    clock._wall = lambda: wall() - timedelta(days=2)
    second = court.submit("Blue Whales", "v2")
    assert second.created >= first.created
    court.judge_all()
    times = [event.at for found in (first, second) for event in court.submissions.events(found)]
    assert min(times) == first.created
    assert [court.now(found).state for found in (first, second)] == ["entered", "entered"]


def test_the_host_gets_a_notice_once_when_the_arena_fails_again_and_again(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names neither files of this machine nor words of the bot."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "/srv/arena/secret")

    submission = court.submit("Red Pandas", "v1")
    monkeypatch.setattr(court.examiner, "start", fail)
    for _ in range(TOLD_AFTER - 1):
        court.judge.work()
    assert [] == court.notices
    for _ in range(3):
        court.judge.work()
    (notice,) = court.notices
    assert ("judging", "cup", "Red Pandas", TOLD_AFTER) == (
        notice.event,
        notice.tournament,
        notice.bot,
        notice.count,
    )
    assert "cup: Red Pandas: not judged in 5 attempts: see the host's page" == notice.text
    assert not court.now(submission).counts
