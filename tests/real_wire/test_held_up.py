"""Bots that let their time pass in ways that look as if they had been kept from running: it is their own fault.

A bot that computes for most of its time beside busy programs is the control: it is the machine's.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from referee.match.records import Judged, Verdict
from referee.sandbox.host_machine import Isolation
from tests.bad_bots.excuses import WAYS
from tests.long import mostly_slow
from tests.real_wire.held_up import WINDOWS, busy, judged

BUSY = 2 * (os.cpu_count() or 1)
"""Programs beside: on two cores four, so that a bot has half of a core."""


@pytest.fixture
def beside(request: pytest.FixtureRequest) -> Iterator[int]:
    """As many busy programs as the test asks for."""
    with busy(request.param):
        yield request.param


def found(way: str, main_ms: int, folder: Path, isolation: Isolation) -> list[Judged]:
    async def within_bounds() -> list[Judged]:
        with trio.fail_after(120):
            return await judged(way, main_ms, folder, isolation)

    return trio.run(within_bounds)


SLEEPING = (
    *("children", "nice_children", "bound_children", "idle_children", "threads", "threads_by_another_name"),
    *("low_priority", "bound", "memory", "stopped", "waits_for_a_child", "sleeps_then_works"),
)
"""Ways whose main thread does nothing: no machine is so busy that they could have been kept from answering. Of one
that works, on a machine that kept most of a window from it, nobody can tell that it had not much to compute."""


def assert_at_fault(way: str, verdicts: list[Judged]) -> None:
    """Assert that all windows were the bot's fault; of ways that work, those that were mostly let run."""
    assert len(verdicts) == WINDOWS
    clear = [each for each in verdicts if way in SLEEPING or each.evidence.withheld * 2 < each.evidence.time]
    assert {each.verdict for each in clear} <= {Verdict.BOT}, clear
    assert all(each.evidence.by_default for each in verdicts)


SOME = ("bound_children", "threads", "works_by_halves", "burnt_quota")
"""Ways that are tried in longer windows, too; `python -m tests.real_wire.held_up` tries all."""


@pytest.mark.parametrize("beside", [BUSY], indirect=True)
@pytest.mark.parametrize("way", mostly_slow(4, [way for way in WAYS if way != "among_children"]))
def test_a_bot_that_has_itself_held_up_is_at_fault(
    way: str, beside: int, isolation: Isolation, tmp_path: Path
) -> None:
    assert_at_fault(way, found(way, 300, tmp_path, isolation))


@pytest.mark.slow
@pytest.mark.alone
def test_a_bot_that_works_among_its_own_children_is_at_fault(isolation: Isolation, tmp_path: Path) -> None:
    """Beside nothing else: where others use the processors, too, nobody can tell whom it waited for."""
    assert_at_fault("among_children", found("among_children", 1_000, tmp_path, isolation))


@pytest.mark.slow
@pytest.mark.parametrize(("main_ms", "beside"), [(1_000, 0), (1_000, BUSY), (8_000, BUSY)], indirect=["beside"])
@pytest.mark.parametrize("way", SOME)
def test_a_bot_is_at_fault_in_longer_windows_too(
    way: str, main_ms: int, beside: int, isolation: Isolation, tmp_path: Path
) -> None:
    assert_at_fault(way, found(way, main_ms, tmp_path, isolation))


@pytest.mark.parametrize("beside", [BUSY], indirect=True)
@pytest.mark.parametrize(
    "main_ms", [300, *(pytest.param(each, marks=pytest.mark.slow) for each in (1_000, 8_000))]
)
def test_a_bot_that_computes_beside_busy_programs_is_not(
    main_ms: int, beside: int, isolation: Isolation, tmp_path: Path
) -> None:
    """Of windows in which it was late; a machine with free processors has none.

    The referee may have been late, too. Not of the last window: the match is over with it, and nobody knows by how
    much the bot would have been late.
    """
    verdicts = found("honest", main_ms, tmp_path, isolation)
    judged_late = [each.verdict for each in verdicts if each.number < WINDOWS - 1]
    assert Verdict.BOT not in judged_late, verdicts
