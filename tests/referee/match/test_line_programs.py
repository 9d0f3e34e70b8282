"""Programs that speak by lines, whose `hello` the bridge says: when they have started, what else they print."""

from collections.abc import Callable
from itertools import pairwise

import pytest
import trio
from msgspec import Raw

from protocol.codec import encode
from protocol.messages import PROTOCOL, Hello, Opened, Over, Rejected
from protocol.refusals import Conduct, Refusal
from protocol.words import Outcome
from referee.match.records import KEPT_OF_REFUSED, Ended, Frame, In
from referee.match.seat import LateAnswers
from referee.match.seat_report import QUOTED, SeatReport, quoted, sentences, summed
from referee.match.terms import Policy
from tests.referee.virtual import Bot, Play, Played, after, hear_out, mist, play, set_up, silent

C3, G7 = {"cells": ["C3"]}, {"cells": ["G7"]}
FORFEIT = Policy(fault="forfeit", startup_ms=10_000)
SUBMIT = b'{"type":"submit","window":0,"action":{"cells":["C3"]}}'


def bridged(*at_window: bytes, waits: float = 0.0) -> Play:
    """Return a program that writes these lines in each window, `waits` seconds after it opened."""

    async def run(bot: Bot) -> None:
        bot.say(Hello(token=bot.token, name="test", version="1", protocol=PROTOCOL, bridged=True))
        while True:
            try:
                message = await bot.hear()
            except trio.EndOfChannel:
                return
            if isinstance(message, Opened):
                await trio.sleep(waits)
                for line in at_window:
                    bot.line.say(line.replace(b'"window":0', b'"window":%d' % message.id))

    return run


async def ended(
    *players: Play, leaves: dict[int, tuple[float, int]], policy: Policy = FORFEIT, turns: int = 6
) -> Played:
    """Return a match in which processes of some seats end after these seconds, with these codes."""
    played = set_up(2, options={"first": 0, "max_turns": turns}, policy=policy)

    def leaving(seat: int) -> Callable[[], object]:
        async def leave() -> None:
            at, code = leaves[seat]
            await trio.sleep(at)
            if not played.match.over:
                await played.host.left(seat, code)

        return leave

    return await play(played, players, *map(leaving, leaves))  # type: ignore[arg-type]


def conduct(played: Played) -> list[Conduct]:
    return [seat.conduct for seat in played.match.seats]


def outcome(played: Played) -> Outcome:
    (found,) = [record.outcome for record in played.records if isinstance(record, Ended)]
    assert found is not None
    return found


def said(played: Played, seat: int = 0) -> list[str]:
    found = played.match.seats[seat]
    return sentences(found.report(), windows=found.windows, refused=found.refused.total())


class TestStart:
    @pytest.mark.parametrize("code", [1, 0, -9], ids=["crashes", "leaves", "is killed"])
    @pytest.mark.parametrize("policy", ["default", "restart", "forfeit"])
    async def test_one_that_ends_before_it_sent_a_message_never_started(
        self, code: int, policy: str, autojump_clock: object
    ) -> None:
        terms = Policy(fault=policy, restarts=0)  # type: ignore[arg-type]
        played = await ended(bridged(), after(1, G7), leaves={0: (0.5, code)}, policy=terms)
        assert [Conduct.NEVER_STARTED, Conduct.OK] == conduct(played)
        assert None is played.match.seats[0].report().hello_us

    @pytest.mark.parametrize("line", [b"loading\n", b"loading weights from /x", b"{}", b'{"type":"welcome"}'])
    async def test_other_printed_lines_are_no_messages(self, line: bytes, autojump_clock: object) -> None:
        played = await ended(bridged(line), after(1, G7), leaves={0: (0.5, 1)})
        assert Conduct.NEVER_STARTED is conduct(played)[0]

    @pytest.mark.parametrize("line", [SUBMIT, b'{"type":"note","text":"here"}', b'{"type":"submit"}'])
    async def test_once_it_sent_a_message_it_crashes_as_any_other(
        self, line: bytes, autojump_clock: object
    ) -> None:
        played = await ended(bridged(line), after(1, G7), leaves={0: (0.5, 1)})
        assert Conduct.CRASHED is conduct(played)[0]

    async def test_a_bot_that_says_hello_itself_has_started_by_that(self, autojump_clock: object) -> None:
        played = await ended(silent, after(1, G7), leaves={0: (0.5, 1)})
        assert Conduct.CRASHED is conduct(played)[0]

    @pytest.mark.parametrize("gap", [0.0, 0.001, 1.0, 9.9])
    @pytest.mark.parametrize("first", [0, 1])
    async def test_no_seat_wins_if_neither_starts(self, gap: float, first: int, autojump_clock: object) -> None:
        leaves = {first: (0.5, 1), 1 - first: (0.5 + gap, 1)}
        played = await ended(bridged(), bridged(), leaves=leaves)
        assert [Conduct.NEVER_STARTED] * 2 == conduct(played)
        assert (((0, 1),), ()) == (outcome(played).ranking, outcome(played).winners)

    async def test_one_that_runs_wins_with_its_first_message(self, autojump_clock: object) -> None:
        played = await ended(bridged(), bridged(SUBMIT, waits=3), leaves={0: (0.5, 1)})
        assert [Conduct.NEVER_STARTED, Conduct.OK] == conduct(played)
        assert ((1,), "forfeit") == (outcome(played).winners, outcome(played).reason)
        assert 3.5 == pytest.approx(trio.current_time())
        assert [outcome(played)] == [over.outcome for over in played.bots[1].all_of(Over)]

    async def test_one_that_runs_and_is_silent_wins_when_a_start_up_time_is_over(
        self, autojump_clock: object
    ) -> None:
        played = await ended(bridged(), bridged(SUBMIT, waits=30), leaves={0: (0.5, 1)})
        assert ((1,), "forfeit") == (outcome(played).winners, outcome(played).reason)
        assert 10.5 == pytest.approx(trio.current_time())

    async def test_one_that_thinks_on_is_not_waited_for_if_it_has_spoken(self, autojump_clock: object) -> None:
        played = await ended(bridged(SUBMIT), bridged(SUBMIT, waits=20), leaves={0: (30, 1)})
        assert (Conduct.CRASHED, (1,)) == (conduct(played)[0], outcome(played).winners)
        assert 30 == pytest.approx(trio.current_time())

    async def test_against_one_that_says_hello_itself_it_loses_at_once(self, autojump_clock: object) -> None:
        played = await ended(bridged(), silent, leaves={0: (0.5, 1)})
        assert (1,) == outcome(played).winners
        assert 0.5 == pytest.approx(trio.current_time())

    async def test_its_first_window_may_come_late(self, autojump_clock: object) -> None:
        """It sends nothing for long, and is no worse for it."""
        played = await mist(after(50, C3), bridged(SUBMIT, waits=1), policy=FORFEIT, max_turns=4)
        assert [Conduct.OK] * 2 == conduct(played)
        assert [C3] * 2 == [closed.taken for closed in played.closed(0)]


class TestPrints:
    async def test_they_are_counted_once_a_window_and_answered_never(self, autojump_clock: object) -> None:
        played = await mist(bridged(b"got window", b"thinking", SUBMIT, b"done"), after(1, G7), max_turns=4)
        assert {Refusal.NO_MESSAGE.value: 2} == dict(played.match.seats[0].refused)
        assert ([], Conduct.OK) == (played.bots[0].all_of(Rejected), conduct(played)[0])
        (sentence,) = said(played)
        assert (
            'it printed something to standard output that is not a message, first "got window": '
            "print to standard error (in 2 of 2 windows)"
        ) == sentence

    async def test_the_same_line_of_a_bot_that_speaks_zeromq_is_answered(self, autojump_clock: object) -> None:
        async def play_it(bot: Bot) -> None:
            bot.hello()
            bot.line.say(b"got window")
            await hear_out(bot)

        played = await mist(play_it, after(1, G7))
        assert [Refusal.MALFORMED] == [each.reason for each in played.bots[0].all_of(Rejected)]

    async def test_lines_meant_as_messages_are_answered(self, autojump_clock: object) -> None:
        played = await mist(bridged(b'{"type":"submit","window":0}', SUBMIT), after(1, G7))
        assert [Refusal.MALFORMED] == [each.reason for each in played.bots[0].all_of(Rejected)]

    async def test_a_flood_of_them_is_misbehaviour(self, autojump_clock: object) -> None:
        policy = Policy(refusals_per_match=50)
        played = await mist(bridged(*[b"x"] * 200), after(1, G7), policy=policy)
        assert Conduct.MISBEHAVED is conduct(played)[0]
        assert 50 == played.match.seats[0].refused[Refusal.FLOOD]

    async def test_a_long_one_is_cut_in_the_transcript_and_read_again_as_what_it_was(
        self, autojump_clock: object
    ) -> None:
        """Cut, it could be taken for a message."""
        line = b'{"type":"note","text":"' + b"x" * 2 * KEPT_OF_REFUSED
        played = await mist(bridged(line, SUBMIT), after(1, G7))
        (record,) = [each for each in played.records if isinstance(each, In) and each.cut]
        assert (Refusal.NO_MESSAGE, len(line)) == (record.refused, record.cut)
        assert Refusal.NO_MESSAGE == record.came().refusal
        assert Frame(0, 0, b"", 0).refusal == Refusal.MALFORMED

    @pytest.mark.parametrize(
        ("line", "shown"),
        [
            (b"got welcome\r", "got welcome"),
            (b"\x1b[2Jgone\x07", r"\x1b[2Jgone\x07"),
            (b"\xff\xfe", r"\xff\xfe"),
            ("\u202eevil".encode(), r"\u202eevil"),
            (b"y" * 70_000, "y" * (QUOTED - 1) + "…"),
        ],
    )
    def test_quoted_lines_are_short_and_harmless(self, line: bytes, shown: str) -> None:
        assert shown == quoted(line)

    def test_reports_of_many_matches_quote_the_first_line_and_add_up_windows(self) -> None:
        both = summed([SeatReport(printed="a", printed_windows=2), SeatReport(printed="b", printed_windows=3)])
        assert ("a", 5) == (both.printed, both.printed_windows)
        assert ["it printed something to standard output that is not a message, first"] == [
            sentence.partition(' "')[0] for sentence in sentences(both, windows=9, refused=5)
        ]


class TestFlush:
    UNFLUSHED = "all its answers arrived when it ended: does it flush its output?"

    def late(self, *at: tuple[int, int, bool], end: int | None = None) -> LateAnswers:
        """Answers at these moments, to these windows, too late or not."""
        found = LateAnswers()
        for moment, window, too_late in at:
            found.add(moment, window, too_late=too_late)
        if end is not None:
            found.end(end)
        return found

    def test_all_at_the_end_of_its_process(self) -> None:
        found = self.late(*[(9_000_000 + n, n, True) for n in range(5)], end=9_100_000)
        assert (5, 5) == (found.at_end, found.at_once)

    def test_not_if_one_was_in_time(self) -> None:
        found = self.late((10, 0, False), (900_000, 1, True), (900_001, 2, True), end=900_010)
        assert (0, 2) == (found.at_end, found.at_once)

    def test_not_if_it_went_on_for_long(self) -> None:
        found = self.late((10, 0, True), (20, 1, True), end=2_000_000)
        assert (0, 2) == (found.at_end, found.at_once)

    @pytest.mark.parametrize(("took", "at_end"), [(1_000_000, 2), (1_000_001, 0)])
    def test_at_its_end_is_within_its_last_second(self, took: int, at_end: int) -> None:
        found = self.late((7_000_000, 0, True), (7_050_000, 1, True), end=7_000_000 + took)
        assert (at_end, 2) == (found.at_end, found.at_once)

    @pytest.mark.parametrize(("gap", "at_once"), [(50_000, 3), (50_001, 0)])
    def test_at_once_is_within_a_twentieth_of_a_second_each(self, gap: int, at_once: int) -> None:
        assert at_once == self.late(*[(7_000_000 + n * gap, n, True) for n in range(3)]).at_once

    def test_one_late_answer_is_only_late(self) -> None:
        found = self.late((10, 0, True), end=20)
        assert (0, 0) == (found.at_end, found.at_once)

    def test_answers_that_are_late_one_after_the_other_are_only_late(self) -> None:
        found = self.late(*[(n * 60_000_000, n, True) for n in range(5)], end=300_000_000)
        assert (0, 0) == (found.at_end, found.at_once)

    def test_the_same_window_again_and_again_is_one(self) -> None:
        found = self.late(*[(n, 3, True) for n in range(5)], end=10)
        assert (0, 0) == (found.at_end, found.at_once)

    @pytest.mark.parametrize(("windows", "at_end"), [(0, 0), (1, 0), (2, 2), (196, 196)])
    def test_all_after_the_match(self, windows: int, at_end: int) -> None:
        found = LateAnswers()
        found.after_end(windows)
        assert at_end == found.at_end

    def test_late_answers_before_the_end_are_not_counted_as_after_the_match(self) -> None:
        found = self.late((10, 0, False))
        found.after_end(5)
        assert 0 == found.at_end

    async def test_late_answers_in_a_match_that_the_program_left_are_reported(
        self, autojump_clock: object
    ) -> None:
        async def buffered(bot: Bot) -> None:
            bot.say(Hello(token=bot.token, name="test", version="1", protocol=PROTOCOL, bridged=True))
            windows = [(await bot.hear_a(Opened)).id for _ in range(3)]
            for window in windows:
                bot.submit(window, C3)
            await played.host.left(0, 1)

        played = set_up(2, options={"first": 0, "max_turns": 10}, policy=Policy(main_ms=1_000))
        await play(played, [buffered, after(0.5, G7)])
        assert self.UNFLUSHED in said(played)
        assert 2 == played.match.seats[0].report().answers_at_end

    async def test_a_buffer_that_was_full_is_said_otherwise(self, autojump_clock: object) -> None:
        async def buffered(bot: Bot) -> None:
            bot.say(Hello(token=bot.token, name="test", version="1", protocol=PROTOCOL, bridged=True))
            windows = [(await bot.hear_a(Opened)).id for _ in range(4)]
            for one, _ in pairwise(windows):
                bot.submit(one, C3)
            await hear_out(bot)

        played = set_up(2, options={"first": 0, "max_turns": 10}, policy=Policy(main_ms=1_000))
        await play(played, [buffered, after(0.5, G7)])
        assert "3 answers arrived at once, too late: does it flush its output?" in said(played)

    async def test_a_bot_that_speaks_zeromq_has_no_such_buffer(self, autojump_clock: object) -> None:
        async def slow(bot: Bot) -> None:
            bot.hello()
            windows = [(await bot.hear_a(Opened)).id for _ in range(4)]
            for window in windows:
                bot.line.say(encode({"type": "submit", "window": window, "action": Raw(encode(C3))}))
            await hear_out(bot)

        played = set_up(2, options={"first": 0, "max_turns": 10}, policy=Policy(main_ms=1_000))
        await play(played, [slow, after(0.5, G7)])
        assert not any("flush" in sentence for sentence in said(played))
