"""A seat's transcript as questions: as it was told, once each, and nothing that it was not told."""

import json
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from protocol.codec import encode
from protocol.messages import Closed, Opened
from protocol.refusals import Refusal
from referee.host.interview import questions_of
from referee.match.records import AnyRecord, Out
from referee.match.terms import Policy
from referee.transcript.replayer import Differs
from tests.referee.host.retold import whole
from tests.referee.virtual import Bot, Played, after, answering, hear_out, mist, play, set_up

FIRST, SECOND = {"cells": ["C3"]}, {"cells": ["F4"]}


def sent_to(played: Played, seat: int) -> list[bytes]:
    return [bytes(record.frame) for record in played.records if isinstance(record, Out) and record.seat == seat]


def frames(records: list[AnyRecord], seat: int) -> list[bytes]:
    """Return the frames sent to a bot that answers the questions with hello alone."""
    asked = questions_of(records, seat)
    assert asked is not None
    sent = [encode(asked.welcome), *(bytes(told.frame) for told in asked.told)]
    for question in asked.questions:
        sent += [encode(question.opened), *(bytes(told.frame) for told in question.told)]
    return sent


def kind(frame: bytes) -> str:
    return str(json.loads(frame)["type"])


@pytest.mark.parametrize("seat", [0, 1])
async def test_a_seat_is_told_and_asked_what_it_was_but_for_answers_to_what_it_said(
    seat: int, autojump_clock: object
) -> None:
    played = await mist(after(1, FIRST), after(1, SECOND), max_turns=4)
    expected = [frame for frame in sent_to(played, seat) if kind(frame) != "accepted"]
    assert expected == frames(whole(played), seat)


async def test_a_question_tells_what_was_refused_of_its_answers_even_late(autojump_clock: object) -> None:
    async def errs(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, {"cells": ["Z9"]})
        bot.submit(window.id, FIRST)
        if window.id == 1:
            bot.submit(0, FIRST)

    played = await mist(answering(errs), after(1, SECOND), max_turns=4)
    asked = questions_of(whole(played), 0)
    assert asked is not None
    refused = [[each.reason for each in question.refused] for question in asked.questions]
    assert [[Refusal.ILLEGAL, Refusal.LATE], [Refusal.ILLEGAL]] == [sorted(each) for each in refused]


async def test_the_rules_can_be_asked_at_each_question_what_could_be_answered_there(
    autojump_clock: object,
) -> None:
    played = await mist(after(1, FIRST), after(1, SECOND), max_turns=4)
    game, asked = played.match.table.game, questions_of(whole(played), 0)
    assert asked is not None
    windows = [game.window(question.state) for question in asked.questions]
    assert [[0], [0]] == [[owed.seat for owed in window.owed] for window in windows if window]


async def test_a_bot_that_reconnected_is_asked_and_informed_once(autojump_clock: object) -> None:
    async def comes_back(bot: Bot, window: Opened) -> None:
        bot.hello()
        bot.submit(window.id, FIRST)

    went_on = whole(await mist(after(0, FIRST), after(0, SECOND), max_turns=4))
    came_back = whole(await mist(answering(comes_back), after(0, SECOND), max_turns=4))
    assert frames(went_on, 0) == frames(came_back, 0)


async def test_events_during_an_absence_come_after_the_reconnect(autojump_clock: object) -> None:
    """Its bot ends in the other's turn, and says hello again in its own next one."""
    settings: Any = {"options": {"first": 0, "max_turns": 4}}
    disturbed = set_up(2, policy=Policy(fault="restart"), restart=lambda _seat: None, **settings)

    async def falls_over(bot: Bot) -> None:
        bot.hello()
        bot.submit((await bot.hear_a(Opened)).id, FIRST)
        await bot.hear_a(Closed)
        await disturbed.host.left(0, 1)
        await trio.sleep(3)
        await after(1, FIRST)(bot)

    await play(disturbed, [falls_over, after(2, SECOND)])
    calm = await play(set_up(2, **settings), [after(0, FIRST), after(2, SECOND)])

    def told(played: Played) -> list[bytes]:
        return [frame for frame in frames(whole(played), 0) if kind(frame) not in ("window", "closed")]

    assert b'"told":[{' in b"".join(sent_to(disturbed, 0))
    assert told(calm) == told(disturbed)


async def test_a_seat_that_never_said_hello_was_asked_nothing(autojump_clock: object) -> None:
    played = await mist(hear_out, after(0, SECOND))
    assert questions_of(whole(played), 0) is None


async def test_a_transcript_that_the_rules_do_not_lead_to_is_refused(autojump_clock: object) -> None:
    records = whole(await mist(after(0, FIRST), after(0, SECOND)))
    place = next(n for n, one in enumerate(records) if isinstance(one, Out) and b'"closed"' in bytes(one.frame))
    out = records[place]
    assert isinstance(out, Out)
    records[place] = replace(out, seat=1 - out.seat)
    with pytest.raises(Differs, match=f"line {place + 1}: the rules lead to"):
        questions_of(records, 0)
