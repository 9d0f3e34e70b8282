"""A seat whose bot is debugged: its clock stands, the others' run, and the transcript is proved."""

import pytest
import trio
from msgspec import UNSET
from msgspec.structs import replace

from protocol.games.mist import Turn
from protocol.messages import Closed
from protocol.refusals import Conduct
from referee.match.records import SeatTime, WindowTime
from referee.match.terms import ClockTable, Policy
from referee.transcript.replayer import Differs, replay
from tests.referee.host.retold import whole
from tests.referee.virtual import Bot, Played, after, mist, silent

FIRST, SECOND = {"cells": ["C3"]}, {"cells": ["F4"]}
HOURS = 10 * 3_600
MAIN_MS = 60_000


def parts(played: Played, seat: int) -> list[SeatTime]:
    windows = [record for record in played.records if isinstance(record, WindowTime)]
    return [part for window in windows for part in window.seats if part.seat == seat]


async def late_hello(bot: Bot) -> None:
    await trio.sleep(HOURS)
    await after(HOURS, FIRST)(bot)


@pytest.mark.parametrize("pacing", ["prompt", "fixed"])
async def test_its_start_and_its_windows_have_no_end_and_cost_nothing(pacing: str, autojump_clock: object) -> None:
    played = await mist(late_hello, after(1, SECOND), debugged=[0], policy=Policy(pacing=pacing))  # type: ignore[arg-type]
    (mine,) = parts(played, 0)
    assert (Turn(cells=("C3",)), False, 0) == (mine.taken, mine.by_default, mine.charged_ms)
    assert MAIN_MS * 1_000 == mine.deadline - mine.opened
    assert [Conduct.OK] * 2 == [seat.conduct for seat in played.match.seats]
    assert trio.current_time() > 2 * HOURS


async def test_the_others_clocks_run_as_always(autojump_clock: object) -> None:
    played = await mist(after(HOURS, FIRST), silent, debugged=[0], max_turns=4)
    assert [(True, MAIN_MS)] * 2 == [(part.by_default, part.charged_ms) for part in parts(played, 1)]


@pytest.mark.parametrize(
    "clock",
    [
        ClockTable(main_ms={"first": 0, "turn": 0}, reserve_ms=5_000),
        ClockTable(main_ms={"first": 1_000, "turn": 1_000}, reserve_ms=5_000, increment_ms=100),
    ],
)
async def test_its_reserve_is_not_used(clock: ClockTable, autojump_clock: object) -> None:
    played = await mist(after(HOURS, FIRST), after(0, SECOND), debugged=[0], clock=clock)
    (closed,) = played.bots[0].all_of(Closed)
    assert (False, 0) == (closed.by_default, closed.charged_ms)
    assert closed.reserve_ms >= clock.reserve_ms


async def test_without_it_the_same_bot_takes_the_default(autojump_clock: object) -> None:
    played = await mist(after(HOURS, FIRST), after(1, SECOND))
    assert [True] == [part.by_default for part in parts(played, 0)]


async def test_a_replay_proves_its_transcript_and_not_one_that_hides_it(autojump_clock: object) -> None:
    played = await mist(after(HOURS, FIRST), after(1, SECOND), debugged=[0])
    header, *records = whole(played)
    replayed = replay([header, *records])
    assert (True, None) == (replayed.header.bots[0].debugged, replayed.match.ended and replayed.match.ended.void)
    hidden = tuple(replace(bot, debugged=UNSET) for bot in header.bots)  # type: ignore[union-attr]
    with pytest.raises(Differs):
        replay([replace(header, bots=hidden), *records])
