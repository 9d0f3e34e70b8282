"""What many matches' reports come to, by bot: causes grouped, counts added, and no more kept than is bounded."""

from typing import Any

import pytest

from arena.statistics.standings import CountedMatch
from arena.statistics.summary import AT_ONCE, MOST_KINDS, BotReport, Reported, reports_of
from protocol.refusals import Conduct
from referee.match.seat_report import Complaint, SeatReport, percentile, spread_of
from tests.arena.stand_in import outcome

MEMORY = "killed: memory over 256 MB"


def match(block: int, report: SeatReport, conduct: Conduct = Conduct.OK, **given: Any) -> Reported:
    """Return a match of bot 0 in seat 1 against bot 1, without any problem."""
    played = CountedMatch(
        block=block,
        seating=0,
        entrants=(1, 0),
        outcome=outcome((0,), (1,)),
        conduct=(Conduct.OK, conduct),
        charged_us=(1, 1),
        windows=(19, 19),
        defaults=(0, 0),
        refused=(0, given.get("refused", 0)),
    )
    return Reported(played, (SeatReport(), report), f"{block:05}a.jsonl")


def of(*matches: Reported) -> BotReport:
    found, other = reports_of(2, matches)
    assert (len(matches), 0, "") == (other.matches, other.lost, other.log)
    return found


def test_equal_causes_are_counted_the_most_frequent_first_with_the_latest_log() -> None:
    crash = SeatReport(loss="it exited with code 1", last_line="ValueError: J9 (bot.py:21)")
    found = of(
        match(0, SeatReport(loss=MEMORY), Conduct.CRASHED),
        match(1, crash, Conduct.CRASHED),
        match(2, SeatReport(loss=MEMORY), Conduct.CRASHED),
        match(3, SeatReport()),
    )
    assert (4, 3, "00002a.seat-1.log") == (found.matches, found.lost, found.log)
    assert [(MEMORY, 2, ""), (crash.loss, 1, crash.last_line)] == [
        (loss.cause, loss.matches, loss.last_line) for loss in found.losses
    ]


def test_the_cause_for_a_bot_that_never_started_is_its_last_line() -> None:
    error = "SyntaxError: invalid syntax (bot.py:21)"
    broken = SeatReport(loss="it exited with code 1", last_line=error)
    (loss,) = of(match(0, broken, Conduct.NEVER_STARTED), match(1, broken, Conduct.NEVER_STARTED)).losses
    assert (error, True, 2, "00001a.seat-1.log") == (loss.cause, loss.never_started, loss.matches, loss.log)


def test_measured_numbers_do_not_part_causes_and_exit_codes_do() -> None:
    slow = [
        SeatReport(loss=f"no hello in 2 s ({used} s of processor time used)") for used in ("1.9", "0.8", "10.5")
    ]
    (loss,) = of(*(match(block, each) for block, each in enumerate(slow))).losses
    assert "no hello in 2 s (0.8 to 10.5 s of processor time used)" == loss.cause
    assert 2 == len(of(*(match(code, SeatReport(loss=f"exit code {code}")) for code in (0, 1))).losses)


def test_reports_come_to_the_same_whether_they_are_added_up_one_by_one_or_many_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = (
        SeatReport(late=1, worst_late_us=7, spread=spread_of([100, 7]), worst_us=101, last_line="first"),
        SeatReport(cpu_us=4, peak_bytes=3, spread=spread_of([9]), printed="a", printed_windows=2),
        SeatReport(cpu_us=5, loss=MEMORY, last_line="lost", stuck_at="bot.py:4", answers_at_once=2),
        SeatReport(closed_for="too much", stuck_at="bot.py:5", printed="b", last_line="last"),
    )
    matches = [match(block, kinds[block % len(kinds)]) for block in range(2 * AT_ONCE + 4)]
    many = of(*matches)
    monkeypatch.setattr("arena.statistics.summary.AT_ONCE", 1)
    assert of(*matches) == many
    assert 2 * AT_ONCE + 4 == many.matches
    assert ("last", "bot.py:4", "a") == (many.total.last_line, many.total.stuck_at, many.total.printed)


def test_counts_are_added_and_worsts_kept() -> None:
    found = of(
        match(0, SeatReport(late=3, worst_late_us=9, spread=spread_of([100]), worst_us=101, peak_bytes=5)),
        match(
            1, SeatReport(late=1, worst_late_us=7, spread=spread_of([10] * 98), worst_us=10, cpu_us=4), refused=1
        ),
        match(2, SeatReport(asked_default=2, fallbacks=1, cpu_us=5, peak_bytes=4)),
    )
    total = found.total
    assert (57, 1, 4, 9, 2, 1, 101, 9, 5) == (
        found.windows, found.refused, total.late, total.worst_late_us, total.asked_default,
        total.fallbacks, total.worst_us, total.cpu_us, total.peak_bytes,
    )  # fmt: skip
    assert (10, 99) == (round(percentile(total.spread, 0.5) or 0), sum(total.spread.values()))


def test_values_that_were_never_counted_stay_unknown() -> None:
    total = of(match(0, SeatReport()), match(1, SeatReport())).total
    assert (None, None) == (total.cpu_us, total.peak_bytes)


def test_kinds_are_bounded_and_what_is_beyond_them_is_still_counted() -> None:
    found = of(
        *(
            match(n, SeatReport(loss=f"cause {n}", complaints=(Complaint("illegal", f"cell {n}", 2),)), refused=2)
            for n in range(2 * MOST_KINDS)
        )
    )
    assert (2 * MOST_KINDS, 4 * MOST_KINDS) == (found.lost, found.refused)
    assert (MOST_KINDS, MOST_KINDS) == (len(found.losses), len(found.total.complaints))
