"""Margins between what a bot used and its limits."""

import pytest

from arena.submissions.verdict import MEGABYTE, margins_of
from referee.bot_folder import Limits
from referee.match import SeatReport

LIMITS = Limits(memory_mb=100, processes=10, scratch_mb=20)


def found(*reports: SeatReport, hellos_us: tuple[int, ...] = (500_000,)) -> dict[str, tuple[str, bool]]:
    margins = margins_of(reports, hellos_us, LIMITS, startup_ms=10_000, reply_ms=2_000)
    return {each.what: (each.text, each.warning) for each in margins}


def test_each_limit_has_a_margin_from_the_worst_start() -> None:
    worst = SeatReport(
        peak_bytes=71 * MEGABYTE,
        peak_processes=7,
        scratch_bytes=19 * MEGABYTE,
        worst_us=1_900_000,
        spread={"1": 1},
    )
    least = SeatReport(peak_bytes=MEGABYTE, peak_processes=3, scratch_bytes=0, worst_us=9, spread={"1": 1})
    assert {
        "start-up": ("hello after 8.9 of 10 s: close", True),
        "memory": ("used 71 of 100 MB of memory: close", True),
        "processes": ("had 7 of 10 processes and threads at once: close", True),
        "scratch": ("scratch folder held 19 of 20 MB: close", True),
        "reply": ("slowest reply after 1.9 of 2 s: close", True),
    } == found(worst, least, hellos_us=(900_000, 8_900_000))


@pytest.mark.parametrize(("processes", "is_close"), [(6, False), (7, True)])
def test_seventy_per_cent_of_a_limit_are_close(processes: int, *, is_close: bool) -> None:
    text, warns = found(SeatReport(peak_processes=processes))["processes"]
    assert (is_close, is_close) == (warns, text.endswith(": close"))


def test_what_the_machine_does_not_count_has_no_margin() -> None:
    assert {"start-up"} == found(SeatReport()).keys()
