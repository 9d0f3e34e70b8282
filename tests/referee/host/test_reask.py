"""A bot asked what another was asked: with its words and time, and told nothing else. In virtual time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec import Raw
from msgspec.structs import replace

from protocol.codec import encode
from protocol.messages import Accepted, Closed, EventMessage, Opened, Rejected, ServerMessage, Welcome
from referee.host.interview import Interviewed, questions_of
from referee.match.records import AnyRecord, Out
from referee.match.terms import Policy
from referee.transcript import Differs, read_transcript, seat_lines
from referee.wire.line import Bell, HandedOver, Incoming, MemoryLine, Outgoing
from tests.golden import transcripts
from tests.referee.host.retold import asked, asked_of, whole
from tests.referee.virtual import Bot, Play, Played, after, answering, hear_out, mist, silent

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


async def test_a_bot_with_the_same_answers_receives_the_same_bytes(autojump_clock: object) -> None:
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


async def test_a_bot_with_only_illegal_answers_gets_the_default_and_the_reason_is_reported(
    autojump_clock: object,
) -> None:
    found, _ = await asked(await a_match(), 0, after(1, {"cells": ["Z9"]}))
    assert [None, None] == actions(found)
    assert all(one.answer and one.answer.illegal for one in found.asked)


async def test_a_silent_bot_has_the_match_time_and_gets_the_next_question(autojump_clock: object) -> None:
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


async def test_a_bot_that_has_ended_gets_no_question_and_the_remaining_ones_are_counted(
    autojump_clock: object,
) -> None:
    async def ends(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        bot.submit(window.id, THIRD)
        await bot.hear_a(Opened)

    found, _ = await asked(await a_match(), 0, ends, exit_code=-9)
    assert ([["G5"], "gone"], "ended by signal 9") == (actions(found), found.gone)


async def test_a_submission_before_the_bots_end_counts(autojump_clock: object) -> None:
    async def ends(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        bot.submit(window.id, THIRD, final=False)

    found, _ = await asked(await a_match(), 0, ends, exit_code=1)
    assert ([["G5"], "gone"], "ended with exit code 1") == (actions(found), found.gone)


async def test_a_bot_without_hello_has_the_start_up_time(autojump_clock: object) -> None:
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


async def test_a_bot_with_too_many_refusals_gets_no_more_questions(autojump_clock: object) -> None:
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


async def test_a_repeated_hello_is_answered_with_all_events_of_the_seat(autojump_clock: object) -> None:
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


async def test_a_repeated_hello_is_answered_with_the_remaining_time(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        if len(bot.all_of(Welcome)) == 1:
            await trio.sleep(MAIN / 4)
            bot.hello()
        else:
            bot.submit(window.id, THIRD)

    _, bot = await asked(await a_match(), 0, answering(script))
    assert [MAIN * 1000, MAIN * 750] == [window.main_ms for window in bot.all_of(Opened)][:2]


async def test_frames_on_the_way_at_a_repeated_hello_are_dropped(autojump_clock: object) -> None:
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


def told_of(records: list[AnyRecord], seat: int) -> list[bytes]:
    """Return the messages sent to a seat, without the answers to its own."""
    sent = [bytes(one.frame) for one in records if isinstance(one, Out) and one.seat == seat]
    return [frame for frame in sent if not frame.startswith((b'{"type":"accepted"', b'{"type":"rejected"'))]


def told_to(bot: Bot) -> list[bytes]:
    return [encode(heard) for _, heard in bot.heard if not isinstance(heard, Accepted | Rejected)]


@pytest.mark.parametrize("play", [silent, after(1, THIRD), after(0, {"cells": ["Z9"]})])
@pytest.mark.parametrize(
    ("fault", "seat"), [("default", 0), ("default", 1), ("forfeit", 0), ("forfeit", 1), ("restart", 1)]
)
async def test_it_is_sent_the_same_whatever_it_answers_and_whatever_became_of_the_match(
    fault: str, seat: int, play: Play, autojump_clock: object
) -> None:
    """Drawing on its reserve, losing by default, or killed: the next question has the view and time it had."""
    records = list(read_transcript(transcripts.path(fault)))
    _, bot = await asked_of(records, seat, play)
    assert told_of(records, seat) == told_to(bot)


async def test_messages_about_pauses_are_sent_and_stop_no_clock(autojump_clock: object) -> None:
    async def pauses(bot: Bot, window: Opened) -> None:
        bot.pause()
        await trio.sleep(20)
        bot.submit(window.id, FIRST)

    played = await mist(answering(pauses), after(1, SECOND), max_turns=4, policy=Policy(pauses=1))
    _, bot = await asked(played, 0, after(1, THIRD))
    assert {"paused", "resumed"} <= {kind(message) for _, message in bot.heard}
    assert told_of(whole(played), 0) == told_to(bot)


async def test_the_window_in_which_its_forerunner_ended_is_asked_about_too(autojump_clock: object) -> None:
    found, _ = await asked_of(read_transcript(transcripts.path("default")), 0, after(1, THIRD))
    assert [True, False] == [one.closed is not None for one in found.asked]
    assert [["G5"], ["G5"]] == actions(found)


async def test_without_a_limit_it_is_told_the_time_that_it_had_and_may_take_any(autojump_clock: object) -> None:
    async def slowly(bot: Bot) -> None:
        await trio.sleep(1_000)
        await after(10 * MAIN, THIRD)(bot)

    found, bot = await asked(await a_match(), 0, slowly, unlimited=True)
    assert [["G5"], ["G5"]] == actions(found)
    assert [MAIN * 1_000] * 2 == [window.main_ms for window in bot.all_of(Opened)]


def own_file(fault: str, seat: int, folder: Path) -> list[AnyRecord]:
    """Return the records of a seat's own transcript."""
    file = folder / "own.jsonl"
    file.write_bytes(b"".join(seat_lines(read_transcript(transcripts.path(fault)), seat)))
    return list(read_transcript(file))


async def test_a_seats_own_file_asks_the_same_and_takes_any_action_of_the_right_form(
    tmp_path: Path, autojump_clock: object
) -> None:
    records = own_file("default", 1, tmp_path)
    found, bot = await asked_of(records, None, after(1, {"cells": ["Z9"]}))
    assert told_of(records, 1) == told_to(bot)
    assert [["Z9"]] * 3 == actions(found)
    found, _ = await asked_of(records, 1, after(1, {"cell": "C3"}))
    assert [None] * 3 == actions(found)


@pytest.mark.parametrize(
    ("kind", "old", "new", "what"),
    [
        ("welcome", b'"seat":1', b'"seat":0', "this welcome is of another match than the header"),
        ("welcome", b'"seat":1', b'"seat":"1"', "Expected `int`"),
        ("window", b'"window":"turn"', b'"window":"tern"', "there is no window 'tern'"),
        ("window", b'"main_ms":', b'"main_ms":-', "a window's time is not negative"),
        ("event", b'"n":0', b'"n":-1', "Expected `int` >= 0"),
        ("window", b'"type":"window"', b'"type":["window"]', "Expected `str`"),
    ],
)
def test_a_file_that_no_match_can_have_written_is_refused_by_its_line(
    kind: str, old: bytes, new: bytes, what: str, tmp_path: Path
) -> None:
    records = own_file("default", 1, tmp_path)
    start = f'{{"type":"{kind}"'.encode()
    place = next(n for n, one in enumerate(records) if isinstance(one, Out) and bytes(one.frame).startswith(start))
    out = records[place]
    assert isinstance(out, Out)
    records[place] = replace(out, frame=Raw(bytes(out.frame).replace(old, new)))
    with pytest.raises(Differs, match=f"^line {place + 1}: .*{what}"):
        questions_of(records)


def test_a_seats_own_file_is_of_no_other_seat(tmp_path: Path) -> None:
    with pytest.raises(Differs, match="line 1: this is the transcript of seat 1 alone"):
        questions_of(own_file("default", 1, tmp_path), 0)


@pytest.mark.parametrize("seat", [None, -1, 2])
def test_a_whole_transcript_needs_the_number_of_a_seat(seat: int | None) -> None:
    with pytest.raises(Differs, match=r"line 1: which seat\? The seats are 0 to 1"):
        questions_of(read_transcript(transcripts.path("default")), seat)
