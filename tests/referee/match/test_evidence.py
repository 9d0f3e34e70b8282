"""When evidence comes, and what comes of it: no missed window goes unjudged, and nothing follows the end."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing
from msgspec import UNSET, Raw

from protocol.codec import encode
from protocol.messages import Opened, Paused, Resumed, Submit
from protocol.refusals import Conduct
from referee.match.records import Ended, Frame, Judged, Used, Verdict, WindowTime
from referee.match.terms import Policy
from referee.sandbox.meter import Reading
from referee.transcript.replayer import replay
from tests.referee.host.retold import whole
from tests.referee.toy import Cups
from tests.referee.virtual import Bot, Play, Played, answering, hear_out, play, set_up, silent

SECOND = 1_000_000
IDLE = Reading(0, 0, 0, 1.0, {1: (0, 0, 0)})


def withheld_always(_seat: int) -> Reading:
    """Nine tenths of all time since the clock's zero."""
    waited = round(trio.current_time() * SECOND * 0.9)
    return Reading(0, waited, 0, 1.0, {1: (0, waited, 0)}, main=1)


def idle_match(max_turns: int, **policy: Any) -> Played:
    """Of Mist, whose bots neither run nor wait, with a loop that is never behind."""
    return set_up(
        2,
        options={"first": 0, "max_turns": max_turns},
        policy=Policy(reserve_ms=0, **policy),
        measure=lambda _seat: IDLE,
        behind=lambda _since: 0.0,
    )


def measured(measure: Callable[[], Reading], max_turns: int = 2) -> Played:
    """Of Mist, with windows of a second, and with this as what the kernel has counted of each bot."""
    return set_up(
        2,
        options={"first": 0, "max_turns": max_turns},
        policy=Policy(main_ms=1_000, reserve_ms=0, unfair="note"),
        measure=lambda _seat: measure(),
        behind=lambda _since: 0.0,
    )


def counted(ran: float, waited: float, *, turns: int = 1, is_ready: bool = False) -> Reading:
    """Of a bot with one thread, in seconds."""
    ran_us, waited_us = round(ran * SECOND), round(waited * SECOND)
    return Reading(ran_us, 0, 0, 1.0, {1: (ran_us, waited_us, turns)}, main=1, is_ready=is_ready)


def only_judged(played: Played) -> Judged:
    """Return the only verdict on seat 0."""
    (judged,) = (each for each in played.records if isinstance(each, Judged) and each.seat == 0)
    return judged


def answering_after(seconds: float) -> Play:
    """Return a bot that answers its first window after these seconds, and no other."""

    async def late(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        await trio.sleep(seconds)
        bot.submit(window.id, window.default)
        await hear_out(bot)

    return late


async def test_a_bot_is_measured_until_its_late_answer_comes(autojump_clock: object) -> None:
    """It waits for half of all time, and computes in the other half: it did not sleep."""
    played = measured(lambda: counted(trio.current_time() / 2, trio.current_time() / 2), max_turns=4)
    await play(played, [answering_after(1.2), answering(at_once)])
    evidence = next(each.evidence for each in played.records if isinstance(each, Judged) and each.seat == 0)
    assert (200_000, 200_000, 0) == (evidence.late_by, evidence.after, evidence.slept)
    assert 600_000 == pytest.approx(evidence.withheld, abs=1_000)


async def test_a_bot_that_sleeps_past_its_end_is_at_fault_whatever_its_other_threads_waited(
    autojump_clock: object,
) -> None:
    def reading() -> Reading:
        waited = round(trio.current_time() * SECOND)
        return Reading(0, waited, 0, 1.0, {1: (0, 0, 1), 2: (0, waited, 1)}, main=1)

    played = measured(reading, max_turns=4)
    await play(played, [answering_after(1.15), answering(at_once)])
    first = next(each for each in played.records if isinstance(each, Judged) and each.seat == 0)
    assert (Verdict.BOT, 0, 1_150_000) == (first.verdict, first.evidence.withheld, first.evidence.slept)


async def test_a_wait_that_is_not_over_is_waited_for(autojump_clock: object) -> None:
    """The kernel counts it when it is over, here 0.3 s after the window."""
    began = trio.current_time()

    def reading() -> Reading:
        now = trio.current_time() - began
        return counted(0.0, 0.0, is_ready=True) if now < 1.3 else counted(0.1, 1.2, turns=2, is_ready=True)

    played = measured(reading)
    await play(played, [silent, silent])
    judged = only_judged(played)
    assert (Verdict.HOST, 0) == (judged.verdict, judged.evidence.slept)


async def test_a_bot_whose_wait_does_not_end_is_not_reported_as_sleeping(autojump_clock: object) -> None:
    played = measured(lambda: counted(0.0, 0.0, is_ready=True))
    await play(played, [silent, silent])
    assert only_judged(played).evidence.slept is UNSET


async def test_a_bot_that_is_idle_when_it_is_looked_at_slept(autojump_clock: object) -> None:
    played = measured(lambda: counted(0.0, 0.0))
    await play(played, [silent, silent])
    assert 1_250_000 == only_judged(played).evidence.slept


class Frozen:
    """A bot of which a processor is wanted all the time that it may run, and had for half of that."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._ran = 0.0
        self._since: float | None = trio.current_time()

    def let_run(self, seat: int, runs: bool) -> None:
        if seat != self._seat:
            return
        now = trio.current_time()
        if self._since is not None:
            self._ran += now - self._since
        self._since = now if runs else None

    def reading(self, _seat: int) -> Reading:
        now = trio.current_time()
        wanted = self._ran + (0.0 if self._since is None else now - self._since)
        return counted(wanted / 2, wanted / 2)


@pytest.mark.parametrize("main_ms", [100, 300, 900])
async def test_a_bot_that_was_frozen_after_its_window_did_not_sleep_then(
    autojump_clock: object, main_ms: int
) -> None:
    """It is frozen as it owes nothing, and would be judged as if it had let its time pass."""
    frozen = Frozen(0)
    played = set_up(
        2,
        options={"first": 0, "max_turns": 3},
        policy=Policy(main_ms=main_ms, reserve_ms=0, unfair="note", ponder=False),
        let_run=frozen.let_run,
        measure=frozen.reading,
        behind=lambda _since: 0.0,
    )
    await play(played, [silent, answering_after(0.09)])
    found = [each for each in played.records if isinstance(each, Judged) and each.seat == 0]
    assert [(Verdict.HOST, 0)] * 2 == [(each.verdict, each.evidence.slept) for each in found]
    assert all(each.evidence.rested for each in found)
    assert played.match.ended == replay(whole(played)).match.ended


@pytest.mark.parametrize("in_pauses", [True, False])
async def test_work_during_a_pause_does_not_excuse_a_bot_in_the_window(
    autojump_clock: object, in_pauses: bool
) -> None:
    """It waits for a processor in pauses, and sleeps in its windows; or, for comparison, the other way round."""
    waited, since = 0.0, trio.current_time()
    wants = not in_pauses

    def reading() -> Reading:
        return counted(0.0, waited + (trio.current_time() - since if wants else 0.0))

    def changes(to: bool) -> None:
        nonlocal waited, since, wants
        waited, since, wants = reading().threads[1][1] / SECOND, trio.current_time(), to

    async def asks(bot: Bot) -> None:
        bot.hello()
        while True:
            window = await bot.hear_a(Opened)
            await trio.sleep(0.3)
            bot.pause()
            await bot.hear_a(Paused)
            changes(in_pauses)
            await bot.hear_a(Resumed)
            changes(not in_pauses)
            await trio.sleep(0.85)
            bot.submit(window.id, window.default)

    played = set_up(
        2,
        options={"first": 0, "max_turns": 3},
        policy=Policy(main_ms=1_000, reserve_ms=0, unfair="note", pauses=9, pause_ms=2_000),
        measure=lambda seat: IDLE if seat else reading(),
        behind=lambda _since: 0.0,
    )
    await play(played, [asks, answering(at_once)])
    found = [each for each in played.records if isinstance(each, Judged) and each.seat == 0]
    verdict = Verdict.BOT if in_pauses else Verdict.HOST
    assert [verdict] * 2 == [each.verdict for each in found]
    assert (1_150_000 if in_pauses else 0) == found[0].evidence.slept


def verdicts(played: Played, seat: int = 0) -> list[tuple[int, Verdict]]:
    return [
        (each.number, each.verdict) for each in played.records if isinstance(each, Judged) and each.seat == seat
    ]


async def at_once(bot: Bot, window: Opened) -> None:
    bot.submit(window.id, window.default)


async def all_but_the_first(bot: Bot, window: Opened) -> None:
    if window.id > 0:
        bot.submit(window.id, window.default)


async def test_a_missed_window_is_judged_though_the_next_ones_are_over_before_its_evidence(
    autojump_clock: object,
) -> None:
    played = set_up(
        2,
        options={"first": 0, "max_turns": 6},
        policy=Policy(main_ms=1_000, reserve_ms=0),
        measure=withheld_always,
        behind=lambda _since: 0.0,
    )
    await play(played, [answering(all_but_the_first), answering(at_once)])
    assert [(0, Verdict.HOST)] == verdicts(played)
    assert played.match.ended is not None
    assert played.match.ended.void is not None
    assert played.match.ended == replay(whole(played)).match.ended


@pytest.mark.parametrize("heard_before_the_deadline_was_acted_on", [True, False])
async def test_a_late_submission_tells_how_late_it_was_whenever_it_is_heard(
    autojump_clock: object, heard_before_the_deadline_was_acted_on: bool
) -> None:
    played = idle_match(2, main_ms=1_000, unfair="note")

    async def late(bot: Bot) -> None:
        bot.hello()
        window = await bot.hear_a(Opened)
        frame = encode(Submit(window=window.id, action=Raw(b'{"cells":[]}'), final=True))
        began = trio.current_time()
        await trio.sleep(0.9 if heard_before_the_deadline_was_acted_on else 1.1)
        bot.line.say(frame, at=began + 1.005)  # stamped so by a wire whose loop is behind
        await hear_out(bot)

    await play(played, [late, silent])
    (judged,) = (each for each in played.records if isinstance(each, Judged) and each.seat == 0)
    assert pytest.approx(5_000, abs=10) == judged.evidence.late_by


async def test_a_loop_that_is_held_up_after_a_window_is_not_held_up_in_it(autojump_clock: object) -> None:
    began = trio.current_time()
    played = set_up(
        2,
        options={"first": 0, "max_turns": 4},
        policy=Policy(main_ms=400, reserve_ms=0),
        measure=lambda _seat: IDLE,
        behind=lambda since: 0.12 if since <= began + 0.6 <= trio.current_time() else 0.0,
    )

    async def slow(bot: Bot, window: Opened) -> None:
        if window.id > 0:
            await trio.sleep(0.35)
            bot.submit(window.id, window.default)

    await play(played, [answering(slow), answering(at_once)])
    assert [(0, Verdict.BOT)] == verdicts(played)


async def test_a_window_opened_while_its_bot_is_started_again_is_looked_at_from_its_beginning(
    autojump_clock: object,
) -> None:
    began, asked = trio.current_time(), list[float]()

    def behind(since: float) -> float:
        asked.append(round(since - began, 3))
        return 0.0

    played = set_up(
        2,
        options={"first": 0, "max_turns": 2},
        policy=Policy(main_ms=400, reserve_ms=0, fault="restart"),
        measure=lambda _seat: IDLE,
        behind=behind,
        restart=lambda _seat: None,
    )

    async def answers(bot: Bot, window: Opened) -> None:
        await trio.sleep(0.3)
        bot.submit(window.id, window.default)

    async def crash() -> None:
        await trio.sleep(0.2)
        await played.host.left(1, 1)
        await trio.sleep(0.2)
        played.bots[1].hello()

    await play(played, [answering(answers), silent], crash)
    assert 0.3 == asked[-1]


async def test_a_game_that_is_over_is_not_forfeited_while_its_last_evidence_is_awaited(
    autojump_clock: object,
) -> None:
    played = idle_match(2, main_ms=400, fault="forfeit")

    async def ends() -> None:
        await trio.sleep(0.45)
        await played.host.left(0, 0)

    await play(played, [answering(at_once), silent], ends)
    ended = played.match.ended
    assert ended is not None
    assert played.match.table.outcome == ended.outcome
    assert Conduct.DISCONNECTED is ended.conduct[0]


async def test_no_record_follows_the_end_if_several_seats_are_judged_at_it(autojump_clock: object) -> None:
    played = set_up(
        2,
        game=Cups(),
        variant="plain",
        options={"rounds": 1, "seats": 2},
        policy=Policy(main_ms=1_000, reserve_ms=0),
        measure=withheld_always,
        behind=lambda _since: 0.0,
    )

    async def first_alone(bot: Bot, window: Opened) -> None:
        if window.window == "bid":
            bot.submit(window.id, {"amount": 0})

    await play(played, [answering(first_alone), answering(first_alone)])
    assert any(isinstance(each, WindowTime) for each in played.records)
    assert isinstance(played.records[-1], Ended)


async def test_a_void_attempt_keeps_its_reason_and_no_seat_is_judged_any_more(
    autojump_clock: object,
) -> None:
    """Evidence of a missed window is known by then, and waits for a late submission. It blames the host."""
    played = set_up(
        2,
        options={"first": 0, "max_turns": 4},
        policy=Policy(main_ms=1_000, reserve_ms=0),
        measure=withheld_always,
        behind=lambda _since: 0.0,
    )

    async def declared() -> None:
        await trio.sleep(1.5)
        assert not played.match._flow.cases.unmeasured
        assert [] == verdicts(played)
        conduct = (Conduct.OK, Conduct.OK)
        why = Ended(
            at=played.match.now, outcome=None, conduct=conduct, refused=({}, {}), void="no room on the disk"
        )
        played.match.apply(why)

    await play(played, [silent, silent], declared)
    ended = played.match.ended
    assert ended is not None
    assert "no room on the disk" == ended.void
    assert [] == verdicts(played)
    assert [ended] == [each for each in played.records if isinstance(each, Ended)]


@pytest.mark.parametrize("unfair", ["void", "note"])
async def test_a_default_in_a_window_in_which_the_referee_was_stopped_is_the_referees_fault(
    autojump_clock: object, unfair: str
) -> None:
    began = trio.current_time()
    played = set_up(
        2,
        options={"first": 0, "max_turns": 4},
        policy=Policy(main_ms=1_000, reserve_ms=0, unfair=unfair),  # type: ignore[arg-type]
        measure=lambda _seat: IDLE,
        behind=lambda _since: 0.0,
        stopped=lambda since: 8.0 if since <= began + 0.5 <= trio.current_time() else 0.0,
    )

    async def late(bot: Bot, window: Opened) -> None:
        await trio.sleep(1.3)
        bot.submit(window.id, window.default)

    await play(played, [answering(late), answering(at_once)])
    wanted = [(0, Verdict.REFEREE)] if unfair == "void" else [(0, Verdict.REFEREE), (1, Verdict.BOT)]
    assert wanted == verdicts(played)
    first, *others = (each for each in played.records if isinstance(each, Judged))
    assert 8_000_000 == first.evidence.stopped
    assert all(other.evidence.stopped is UNSET for other in others)
    assert played.match.ended is not None
    assert (unfair == "void") is (played.match.ended.void is not None)
    assert played.match.ended == replay(whole(played)).match.ended


async def test_the_latest_of_several_late_answers_is_reported(autojump_clock: object) -> None:
    async def late(bot: Bot, window: Opened) -> None:
        await trio.sleep(1.02 if window.id == 0 else 1.005)
        bot.submit(window.id, window.default)

    played = idle_match(6, main_ms=1_000, unfair="note")
    await play(played, [answering(late), silent])
    report = played.match.seats[0].report()
    assert 2 <= report.late
    assert pytest.approx(20_000, abs=10) == report.worst_late_us


async def test_a_refused_message_takes_what_the_loop_worked_on_it(autojump_clock: trio.testing.MockClock) -> None:
    """Not the time in which others had the processor meanwhile: a bot has not flooded the referee by those."""
    work = [0.0]
    played = set_up(
        2,
        options={"first": 0, "max_turns": 2},
        policy=Policy(main_ms=1_000, reserve_ms=0, unfair="note"),
        measure=lambda _seat: IDLE,
        worked=lambda: work[0],
    )
    apply = played.match.apply

    def slowly(record: Any) -> bool:
        accepted = apply(record)
        if isinstance(record, Frame) and not accepted:
            autojump_clock.jump(0.1)
            work[0] += 0.002
        return accepted

    played.match.apply = slowly  # type: ignore[method-assign]

    async def says_nonsense(bot: Bot) -> None:
        bot.hello()
        await bot.hear_a(Opened)
        bot.line.say(b"nonsense")
        await hear_out(bot)

    await play(played, [says_nonsense, silent])
    (used,) = (each for each in played.records if isinstance(each, Used) and each.seat == 0)
    assert (2_000, False) == (used.taken, used.flooded)


@pytest.mark.parametrize(("seconds", "is_measured"), [(0.1, True), (0.099_999, False)])
async def test_a_window_that_took_a_tenth_of_a_second_is_measured_though_it_was_not_lost(
    autojump_clock: object, seconds: float, is_measured: bool
) -> None:
    played = measured(lambda: counted(0.0, 0.0))
    await play(played, [answering_after(seconds), answering(at_once)])
    assert is_measured is any(isinstance(each, Used) and each.seat == 0 for each in played.records)
