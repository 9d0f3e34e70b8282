"""Time and memory in a regression test: what a block says, how tests end together, going on, pages' history."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from arena.regression.model import Regression, SeatUse, history_of, ratio_of, uses_of
from arena.statistics.sprt import SprtVerdict
from protocol.refusals import Conduct
from referee.host.plan import AttemptResult, Plan
from referee.match.seat_report import SeatReport
from tests.arena.ledgers import OpenLedger
from tests.arena.regression.test_run import asked, playing
from tests.arena.stand_in import outcome, result


class Uses:
    """Head wins all, or nothing; and uses so many times what base uses."""

    def __init__(self, *, time: float = 1.0, memory: float = 1.0, wins: bool = True) -> None:
        self._times = {"time": time, "memory": memory}
        self._wins = wins
        self.played = 0

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        await trio.lowlevel.checkpoint()
        self.played += 1
        head = players.index("head")
        reports = tuple(
            SeatReport(
                cpu_us=5_000 + round(1_000 * (self._times["time"] if seat == head else 1)),
                start_cpu_us=5_000,
                peak_bytes=round(1_000 * (self._times["memory"] if seat == head else 1)),
            )
            for seat in (0, 1)
        )
        won = head if self._wins else 1 - head
        made = replace(result(plan, players, transcript), outcome=outcome((won,), (1 - won,)))
        return replace(made, reports=reports, windows=(10, 10), conduct=(Conduct.OK,) * 2)


def limited(folder: Path, **given: Any) -> Regression:
    return asked(folder, **{"slower": 1.2, **given})


def test_a_head_that_is_better_and_slower_is_rejected_as_soon_as_that_is_sure(tmp_path: Path) -> None:
    found = playing(limited(tmp_path), Uses(time=1.5))
    assert (SprtVerdict.REJECTED, SprtVerdict.UNDECIDED, 7) == (found.verdict, found.state.verdict, found.blocks)
    assert (1.5, SprtVerdict.REJECTED) == (
        round((found.usage[0].ratio or (0,))[0], 2),
        found.usage[0].state.verdict,
    )


def test_a_head_that_is_worse_is_rejected_though_its_time_is_well(tmp_path: Path) -> None:
    found = playing(limited(tmp_path), Uses(time=1.0, wins=False))
    assert (SprtVerdict.REJECTED, SprtVerdict.REJECTED, SprtVerdict.ACCEPTED) == (
        found.verdict,
        found.state.verdict,
        found.usage[0].state.verdict,
    )


def test_all_tests_must_accept(tmp_path: Path) -> None:
    found = playing(limited(tmp_path, larger=2.0), Uses(time=1.1, memory=1.9))
    assert (SprtVerdict.ACCEPTED, ["time", "memory"]) == (
        found.verdict,
        [each.limit.resource for each in found.usage],
    )
    assert [7, 7] == [each.state.blocks for each in found.usage]


def test_a_test_that_was_stopped_knows_the_times_of_what_was_played(tmp_path: Path) -> None:
    first = playing(limited(tmp_path / "parts", blocks=4), Uses(time=1.5))
    again = Uses(time=1.5)
    second = playing(limited(tmp_path / "parts", blocks=9), again)
    assert (SprtVerdict.UNDECIDED, SprtVerdict.REJECTED) == (first.verdict, second.verdict)
    assert second == playing(limited(tmp_path / "whole", blocks=9), Uses(time=1.5))
    assert again.played <= 2 * (9 - 4)


def test_pages_find_the_same_from_the_ledger(tmp_path: Path, open_ledger: OpenLedger) -> None:
    for name, uses in (("slow", Uses(time=1.5)), ("well", Uses()), ("worse", Uses(wins=False))):
        found = playing(limited(tmp_path / name), uses, concurrency=4)
        ledger = open_ledger(tmp_path / name / "ledger.sqlite")
        reports = {(match.block, match.seating): seats for match, seats, _ in ledger.reports()}
        history = history_of(ledger.terms(), ledger.results(), reports)
        assert history.decided
        assert (found.verdict, found.usage, found.blocks) == (
            history.verdict,
            history.usage,
            len(history.differences),
        )


def test_a_test_without_measurements_gives_up_undecided(tmp_path: Path) -> None:
    class Unmeasured(Uses):
        async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
            return replace(await super().__call__(plan, players, transcript=transcript), reports=())

    found = playing(limited(tmp_path), Unmeasured())
    assert (SprtVerdict.UNDECIDED, SprtVerdict.ACCEPTED, None) == (
        found.verdict,
        found.state.verdict,
        found.usage[0].ratio,
    )


def test_the_start_up_is_no_time_of_a_move_and_a_bot_that_was_lost_has_none() -> None:
    report = SeatReport(cpu_us=9_000, start_cpu_us=4_000, peak_bytes=7)
    use, lost = uses_of((report, report), (10, 10), (Conduct.OK, Conduct.CRASHED))
    assert (SeatUse(500.0, 7), SeatUse()) == (use, lost)
    assert () == uses_of((), (10, 10), (Conduct.OK, Conduct.OK))
    assert SeatUse(None, None) == uses_of((SeatReport(),), (10,), (Conduct.OK,))[0]


def test_a_block_compares_mean_times_and_the_most_memory() -> None:
    base, head = [SeatUse(100.0, 10), SeatUse(300.0, 20)], [SeatUse(500.0, 30), SeatUse(100.0, 5)]
    assert (1.5, 1.5) == (ratio_of(base, head, "time"), ratio_of(base, head, "memory"))
    assert None is ratio_of([*base, SeatUse()], head, "time")
    assert None is ratio_of([SeatUse(0.0, 0)], head, "memory")
