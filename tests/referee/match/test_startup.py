"""A bot's start-up time: when it begins, what is added to it, what comes of one that says no hello in it."""

from typing import Any

import pytest
import trio
from msgspec.structs import replace

from protocol.messages import Closed
from protocol.refusals import Conduct
from referee.match.records import FLOOD_US, START, Ended, Judged, Started, Used, Verdict, Woke
from referee.match.seat import StartUp
from referee.match.terms import Policy
from referee.sandbox.meter import Reading
from referee.transcript.replayer import replay
from tests.referee.host.retold import whole
from tests.referee.virtual import Bot, Play, Played, hear_out, play, set_up, silent

SECOND = 1_000_000


def counted(ran: int, waited: int, *, throttled: int = 0) -> Reading:
    """Of a bot of one thread."""
    return Reading(ran, waited, throttled, 1.0, {1: (ran, waited, 0)}, main=1)


IDLE = counted(0, 0)


def match(reading: Reading = IDLE, *, behind: float = 0.0, **policy: Any) -> Played:
    """Return a match of Mist whose bots have 4 s to start.

    Seat 0's counters show this, but for the beginning, and the loop was that much behind.
    """
    began = trio.current_time()
    return set_up(
        2,
        options={"first": 0, "max_turns": 2},
        policy=Policy(main_ms=1_000, reserve_ms=0, startup_ms=4_000, **policy),
        measure=lambda seat: reading if seat == 0 and trio.current_time() > began + 0.1 else IDLE,
        behind=lambda _since: behind,
    )


def ended(played: Played) -> Ended:
    assert played.match.ended is not None
    return played.match.ended


def hello_after(seconds: float) -> Play:
    """Return a bot that takes these seconds to start, and then sends nothing more."""

    async def slow(bot: Bot) -> None:
        await trio.sleep(seconds)
        await silent(bot)

    return slow


def woke(played: Played) -> list[int]:
    """When starts ended, or might have."""
    starts = [n for n, record in enumerate(played.records) if isinstance(record, Used) and record.number == START]
    return [record.deadline for n in starts if isinstance(record := played.records[n + 1], Woke)]


@pytest.mark.parametrize(
    ("added", "taken"),
    [
        (0.0, (IDLE, 0.0)),  # It slept.
        (0.0, (counted(4 * SECOND, 3 * SECOND), 0.0)),  # It computed all the time.
        (1.0, (counted(SECOND // 10, SECOND), 0.0)),  # Others had the processor.
        (1.0, (IDLE, 1.0)),  # The referee looked at nothing.
        (1.0, (counted(0, SECOND * 3 // 4), 0.25)),
        (0.0, (counted(0, SECOND // 50), 0.0)),  # That is not worth it.
    ],
)
@pytest.mark.parametrize(("late", "conduct"), [(-0.001, Conduct.OK), (0.001, Conduct.NEVER_STARTED)])
async def test_time_withheld_from_a_start_is_added_to_it(
    autojump_clock: object, added: float, taken: tuple[Reading, float], late: float, conduct: Conduct
) -> None:
    reading, behind = taken
    played = match(reading, behind=behind, unfair="note")
    await play(played, [hello_after(4 + added + late), silent])
    assert (None, (conduct, Conduct.OK)) == (ended(played).void, ended(played).conduct)


async def test_more_is_added_as_more_is_taken_until_no_more_is(autojump_clock: object) -> None:
    began = trio.current_time()
    played = match()
    # Others have the processor for half of the time, up to the tenth second.
    vars(played.host._io)["measure"] = lambda _: counted(
        0, round(min(10, trio.current_time() - began) / 2 * SECOND)
    )
    await play(played, [hear_out, silent])
    assert [4, 6, 7, 7.5, 7.75, 7.875] == [at / SECOND for at in woke(played)[:6]]
    assert Conduct.NEVER_STARTED is ended(played).conduct[0]


async def test_there_is_an_end_to_it_that_is_not_the_bots_fault(autojump_clock: object) -> None:
    played = match()
    played.host.starting(0)
    await play(played, [hear_out, silent])
    assert "the bot of seat 0 is kept from starting: the machine has too much to do" == ended(played).void
    assert Conduct.OK is ended(played).conduct[0]
    assert isinstance(played.records[-1], Ended)


async def test_no_forfeit_follows_if_others_are_silent_too(autojump_clock: object) -> None:
    played = match()
    for seat in (0, 1):
        played.host.starting(seat)
    await play(played, [hear_out, hear_out])
    assert isinstance(played.records[-1], Ended)


@pytest.mark.parametrize(("needs", "conduct"), [(3.999, Conduct.OK), (4.001, Conduct.NEVER_STARTED)])
async def test_its_time_runs_from_when_it_runs(autojump_clock: object, needs: float, conduct: Conduct) -> None:
    played = match()

    async def started_late() -> None:
        played.host.starting(0)
        await trio.sleep(3)
        played.host.started(0)

    await play(played, [hello_after(3 + needs), silent], started_late)
    assert conduct is ended(played).conduct[0]
    assert [3 * SECOND] == [record.at for record in played.records if isinstance(record, Started)]


async def test_the_measurement_of_a_start_precedes_its_consequences(autojump_clock: object) -> None:
    played = match(counted(7, SECOND, throttled=5), behind=0.25)
    played.host.starting(0)
    played.host.started(0)
    await play(played, [hear_out, silent])
    used, woken = next(
        (record, after)
        for record, after in zip(played.records, played.records[1:], strict=False)
        if isinstance(record, Used)
    )
    assert (
        Used(
            at=4 * SECOND,
            seat=0,
            number=START,
            cpu=7,
            waited=SECOND,
            withheld=SECOND - 5,
            throttled=5,
            behind=SECOND // 4,
        )
        == used
    )
    assert isinstance(woken, Woke)


async def test_usage_of_a_restarted_bot_counts_from_its_new_start(autojump_clock: object) -> None:
    reading = counted(900, 800, throttled=700)

    async def crashes(bot: Bot) -> None:
        nonlocal reading
        bot.hello()
        await trio.sleep(0.5)
        await played.host.left(0, 1)
        played.host.starting(0)
        reading = IDLE
        played.host.started(0)
        reading = counted(30, 20, throttled=10)
        bot.hello()
        await hear_out(bot)

    played = match(fault="restart")
    vars(played.host._io)["measure"] = lambda seat: reading if seat == 0 else IDLE
    await play(played, [crashes, silent])
    used = [each for each in played.records if isinstance(each, Used) and each.seat == 0]
    assert [(30, 20, 10)] == [(each.cpu, each.waited, each.throttled) for each in used]
    assert [500_000] == [record.at for record in played.records if isinstance(record, Started)]


async def test_a_window_that_is_missed_while_its_bot_is_started_again_is_its_own_fault(
    autojump_clock: object,
) -> None:
    async def crashes(bot: Bot) -> None:
        bot.hello()
        await bot.hear_a(Closed)
        await played.host.left(0, 1)
        played.host.starting(0)

    played = match(fault="restart")
    await play(played, [crashes, silent])
    judged = [each for each in played.records if isinstance(each, Judged) and each.seat == 0]
    assert [(0, Verdict.BOT)] == [(each.number, each.verdict) for each in judged]


@pytest.mark.parametrize("later", [0.0, 0.001, 3.0])
async def test_a_silent_bot_does_not_win_against_another_silent_one(autojump_clock: object, later: float) -> None:
    """Both forfeit, however much later the time of one began: nobody wins."""
    played = match(fault="forfeit")

    async def started() -> None:
        played.host.started(0)
        await trio.sleep(later)
        played.host.started(1)

    await play(played, [hear_out, hear_out], started)
    outcome = ended(played).outcome
    assert outcome is not None
    assert (((0, 1),), (), "forfeit") == (outcome.ranking, outcome.winners, outcome.reason)
    assert (Conduct.NEVER_STARTED, Conduct.NEVER_STARTED) == ended(played).conduct
    assert isinstance(played.records[-1], Ended)


async def test_a_bot_that_starts_after_another_has_forfeited_wins(autojump_clock: object) -> None:
    played = match(fault="forfeit")

    async def started() -> None:
        played.host.started(0)
        await trio.sleep(2)
        played.host.started(1)

    await play(played, [hear_out, hello_after(5)], started)
    outcome = ended(played).outcome
    assert outcome is not None
    assert (((1,), (0,)), (1,), "forfeit") == (outcome.ranking, outcome.winners, outcome.reason)
    assert 5 * SECOND == ended(played).at


@pytest.mark.parametrize("reading", [IDLE, counted(0, SECOND)])
@pytest.mark.parametrize("fault", ["default", "forfeit"])
@pytest.mark.parametrize("never", [True, False])
async def test_a_replay_leads_to_the_same(
    autojump_clock: object, reading: Reading, fault: str, never: bool
) -> None:
    played = match(reading, fault=fault)
    played.host.starting(0)
    if not never:
        played.host.started(0)
    await play(played, [hear_out, silent])
    assert woke(played)
    assert ended(played) == replay(whole(played)).match.ended


WHOLE = 4 * SECOND


def used_up(*, behind: int = 0, withheld: int = 0, taken: int = 0) -> Used:
    """Return the measurement of a start that has run out."""
    return Used(
        at=WHOLE,
        seat=0,
        number=START,
        cpu=0,
        waited=withheld,
        withheld=withheld,
        throttled=0,
        behind=behind,
        taken=taken,
    )


def prolonged(start_up: StartUp, **taken: int) -> bool:
    start_up.used = used_up(**taken)
    return start_up.prolong(WHOLE)


class TestItsLimits:
    """One part in a hundred of it is the least that is given back, ten times of it are the most."""

    def test_it_has_run_out_at_its_last_moment_and_not_before(self) -> None:
        start_up = StartUp(WHOLE)
        assert not start_up.is_out(10 * WHOLE)
        start_up.begin(7)
        assert [False, True, True] == [start_up.is_out(WHOLE + 7 + more) for more in (-1, 0, 1)]
        start_up.end()
        assert not start_up.is_out(10 * WHOLE)

    @pytest.mark.parametrize("taken", [WHOLE // 100, WHOLE // 100 + 1])
    def test_a_hundredth_of_it_is_worth_giving_back(self, taken: int) -> None:
        start_up = StartUp(WHOLE)
        start_up.begin(0)
        assert prolonged(start_up, withheld=taken - 1, behind=1)
        assert WHOLE + taken == start_up.ends

    def test_less_is_not(self) -> None:
        start_up = StartUp(WHOLE)
        start_up.begin(0)
        assert not prolonged(start_up, withheld=WHOLE // 100 - 1)
        assert WHOLE == start_up.ends

    def test_nor_is_anything_without_a_measurement_or_after_a_flood(self) -> None:
        start_up = StartUp(WHOLE)
        start_up.begin(0)
        assert not start_up.prolong(WHOLE)
        assert not prolonged(start_up, withheld=WHOLE, taken=FLOOD_US)
        assert prolonged(start_up, withheld=WHOLE, taken=FLOOD_US - 1)

    def test_only_what_was_taken_since_is_given_back_the_next_time(self) -> None:
        start_up = StartUp(WHOLE)
        start_up.begin(0)
        assert prolonged(start_up, withheld=WHOLE // 2)
        assert not prolonged(start_up, withheld=WHOLE // 2 + WHOLE // 100 - 1)
        start_up.begin(0)
        assert prolonged(start_up, withheld=WHOLE // 100)

    @pytest.mark.parametrize(("taken", "kept"), [(10 * WHOLE, False), (10 * WHOLE + 1, True)])
    def test_a_start_extended_by_more_than_ten_times_its_length_counts_as_prevented(
        self, taken: int, kept: bool
    ) -> None:
        start_up = StartUp(WHOLE)
        start_up.begin(0)
        assert prolonged(start_up, withheld=taken)
        assert kept is start_up.is_kept()
        start_up.begin(0)
        assert not start_up.is_kept()

    def test_the_reason_for_a_missed_start_includes_measured_processor_time(self) -> None:
        start_up = StartUp(WHOLE)
        start_up.begin(0)
        assert "no hello in 4 s" == start_up.why_out()
        start_up.used = replace(used_up(), cpu=1_250_000)
        assert not start_up.prolong(WHOLE)
        assert "no hello in 4 s (1.2 s of processor time used)" == start_up.why_out()
