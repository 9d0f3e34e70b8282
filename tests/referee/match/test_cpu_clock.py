"""The clock that counts processor time (docs/timing.md): its edges, pauses, a late referee; all of it replayed."""

from typing import Any

import pytest
import trio
import trio.testing

from protocol.codec import encode
from protocol.messages import Opened
from referee.match.records import Cpu, Woke
from referee.match.terms import ClockTable, Policy
from referee.transcript.replayer import replay
from tests.referee.match.test_clock_kinds import A_MS, C3, G7, NOTHING, closed_at, left
from tests.referee.transcript.test_replayer import header
from tests.referee.virtual import Bot, Play, Played, after, answering, play, set_up
from tests.referee.virtual_cores import Cores

SECOND = ClockTable(kind="cpu", main_ms=1_000)
"""A second of processor time a move, in ten seconds at most."""
BANK = ClockTable(kind="cpu", main_ms=1_000, reserve_ms=2_000)
LOOK = 0.025
"""How late it may be seen that nothing will come in time, in seconds."""


async def counted(
    clock: ClockTable, cores: Cores, bot: Play, *extra: Any, turns: int = 1, policy: Policy | None = None
) -> Played:
    """Return a match of `turns` turns of seat 0, against a bot that answers at once; it is replayed."""
    options = {"first": 0, "max_turns": 2 * turns - 1}
    variant = "heaven-and-hell"
    played = set_up(2, variant=variant, options=options, clock=clock, cpu=cores.read, policy=policy or Policy())
    await play(played, [bot, after(0, NOTHING)], *(lambda task=task: task(played) for task in extra))
    replayed = replay([header(played), *played.records])
    assert encode(played.match.ended) == encode(replayed.match.ended)
    return played


def working(cores: Cores, work: float, sleep: float = 0.0, *, threads: int = 1, action: Any = C3) -> Play:
    """Return a bot that computes and sleeps for these seconds of a window, and submits."""

    async def script(bot: Bot, window: Opened) -> None:
        cores.work(0, threads)
        await trio.sleep(work)
        cores.rest(0)
        await trio.sleep(sleep)
        bot.submit(window.id, action)

    return answering(script)


class TestMainTime:
    @pytest.mark.parametrize(
        ("work", "sleep", "expected"),
        [
            (1 - A_MS, 0, (False, 999, 0)),
            (1, 0, (True, 1_000, 0)),
            (1 + A_MS, 0, (True, 1_000, 0)),
            (1 - A_MS, 5, (False, 999, 0)),
            (0.5, 6, (False, 650, 0)),
            (0.25, 9.75 - A_MS, (False, 999, 0)),
            (0.25, 9.75, (True, 1_000, 0)),
            (0.25, 9.75 + A_MS, (True, 1_000, 0)),
        ],
    )
    async def test_processor_time_counts_or_a_tenth_of_the_wall_where_that_is_more(
        self, work: float, sleep: float, expected: tuple[bool, int, int], autojump_clock: object
    ) -> None:
        cores = Cores(2)
        assert [expected] == left(await counted(SECOND, cores, working(cores, work, sleep)))

    async def test_two_cores_use_it_up_in_half_the_time(self, autojump_clock: object) -> None:
        for work, by_default in ((0.5 - A_MS, False), (0.5, True)):
            cores = Cores(2, cores=2)
            played = await counted(SECOND, cores, working(cores, work, threads=2))
            assert by_default is played.closed(0)[0].by_default

    async def test_a_bot_that_works_on_is_seen_to_be_out_of_time(self, autojump_clock: object) -> None:
        cores = Cores(2)
        played = await counted(SECOND, cores, working(cores, 50))
        assert 1 <= closed_at(played) <= 1 + LOOK
        assert [(True, 1_000, 0)] == left(played)

    async def test_a_bot_that_works_half_the_time_has_twice_as_long(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def script(bot: Bot, window: Opened) -> None:
            while True:
                cores.work(0)
                await trio.sleep(0.1)
                cores.rest(0)
                await trio.sleep(0.1)

        played = await counted(SECOND, cores, answering(script))
        assert 1.9 <= closed_at(played) <= 1.9 + LOOK

    async def test_a_bot_that_sleeps_ends_on_the_walls_limit(self, autojump_clock: object) -> None:
        cores = Cores(2)
        played = await counted(SECOND, cores, working(cores, 0, 100))
        assert 10 == closed_at(played)
        assert 20 > sum(isinstance(record, Cpu) for record in played.records)

    async def test_a_sleeper_that_has_hardly_any_time_left_is_not_looked_at_all_the_time(
        self, autojump_clock: object
    ) -> None:
        cores = Cores(2)
        played = await counted(SECOND, cores, working(cores, 1 - A_MS, 100))
        assert 10 == closed_at(played)
        assert 400 > sum(isinstance(record, Cpu) for record in played.records)
        assert 1 == sum(isinstance(record, Woke) for record in played.records)

    async def test_the_submission_at_the_end_of_the_time_is_the_action(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def script(bot: Bot, window: Opened) -> None:
            cores.work(0)
            await trio.sleep(0.3)
            bot.submit(window.id, C3, final=False)
            await trio.sleep(0.7)
            bot.submit(window.id, G7, final=False)

        played = await counted(SECOND, cores, answering(script))
        assert [(C3, 300)] == [(closed.taken, closed.charged_ms) for closed in played.closed(0)]
        assert 1 <= closed_at(played) <= 1 + LOOK

    async def test_fixed_pacing_takes_the_walls_whole_limit(self, autojump_clock: object) -> None:
        cores = Cores(2)
        played = await counted(SECOND, cores, working(cores, 0.2), policy=Policy(pacing="fixed"))
        assert (10, [(False, 200, 0)]) == (closed_at(played), left(played))

    async def test_thinking_while_it_owes_nothing_costs_nothing(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def script(bot: Bot, window: Opened) -> None:
            await trio.sleep(0.1)
            bot.submit(window.id, NOTHING)
            cores.work(0)

        async def slow(bot: Bot, window: Opened) -> None:
            await trio.sleep(5)
            bot.submit(window.id, NOTHING)

        options = {"first": 0, "max_turns": 3}
        played = set_up(2, variant="heaven-and-hell", options=options, clock=SECOND, cpu=cores.read)
        await play(played, [answering(script), answering(slow)])
        assert [10, 100] == [closed.charged_ms for closed in played.closed(0)]


class TestReserve:
    async def test_the_first_submission_in_reserve_is_taken_at_once(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def script(bot: Bot, window: Opened) -> None:
            cores.work(0)
            await trio.sleep(1.5)
            bot.submit(window.id, C3, final=False)

        played = await counted(BANK, cores, answering(script))
        assert (1.5, [(False, 1_500, 1_500)]) == (closed_at(played), left(played))

    @pytest.mark.parametrize(
        ("work", "expected"), [(3 - A_MS, (False, 2_999, 1)), (3, (True, 3_000, 0)), (3.001, (True, 3_000, 0))]
    )
    async def test_it_ends_when_it_is_used(
        self, work: float, expected: tuple[bool, int, int], autojump_clock: object
    ) -> None:
        cores = Cores(2)
        assert [expected] == left(await counted(BANK, cores, working(cores, work)))

    async def test_a_budget_with_increments_counts_processor_time_too(self, autojump_clock: object) -> None:
        cores = Cores(2)
        clock = ClockTable(kind="cpu", budget_ms=1_000, increment_ms=100)
        played = await counted(clock, cores, working(cores, 0.4, 2, action=NOTHING), turns=4)
        assert [(False, 400, 700), (False, 400, 400), (True, 400, 100), (True, 100, 100)] == left(played)

    async def test_a_bot_is_told_its_limit_on_the_wall(self, autojump_clock: object) -> None:
        cores = Cores(2)
        clock = ClockTable(kind="cpu", main_ms=1_000, wall_factor=3)
        played = await counted(clock, cores, working(cores, 0, 3))
        assert b'"pacing":"prompt","kind":"cpu","wall_factor":3}' == encode(played.welcome(0).clock)[-47:]
        assert [(True, 1_000, 0)] == left(played)


class TestPauses:
    async def test_work_in_a_pause_costs_nothing(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def operator(played: Played) -> None:
            await trio.sleep(0.5)
            played.host.order(pause=True)
            await trio.sleep(30)
            played.host.order(pause=False)

        for work, expected in ((30.999, (False, 999, 0)), (31, (True, 1_000, 0))):
            cores = Cores(2)
            assert [expected] == left(await counted(SECOND, cores, working(cores, work), operator))

    async def test_work_in_a_pause_is_not_taken_for_work_before_or_after_it(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def script(bot: Bot, window: Opened) -> None:
            await trio.sleep(0.6)
            cores.work(0)
            await trio.sleep(20)
            cores.rest(0)
            await trio.sleep(10)
            bot.submit(window.id, C3)

        async def operator(played: Played) -> None:
            await trio.sleep(0.5)
            played.host.order(pause=True)
            await trio.sleep(29)
            played.host.order(pause=False)

        # 1.6 s on the wall, of which the bot worked none.
        assert [(False, 160, 0)] == left(await counted(SECOND, cores, answering(script), operator))

    async def test_rest_in_a_pause_costs_nothing_either(self, autojump_clock: object) -> None:
        cores = Cores(2)

        async def operator(played: Played) -> None:
            await trio.sleep(1)
            played.host.order(pause=True)
            await trio.sleep(100)
            played.host.order(pause=False)

        played = await counted(SECOND, cores, working(cores, 0.5, 100.5 + 9 - A_MS), operator)
        assert [(False, 999, 0)] == left(played)


class TestALateReferee:
    async def stalled(self, arrived: float, woken: float, clock: trio.testing.MockClock) -> Played:
        """A bot works all the time; what it submits is read by a referee that wakes only later."""
        cores = Cores(2)

        async def script(bot: Bot, window: Opened) -> None:
            cores.work(0)
            opened = trio.current_time()
            await trio.sleep(0.25)
            clock.jump(woken - 0.25)
            message = f'{{"type":"submit","window":{window.id},"action":{{"cells":["C3"]}}}}'
            bot.line.say(message.encode(), at=opened + arrived)

        return await counted(SECOND, cores, answering(script))

    async def test_work_after_the_submission_arrived_is_not_charged(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        assert [(False, 500, 0)] == left(await self.stalled(0.5, 2, autojump_clock))

    async def test_a_submission_that_arrived_in_time_counts_even_if_the_time_is_used_since(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        assert [(False, 999, 0)] == left(await self.stalled(1 - A_MS, 5, autojump_clock))

    async def test_a_submission_that_arrived_too_late_is_late(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        assert [(True, 1_000, 0)] == left(await self.stalled(1 + A_MS, 5, autojump_clock))
