"""What bots do wrong, and what it costs: refusals by name, conduct, and the three policies. In virtual time."""

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from msgspec import Raw

from protocol.codec import encode
from protocol.messages import (
    MAX_FRAME_BYTES,
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Opened,
    Over,
    Rejected,
    Submit,
    Welcome,
)
from protocol.refusals import Conduct, Fault, Refusal
from referee.host import host
from referee.match.records import KEPT_OF_REFUSED, Ended, In, Left
from referee.match.terms import Policy
from referee.wire.line import Bell
from tests.referee.virtual import Bot, Play, Played, after, answering, hear_out, mist, play, set_up, silent

C3, G7, E5 = {"cells": ["C3"]}, {"cells": ["G7"]}, {"cells": ["E5"]}


def conduct(played: Played) -> list[Conduct]:
    return [seat.conduct for seat in played.match.seats]


def reasons(bot: Bot) -> list[Refusal]:
    return [rejected.reason for rejected in bot.all_of(Rejected)]


def faults(bot: Bot) -> list[Fault]:
    return [fault.reason for fault in bot.all_of(Faulted)]


def saying(*frames: bytes) -> Play:
    """Return a bot that sends these raw frames in its first window, then a good move in each."""

    async def script(bot: Bot, window: Opened) -> None:
        if window.id == 0:
            for frame in frames:
                bot.line.say(frame)
        bot.submit(window.id, C3)

    return answering(script)


class TestHello:
    async def test_a_bot_that_never_says_hello_never_started_and_takes_defaults(
        self, autojump_clock: object
    ) -> None:
        played = await mist(hear_out, after(1, G7), max_turns=4)
        assert [Conduct.NEVER_STARTED, Conduct.OK] == conduct(played)
        assert [Fault.NO_HELLO] == faults(played.bots[0])
        assert [G7, G7] == [closed.taken for closed in played.closed(1)]

    @pytest.mark.parametrize(
        ("code", "says_hello", "as_seen"),
        [
            (1, False, Conduct.NEVER_STARTED),
            (0, False, Conduct.NEVER_STARTED),
            (1, True, Conduct.CRASHED),
            (0, True, Conduct.DISCONNECTED),
        ],
    )
    async def test_a_bot_that_ends_before_its_hello_never_started(
        self, autojump_clock: object, code: int, says_hello: bool, as_seen: Conduct
    ) -> None:
        played = set_up(2, options={"first": 0, "max_turns": 2})

        async def ends(bot: Bot) -> None:
            if says_hello:
                bot.hello()
            await trio.sleep(1)
            await played.host.left(0, code)
            await hear_out(bot)

        await play(played, [ends, silent])
        assert as_seen is conduct(played)[0]

    async def test_start_up_time_is_on_no_clock(self, autojump_clock: object) -> None:
        async def slow(bot: Bot) -> None:
            await trio.sleep(9)
            await after(1, C3)(bot)

        played = await mist(slow, silent)
        assert [1_000] == [closed.charged_ms for closed in played.closed(0)]

    async def test_a_hello_with_the_wrong_token_is_misbehaviour(self, autojump_clock: object) -> None:
        async def stranger(bot: Bot) -> None:
            bot.hello(token="guess")
            await hear_out(bot)

        played = await mist(stranger, after(1, G7))
        assert [Conduct.MISBEHAVED, Conduct.OK] == conduct(played)
        assert ([Fault.WRONG_TOKEN], []) == (faults(played.bots[0]), played.bots[0].all_of(Welcome))

    async def test_a_hello_of_another_protocol_is_told_so(self, autojump_clock: object) -> None:
        async def newer(bot: Bot) -> None:
            bot.hello(protocol=99)
            await hear_out(bot)

        played = await mist(newer, after(1, G7))
        assert [Conduct.NEVER_STARTED, Conduct.OK] == conduct(played)
        assert [Fault.WRONG_PROTOCOL] == faults(played.bots[0])

    async def test_anything_before_hello_is_out_of_turn(self, autojump_clock: object) -> None:
        async def hasty(bot: Bot) -> None:
            bot.submit(0, C3)
            await after(1, C3)(bot)

        played = await mist(hasty, silent)
        assert ([Refusal.OUT_OF_TURN], [Conduct.OK] * 2) == (reasons(played.bots[0]), conduct(played))


class TestRefusals:
    @pytest.mark.parametrize(
        ("frame", "refusal"),
        [
            (b"", Refusal.MALFORMED),
            (b"\xff\xfe", Refusal.MALFORMED),
            (b'"C3"', Refusal.MALFORMED),
            (b'{"type":"resign"}', Refusal.MALFORMED),
            (b'{"type":"submit","window":0}', Refusal.MALFORMED),
            (b'{"type":"submit","window":"0","action":{"cells":["C3"]}}', Refusal.MALFORMED),
            (b'{"type":"submit","window":0,"action":{"cells":["C3"]},"extra":1}', Refusal.MALFORMED),
            (b"[" * 60_000, Refusal.MALFORMED),
            (b'{"type":"submit","window":0,"action":' + b"[" * 5_000 + b"]" * 5_000 + b"}", Refusal.MALFORMED),
            (b'{"type":"note","text":"' + b"x" * 65_536 + b'"}', Refusal.OVERSIZED),
            (b'{"type":"note","text":"' + b"x" * 2_001 + b'"}', Refusal.TOO_LONG),
            (b'{"type":"submit","window":1,"action":{"cells":["C3"]}}', Refusal.UNKNOWN_WINDOW),
            (b'{"type":"submit","window":-1,"action":{"cells":["C3"]}}', Refusal.UNKNOWN_WINDOW),
            (b'{"type":"submit","window":0,"action":{"cells":["Z9"]}}', Refusal.ILLEGAL),
            (b'{"type":"submit","window":0,"action":{"cells":[1]}}', Refusal.ILLEGAL),
            (b'{"type":"submit","window":0,"action":17}', Refusal.ILLEGAL),
            (b'{"type":"pause"}', Refusal.NO_PAUSE),
        ],
    )
    async def test_each_is_refused_by_name_and_the_match_goes_on(
        self, autojump_clock: object, frame: bytes, refusal: Refusal
    ) -> None:
        played = await mist(saying(frame), after(1, G7))
        assert [refusal] == reasons(played.bots[0])
        assert ([C3], [Conduct.OK] * 2) == ([closed.taken for closed in played.closed(0)], conduct(played))
        ended = next(record for record in played.records if isinstance(record, Ended))
        assert ({refusal.value: 1}, {}) == ended.refused

    async def test_a_note_is_kept_and_answered_by_nothing(self, autojump_clock: object) -> None:
        played = await mist(saying(b'{"type":"note","text":"I see you"}'), silent)
        assert [] == reasons(played.bots[0])
        assert any(
            "I see you" in getattr(record, "frame", "") for record in played.records if hasattr(record, "cut")
        )

    async def test_a_message_for_a_closed_window_is_late_and_never_counts_for_another(
        self, autojump_clock: object
    ) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            if window.id == 1:
                bot.submit(0, {"cells": ["A1"]})
                bot.undo(0)
            bot.submit(window.id, C3)

        played = await mist(answering(script), after(1, G7), max_turns=4)
        assert [Refusal.LATE] * 2 == reasons(played.bots[0])
        assert [C3, C3] == [closed.taken for closed in played.closed(0)]

    async def test_a_flood_is_told_once_a_window_and_then_only_counted(self, autojump_clock: object) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            for _ in range(60):
                bot.submit(window.id, C3, final=False)

        played = await mist(answering(script), silent, policy=Policy(messages_per_window=10))
        assert [Refusal.FLOOD] == reasons(played.bots[0])
        assert 10 == len(played.bots[0].all_of(Accepted))
        assert 50 == played.match.seats[0].refused["flood"]
        assert [C3] == [closed.taken for closed in played.closed(0)]

    async def test_more_bytes_than_a_windows_budget_are_a_flood_too_until_the_next_window(
        self, autojump_clock: object
    ) -> None:
        async def script(bot: Bot, window: Opened) -> None:
            bot.submit(window.id, C3, final=False)
            for _ in range(6):
                bot.submit(window.id, {"cells": ["Z" * 64_000]})
            bot.submit(window.id, G7, final=True)

        played = await mist(answering(script), silent, max_turns=4)
        window = [Refusal.ILLEGAL] * 4 + [Refusal.FLOOD]
        assert window * 2 == reasons(played.bots[0])
        assert 2 * 3 == played.match.seats[0].refused["flood"]
        assert [C3, C3] == [closed.taken for closed in played.closed(0)]

    async def test_the_transcript_holds_a_bots_messages_within_its_budget_and_the_starts_of_refused_ones(
        self, autojump_clock: object
    ) -> None:
        """However long its frames: illegal submissions that can be read are kept whole, up to there."""
        long = encode(Submit(window=0, action=Raw(encode({"cells": ["Z9"]}))))
        played = await mist(saying(*[long.ljust(MAX_FRAME_BYTES)] * 150), silent)
        said = [record for record in played.records if isinstance(record, In) and record.seat == 0]
        assert (152, 146) == (len(said), sum(1 for record in said if record.cut))
        kept = [len(record.raw()) for record in said if record.raw().startswith(long)]
        assert [MAX_FRAME_BYTES] * 4 + [KEPT_OF_REFUSED] * 146 == kept

    async def test_more_refusals_than_the_limit_end_the_bots_part(self, autojump_clock: object) -> None:
        played = await mist(saying(*[b"?"] * 30), after(1, G7), policy=Policy(refusals_per_match=20), max_turns=4)
        assert [Conduct.MISBEHAVED, Conduct.OK] == conduct(played)
        assert ([Fault.MISBEHAVED], 20) == (faults(played.bots[0]), len(reasons(played.bots[0])) - 1)
        assert [G7, G7] == [closed.taken for closed in played.closed(1)]

    async def test_messages_after_a_disconnection_by_the_referee_are_not_read(
        self, autojump_clock: object
    ) -> None:
        played = await mist(saying(*[b"?"] * 60), after(1, G7), policy=Policy(refusals_per_match=20))
        assert 21 == played.match.seats[0].refused.total()

    async def test_a_seat_with_no_window_may_not_submit(self, autojump_clock: object) -> None:
        async def eager(bot: Bot) -> None:
            bot.hello()
            await trio.sleep(1)
            bot.submit(0, G7)
            await hear_out(bot)

        played = await mist(silent, eager, max_turns=1)
        assert [Refusal.UNKNOWN_WINDOW] == reasons(played.bots[1])


def leaving(played: Played, seat: int, at: float, code: int) -> Callable[[], Awaitable[None]]:
    async def leave() -> None:
        await trio.sleep(at)
        await played.host.left(seat, code)

    return leave


class TestPolicies:
    async def ended(self, code: int, policy: Policy, at: float = 30) -> Played:
        """Seat 0 thinks 20 s a turn, seat 1 as well; seat 0's process ends after `at` s with this code."""
        played = set_up(2, options={"first": 0, "max_turns": 6}, policy=policy)
        return await play(
            played,
            [after(20, C3), after(20, G7)],
            leaving(played, 0, at, code),
        )

    async def test_a_crash_takes_defaults_for_the_rest(self, autojump_clock: object) -> None:
        played = await self.ended(-11, Policy())
        assert [Conduct.CRASHED, Conduct.OK] == conduct(played)
        assert [C3] == [closed.taken for closed in played.closed(0)]
        assert (3, 3, 2) == (
            played.match.seats[0].windows,
            played.match.seats[1].windows,
            played.match.seats[0].defaults,
        )
        assert "turn_limit" == played.bots[1].all_of(Over)[0].outcome.reason

    async def test_the_windows_of_a_gone_bot_are_not_waited_for(self, autojump_clock: object) -> None:
        await self.ended(1, Policy())
        assert 80 == pytest.approx(trio.current_time())

    async def test_leaving_with_code_0_is_a_disconnection(self, autojump_clock: object) -> None:
        assert [Conduct.DISCONNECTED, Conduct.OK] == conduct(await self.ended(0, Policy()))

    async def test_a_fault_under_forfeit_ends_a_match_of_two(self, autojump_clock: object) -> None:
        played = await self.ended(1, Policy(fault="forfeit"))
        outcome = played.bots[1].all_of(Over)[0].outcome
        assert ("forfeit", ((1,), (0,)), (1,), 0) == (
            outcome.reason,
            outcome.ranking,
            outcome.winners,
            outcome.eliminated,
        )
        assert 30 == pytest.approx(trio.current_time())

    async def test_a_restarted_bot_gets_all_it_was_told_and_the_window_with_the_time_that_is_left(
        self, autojump_clock: object
    ) -> None:
        restarts: list[int] = []
        played = set_up(
            2, options={"first": 0, "max_turns": 3}, policy=Policy(fault="restart"), restart=restarts.append
        )
        first, second = trio.Event(), trio.Event()

        async def crashing(bot: Bot) -> None:
            bot.hello()
            await bot.hear_a(Opened)
            bot.submit(0, C3)
            await bot.hear_a(Opened)
            first.set()
            await second.wait()
            bot.hello()
            welcome = await bot.hear_a(Welcome)
            assert [heard.event["type"] for heard in bot.all_of(EventMessage)] == [
                event["type"] for event in welcome.told
            ]
            window = await bot.hear_a(Opened)
            assert (1, 50_000) == (window.id, window.main_ms)
            bot.submit(window.id, G7)
            await hear_out(bot)

        async def supervise() -> None:
            await first.wait()
            await trio.sleep(5)
            await played.host.left(0, 1)
            await trio.sleep(5)
            assert [0] == restarts
            second.set()

        await play(played, [crashing, after(1, E5)], supervise)
        assert (G7, 10_000) == (played.closed(0)[-1].taken, played.closed(0)[-1].charged_ms)
        assert [Conduct.CRASHED, Conduct.OK] == conduct(played)

    async def test_messages_before_a_bots_end_count_for_it_and_not_for_its_restart(
        self, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However little of it the host hears at a time, as where a machine is busy."""
        monkeypatch.setattr(host, "INBOX_FRAMES", 1)
        lives = [trio.Event() for _ in range(3)]
        started = iter(lives[1:])
        played = set_up(
            2,
            options={"first": 0, "max_turns": 4},
            policy=Policy(fault="restart"),
            restart=lambda _seat: next(started).set(),
        )

        async def one_after_the_other(bot: Bot) -> None:
            bot.hello()
            await bot.hear_a(Opened)
            await trio.sleep(1)
            await played.host.left(0, -9)
            await lives[1].wait()
            with monkeypatch.context() as at_once:
                at_once.setattr(Bell, "ring", lambda _bell: None)
                bot.hello()
                bot.note("here I am again")
                bot.submit(0, C3)
            await played.host.left(0, -9)
            await lives[2].wait()
            while bot.line.hear_nowait() is not None:
                pass  # What was for the one before.
            await trio.sleep(1)
            assert bot.line.hear_nowait() is None, "it has not said hello"
            await after(1, G7)(bot)

        await play(played, [one_after_the_other, after(1, E5)])
        said = [type(record) for record in played.records if isinstance(record, In | Left) and record.seat == 0]
        assert [In, Left, In, In, In, Left, In, In] == said
        assert {} == played.match.seats[0].refused
        assert [G7] == [closed.taken for closed in played.closed(0)]

    async def test_a_bot_that_does_not_come_back_in_the_start_up_time_is_gone(
        self, autojump_clock: object
    ) -> None:
        restarts: list[int] = []
        played = set_up(
            2, options={"first": 0, "max_turns": 6}, policy=Policy(fault="restart"), restart=restarts.append
        )
        await play(played, [silent, after(1, G7)], leaving(played, 0, 5, 1))
        assert [0] == restarts
        assert (3, Conduct.CRASHED) == (played.match.seats[0].defaults, played.match.seats[0].conduct)

    async def test_the_restarts_are_counted(self, autojump_clock: object) -> None:
        restarts: list[int] = []
        played = set_up(
            2,
            options={"first": 0, "max_turns": 2},
            policy=Policy(fault="restart", restarts=2),
            restart=restarts.append,
        )

        async def leave() -> None:
            for _ in range(3):
                await trio.sleep(1)
                await played.host.left(0, 1)

        await play(played, [silent, after(1, G7)], leave)
        assert ([0, 0], True) == (restarts, played.match.seats[0].gone)

    async def test_a_match_whose_bots_are_all_gone_is_played_to_its_end_by_defaults(
        self, autojump_clock: object
    ) -> None:
        played = await mist(hear_out, hear_out, max_turns=400)
        ended = next(record for record in played.records if isinstance(record, Ended))
        assert ended.outcome is not None
        assert ("turn_limit", 10) == (ended.outcome.reason, round(trio.current_time()))

    async def test_a_bot_that_reads_nothing_is_disconnected(self, autojump_clock: object) -> None:
        async def deaf(bot: Bot) -> None:
            bot.hello()
            window = await bot.hear_a(Opened)
            for _ in range(200):
                for _ in range(60):
                    bot.submit(window.id, C3, final=False)
                await trio.sleep(0.1)

        policy = Policy(
            messages_per_window=1_000_000,
            bytes_per_window=1_000_000_000,
            transcript_bytes_per_match=1_000_000_000,
            refusals_per_match=1_000_000,
        )
        played = await mist(deaf, after(1, G7), policy=policy)
        assert [Conduct.DISCONNECTED, Conduct.OK] == conduct(played)


class TestReconnect:
    async def test_a_second_hello_is_answered_with_all_that_was_told_and_the_open_window(
        self, autojump_clock: object
    ) -> None:
        async def forgetful(bot: Bot) -> None:
            bot.hello()
            window = await bot.hear_a(Opened)
            bot.submit(window.id, C3)
            window = await bot.hear_a(Opened)
            await trio.sleep(10)
            bot.hello()
            welcome = await bot.hear_a(Welcome)
            assert ["first_move", "placed", "opponent_placed"] == [event["type"] for event in welcome.told]
            again = await bot.hear_a(Opened)
            assert (window.id, window.view, 50_000) == (again.id, again.view, again.main_ms)
            bot.submit(again.id, G7)
            await hear_out(bot)

        played = await mist(forgetful, after(1, E5), max_turns=3)
        assert 10_000 == played.closed(0)[-1].charged_ms

    async def test_hellos_without_end_are_misbehaviour(self, autojump_clock: object) -> None:
        async def stutter(bot: Bot) -> None:
            for _ in range(30):
                bot.hello()
            await hear_out(bot)

        played = await mist(stutter, after(1, G7))
        assert (Conduct.MISBEHAVED, 20) == (conduct(played)[0], len(played.bots[0].all_of(Welcome)))


async def test_no_seat_is_told_anything_of_another_seats_faults(autojump_clock: object) -> None:
    honest = await mist(after(1, C3), after(1, G7), max_turns=4)
    beside = await mist(saying(*[b"?"] * 30), after(1, G7), max_turns=4)
    heard = [message for _, message in honest.bots[1].heard if not isinstance(message, Closed)]
    assert heard == [message for _, message in beside.bots[1].heard if not isinstance(message, Closed)]
