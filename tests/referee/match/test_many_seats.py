"""Windows of several seats, sealed and answered at once, through the whole referee in virtual time: a toy game."""

from collections.abc import Sequence
from typing import Any

import trio
import trio.testing

from protocol.codec import encode
from protocol.messages import Accepted, Closed, EventMessage, Opened, Over, Rejected
from protocol.refusals import Refusal
from referee.match.terms import Policy
from tests.referee.toy import Cups
from tests.referee.virtual import RULES, Bot, Play, Played, answering, hear_out, play, set_up, silent


async def cups(players: Sequence[Play], policy: Policy = RULES) -> Played:
    """Three seats, one round: a bid, a look for the highest bidders, a timed guess. A second for each."""
    return await play(
        set_up(3, game=Cups(), variant="plain", options={"rounds": 1, "seats": 3}, policy=policy), players
    )


def acting(*, bid: int = 1, bid_at: float = 0.1, look_at: float = 0.1, guess_at: float = 0.1, **say: Any) -> Play:
    """Return a bot that bids, looks under cup 0 and guesses 5, each these seconds after its window opened."""
    moves = {
        "bid": (bid_at, {"amount": bid}),
        "look": (look_at, {"cup": 0}),
        "guess": (guess_at, {"guess": 5}),
    }

    async def script(bot: Bot, window: Opened) -> None:
        seconds, action = moves[window.window]
        await trio.sleep(seconds)
        bot.submit(window.id, action, **say)

    return answering(script)


def when(bot: Bot, kind: type[Any], nth: int = 0) -> float:
    return round([at for at, heard in bot.heard if isinstance(heard, kind)][nth], 6)


async def test_a_window_closes_when_the_last_seat_has_sent_a_final_submission(autojump_clock: object) -> None:
    played = await cups([acting(bid_at=0.1), acting(bid_at=0.7), acting(bid_at=0.3)])
    assert [0.7] * 3 == [when(bot, Closed) for bot in played.bots]
    assert [100, 700, 300] == [played.closed(seat)[0].charged_ms for seat in range(3)]


async def test_a_submission_that_is_not_final_keeps_the_window_open_for_all(autojump_clock: object) -> None:
    played = await cups([acting(bid_at=0.1), acting(bid_at=0.2, final=False), acting(bid_at=0.3)])
    assert [1.0] * 3 == [when(bot, Closed) for bot in played.bots]
    assert (200, False) == (played.closed(1)[0].charged_ms, played.closed(1)[0].by_default)


async def test_the_window_waits_for_the_reserve_of_the_last(autojump_clock: object) -> None:
    played = await cups([acting(), silent, acting()], Policy(reserve_ms=3_000))
    assert [4.0] * 3 == [when(bot, Closed) for bot in played.bots]
    assert [(False, 100), (True, 4_000), (False, 100)] == [
        (played.closed(seat)[0].by_default, played.closed(seat)[0].charged_ms) for seat in range(3)
    ]


async def test_a_seat_settled_at_the_end_of_main_time_cannot_change_its_action_in_anothers_reserve(
    autojump_clock: object,
) -> None:
    async def second_thoughts(bot: Bot, window: Opened) -> None:
        if window.window == "bid":
            bot.submit(window.id, {"amount": 2}, final=False)
            await trio.sleep(1.5)
            bot.submit(window.id, {"amount": 3})

    played = await cups([answering(second_thoughts), silent, acting()], Policy(reserve_ms=3_000))
    assert {"amount": 2} == played.closed(0)[0].taken
    assert [Refusal.LATE] == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]


async def test_no_seat_learns_which_seats_have_submitted(autojump_clock: object) -> None:
    """Until a window closes, what others send, and whether they send, changes nothing a seat hears."""

    def until_closed(played: Played) -> list[bytes]:
        heard = [message for _, message in played.bots[2].heard]
        return [
            encode(message) for message in heard[: next(i for i, m in enumerate(heard) if isinstance(m, Closed))]
        ]

    async def busy(bot: Bot, window: Opened) -> None:
        for amount in (4, 9, 3):
            bot.submit(window.id, {"amount": amount}, final=False)
        bot.undo(window.id)

    alone = await cups([silent, silent, acting(bid_at=0.5)])
    beside = await cups([answering(busy), acting(bid=5), acting(bid_at=0.5)])
    assert until_closed(alone) == until_closed(beside)


async def test_a_frame_before_the_deadline_counts_even_if_a_later_one_of_another_seat_is_processed_first(
    autojump_clock: object,
) -> None:
    """The referee reads the lines one after the other: a later line's earlier arrival must not be passed over."""
    played = set_up(3, game=Cups(), variant="plain", options={"rounds": 1, "seats": 3})

    async def too_late(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        opened = trio.current_time()
        await trio.sleep(0.9)
        autojump_clock.jump(0.3)  # type: ignore[attr-defined]  # the referee is held up past the deadline
        bot.line.say(b'{"type":"submit","window":%d,"action":{"amount":1}}' % window.id, at=opened + 1.1)
        in_time = played.bots[2].line
        in_time.say(b'{"type":"submit","window":0,"action":{"amount":2}}', at=opened + 0.95)
        await hear_out(bot)

    await play(played, [too_late, silent, silent])
    first = [played.closed(0)[0].by_default, played.closed(2)[0].by_default]
    assert ([True, False], 950) == (first, played.closed(2)[0].charged_ms)


class TestAnsweredAtOnce:
    async def test_each_is_answered_as_soon_as_its_own_submission_is_final(self, autojump_clock: object) -> None:
        """While the others still think."""
        played = await cups([acting(bid=3, look_at=0.1), acting(bid=3, look_at=0.8), acting()])
        looked = [
            [
                (round(at - 0.1, 6), heard.event["type"])
                for at, heard in bot.heard
                if isinstance(heard, EventMessage)
            ]
            for bot in played.bots
        ]
        assert (0.1, "looked") in looked[0]
        assert (0.8, "looked") in looked[1]
        assert "looked" not in [kind for _, kind in looked[2]]

    async def test_an_answered_submission_cannot_be_taken_back(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            if window.window == "bid":
                bot.submit(window.id, {"amount": 3})
            if window.window == "look":
                bot.submit(window.id, {"cup": 0})
                bot.submit(window.id, {"cup": 1})

        played = await cups([answering(script), acting(bid=3, look_at=0.5), acting()])
        assert [Refusal.FINAL] == [rejected.reason for rejected in played.bots[0].all_of(Rejected)]
        assert 1 == [heard.event["type"] for heard in played.bots[0].all_of(EventMessage)].count("looked")

    async def test_submissions_are_answered_at_the_end_of_main_time(self, autojump_clock: object) -> None:
        played = await cups([acting(bid=3, final=False), acting(), acting()])
        assert [("looked", 2.0)] == [
            (heard.event["type"], round(at, 6))
            for at, heard in played.bots[0].heard
            if isinstance(heard, EventMessage) and heard.event["type"] == "looked"
        ]

    async def test_a_seat_that_submits_nothing_is_not_answered(self, autojump_clock: object) -> None:
        played = await cups([acting(bid=3, look_at=5), acting(), acting()])
        assert "looked" not in [heard.event["type"] for heard in played.bots[0].all_of(EventMessage)]
        assert (None, True) == (played.closed(0)[1].taken, played.closed(0)[1].by_default)


async def test_a_drawn_default_is_told_as_null_and_shown_when_it_is_taken(autojump_clock: object) -> None:
    played = await cups([acting(guess_at=5), acting(), acting()])
    opened = [message for message in played.bots[0].all_of(Opened) if message.window == "guess"]
    assert [None] == [message.default for message in opened]
    assert {"guess"} == set(played.closed(0)[-1].taken)


async def test_a_rule_that_depends_on_time_gets_the_time_charged(autojump_clock: object) -> None:
    """All guess alike: the faster stands higher."""
    played = await cups([acting(guess_at=0.3), acting(guess_at=0.1), acting(guess_at=0.2)])
    assert ((1,), (2,), (0,)) == played.bots[0].all_of(Over)[0].outcome.ranking


async def test_a_seats_window_ids_count_its_own_windows_only(autojump_clock: object) -> None:
    """A gap would tell that others had a window in between."""
    played = await cups([acting(bid=3), acting(), acting()])
    assert [[0, 1, 2], [0, 1], [0, 1]] == [[m.id for m in bot.all_of(Opened)] for bot in played.bots]


async def test_a_forfeit_among_many_does_not_end_the_match(autojump_clock: object) -> None:
    played = set_up(
        3, game=Cups(), variant="plain", options={"rounds": 1, "seats": 3}, policy=Policy(fault="forfeit")
    )

    async def leave() -> None:
        await trio.sleep(0.05)
        await played.host.left(1, 1)

    await play(played, [acting(), acting(), acting()], leave)
    outcome = played.bots[0].all_of(Over)[0].outcome
    assert ((1,), "finished", 1) == (outcome.ranking[-1], outcome.reason, outcome.eliminated)
    assert 1 not in outcome.winners


async def test_fixed_pacing_hides_how_long_others_thought(autojump_clock: object) -> None:
    async def heard_by_the_last(seconds: float) -> list[tuple[float, bytes]]:
        thinking = acting(bid=2, bid_at=seconds, look_at=seconds, guess_at=0.1)
        started = trio.current_time()
        played = await cups([thinking, acting(), acting()], Policy(pacing="fixed"))
        return [(round(at - started, 6), encode(message)) for at, message in played.bots[2].heard]

    assert await heard_by_the_last(0.001) == await heard_by_the_last(0.9)


async def test_resubmissions_are_each_accepted_in_canonical_spelling(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, {"amount": 1, "marks": [3, 1]}, final=False)
        bot.submit(window.id, {"amount": 2, "marks": []}, final=False)

    played = await cups([answering(script), acting(), acting()])
    accepted = [message.action for message in played.bots[0].all_of(Accepted)][:2]
    assert [{"amount": 1, "marks": [1, 3]}, {"amount": 2}] == accepted
