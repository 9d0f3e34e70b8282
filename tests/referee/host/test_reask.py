"""A bot asked what another was asked: with its words and time, and told nothing else. In virtual time."""

from collections.abc import Sequence
from typing import Any

import pytest
import trio

from protocol.codec import encode
from protocol.messages import Closed, EventMessage, Opened, Rejected, ServerMessage, Welcome
from referee.host.reask import Interviewed
from referee.match.records import Out
from referee.wire.line import Bell, HandedOver, Incoming, Outgoing
from referee.wire.memory import MemoryLine
from tests.referee.host.retold import asked
from tests.referee.virtual import Bot, Played, after, answering, hear_out, mist, silent

FIRST, SECOND, THIRD = {"cells": ["C3"]}, {"cells": ["F4"]}, {"cells": ["G5"]}
MAIN = 60
"""Seconds of a turn in Mist as these tests play it."""


async def a_match(**settings: Any) -> Played:
    """Of four windows, two of each seat."""
    return await mist(after(1, FIRST), after(1, SECOND), max_turns=4, **settings)


def actions(found: Interviewed) -> list[Any]:
    """Cells by question; None: the default; `gone`: it was not asked."""
    return [
        "gone" if one.answer is None else one.answer.action and list(one.answer.action.cells)  # type: ignore[attr-defined]
        for one in found.asked
    ]


async def test_who_answers_as_the_other_did_hears_the_very_same_bytes(autojump_clock: object) -> None:
    played = await a_match()
    found, bot = await asked(played, 0, after(1, FIRST))
    expected = [bytes(one.frame) for one in played.records if isinstance(one, Out) and one.seat == 0]
    assert expected == [encode(message) for _, message in bot.heard]
    assert ([["C3"], ["C3"]], "") == (actions(found), found.gone)


async def test_whatever_it_answers_it_is_told_what_came_of_the_match_and_nothing_else(
    autojump_clock: object,
) -> None:
    """Beyond what the seat was sent there are only the answers to its own words."""
    played = await a_match()
    found, bot = await asked(played, 0, after(3, THIRD))
    sent = {bytes(one.frame) for one in played.records if isinstance(one, Out) and one.seat == 0}
    other = [message for _, message in bot.heard if encode(message) not in sent]
    assert ["accepted", "accepted"] == [kind(message) for message in other]
    assert [FIRST, FIRST] == [one.taken for one in bot.all_of(Closed)]
    assert [["G5"], ["G5"]] == actions(found)


def kind(message: ServerMessage) -> str:
    return str(message.__struct_config__.tag)


async def test_an_illegal_answer_is_refused_with_its_reason_and_another_may_be_given(
    autojump_clock: object,
) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, {"cells": ["Z9"]})
        bot.submit(window.id, THIRD)

    found, bot = await asked(await a_match(), 0, answering(script))
    assert [["G5"], ["G5"]] == actions(found)
    assert ["illegal", "illegal"] == [one.reason.value for one in bot.all_of(Rejected)]


async def test_where_it_gives_none_but_illegal_ones_its_default_stands_and_the_reason_is_told(
    autojump_clock: object,
) -> None:
    found, _ = await asked(await a_match(), 0, after(1, {"cells": ["Z9"]}))
    assert [None, None] == actions(found)
    assert all(one.answer and one.answer.illegal for one in found.asked)


async def test_who_is_silent_is_waited_for_as_long_as_in_the_match_and_asked_on(autojump_clock: object) -> None:
    played = await a_match()
    began = trio.current_time()
    found, _ = await asked(played, 0, silent)
    assert [None, None] == actions(found)
    assert [(False, ""), (False, "")] == [
        (one.answer.chosen, one.answer.illegal) for one in found.asked if one.answer
    ]
    assert pytest.approx(2 * MAIN, abs=1) == trio.current_time() - began


@pytest.mark.parametrize(("seconds", "expected"), [(MAIN - 0.001, ["G5"]), (MAIN, None)])
async def test_on_the_dot_is_late(seconds: float, expected: Any, autojump_clock: object) -> None:
    found, _ = await asked(await a_match(), 0, after(seconds, THIRD))
    assert expected == actions(found)[0]


async def test_the_last_legal_one_of_several_counts_when_its_time_is_up(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, FIRST, final=False)
        await trio.sleep(1)
        bot.submit(window.id, THIRD, final=False)

    found, _ = await asked(await a_match(), 0, answering(script))
    assert [["G5"], ["G5"]] == actions(found)


async def test_it_may_choose_the_default(autojump_clock: object) -> None:
    found, _ = await asked(await a_match(), 0, after(0, None))
    assert [None, None] == actions(found)

    async def script(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, None, final=True)

    found, _ = await asked(await a_match(), 0, answering(script))
    assert [True, True] == [one.answer.chosen for one in found.asked if one.answer]


async def test_who_has_ended_is_asked_no_more_and_the_questions_left_are_counted(autojump_clock: object) -> None:
    async def ends(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        bot.submit(window.id, THIRD)
        await bot.hear_a(Opened)

    found, _ = await asked(await a_match(), 0, ends, exit_code=-9)
    assert ([["G5"], "gone"], "ended by signal 9") == (actions(found), found.gone)


async def test_what_it_submitted_before_it_ended_stands(autojump_clock: object) -> None:
    async def ends(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        bot.submit(window.id, THIRD, final=False)

    found, _ = await asked(await a_match(), 0, ends, exit_code=1)
    assert ([["G5"], "gone"], "ended with exit code 1") == (actions(found), found.gone)


async def test_who_says_no_hello_is_waited_for_the_start_up_time(autojump_clock: object) -> None:
    began = trio.current_time()
    found, _ = await asked(await a_match(), 0, hear_out, startup_ms=5_000)
    assert (["gone", "gone"], "no hello within the start-up time") == (actions(found), found.gone)
    assert pytest.approx(5 + 2, abs=4) == trio.current_time() - began


async def test_a_wrong_token_gets_nothing(autojump_clock: object) -> None:
    async def guesses(bot: Bot) -> None:
        bot.hello("guessed")
        await hear_out(bot)

    found, bot = await asked(await a_match(), 0, guesses)
    assert "wrong-token: this is not the token of ARENA_TOKEN" == found.gone
    assert ["fault"] == [kind(message) for _, message in bot.heard]


async def test_who_must_be_refused_too_often_is_asked_no_more(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        for _ in range(4):
            bot.undo(window.id + 7)

    found, bot = await asked(await a_match(), 0, answering(script), refusals_per_match=3)
    assert "misbehaved: more than 3 of your messages had to be refused" == found.gone
    assert "fault" == kind(bot.heard[-1][1]) or "fault" in map(kind, (message for _, message in bot.heard))


async def test_a_flood_is_refused_once_by_name(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        for _ in range(10):
            bot.undo(window.id)
        await trio.sleep(MAIN)

    found, bot = await asked(await a_match(), 0, answering(script), messages_per_window=4)
    assert ["flood", "flood"] == [one.reason.value for one in bot.all_of(Rejected)]
    assert [None, None] == actions(found)


async def test_so_is_one_of_too_many_bytes(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        for _ in range(3):
            bot.note("x" * 400)
        bot.submit(window.id, THIRD)
        await trio.sleep(MAIN)

    found, bot = await asked(await a_match(), 0, answering(script), bytes_per_window=1_000)
    assert ["flood", "flood"] == [one.reason.value for one in bot.all_of(Rejected)]
    assert [None, None] == actions(found)


async def test_who_says_hello_again_is_told_all_that_the_seat_had_been_told(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        if window.id == 1 and len(bot.all_of(Welcome)) == 1:
            bot.hello()
        else:
            bot.submit(window.id, THIRD)

    found, bot = await asked(await a_match(), 0, answering(script))
    assert [["G5"], ["G5"]] == actions(found)
    first, again = bot.all_of(Welcome)
    assert () == first.told
    events = [heard.event for heard in bot.all_of(EventMessage)]
    assert list(again.told) == events[: len(again.told)]
    assert len(again.told) > 1


async def test_who_says_hello_again_is_told_what_time_it_has_left(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        if len(bot.all_of(Welcome)) == 1:
            await trio.sleep(MAIN / 4)
            bot.hello()
        else:
            bot.submit(window.id, THIRD)

    _, bot = await asked(await a_match(), 0, answering(script))
    assert [MAIN * 1000, MAIN * 750] == [window.main_ms for window in bot.all_of(Opened)][:2]


async def test_what_was_on_its_way_when_it_said_hello_again_is_not_for_it(autojump_clock: object) -> None:
    forgets = []

    class Line(MemoryLine):
        def forget_unsent(self) -> None:
            forgets.append(self.stamped)

    async def script(bot: Bot, window: Opened) -> None:
        if not forgets:
            bot.hello()
        else:
            bot.submit(window.id, THIRD)

    await asked(await a_match(), 0, answering(script), kind=Line)
    assert 1 == len(forgets)


async def test_before_its_hello_nothing_is_heard_of_it(autojump_clock: object) -> None:
    async def hasty(bot: Bot) -> None:
        bot.submit(0, THIRD)
        await after(0, FIRST)(bot)

    found, bot = await asked(await a_match(), 0, hasty)
    assert "out-of-turn" == bot.all_of(Rejected)[0].reason.value
    assert [["C3"], ["C3"]] == actions(found)


async def test_pauses_are_not_had_while_it_is_asked(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        bot.pause()
        bot.note("x" * 3_000)
        bot.submit(window.id + 1, THIRD)
        bot.submit(window.id, THIRD)
        bot.submit(window.id, FIRST)

    found, bot = await asked(await a_match(), 0, answering(script))
    assert [["G5"], ["G5"]] == actions(found)
    reasons = [one.reason.value for one in bot.all_of(Rejected)]
    assert ["no-pause", "too-long", "unknown-window"] == reasons[:3]
    assert set(reasons[3:4]) <= {"final", "late"}


class SlowToSay(MemoryLine):
    """A line that rings no bell for what it handed over, and has it there a little later: as the wire may."""

    def __init__(self, bell: Bell) -> None:
        super().__init__(bell)
        self._handed: list[Incoming] = []

    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """See `Line`."""
        super().send_burst([(frame, False) for frame, _ in frames])
        self._handed += [HandedOver(trio.current_time()) for _, timed in frames if timed]

    async def settle(self) -> None:
        """See `Line`."""
        await super().settle()
        self._inbox._items.extend(self._handed)
        self._handed = []


async def test_a_silent_bot_is_not_waited_for_longer_where_the_line_tells_late_that_it_was_asked(
    autojump_clock: object,
) -> None:
    played = await a_match()
    began = trio.current_time()
    found, _ = await asked(played, 0, silent, kind=SlowToSay)
    assert [None, None] == actions(found)
    assert pytest.approx(2 * MAIN, abs=1) == trio.current_time() - began
