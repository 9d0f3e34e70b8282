"""The rules of time (docs/timing.md), each under trio's virtual clock: the referee as it is, no real waiting."""

import pytest
import trio
import trio.testing

from protocol.messages import Accepted, Closed, Opened, Over, Paused, Rejected, Resumed
from protocol.refusals import Refusal
from referee.match.records import WindowTime
from referee.match.terms import Policy
from referee.wire.line import MemoryLine
from tests.referee.virtual import Bot, Play, after, answering, mist, play, set_up, silent

HEAVEN = "heaven-and-hell"
C3, G7, E5 = {"cells": ["C3"]}, {"cells": ["G7"]}, {"cells": ["E5"]}
NOTHING: dict[str, list[str]] = {"cells": []}
A_MS = 0.001


def steps(*moves: tuple[float, object]) -> Play:
    """Return a bot that submits non-final actions (None: an undo) at these seconds of each window."""

    async def script(bot: Bot, window: Opened) -> None:
        start = trio.current_time()
        for at, action in moves:
            await trio.sleep_until(start + at)
            if action is None:
                bot.undo(window.id)
            else:
                bot.submit(window.id, action, final=False)

    return answering(script)


async def test_at_a_deadline_all_lines_are_heard_out_together(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What brings in one's frames may bring in another's: in turn, the second's would be stamped late."""
    said = []

    async def settle(_line: MemoryLine) -> None:
        said.append("begins")
        await trio.sleep(A_MS)
        said.append("has ended")

    monkeypatch.setattr(MemoryLine, "settle", settle)
    await mist(silent, silent, max_turns=1)
    assert ["begins", "begins", "has ended", "has ended"] == said


class TestMainTime:
    async def test_a_submission_one_ms_before_main_time_ends_counts(self, autojump_clock: object) -> None:
        played = await mist(after(60 - A_MS, C3), silent)
        closed = played.closed(0)[0]
        assert (C3, False, 59_999) == (closed.taken, closed.by_default, closed.charged_ms)

    async def test_a_submission_one_ms_after_main_time_is_late_where_there_is_no_reserve(
        self, autojump_clock: object
    ) -> None:
        played = await mist(after(60 + A_MS, C3), after(5, G7))
        closed = played.closed(0)[0]
        assert (E5, True, 60_000) == (closed.taken, closed.by_default, closed.charged_ms)
        assert [Refusal.LATE] == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]

    async def test_a_submission_exactly_at_the_end_is_late(self, autojump_clock: object) -> None:
        played = await mist(after(60, C3), silent)
        assert E5 == played.closed(0)[0].taken

    async def test_the_last_of_several_submissions_is_taken_when_main_time_ends(
        self, autojump_clock: object
    ) -> None:
        played = await mist(steps((1, C3), (2, {"cells": ["A1"]}), (59, G7)), silent)
        closed = played.closed(0)[0]
        assert (G7, False, 59_000) == (closed.taken, closed.by_default, closed.charged_ms)
        assert 60 == pytest.approx(next(at for at, heard in played.bots[0].heard if isinstance(heard, Closed)))

    async def test_a_final_submission_closes_the_window_at_once(self, autojump_clock: object) -> None:
        played = await mist(after(3, C3), silent)
        assert 3 == pytest.approx(next(at for at, heard in played.bots[0].heard if isinstance(heard, Closed)))

    async def test_an_illegal_submission_leaves_the_earlier_legal_one_standing(
        self, autojump_clock: object
    ) -> None:
        played = await mist(steps((1, C3), (2, {"cells": ["Z9"]})), silent)
        assert C3 == played.closed(0)[0].taken
        assert [Refusal.ILLEGAL] == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]

    async def test_undo_then_time_out_takes_the_default(self, autojump_clock: object) -> None:
        played = await mist(steps((1, C3), (2, None)), silent)
        closed = played.closed(0)[0]
        assert (E5, True) == (closed.taken, closed.by_default)
        assert [C3, None] == [accepted.action for accepted in played.bots[0].all_of(Accepted)]

    async def test_an_action_of_null_that_is_final_takes_the_default_at_once(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            await trio.sleep(2)
            bot.submit(window.id, None, final=True)
            bot.submit(window.id, C3)

        played = await mist(answering(script), silent)
        closed = played.closed(0)[0]
        assert (E5, True, 2_000) == (closed.taken, closed.by_default, closed.charged_ms)
        assert Refusal.LATE is played.bots[0].all_of(Rejected)[0].reason

    async def test_a_final_submission_cannot_be_changed_or_undone(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            bot.submit(window.id, C3)
            bot.submit(window.id, G7)
            bot.undo(window.id)

        played = await mist(answering(script), silent, policy=Policy(pacing="fixed"))
        assert C3 == played.closed(0)[0].taken
        assert [Refusal.FINAL] * 2 == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]

    async def test_fixed_pacing_keeps_the_window_open_for_its_full_main_time(self, autojump_clock: object) -> None:
        played = await mist(after(3, C3), silent, policy=Policy(pacing="fixed"))
        closed = next((at, heard) for at, heard in played.bots[0].heard if isinstance(heard, Closed))
        assert (60, 3_000) == (round(closed[0], 6), closed[1].charged_ms)


class TestReserve:
    """mist.md R11: 300 s a match for each seat in heaven-and-hell."""

    async def test_the_first_submission_in_reserve_is_taken_at_once(self, autojump_clock: object) -> None:
        played = await mist(steps((70, C3), (71, G7)), silent, variant=HEAVEN)
        closed_at, closed = next((at, heard) for at, heard in played.bots[0].heard if isinstance(heard, Closed))
        assert (70, C3, 70_000, 290_000) == (
            round(closed_at, 6),
            closed.taken,
            closed.charged_ms,
            closed.reserve_ms,
        )
        assert [Refusal.LATE] == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]

    async def test_a_submission_standing_when_main_time_ends_spares_the_reserve(
        self, autojump_clock: object
    ) -> None:
        played = await mist(steps((59.999, C3), (60.001, G7)), silent, variant=HEAVEN)
        assert (C3, 300_000) == (played.closed(0)[0].taken, played.closed(0)[0].reserve_ms)

    async def test_one_ms_before_the_reserve_ends_counts(self, autojump_clock: object) -> None:
        played = await mist(after(360 - A_MS, C3), silent, variant=HEAVEN)
        assert (C3, False, 1) == (
            played.closed(0)[0].taken,
            played.closed(0)[0].by_default,
            played.closed(0)[0].reserve_ms,
        )

    async def test_one_ms_after_the_reserve_the_default_is_taken_and_told(self, autojump_clock: object) -> None:
        played = await mist(after(360 + A_MS, C3), silent, variant=HEAVEN)
        closed = played.closed(0)[0]
        assert (NOTHING, True, 360_000, 0) == (
            closed.taken,
            closed.by_default,
            closed.charged_ms,
            closed.reserve_ms,
        )

    async def test_the_reserve_is_used_up_over_several_turns_and_then_the_default_is_taken(
        self, autojump_clock: object
    ) -> None:
        cells = iter(["A1", "A3", "A5", "C1", "C3"])

        async def script(bot: Bot, window: Opened) -> None:
            await trio.sleep(160)
            bot.submit(window.id, {"cells": [next(cells)]})

        played = await mist(answering(script), after(1, NOTHING), variant=HEAVEN, max_turns=9)
        assert [
            (False, 200_000),
            (False, 100_000),
            (True, 0),  # exactly used up: what arrives at the end is not in time
            (True, 0),
            (True, 0),
        ] == [(closed.by_default, closed.reserve_ms) for closed in played.closed(0)]
        assert [300_000, 200_000, 100_000, 0, 0] == [opened.reserve_ms for opened in played.bots[0].all_of(Opened)]

    async def test_the_reserve_of_one_seat_is_not_told_to_the_other(self, autojump_clock: object) -> None:
        played = await mist(after(100, C3), after(1, G7), variant=HEAVEN)
        assert [300_000] == [opened.reserve_ms for opened in played.bots[1].all_of(Opened)]


class TestPauses:
    async def paused(self, pause_at: float, resume_at: float, bot: Play, variant: str) -> Closed:
        played = set_up(2, variant=variant, options={"first": 0, "max_turns": 1})

        async def operator() -> None:
            await trio.sleep(pause_at)
            played.host.order(pause=True)
            await trio.sleep(resume_at - pause_at)
            played.host.order(pause=False)

        await play(played, [bot, silent], operator)
        assert 1 == len(played.bots[1].all_of(Paused)) == len(played.bots[1].all_of(Resumed))
        assert isinstance(played.bots[0].heard[-1][1], Over)
        return played.closed(0)[0]

    async def test_a_pause_in_main_time_costs_nothing(self, autojump_clock: object) -> None:
        closed = await self.paused(10, 1_000, after(1_049, C3), "contractual-obligation")
        assert (C3, 59_000) == (closed.taken, closed.charged_ms)

    async def test_after_a_pause_the_rest_of_main_time_is_as_long_as_it_was(self, autojump_clock: object) -> None:
        closed = await self.paused(10, 1_000, after(1_050.001, C3), "contractual-obligation")
        assert (E5, True, 60_000) == (closed.taken, closed.by_default, closed.charged_ms)

    async def test_a_pause_in_reserve_costs_nothing(self, autojump_clock: object) -> None:
        closed = await self.paused(100, 1_100, after(1_110, C3), HEAVEN)
        assert (C3, 110_000, 250_000) == (closed.taken, closed.charged_ms, closed.reserve_ms)

    async def test_a_submission_in_flight_when_the_pause_begins_is_charged_up_to_the_pause(
        self, autojump_clock: object
    ) -> None:
        closed = await self.paused(10, 1_000, after(10.5, C3), "contractual-obligation")
        assert (C3, 10_000) == (closed.taken, closed.charged_ms)

    async def test_a_window_does_not_close_in_a_pause(self, autojump_clock: object) -> None:
        played = set_up(2, options={"first": 0, "max_turns": 1})

        async def operator() -> None:
            await trio.sleep(10)
            played.host.order(pause=True)
            await trio.sleep(500)
            played.host.order(pause=False)

        await play(played, [after(20, C3), silent], operator)
        assert 510 == pytest.approx(next(at for at, heard in played.bots[0].heard if isinstance(heard, Closed)))

    async def test_a_bot_may_pause_within_its_budget_and_no_oftener(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            bot.pause()
            await trio.sleep(50)  # 30 of it paused
            bot.pause()
            await trio.sleep(1)
            bot.submit(window.id, C3)

        played = await mist(answering(script), silent, policy=Policy(pauses=1, pause_ms=30_000))
        assert 21_000 == played.closed(0)[0].charged_ms
        assert ["seat 0"] == [paused.reason for paused in played.bots[1].all_of(Paused)]
        assert [Refusal.NO_PAUSE] == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]

    async def test_the_operator_takes_over_a_bots_pause(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            bot.pause()
            await trio.sleep(200)
            bot.submit(window.id, C3)

        played = set_up(2, options={"first": 0, "max_turns": 1}, policy=Policy(pauses=1, pause_ms=30_000))

        async def operator() -> None:
            await trio.sleep(10)
            played.host.order(pause=True)
            await trio.sleep(90)
            played.host.order(pause=False)

        await play(played, [answering(script), silent], operator)
        assert ["seat 0", "operator"] == [paused.reason for paused in played.bots[1].all_of(Paused)]
        assert ["operator"] == [resumed.reason for resumed in played.bots[1].all_of(Resumed)]
        assert (E5, True) == (played.closed(0)[0].taken, played.closed(0)[0].by_default)
        assert 160 == pytest.approx(next(at for at, heard in played.bots[0].heard if isinstance(heard, Closed)))


class TestFairness:
    async def test_a_submission_before_the_deadline_counts_even_if_the_referee_wakes_late(
        self, autojump_clock: object
    ) -> None:
        """The transport stamps the arrival; the referee, stalled, reads it two seconds after the deadline."""
        played = set_up(2, options={"first": 0, "max_turns": 1})

        async def stalled(bot: Bot) -> None:
            bot.hello()
            window = await bot.hear_a(Opened)
            opened = trio.current_time()
            await trio.sleep(59)
            autojump_clock.jump(3)  # type: ignore[attr-defined]
            message = f'{{"type":"submit","window":{window.id},"action":{{"cells":["C3"]}}}}'
            bot.line.say(message.encode(), at=opened + 59.5)

        await play(played, [stalled, silent])
        record = next(record for record in played.records if isinstance(record, WindowTime))
        assert ([{"cells": ("C3",)}], [59_500]) == (
            [{"cells": part.taken.cells} for part in record.seats],
            [part.charged_ms for part in record.seats],
        )

    async def test_the_referees_lateness_is_recorded_and_not_charged(self, autojump_clock: object) -> None:
        played = set_up(2, variant=HEAVEN, options={"first": 0, "max_turns": 1})

        async def stall() -> None:
            await trio.sleep(359)
            autojump_clock.jump(3)  # type: ignore[attr-defined]

        await play(played, [silent, silent], stall)
        record = next(record for record in played.records if isinstance(record, WindowTime))
        assert (2_000_000, 360_000) == (record.lateness, record.seats[0].charged_ms)


async def test_a_hundred_turns_of_59_999_seconds_are_all_in_time(autojump_clock: object) -> None:
    """100 minutes of thinking; under the virtual clock a matter of milliseconds."""
    played = await mist(after(59.999, C3), after(59.999, G7), max_turns=100)
    assert 100 * 59.999 == pytest.approx(trio.current_time())
    assert [0, 0] == [seat.defaults for seat in played.match.seats]
    assert [50 * 59_999_000] * 2 == [seat.charged for seat in played.match.seats]
