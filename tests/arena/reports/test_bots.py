"""What is said of bots below a table: causes in words, the worst first, bounded, and where the log is."""

from pathlib import Path
from typing import Any

import pytest

from arena.quantities import Table
from arena.reports.standings import MOST_BOTS, USAGE, megabytes, note, notes, reports_json
from arena.statistics.summary import BotReport, Loss
from referee.match.seat_report import Complaint, SeatReport, spread_of

LOG = "00001a.seat-1.log"


def lost(cause: str, matches: int, **given: Any) -> Loss:
    rest: dict[str, Any] = {"never_started": False, "last_line": "", "log": LOG}
    return Loss(cause=cause, matches=matches, **rest | given)


def report(*losses: Loss, matches: int = 14, **total: Any) -> BotReport:
    all_lost = sum(loss.matches for loss in losses)
    return BotReport(
        matches=matches, windows=190, lost=all_lost, losses=losses, total=SeatReport(**total), log=LOG
    )


NEVER = report(lost("SyntaxError: invalid syntax (bot.py:21)", 14, never_started=True))
KILLED = report(lost("killed: memory over 256 MB", 3), late=87, worst_late_us=406_000)
GOOD = BotReport(matches=14, windows=190)


def test_the_worst_bot_is_first_and_a_good_one_is_not_named() -> None:
    late = report(late=18, worst_late_us=406_000)
    assert [
        f"head: never started in 14 of 14 matches: SyntaxError: invalid syntax (bot.py:21); log: {LOG}",
        f"eater: killed: memory over 256 MB in 3 of 14 matches; 87 of 190 windows late, worst 406 ms; log: {LOG}",
        f"late: 18 of 190 windows late, worst 406 ms; log: {LOG}",
    ] == notes(("late", "good", "eater", "head"), (late, GOOD, KILLED, NEVER))


def test_there_is_no_note_if_nothing_went_wrong() -> None:
    assert [] == notes(("a", "b"), (GOOD, GOOD))


def test_the_first_causes_and_bots_are_named_and_the_rest_counted() -> None:
    many = report(*(lost(f"cause {n}", 10 - n) for n in range(8)), matches=99)
    assert ["cause 2 in 8 of 99 matches", "lost for other causes in 25 of 99 matches (--json)"] == note(many)[2:4]
    said = notes([f"bot {n}" for n in range(MOST_BOTS + 3)], [NEVER] * (MOST_BOTS + 3))
    assert (MOST_BOTS + 1, "and 3 more bots: --json") == (len(said), said[-1])


def test_refusals_of_rarer_kinds_are_counted_together() -> None:
    complaints = tuple(Complaint("illegal", f"unknown cell J{n}", 9 - n) for n in range(5))
    said = note(BotReport(matches=1, windows=9, refused=40, total=SeatReport(complaints=complaints), log=LOG))
    assert said[0].startswith("40 messages refused: unknown cell J0 (9 times); unknown cell J1 (8 times); ")
    assert said[0].endswith("; others (16 times)")


def test_the_last_line_of_the_latest_loss_is_told_once() -> None:
    error = "ValueError: J9 (bot.py:3)"
    assert (
        f"its last line of output: {error}" == note(report(lost("it exited with code 1", 1, last_line=error)))[1]
    )
    assert 2 == len(note(report(lost(error, 1, last_line=error, never_started=True))))


def test_a_log_that_is_not_there_is_not_named(tmp_path: Path) -> None:
    assert not note(NEVER, tmp_path)[-1].startswith("log: ")
    (tmp_path / LOG).touch()
    assert f"log: {tmp_path / LOG}" == note(NEVER, tmp_path)[-1]
    far = report(lost("gone", 1, log="s3://cup/00001a.seat-1.log"))
    assert "log: s3://cup/00001a.seat-1.log" == note(far, tmp_path)[-1]
    assert 1 == len(note(report(lost("gone", 1, log="x" * 5_000)), tmp_path))


def test_unknown_usage_is_a_dash() -> None:
    known = SeatReport(
        spread=spread_of([1_000] * 99 + [9_000]), worst_us=9_000, cpu_us=2_500_000, peak_bytes=3 << 20
    )
    assert [
        ("1.0 ms", "1.0 ms", "9.0 ms", "2.5 s", "3.0 MB"),
        ("-", "-", "-", "-", "-"),
    ] == Table(USAGE, (known, SeatReport())).cells()


@pytest.mark.parametrize(("count", "text"), [(0, "0.0 MB"), (10 << 20, "10 MB"), (3 << 30, "3,072 MB")])
def test_memory_in_megabytes(count: int, text: str) -> None:
    assert text == megabytes(count)


def test_programs_get_every_cause_and_the_words(tmp_path: Path) -> None:
    found = reports_json(("head", "good"), (KILLED, GOOD), tmp_path)
    head = found["head"]
    assert ["killed: memory over 256 MB in 3 of 14 matches", "87 of 190 windows late, worst 406 ms"] == head[
        "said"
    ]
    assert (14, 3, 87, 406_000) == (head["matches"], head["lost"], head["late"], head["worst_late_us"])
    (loss,) = head["losses"]
    assert ("killed: memory over 256 MB", 3, None) == (loss["cause"], loss["matches"], loss["log"])
    assert ([], {"p50": None, "p99": None, "worst": None}) == (found["good"]["said"], found["good"]["window_us"])
