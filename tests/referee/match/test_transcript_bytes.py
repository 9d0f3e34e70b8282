"""What one bot may add to a match's transcript: all that it says and is answered counts, as it is written.

A match that a hostile bot plays must fit on the disk and stay one that can be shown.
"""

from collections.abc import Callable, Iterable

import pytest
import trio
from msgspec import Raw

from arena.pages.contents import MOST_BYTES
from protocol.codec import encode
from protocol.messages import MAX_FRAME_BYTES, MAX_NOTE_CHARACTERS, Note, Opened, Rejected, Submit
from protocol.refusals import Refusal
from referee.games import GAMES
from referee.match.records import LINE_BYTES, In, Out, Record
from referee.match.terms import Policy
from tests.referee.virtual import Bot, Play, Played, after, answering, mist, play, set_up

MOST = 200_000
MESSAGES = 98
SMALL = Policy(main_ms=1_000, pauses=10_000, pause_ms=1, transcript_bytes_per_match=MOST)
C3 = {"cells": ["C3"]}
LONGEST_LINES = 2 * MAX_FRAME_BYTES + 2_000
"""What one more message adds at most, with its answer: of a frame that is text, every byte may be escaped."""
REFUSED_LINES = 400
"""What a message that is refused after that adds, its answer shared out among a window's."""
GARBAGE = b"\x01" * 5_000
QUOTES = '"' * MAX_NOTE_CHARACTERS

Say = Callable[[Bot, int], None]


def note_quotes(bot: Bot, window: int) -> None:
    bot.note(QUOTES)


def note_beyond_ascii(bot: Bot, window: int) -> None:
    bot.note("\N{PILE OF POO}" * MAX_NOTE_CHARACTERS)


def submit_with_spaces(bot: Bot, window: int) -> None:
    frame = encode(Submit(window=window, action=Raw(encode(C3)), final=False))
    bot.line.say(frame.ljust(2_500, b"\n"))


def submit_and_undo(bot: Bot, window: int) -> None:
    bot.submit(window, C3, final=False)
    bot.undo(window)


def submit_what_is_illegal(bot: Bot, window: int) -> None:
    bot.submit(window, {"cells": ["Z" * 2_000]})


def submit_late(bot: Bot, window: int) -> None:
    bot.line.say(encode(Submit(window=window - 1, action=Raw(encode(C3)))).ljust(2_000, b"\n"))


def say_garbage(bot: Bot, window: int) -> None:
    bot.line.say(GARBAGE)


def say_no_text(bot: Bot, window: int) -> None:
    bot.line.say(b"\xff" * 5_000)


def say_too_much_at_once(bot: Bot, window: int) -> None:
    bot.line.say(b'{"type":"note","text":"' + b"\n" * (MAX_FRAME_BYTES + 1))


def pause(bot: Bot, window: int) -> None:
    bot.pause()


SAYS = (
    note_quotes,
    note_beyond_ascii,
    submit_with_spaces,
    submit_and_undo,
    submit_what_is_illegal,
    submit_late,
    say_garbage,
    say_no_text,
    say_too_much_at_once,
    pause,
)


def talkative(say: Say, messages: int = MESSAGES) -> Play:
    """Return a bot that says so much in each window, and then submits a good move."""

    async def script(bot: Bot, window: Opened) -> None:
        for _ in range(messages):
            say(bot, window.id)
        bot.submit(window.id, C3)

    return answering(script)


def written(records: Iterable[Record]) -> int:
    """Return how many bytes of a transcript these are."""
    return sum(len(encode(record)) + LINE_BYTES for record in records)


def added(played: Played, seat: int) -> int:
    """Return how many bytes a seat's own lines take."""
    return written(record for record in played.records if isinstance(record, In | Out) and record.seat == seat)


def reasons(bot: Bot) -> list[Refusal]:
    return [rejected.reason for rejected in bot.all_of(Rejected)]


@pytest.mark.parametrize("say", SAYS, ids=lambda say: say.__name__)
async def test_whatever_a_bot_says_no_more_of_it_is_written_than_the_policy_allows(
    say: Say, autojump_clock: object
) -> None:
    honest = await mist(after(0, C3), after(0.1, C3), policy=SMALL, max_turns=60)
    played = await mist(talkative(say), after(0.1, C3), policy=SMALL, max_turns=60)
    seat = played.match.seats[0]
    refused = seat.refused["too-much"]
    assert refused > 0, "it has not come to its bound"
    most = MOST + LONGEST_LINES + refused * REFUSED_LINES
    assert added(played, 0) - added(honest, 0) <= most
    assert written(played.records) - written(honest.records) <= most
    assert seat.allowance.written <= most


async def test_later_messages_are_refused_once_per_window_and_the_match_continues(autojump_clock: object) -> None:
    policy = Policy(main_ms=1_000, transcript_bytes_per_match=1_000_000)
    played = await mist(talkative(note_quotes, 60), after(0.1, C3), policy=policy, max_turns=12)
    told = reasons(played.bots[0])
    assert {Refusal.TOO_MUCH} == set(told)
    closed = played.closed(0)
    taken = [not each.by_default for each in closed]
    assert sorted(taken, reverse=True) == taken
    assert 0 < taken.count(True) < len(closed) == 6
    assert len(told) == taken.count(False)
    assert [False] * len(played.closed(1)) == [each.by_default for each in played.closed(1)]
    assert played.match.ended is not None
    assert played.match.ended.outcome is not None
    text = "you have added more than 1000000 bytes to the transcript of this match"
    assert {text} == {rejected.text for rejected in played.bots[0].all_of(Rejected)}


async def test_the_transcript_has_only_the_length_of_messages_refused_then(autojump_clock: object) -> None:
    played = await mist(talkative(note_quotes), after(0.1, C3), policy=SMALL, max_turns=12)
    cut = [record for record in played.records if isinstance(record, In) and record.refused == "too-much"]
    assert len(cut) == played.match.seats[0].refused["too-much"]
    assert {b""} == {record.raw() for record in cut}
    assert len(encode(Note(text=QUOTES))) in {record.cut for record in cut}


@pytest.mark.parametrize("say", [note_quotes, say_garbage, submit_and_undo], ids=lambda say: say.__name__)
async def test_the_count_is_of_lines_as_they_are_written(say: Say, autojump_clock: object) -> None:
    """Not one line short: what is counted is what an honest match of the same moves lacks."""
    policy = Policy(main_ms=1_000)
    honest = await mist(after(0, C3), after(0.1, C3), policy=policy, max_turns=4)
    played = await mist(talkative(say, 40), after(0.1, C3), policy=policy, max_turns=4)
    more = written(played.records) - written(honest.records)
    counted = played.match.seats[0].allowance.written - honest.match.seats[0].allowance.written
    assert more == pytest.approx(counted, rel=0.05)


async def test_thirteen_bots_that_add_all_they_may_leave_a_match_that_can_be_shown(autojump_clock: object) -> None:
    """With the default policy. Each says the longest lines there are, and goes on when all of it is refused."""
    garbage = b"\x01" * 1_001

    async def script(bot: Bot, window: Opened) -> None:
        submission = encode(Submit(window=window.id, action=Raw(b'{"target":null}'), final=False))
        frames = [*[garbage] * 60, *[submission.ljust(MAX_FRAME_BYTES, b"\n")] * 3, *[garbage] * 400]
        for number, frame in enumerate(frames):
            bot.line.say(frame)
            if not number % 20:
                await trio.sleep(0.000_1)

    policy = Policy(main_ms=1_000)
    played = await play(
        set_up(13, game=GAMES["pointing"], variant="tempo-up", policy=policy), [answering(script)] * 13
    )
    size = written(played.records)
    assert all(seat.refused["too-much"] for seat in played.match.seats)
    assert 13 * policy.transcript_bytes_per_match < size < MOST_BYTES
