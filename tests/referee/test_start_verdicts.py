"""A bot that says no hello in its start-up time: from when that runs, and whose fault it was."""

import pytest
import trio

from protocol.refusals import Conduct
from referee.meter import Reading
from referee.plan import Policy
from referee.records import START, Judged, Started, Used, Woke
from referee.verdict import Verdict
from tests.referee.virtual import Bot, Played, hear_out, play, set_up, silent

SECOND = 1_000_000
IDLE = Reading(0, 0, 0, 1.0)


def match(reading: Reading = IDLE, *, behind: float = 0.0, **policy: object) -> Played:
    """A match of Mist whose bots' counters always show this, and whose loop was that much behind."""
    return set_up(
        2,
        options={"first": 0, "max_turns": 2},
        policy=Policy(main_ms=1_000, reserve_ms=0, startup_ms=4_000, **policy),  # type: ignore[arg-type]
        measure=lambda seat: reading if seat == 0 else IDLE,
        behind=lambda _since: behind,
    )


def starts(played: Played) -> list[Verdict]:
    return [each.verdict for each in played.records if isinstance(each, Judged) and each.number == START]


def void(played: Played) -> str | None:
    assert played.match.ended is not None
    return played.match.ended.void


async def test_one_that_was_asleep_is_at_fault_itself(autojump_clock: object) -> None:
    played = match()
    await play(played, [hear_out, silent])
    assert ([Verdict.BOT], None) == (starts(played), void(played))
    assert Conduct.NEVER_STARTED is played.match.seats[0].conduct


async def test_one_that_computed_all_the_time_is_too(autojump_clock: object) -> None:
    played = match(Reading(4 * SECOND, 3 * SECOND, 0, 1.0))
    await play(played, [hear_out, silent])
    assert ([Verdict.BOT], None) == (starts(played), void(played))


async def test_one_that_got_no_processor_was_kept_from_it_by_the_machine(autojump_clock: object) -> None:
    played = match(Reading(SECOND // 10, SECOND, 0, 1.0))
    await play(played, [hear_out, silent])
    assert [Verdict.HOST] == starts(played)
    assert "the host is at fault: the bot of seat 0 said no hello within its start-up time" == void(played)
    assert Conduct.OK is played.match.seats[0].conduct


async def test_but_not_by_a_little_waiting(autojump_clock: object) -> None:
    played = match(Reading(SECOND // 10, SECOND - 1, 0, 1.0))
    await play(played, [hear_out, silent])
    assert ([Verdict.BOT], None) == (starts(played), void(played))


async def test_a_forfeit_waits_for_the_verdict(autojump_clock: object) -> None:
    played = match(Reading(0, SECOND, 0, 1.0), fault="forfeit")
    await play(played, [hear_out, silent])
    assert played.match.ended is not None
    assert (None, [Verdict.HOST]) == (played.match.ended.outcome, starts(played))


async def test_where_it_is_only_noted_the_bot_s_part_is_over(autojump_clock: object) -> None:
    played = match(Reading(0, SECOND, 0, 1.0), unfair="note")
    await play(played, [hear_out, silent])
    assert ([Verdict.HOST], None) == (starts(played), void(played))
    assert Conduct.NEVER_STARTED is played.match.seats[0].conduct


async def test_a_referee_that_looked_at_nothing_meanwhile_is_at_fault(autojump_clock: object) -> None:
    played = match(behind=1.0)
    await play(played, [hear_out, silent])
    assert [Verdict.REFEREE] == starts(played)


async def test_one_that_the_referee_has_not_started_is_not_at_fault(autojump_clock: object) -> None:
    played = match()
    played.host.starting(0)
    await play(played, [hear_out, silent])
    assert [Verdict.REFEREE] == starts(played)
    assert "the referee is at fault: the bot of seat 0 said no hello within its start-up time" == void(played)


@pytest.mark.parametrize(("needs", "conduct"), [(3.999, Conduct.OK), (4.001, Conduct.NEVER_STARTED)])
async def test_its_time_runs_from_when_it_runs(autojump_clock: object, needs: float, conduct: Conduct) -> None:
    played = match()

    async def started_late() -> None:
        played.host.starting(0)
        await trio.sleep(3)
        played.host.started(0)

    async def slow(bot: Bot) -> None:
        await trio.sleep(3 + needs)
        await silent(bot)

    await play(played, [slow, silent], started_late)
    assert conduct is played.match.seats[0].conduct
    assert [3 * SECOND] == [record.at for record in played.records if isinstance(record, Started)]


async def test_what_its_start_was_like_is_told_before_what_comes_of_it(autojump_clock: object) -> None:
    played = match(Reading(7, SECOND, 5, 1.0), behind=0.25)
    played.host.starting(0)
    played.host.started(0)
    await play(played, [hear_out, silent])
    number = next(n for n, record in enumerate(played.records) if isinstance(record, Used))
    used, woke, judged = played.records[number : number + 3]
    assert (
        Used(
            at=4 * SECOND,
            seat=0,
            number=START,
            cpu=7,
            waited=SECOND,
            withheld=SECOND,
            throttled=5,
            behind=SECOND // 4,
        )
        == used
    )
    assert isinstance(woke, Woke)
    assert isinstance(judged, Judged)
    assert (4 * SECOND, SECOND // 4) == (judged.evidence.time, judged.evidence.behind)


async def test_what_a_restarted_bot_used_counts_from_its_new_start(autojump_clock: object) -> None:
    reading = Reading(900, 800, 700, 1.0)

    async def crashes(bot: Bot) -> None:
        bot.hello()
        await trio.sleep(0.5)
        nonlocal reading
        reading = IDLE
        played.host.starting(0)
        played.host.started(0)
        await played.host.left(0, 1)
        bot.hello()
        await hear_out(bot)

    played = set_up(
        2,
        options={"first": 0, "max_turns": 2},
        policy=Policy(main_ms=1_000, reserve_ms=0, fault="restart"),
        measure=lambda _seat: reading,
        behind=lambda _since: 0.0,
    )
    await play(played, [crashes, silent])
    used = [(each.cpu, each.waited, each.throttled) for each in played.records if isinstance(each, Used)]
    assert used
    assert min(min(each) for each in used) >= 0
