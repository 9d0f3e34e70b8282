"""A transcript's inputs, told to a new match, make every other record again."""

import pytest
import trio
import trio.testing
from msgspec import Raw, to_builtins
from msgspec.structs import replace

from protocol.codec import encode
from protocol.messages import Opened
from referee.match.records import FORMAT, Ended, Footer, Header, In, Out, WindowTime
from referee.match.terms import Policy
from referee.transcript.replayer import Differs, _short, replay
from tests.referee.virtual import Bot, Played, after, answering, play, set_up, silent

POLICY = Policy(pauses=1, pause_ms=5_000, messages_per_window=10, bytes_per_window=200_000)


def header(played: Played) -> Header:
    table = played.match.table
    return Header(
        format=FORMAT,
        arena="test",
        match="test",
        game=table.game.name,
        variant=table.deal.variant,
        seed=table.deal.seed,
        options=Raw(encode(table.options)),
        setup=Raw(encode(table.setup)),
        clock=played.welcome(1).clock,
        policy=to_builtins(played.policy),
        bots=tuple(seat.bot for seat in played.match.seats),
        isolation="none",
        machine="test",
        started="2026-01-01T00:00:00Z",
    )


async def eventful_match() -> list[object]:
    """Return a match with every kind of input: pauses, garbage, floods, a reconnect, time-outs, a crash."""
    played = set_up(2, variant="heaven-and-hell", options={"first": 0, "max_turns": 9}, policy=POLICY)

    async def wild(bot: Bot, window: Opened) -> None:
        bot.line.say(b"\xff\xfe garbage")
        bot.line.say(b"x" * 70_000)
        bot.submit(window.id, {"cells": ["E5"]}, final=False)
        bot.submit(window.id + 1, {"cells": ["A1"]})
        bot.pause()
        if window.id == 4:
            for _ in range(3):
                bot.note("y" * 50_000)
        if window.id == 1:
            bot.hello()
        if window.id == 2:
            for _ in range(20):
                bot.undo(window.id)
        if window.id == 3:
            await trio.sleep(400)
        await trio.sleep(61)
        bot.submit(window.id, {"cells": ["A1", "A3"]}, final=False)

    async def operator() -> None:
        await trio.sleep(100)
        played.host.order(pause=True)
        await trio.sleep(100)
        played.host.order(pause=False)
        await trio.sleep(200)
        await played.host.left(1, -9)

    await play(played, [answering(wild), after(3, {"cells": ["G3"]})], operator)
    return [header(played), *played.records, Footer(heads=())]


async def test_every_message_comes_again_byte_for_byte(autojump_clock: object) -> None:
    records = await eventful_match()
    kinds = {type(record).__name__ for record in records}
    assert {"In", "Out", "Handed", "Woke", "Left", "PauseOrder", "WindowTime", "Ended"} <= kinds
    replayed = replay(records)  # type: ignore[arg-type]
    assert encode(replayed.match.ended) == encode(next(record for record in records if isinstance(record, Ended)))


async def test_any_changed_message_or_window_is_named_by_its_line(autojump_clock: object) -> None:
    records = await eventful_match()
    changed = 0
    for index, record in enumerate(records):
        if isinstance(record, Out):
            other: object = replace(record, frame=Raw(bytes(record.frame).replace(b"1", b"2", 1) + b" "))
        elif isinstance(record, WindowTime):
            other = replace(record, lateness=record.lateness + 1)
        else:
            continue
        changed += 1
        with pytest.raises(Differs) as caught:
            replay([*records[:index], other, *records[index + 1 :]])  # type: ignore[list-item]
        assert index + 1 == caught.value.line
    assert changed > 40


async def bulky_match(policy: Policy) -> list[object]:
    """Return a match in which a bot sends some 300 KB in a window."""

    async def bulky(bot: Bot, window: Opened) -> None:
        for _ in range(6):
            bot.note("y" * 50_000)
        bot.submit(window.id, {"cells": ["C3"]})

    played = set_up(2, options={"first": 0, "max_turns": 3}, policy=policy)
    await play(played, [answering(bulky), silent])
    return [header(played), *played.records, Footer(heads=())]


async def test_bytes_that_were_a_flood_are_one_again_although_they_are_not_kept(autojump_clock: object) -> None:
    records = await bulky_match(Policy())
    floods = [record for record in records if isinstance(record, In) and record.refused == "flood"]
    assert [50_025, 50_025] == [record.cut for record in floods]
    assert replay(records).match.over  # type: ignore[arg-type]
    wider = replace(records[0], policy=to_builtins(Policy(bytes_per_window=300_000)))  # type: ignore[type-var]
    with pytest.raises(Differs):
        replay([wider, *records[1:]])  # type: ignore[list-item]


async def test_refused_excess_is_refused_again_although_its_content_is_not_stored(autojump_clock: object) -> None:
    records = await bulky_match(Policy(transcript_bytes_per_match=120_000))
    too_much = [record for record in records if isinstance(record, In) and record.refused == "too-much"]
    assert [("", 50_025)] * 3 == [(record.frame, record.cut) for record in too_much[:3]]
    assert replay(records).match.over  # type: ignore[arg-type]
    for other in (Policy(), Policy(transcript_bytes_per_match=60_000)):
        with pytest.raises(Differs):
            replay([replace(records[0], policy=to_builtins(other)), *records[1:]])  # type: ignore[list-item, type-var]


async def test_a_policy_that_is_none_is_named(autojump_clock: object) -> None:
    records = await bulky_match(Policy())
    with pytest.raises(Differs, match="line 1: cannot be dealt"):
        replay([replace(records[0], policy="strict"), *records[1:]])  # type: ignore[list-item, type-var]


async def test_a_match_that_breaks_off_is_not_proved(autojump_clock: object) -> None:
    records = await eventful_match()
    with pytest.raises(Differs, match="not over"):
        replay(records[:20])  # type: ignore[arg-type]


async def test_a_transcript_without_its_header_is_not_proved(autojump_clock: object) -> None:
    with pytest.raises(Differs, match="header"):
        replay([])


async def test_a_void_attempt_is_replayed_up_to_its_voiding(autojump_clock: object) -> None:
    played = set_up(2, options={"first": 0, "max_turns": 9}, policy=POLICY)

    async def trouble() -> None:
        await trio.sleep(100)
        played.host.abort("the disk is full")

    await play(played, [silent, silent], trouble)
    replayed = replay([header(played), *played.records])
    assert replayed.match.ended is not None
    assert ("the disk is full", None) == (replayed.match.ended.void, replayed.match.ended.outcome)


@pytest.mark.parametrize(("more", "ends"), [(0, ""), (1, "…")])
def test_a_record_is_quoted_whole_up_to_300_characters(more: int, ends: str) -> None:
    bare = len(encode(Out(at=1, seat=0, frame=Raw(b'""'))))
    record = Out(at=1, seat=0, frame=Raw(b'"%s"' % (b"x" * (300 - bare + more))))
    assert 300 + more == len(encode(record))
    assert encode(record).decode()[:300] + ends == _short(record)
