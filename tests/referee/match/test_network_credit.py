"""What a remote bot is credited for the network, in each of its windows: seat 0 gets 300 ms."""

import pytest

from protocol.messages import Accepted, Rejected
from protocol.refusals import Refusal
from tests.referee.virtual import Played, after, play, set_up

CREDIT_US = 300_000
C3 = {"cells": ["C3"]}
A_MS = 0.001


async def played(first: float, second: float) -> Played:
    """One turn each, answered after so many seconds."""
    match = set_up(2, options={"first": 0, "max_turns": 2}, credit_us=CREDIT_US)
    return await play(match, [after(first, C3), after(second, {"cells": ["G7"]})])


@pytest.mark.parametrize(("took", "charged_ms"), [(0.1, 0), (0.3, 0), (1.3, 1_000)])
async def test_so_much_is_not_charged(took: float, charged_ms: int, autojump_clock: object) -> None:
    match = await played(took, took)
    mine, others = match.closed(0)[-1], match.closed(1)[-1]
    assert (charged_ms, round(1_000 * took)) == (mine.charged_ms, others.charged_ms)


async def test_a_window_ends_so_much_later_and_no_later(autojump_clock: object) -> None:
    in_time = await played(60.3 - A_MS, 1)
    assert not in_time.closed(0)[-1].by_default
    late = await played(60.3 + A_MS, 1)
    assert late.closed(0)[-1].by_default
    assert [Refusal.LATE] == [each.reason for each in late.bots[0].all_of(Rejected)]
    assert [] == late.bots[0].all_of(Accepted)


async def test_another_seat_gains_nothing(autojump_clock: object) -> None:
    late = await played(1, 60 + A_MS)
    assert late.closed(1)[-1].by_default
