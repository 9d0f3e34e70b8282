"""The live feed of a match: what it tells and when, and that it tells nothing else. In virtual time."""

import re
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace

from protocol.codec import encode
from protocol.feed import (
    FeedBegun,
    FeedClosed,
    FeedEnded,
    FeedEvent,
    FeedMessage,
    FeedPaused,
    FeedResumed,
    FeedSnapshot,
    FeedWindow,
)
from protocol.messages import ClockTerms, Opened
from protocol.words import Event, Outcome
from referee.games import GAMES
from referee.host.host import SNAPSHOT_SECONDS
from referee.host.observers import MAX_TOLD_BYTES, Feed, FeedTerms
from referee.match.records import Ended
from referee.match.terms import ClockTable, Policy
from referee.rules.contract import Addressed
from referee.rules.table import Deal, Table
from tests.referee.toy import Cups, RoundOver
from tests.referee.virtual import Bot, Play, Played, after, answering, mist, play, set_up, silent

CUPS = {"rounds": 2, "seats": 3}
FIRST, SECOND = {"cells": ["C5"]}, {"cells": ["G3"]}


def messages(played: Played) -> list[FeedMessage]:
    return [msgspec.json.decode(message, type=FeedMessage) for _, message in played.fed]


def counted(played: Played) -> list[FeedMessage]:
    """Without snapshots, which tell nothing new."""
    return [message for message in messages(played) if not isinstance(message, FeedSnapshot)]


def of(kind: type[Any], played: Played) -> list[Any]:
    return [message for message in messages(played) if isinstance(message, kind)]


def bidder(seat: int, seconds: float) -> Play:
    """Bids as high as all others, looks, and guesses as near as nobody else, each after so many seconds."""
    actions = {"bid": {"amount": 3}, "look": {"cup": seat}, "guess": {"guess": 100 * seat}}

    async def script(bot: Bot, window: Opened) -> None:
        await trio.sleep(seconds)
        bot.submit(window.id, actions[window.window])

    return answering(script)


async def cups(*players: Play, **settings: Any) -> Played:
    match = set_up(3, game=Cups(), variant="plain", options=CUPS, fed=True, **settings)
    return await play(match, players)


async def test_a_match_is_told_from_its_beginning_to_its_end_in_order(
    autojump_clock: trio.testing.MockClock,
) -> None:
    played = await mist(after(1, FIRST), after(1, SECOND), fed=True)
    window = FeedWindow(n=1, at_ms=0, window="turn", seats=(0,), main_ms=60_000, reserve_ms={"0": 0}, view=None)
    told = counted(played)
    begun, views = told[0], [each.view for each in of(FeedWindow, played)]
    assert isinstance(begun, FeedBegun)
    assert ("test", "mist", ("a", "b")) == (begun.match, begun.game, begun.players)
    assert [
        window,
        FeedClosed(n=2, at_ms=1_000),
        FeedEvent(n=3, at_ms=1_000, event={"type": "first_move", "seat": 0, "cells": ["C5"]}),
        replace(window, n=4, at_ms=1_000, seats=(1,), reserve_ms={"1": 0}),
        FeedClosed(n=5, at_ms=2_000),
    ] == [replace(each, view=None) if isinstance(each, FeedWindow) else each for each in told[1:6]]
    assert [(None, 1), (None, 2)] == [(view["seat"], view["turn"]) for view in views]
    assert ["reveal"] == [each.event["type"] for each in told[6:] if isinstance(each, FeedEvent)]
    assert [0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0] == [at for at, _ in played.fed]


async def test_every_message_has_the_next_number(autojump_clock: trio.testing.MockClock) -> None:
    played = await cups(bidder(0, 0.1), bidder(1, 0.2), silent)
    told = counted(played)
    assert list(range(len(told))) == [message.n for message in told]


async def test_submissions_are_not_published_before_their_window_closes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Submissions, undo, notes and refusals; nor of answers at once."""

    async def busy(bot: Bot, window: Opened) -> None:
        for _ in range(3):
            await trio.sleep(0.1)
            bot.submit(window.id, {"amount": 1}, final=False)
            bot.undo(window.id)
            bot.note("a note")
            bot.submit(window.id + 1, {"amount": 1})

    played = await cups(bidder(0, 0.4), bidder(1, 0.5), answering(busy))
    between = [(a, b) for a, b in pairwise(counted(played)) if isinstance(a, FeedWindow)]
    assert 4 < len(between)
    for opened, closed in between:
        assert isinstance(closed, FeedClosed)
        assert 400 <= closed.at_ms - opened.at_ms
    assert not re.search(rb"note|token|accepted|rejected|seed|charged", b"".join(text for _, text in played.fed))


async def test_a_window_whose_seats_are_secret_is_told_without_them(
    autojump_clock: trio.testing.MockClock,
) -> None:
    played = await cups(bidder(0, 0.1), bidder(1, 0.1), silent)
    seats = {each.window: each.seats for each in of(FeedWindow, played)}
    assert {"bid": (0, 1, 2), "look": None, "guess": (0, 1, 2)} == seats


async def test_windows_that_are_not_announced_are_not_published(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(Cups.announced, "look")
    played = await cups(bidder(0, 0.1), bidder(1, 0.1), silent)
    assert ["bid", "bid", "guess"] == [each.window for each in of(FeedWindow, played)]
    assert 3 == len(of(FeedClosed, played))
    snapshots = [each.window for each in of(FeedSnapshot, played)]
    assert "look" not in [window.window for window in snapshots if window is not None]


@pytest.mark.parametrize("name", GAMES)
def test_only_windows_that_there_are_are_announced(name: str) -> None:
    assert set(GAMES[name].announced) <= set(GAMES[name].actions)


class TestPacing:
    async def fed(self, pacing: str, seconds: float) -> list[tuple[float, bytes]]:
        """All that is published, and when, while one seat thinks for so long in every window."""
        policy = Policy(pacing=pacing)  # type: ignore[arg-type]
        return (await cups(bidder(0, seconds), bidder(1, 0.2), bidder(2, 0.3), policy=policy)).fed

    async def test_with_fixed_pacing_every_byte_and_moment_is_the_same_however_long_one_thinks(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        zero = trio.current_time()
        quick = await self.fed("fixed", 0.001)
        between = trio.current_time()
        slow = await self.fed("fixed", 0.9)
        assert [text for _, text in quick] == [text for _, text in slow]
        assert [round(at - zero, 3) for at, _ in quick] == [round(at - between, 3) for at, _ in slow]

    async def test_with_prompt_pacing_only_moments_differ(self, autojump_clock: trio.testing.MockClock) -> None:
        quick, slow = [
            [msgspec.json.encode(without_moments(text)) for _, text in await self.fed("prompt", seconds)]
            for seconds in (0.001, 0.4)
        ]
        assert quick == slow


def without_moments(text: bytes) -> dict[str, Any]:
    message: dict[str, Any] = msgspec.json.decode(text)
    message.pop("at_ms", None)
    return message


class TestReserve:
    async def test_it_is_told_while_all_windows_were_one_seats_alone(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        """Everyone saw by how much the window outlasted its main time."""
        played = await mist(after(70, FIRST), after(1, SECOND), variant="heaven-and-hell", max_turns=3, fed=True)
        told = [each.reserve_ms for each in of(FeedWindow, played)]
        assert [{"0": 300_000}, {"1": 300_000}, {"0": 290_000}] == told

    async def test_the_reserve_is_secret_after_a_window_of_several_seats(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        clock = ClockTable(main_ms=1_000, reserve_ms=5_000)
        played = await cups(bidder(0, 0.1), bidder(1, 2), bidder(2, 0.1), clock=clock)
        first, *later = of(FeedWindow, played)
        assert {"0": 5_000, "1": 5_000, "2": 5_000} == first.reserve_ms
        assert [{}] * len(later) == [each.reserve_ms for each in later]

    async def test_the_reserve_of_processor_time_is_never_public(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        clock = ClockTable(kind="cpu", main_ms=1_000, reserve_ms=5_000)
        played = await mist(after(1, FIRST), after(1, SECOND), clock=clock, cpu=lambda _: (0, 1), fed=True)
        assert [{}] * 2 == [each.reserve_ms for each in of(FeedWindow, played)]


class TestPauses:
    async def test_a_pause_is_told_with_its_reason_and_its_end(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        async def asks(bot: Bot, window: Opened) -> None:
            await trio.sleep(1)
            bot.pause()
            await trio.sleep(20)
            bot.submit(window.id, FIRST)

        policy = Policy(pauses=1, pause_ms=10_000)
        played = await mist(answering(asks), after(1, SECOND), policy=policy, fed=True)
        (paused,), (resumed,) = of(FeedPaused, played), of(FeedResumed, played)
        assert ("seat 0", 1_000, 11_000) == (paused.reason, paused.at_ms, resumed.at_ms)
        seen = {each.at_ms: (each.paused, each.stopped_ms) for each in of(FeedSnapshot, played)}
        assert {3_000: ("seat 0", 2_000), 9_000: ("seat 0", 8_000), 12_000: (None, 10_000)}.items() <= seen.items()
        assert (None, 0) == (of(FeedSnapshot, played)[-1].paused, of(FeedWindow, played)[-1].at_ms - 21_000)


class TestSnapshots:
    async def test_late_subscribers_receive_everything_sent_so_far(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        played = await mist(after(10.1, FIRST), after(10.1, SECOND), max_turns=3, fed=True)
        so_far: list[FeedMessage] = []
        compared = 0
        for at, text in played.fed:
            message = msgspec.json.decode(text, type=FeedMessage)
            if not isinstance(message, FeedSnapshot):
                so_far.append(message)
                continue
            compared += 1
            assert so_far[0] == message.begun
            assert [each for each in so_far if isinstance(each, FeedEvent)] == [
                msgspec.convert(each, FeedEvent) for each in message.events
            ]
            assert [each for each in so_far if isinstance(each, FeedWindow)][-1] == message.window
            assert (len(so_far), round(at * 1000) % 3000) == (message.n, message.at_ms % 3000)
        assert 30 // SNAPSHOT_SECONDS - 1 <= compared

    def test_old_events_are_left_out_of_one_and_counted(self) -> None:
        fed: list[bytes] = []
        table = Table(Cups(), Deal("plain", 1))
        terms = FeedTerms(
            match="m", players=(), clock=ClockTerms(main_ms=dict.fromkeys(Cups.actions, 1)), started=""
        )
        feed = Feed(table, terms, lambda _, message: fed.append(message), lambda: 0)
        feed.begin()
        told = 5_000
        for number in range(told):
            feed.told((Addressed(RoundOver(highest=number)),))
        feed.snapshot(0)
        snapshot = msgspec.json.decode(fed[-1], type=FeedMessage)
        assert isinstance(snapshot, FeedSnapshot)
        assert len(fed[-1]) < MAX_TOLD_BYTES + 5_000
        assert told == snapshot.left_out + len(snapshot.events)
        assert told - 1 == snapshot.events[-1]["event"]["highest"]
        assert len(snapshot.events) > 500

    async def test_one_says_when_it_is_by_the_clock_and_not_by_what_a_bot_last_said(
        self, autojump_clock: trio.testing.MockClock
    ) -> None:
        async def chatters(bot: Bot, window: Opened) -> None:
            await trio.sleep(2.5)
            bot.note("I am here")
            await trio.sleep(20)
            bot.submit(window.id, FIRST)

        loud, quiet = [
            [each.at_ms for each in of(FeedSnapshot, await mist(one, after(1, SECOND), fed=True))]
            for one in (answering(chatters), after(22.5, FIRST))
        ]
        assert loud == quiet
        assert list(range(3_000, 24_000, 3_000)) == loud


class TestTheEnd:
    def feed(self, fed: list[bytes]) -> Feed:
        table = Table(Cups(), Deal("plain", 1))
        terms = FeedTerms(
            match="m", players=(), clock=ClockTerms(main_ms=dict.fromkeys(Cups.actions, 1)), started=""
        )
        return Feed(table, terms, lambda _, message: fed.append(message), lambda: 0)

    def test_an_attempt_that_never_began_does_not_end(self) -> None:
        fed: list[bytes] = []
        self.feed(fed).over("")
        assert [] == fed

    def test_a_void_attempt_ends_without_outcome_or_reason(self) -> None:
        fed: list[bytes] = []
        feed = self.feed(fed)
        feed.begin()
        feed.record(Ended(at=1, outcome=None, conduct=(), refused=(), void="the default of seat 1, a secret"))
        feed.over("head")
        ended = msgspec.json.decode(fed[-1], type=FeedMessage)
        assert isinstance(ended, FeedEnded)
        assert (None, "head") == (ended.outcome, ended.head)
        assert b"secret" not in b"".join(fed)

    def test_an_attempt_without_a_finished_transcript_is_void(self) -> None:
        fed: list[bytes] = []
        feed = self.feed(fed)
        feed.begin()
        outcome = Outcome(ranking=((0,),), winners=(0,), eliminated=None, scores=None, reason="finished")
        feed.record(Ended(at=1, outcome=outcome, conduct=(), refused=()))
        feed.over("")
        ended = msgspec.json.decode(fed[-1], type=FeedMessage)
        assert isinstance(ended, FeedEnded)
        assert (None, "") == (ended.outcome, ended.head)


def test_every_message_reads_as_it_was_written() -> None:
    """Events and views are the game's, and any JSON to the feed."""
    event: Event = RoundOver(highest=3)
    message = encode(FeedEvent(n=1, at_ms=2, event=event))
    assert message == encode(msgspec.json.decode(message, type=FeedMessage))
