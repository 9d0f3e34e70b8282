"""The kinds of clock (docs/timing.md), each at a millisecond before and after its edges, in virtual time."""

import pytest
import trio
import trio.testing

from protocol.codec import encode
from protocol.messages import Closed, Opened
from referee.match.terms import ClockTable, Policy
from referee.transcript.replayer import replay
from tests.referee.transcript.test_replayer import header
from tests.referee.virtual import Bot, Play, Played, after, answering, play, set_up, silent

A_MS = 0.001
CELLS = ("A1", "A3", "A5", "C1", "C3", "C5", "C7", "G1", "G3", "G5")
NOTHING: dict[str, list[str]] = {"cells": []}
C3, G7 = {"cells": ["C3"]}, {"cells": ["G7"]}

SUDDEN_DEATH = ClockTable(budget_ms=10_000)
FISCHER = ClockTable(budget_ms=10_000, increment_ms=100)
SIMPLE = ClockTable(budget_ms=1_000, delay_ms=500)
BRONSTEIN = ClockTable(budget_ms=1_000, delay="bronstein", delay_ms=500)
FIXED = ClockTable(main_ms=1_000)


def taking(*seconds: float) -> Play:
    """Return a bot that answers its n-th window after the n-th number of seconds, with a cell of its own."""

    async def script(bot: Bot, window: Opened) -> None:
        await trio.sleep(seconds[window.id])
        bot.submit(window.id, {"cells": [CELLS[window.id]]})

    return answering(script)


async def timed(clock: ClockTable, bot: Play, turns: int = 1, policy: Policy | None = None) -> Played:
    """Return a replayed match of `turns` turns of seat 0 under a clock, against a bot that answers at once."""
    options = {"first": 0, "max_turns": 2 * turns - 1}
    variant = "heaven-and-hell"
    played = set_up(2, variant=variant, options=options, clock=clock, policy=policy or Policy())
    await play(played, [bot, after(0, NOTHING)])
    replayed = replay([header(played), *played.records])
    assert encode(played.match.ended) == encode(replayed.match.ended)
    return played


def left(played: Played) -> list[tuple[bool, int, int]]:
    """Of seat 0's windows: whether by default, what was charged, what is left of the budget."""
    return [(closed.by_default, closed.charged_ms, closed.reserve_ms) for closed in played.closed(0)]


def closed_at(played: Played) -> float:
    """When seat 0's first window closed, in seconds."""
    return next(round(at, 6) for at, heard in played.bots[0].heard if isinstance(heard, Closed))


class TestSuddenDeath:
    async def test_all_windows_use_one_budget(self, autojump_clock: object) -> None:
        played = await timed(SUDDEN_DEATH, taking(4, 5, 0.5), turns=3)
        assert [(False, 4_000, 6_000), (False, 5_000, 1_000), (False, 500, 500)] == left(played)

    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [(10 - A_MS, (False, 9_999, 1)), (10, (True, 10_000, 0)), (10 + A_MS, (True, 10_000, 0))],
    )
    async def test_it_ends_with_the_budget(
        self, seconds: float, expected: tuple[bool, int, int], autojump_clock: object
    ) -> None:
        assert [expected] == left(await timed(SUDDEN_DEATH, taking(seconds)))

    async def test_without_any_left_defaults_are_taken_at_once(self, autojump_clock: object) -> None:
        played = await timed(SUDDEN_DEATH, taking(11, 0, 0), turns=3)
        assert [(True, 10_000, 0), (True, 0, 0), (True, 0, 0)] == left(played)
        assert 10 == round(played.bots[0].heard[-1][0], 6)

    async def test_a_submission_is_taken_at_once_be_it_called_final_or_not(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            await trio.sleep(2)
            bot.submit(window.id, C3, final=False)
            await trio.sleep(1)
            bot.submit(window.id, G7)

        played = await timed(SUDDEN_DEATH, answering(script))
        assert [(C3, 2_000)] == [(closed.taken, closed.charged_ms) for closed in played.closed(0)]
        assert 2 == closed_at(played)

    async def test_a_bot_is_told_no_main_time_and_what_is_left_as_reserve(self, autojump_clock: object) -> None:
        played = await timed(SUDDEN_DEATH, taking(4, 0), turns=2)
        told = [(opened.main_ms, opened.reserve_ms) for opened in played.bots[0].all_of(Opened)]
        assert [(0, 10_000), (0, 6_000)] == told
        assert ({"first": 0, "turn": 0}, 10_000) == (
            played.welcome(0).clock.main_ms,
            played.welcome(0).clock.reserve_ms,
        )

    async def test_coming_back_a_bot_is_told_what_is_left_by_then(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            if bot.all_of(Opened)[1:]:
                return
            await trio.sleep(3)
            bot.hello()
            await trio.sleep(1)
            bot.submit(window.id, C3)

        played = await timed(SUDDEN_DEATH, answering(script))
        assert [10_000, 7_000] == [opened.reserve_ms for opened in played.bots[0].all_of(Opened)]
        assert [(False, 4_000, 6_000)] == left(played)

    async def test_a_pause_costs_no_budget(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            await trio.sleep(1)
            bot.pause()
            await trio.sleep(31)
            bot.submit(window.id, C3)

        policy = Policy(pauses=1, pause_ms=30_000)
        assert [(False, 2_000, 8_000)] == left(await timed(SUDDEN_DEATH, answering(script), policy=policy))


class TestIncrement:
    async def test_it_is_added_after_each_window(self, autojump_clock: object) -> None:
        played = await timed(FISCHER, taking(3, 0.1, 0), turns=3)
        assert [(False, 3_000, 7_100), (False, 100, 7_100), (False, 0, 7_200)] == left(played)

    async def test_a_budget_that_ran_out_has_the_increment_in_the_next_window(
        self, autojump_clock: object
    ) -> None:
        played = await timed(FISCHER, taking(11, 0.1 - A_MS, 0.101), turns=3)
        assert [(True, 10_000, 100), (False, 99, 101), (True, 101, 100)] == left(played)

    async def test_it_may_be_added_to_a_reserve_beside_main_time(self, autojump_clock: object) -> None:
        clock = ClockTable(main_ms=1_000, reserve_ms=500, increment_ms=100)
        played = await timed(clock, taking(0.5, 1.6 - A_MS, 0), turns=3)
        assert [(False, 500, 600), (False, 1_599, 101), (False, 0, 201)] == left(played)


class TestSimpleDelay:
    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [
            (0.5 - A_MS, (False, 499, 1_000)),
            (0.5, (False, 500, 1_000)),
            (0.5 + A_MS, (False, 501, 999)),
            (1.5 - A_MS, (False, 1_499, 1)),
            (1.5, (True, 1_500, 0)),
            (1.5 + A_MS, (True, 1_500, 0)),
        ],
    )
    async def test_the_budget_runs_after_the_delay(
        self, seconds: float, expected: tuple[bool, int, int], autojump_clock: object
    ) -> None:
        assert [expected] == left(await timed(SIMPLE, taking(seconds)))

    async def test_every_window_has_the_whole_delay_and_unused_time_is_lost(self, autojump_clock: object) -> None:
        played = await timed(SIMPLE, taking(2, 0.1, 0.5 - A_MS, 0.5), turns=4)
        assert [(True, 1_500, 0), (False, 100, 0), (False, 499, 0), (True, 500, 0)] == left(played)


class TestBronsteinDelay:
    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [
            (0.5 - A_MS, (False, 499, 1_000)),
            (0.5, (False, 500, 1_000)),
            (0.5 + A_MS, (False, 501, 999)),
            (1 - A_MS, (False, 999, 501)),
            (1, (True, 1_000, 500)),
            (1 + A_MS, (True, 1_000, 500)),
        ],
    )
    async def test_used_time_is_returned_up_to_the_delay(
        self, seconds: float, expected: tuple[bool, int, int], autojump_clock: object
    ) -> None:
        assert [expected] == left(await timed(BRONSTEIN, taking(seconds)))

    async def test_no_window_ends_with_more_than_it_began_with(self, autojump_clock: object) -> None:
        played = await timed(BRONSTEIN, taking(0.1, 0.7, 0.3, 0), turns=4)
        assert [1_000, 800, 800, 800] == [reserve for _, _, reserve in left(played)]


class TestFixedTimeAMove:
    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [(1 - A_MS, (False, 999, 0)), (1, (True, 1_000, 0)), (1 + A_MS, (True, 1_000, 0))],
    )
    async def test_a_table_leaves_nothing_of_the_variants_own_reserve(
        self, seconds: float, expected: tuple[bool, int, int], autojump_clock: object
    ) -> None:
        assert [expected] == left(await timed(FIXED, taking(seconds)))

    async def test_windows_may_have_times_of_their_own(self, autojump_clock: object) -> None:
        clock = ClockTable(main_ms={"first": 5_000, "turn": 2_000})
        played = set_up(2, options={"max_turns": 1, "first": "choose"}, clock=clock)
        await play(played, [silent, silent])
        told = [(opened.window, opened.main_ms) for bot in played.bots for opened in bot.all_of(Opened)]
        assert {("first", 5_000), ("turn", 2_000)} == set(told)


async def test_a_wall_clocks_terms_are_spelled_as_before_there_were_kinds(autojump_clock: object) -> None:
    played = await timed(FIXED, taking(0))
    assert (
        b'{"main_ms":{"first":1000,"turn":1000},"reserve_ms":0,"pauses":0,"pause_ms":10000,"pacing":"prompt"}'
        == encode(played.welcome(0).clock)
    )


async def test_bots_are_told_the_kind_of_clock(autojump_clock: object) -> None:
    told = (await timed(FISCHER, taking(0))).welcome(0).clock
    assert b'"pacing":"prompt","increment_ms":100}' == encode(told)[-37:]
    told = (await timed(BRONSTEIN, taking(0))).welcome(0).clock
    assert b'"pacing":"prompt","bronstein_ms":500}' == encode(told)[-37:]
