"""Whose fault a default, or used reserve, was: the rule on recorded cases, and what a match makes of it."""

from typing import Any

import pytest
import trio
from msgspec.structs import replace

from protocol.messages import Opened
from protocol.refusals import Conduct
from referee.match.match import Match
from referee.match.records import FLOOD_US, Evidence, Judged, Used, Verdict
from referee.match.terms import Policy
from referee.match.verdicts import judge
from referee.transcript.replayer import replay
from tests.referee.host.retold import whole
from tests.referee.toy import Cups
from tests.referee.virtual import Bot, Played, answering, hear_out, play, set_up, silent

SECOND = 1_000_000
DEFAULT = {"gone": False, "time": SECOND, "reserve": 0, "by_default": True, "late_by": None}
RESERVE = {"gone": False, "time": SECOND, "reserve": 10_000, "by_default": False, "late_by": None}


@pytest.mark.parametrize(
    ("wanted", "known"),
    [
        # It never answered.
        ("bot", {**DEFAULT, "behind": 0, "withheld": 0}),
        ("bot", {**DEFAULT, "behind": 0, "withheld": 249_999}),
        ("host", {**DEFAULT, "behind": 0, "withheld": 250_000}),
        ("host", {**DEFAULT, "behind": 100_000, "withheld": 150_000}),
        ("referee", {**DEFAULT, "behind": 250_000, "withheld": 0}),
        ("referee", {**DEFAULT, "behind": 250_000, "withheld": 900_000}),
        # It answered too late.
        ("bot", {**DEFAULT, "late_by": 5_000, "behind": 0, "withheld": 4_999}),
        ("host", {**DEFAULT, "late_by": 5_000, "behind": 0, "withheld": 5_000}),
        ("bot", {**DEFAULT, "late_by": 5_000, "behind": 9_000, "withheld": 4_999}),
        ("bot", {**DEFAULT, "late_by": 400_000, "behind": 0, "withheld": 300_000}),
        ("bot", {**DEFAULT, "late_by": 5_000, "reserve": 5_000, "behind": 0, "withheld": 4_999}),
        ("host", {**DEFAULT, "late_by": 5_000, "reserve": 5_000, "behind": 0, "withheld": 5_000}),
        # It used reserve.
        ("bot", {**RESERVE, "behind": 0, "withheld": 9_999}),
        ("host", {**RESERVE, "behind": 0, "withheld": 10_000}),
        ("bot", {**RESERVE, "behind": 10_000, "withheld": 0}),
        # It slept for as long as it was late, or for a quarter of its time, and what takes to carry messages.
        ("bot", {**DEFAULT, "late_by": 50_000, "behind": 0, "withheld": SECOND, "slept": 55_000, "after": 50_000}),
        (
            "host",
            {**DEFAULT, "late_by": 50_000, "behind": 0, "withheld": SECOND, "slept": 54_999, "after": 50_000},
        ),
        (
            "bot",
            {**DEFAULT, "late_by": SECOND, "behind": 0, "withheld": SECOND, "slept": 255_000, "after": SECOND},
        ),
        (
            "host",
            {**DEFAULT, "late_by": SECOND, "behind": 0, "withheld": SECOND, "slept": 254_999, "after": SECOND},
        ),
        ("bot", {**DEFAULT, "behind": 0, "withheld": 250_000, "slept": 255_000, "after": 250_000}),
        ("host", {**DEFAULT, "behind": 0, "withheld": 250_000, "slept": 254_999, "after": 250_000}),
        ("bot", {**RESERVE, "behind": 0, "withheld": 10_000, "slept": 15_000, "after": 0}),
        ("host", {**RESERVE, "behind": 0, "withheld": 10_000, "slept": 14_999, "after": 0}),
        # The referee was behind for longer than that.
        ("referee", {**DEFAULT, "behind": 250_000, "withheld": 0, "slept": SECOND, "after": 250_000}),
        # It was still at it when it was looked at: it was late by so much at least.
        ("host", {**DEFAULT, "late_by": SECOND, "behind": 0, "withheld": 250_000, "slept": 0, "after": 250_000}),
        ("bot", {**DEFAULT, "late_by": SECOND, "behind": 0, "withheld": 249_999, "slept": 0, "after": 250_000}),
        # It was frozen after the window, as it owed nothing: nobody knows what it still needed.
        (
            "host",
            {**DEFAULT, "late_by": SECOND, "behind": 0, "withheld": 250_000, "slept": 0, "after": 0, "rested": 1},
        ),
        (
            "bot",
            {**DEFAULT, "late_by": SECOND, "behind": 0, "withheld": 249_999, "slept": 0, "after": 0, "rested": 1},
        ),
        (
            "host",
            {**DEFAULT, "late_by": 50_000, "behind": 0, "withheld": 20_000, "slept": 0, "after": 20_000}
            | {"rested": 30_000},
        ),
        (
            "bot",
            {**DEFAULT, "late_by": 50_000, "behind": 0, "withheld": 19_999, "slept": 0, "after": 20_000}
            | {"rested": 30_000},
        ),
        # The referee was stopped.
        ("referee", {**DEFAULT, "late_by": 300_000, "behind": 0, "withheld": 0, "stopped": 8 * SECOND}),
        ("bot", {**DEFAULT, "late_by": 300_001, "behind": 0, "withheld": 0, "stopped": 300_000}),
        ("referee", {**DEFAULT, "late_by": 300_000, "behind": 0, "withheld": 0, "stopped": 300_000}),
        ("host", {**DEFAULT, "late_by": 300_000, "behind": 0, "withheld": 200_000, "stopped": 100_000}),
        ("referee", {**DEFAULT, "behind": 0, "withheld": 0, "stopped": 250_000}),
        ("referee", {**DEFAULT, "behind": 150_000, "withheld": 0, "stopped": 100_000}),
        ("bot", {**DEFAULT, "behind": 0, "withheld": 0, "stopped": 249_999}),
        ("referee", {**RESERVE, "behind": 0, "withheld": 0, "stopped": 10_000}),
        ("bot", {**RESERVE, "behind": 0, "withheld": 0, "stopped": 9_999}),
        ("bot", {**DEFAULT, "own": True, "behind": 0, "withheld": 0, "stopped": 8 * SECOND}),
        ("bot", {**DEFAULT, "gone": True, "behind": 0, "withheld": 0, "stopped": 8 * SECOND}),
        # It was gone.
        ("bot", {**DEFAULT, "gone": True, "behind": SECOND, "withheld": SECOND}),
        # It had no time left, or used it all itself.
        ("bot", {**DEFAULT, "own": True, "behind": SECOND, "withheld": SECOND}),
    ],
)
def test_the_time_a_bot_lacked_is_compared_with_the_time_withheld_from_it(
    wanted: str, known: dict[str, Any]
) -> None:
    assert wanted == judge(Evidence(**known))


def measured(max_turns: int = 4, unexcused: tuple[int, ...] = (), *, first: int = 0, **policy: Any) -> Played:
    """Return a match of Mist whose evidence comes from the test, not from a kernel."""
    played = set_up(
        2,
        options={"first": first, "max_turns": max_turns},
        policy=Policy(main_ms=1_000, reserve_ms=0, **policy),
    )
    measure(played, unexcused)
    return played


def measure(played: Played, unexcused: tuple[int, ...] = ()) -> None:
    """Make its match one that waits for evidence."""
    match = played.match
    played.match = Match(match.table, replace(match.terms, measured=True, unexcused=unexcused), played.host)


class Kernel:
    """Says the same of every window of one seat, and nothing of the other's."""

    def __init__(self, played: Played, *, of: int = 0, withheld: int = 0, **more: Any) -> None:
        """`of`: the seat; `more`: fields of `Used` besides."""
        host = played.host

        def step() -> None:
            for over in played.match.closed():
                seat, number = over.seat, over.number
                held = withheld if seat == of else 0
                played.match.apply(
                    Used(
                        at=played.match.now,
                        seat=seat,
                        number=number,
                        cpu=0,
                        waited=held,
                        withheld=held,
                        throttled=0,
                        **{"behind": 0, **(more if seat == of else {})},
                    )
                )
            host._send_out()

        host._io.catch_up = step


async def answers(bot: Bot) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, window.default)

    await answering(script)(bot)


def verdicts(played: Played) -> list[tuple[int, Verdict]]:
    return [(record.seat, record.verdict) for record in played.records if isinstance(record, Judged)]


async def test_a_default_by_the_machines_fault_voids_the_match(autojump_clock: object) -> None:
    played = measured()
    Kernel(played, withheld=300_000)
    await play(played, [silent, answers])
    ended = played.match.ended
    assert ended is not None
    assert (None, "the host is at fault: window 0 of seat 0 took the default") == (ended.outcome, ended.void)
    assert [(0, Verdict.HOST)] == verdicts(played)
    held_up = played.match.held_up
    assert held_up is not None
    assert (0, Verdict.HOST, 0) == (held_up.seat, held_up.verdict, held_up.window)
    assert "no answer came after 1,000 ms; withheld 300 ms, referee behind 0 ms" == held_up.evidence


async def test_a_match_is_void_as_soon_as_the_machine_is_found_at_fault(autojump_clock: object) -> None:
    """Known when the next window is over, too late for an answer to the first: nobody plays on in vain."""
    played = measured(max_turns=40)
    Kernel(played, withheld=300_000)
    await play(played, [silent, answers])
    assert played.match.ended is not None
    assert "window 0 of seat 0" in (played.match.ended.void or "")
    assert 2.0 == pytest.approx(played.match.ended.at / SECOND, abs=0.01)


async def test_a_seat_that_is_not_excused_loses_the_window_and_the_match_counts(autojump_clock: object) -> None:
    """The verdict stays what it is, and no other seat loses its excuse."""
    played = measured(unexcused=(0,))
    Kernel(played, withheld=300_000)
    await play(played, [silent, answers])
    ended = played.match.ended
    assert ended is not None
    assert ended.outcome is not None
    assert ended.void is None is played.match.held_up
    assert ended == replay(whole(played)).match.ended
    assert [(0, Verdict.HOST)] * 2 == verdicts(played)
    other = measured(unexcused=(1,))
    Kernel(other, withheld=300_000)
    await play(other, [silent, answers])
    assert other.match.ended is not None
    assert other.match.ended.void is not None


async def test_a_seat_that_is_not_excused_is_still_excused_by_the_referee(autojump_clock: object) -> None:
    played = measured(unexcused=(0,))
    Kernel(played, behind=300_000)
    await play(played, [silent, answers])
    assert played.match.held_up is not None
    assert Verdict.REFEREE is played.match.held_up.verdict


async def test_or_is_only_noted_where_the_policy_says_so(autojump_clock: object) -> None:
    played = measured(unfair="note")
    Kernel(played, withheld=300_000)
    await play(played, [silent, answers])
    assert played.match.ended is not None
    assert played.match.ended.void is None
    assert [(0, Verdict.HOST)] * 2 == verdicts(played)


async def test_a_default_by_the_bots_own_fault_counts(autojump_clock: object) -> None:
    played = measured()
    Kernel(played, withheld=0)
    await play(played, [silent, answers])
    assert played.match.ended is not None
    assert (None, (Conduct.OK, Conduct.OK)) == (played.match.ended.void, played.match.ended.conduct)
    assert [(0, Verdict.BOT)] * 2 == verdicts(played)
    assert {"bot": 2} == dict(played.match.seats[0].verdicts)


async def test_by_how_much_a_submission_was_late_is_waited_for(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        await trio.sleep(1.1)
        bot.submit(window.id, window.default)

    played = measured(unfair="note")
    Kernel(played, withheld=150_000)
    await play(played, [answering(script), answering(script)])
    judged = [record for record in played.records if isinstance(record, Judged) and record.seat == 0]
    assert 100_000 == judged[0].evidence.late_by
    assert Verdict.HOST is judged[0].verdict


@pytest.mark.parametrize("excuse", ["behind", "withheld"])
async def test_a_bot_that_floods_the_referee_is_excused_by_nothing(autojump_clock: object, excuse: str) -> None:
    played = measured()
    Kernel(played, **{excuse: 900_000}, taken=FLOOD_US)
    await play(played, [silent, answers])
    assert [(0, Verdict.BOT)] * 2 == verdicts(played)
    assert played.match.ended is not None
    assert played.match.ended.outcome is not None
    assert played.match.ended == replay(whole(played)).match.ended


@pytest.mark.parametrize("excuse", ["behind", "withheld"])
async def test_a_bot_with_few_rejected_messages_is_excused(autojump_clock: object, excuse: str) -> None:
    played = measured()
    Kernel(played, **{excuse: 900_000}, taken=FLOOD_US - 1)
    await play(played, [silent, answers])
    assert verdicts(played)[0][1] is not Verdict.BOT


@pytest.mark.parametrize("fault", ["default", "forfeit", "restart"])
async def test_a_bot_that_busies_the_referee_until_another_loses_a_window_forfeits_and_the_match_counts(
    autojump_clock: object, fault: Any
) -> None:
    played = measured(fault=fault)
    Kernel(played, behind=600_000, blocking_seats=(1,), blocked_us=300_000)
    await play(played, [silent, answers])
    ended = played.match.ended
    assert ended is not None
    assert ended.outcome is not None
    assert (((0,), (1,)), "forfeit") == (ended.outcome.ranking, ended.outcome.reason)
    assert (Conduct.OK, Conduct.MISBEHAVED) == ended.conduct
    assert {(0, Verdict.REFEREE)} == set(verdicts(played))
    assert ended == replay(whole(played)).match.ended


@pytest.mark.parametrize("blocking_seats", [(), (0,)])
async def test_a_bot_that_did_so_in_the_last_window_forfeits_too(
    autojump_clock: object, blocking_seats: tuple[int, ...]
) -> None:
    """The game is over then, and without that it would have won."""
    played = measured(max_turns=1, first=1)
    behind = 600_000 if blocking_seats else 0
    Kernel(played, of=1, behind=behind, blocking_seats=blocking_seats, blocked_us=600_000)
    await play(played, [answers, silent])
    ended = played.match.ended
    assert ended is not None
    assert ended.outcome is not None
    loser = 0 if blocking_seats else 1
    assert (((1 - loser,), (loser,)), (1 - loser,)) == (ended.outcome.ranking, ended.outcome.winners)
    assert ended == replay(whole(played)).match.ended


async def test_all_bots_that_did_so_in_the_last_window_forfeit(autojump_clock: object) -> None:
    async def but_the_last(bot: Bot, window: Opened) -> None:
        if window.window != "guess":
            bot.submit(window.id, window.default)

    policy = Policy(main_ms=1_000, reserve_ms=0)
    played = set_up(3, game=Cups(), variant="plain", options={"rounds": 1, "seats": 3}, policy=policy)
    measure(played)
    Kernel(played, of=2, behind=600_000, blocking_seats=(0, 1), blocked_us=600_000)
    await play(played, [answers, answers, answering(but_the_last)])
    ended = played.match.ended
    assert ended is not None
    assert ended.outcome is not None
    assert (((2,), (0, 1)), (2,)) == (ended.outcome.ranking, ended.outcome.winners)
    assert (Conduct.MISBEHAVED, Conduct.MISBEHAVED, Conduct.OK) == ended.conduct


async def test_a_bot_that_took_less_than_half_of_it_does_not_forfeit_and_the_match_is_void(
    autojump_clock: object,
) -> None:
    played = measured()
    Kernel(played, behind=600_000, blocking_seats=(1,), blocked_us=299_999)
    await play(played, [silent, answers])
    assert played.match.ended is not None
    assert "the referee is at fault: window 0 of seat 0 took the default" == played.match.ended.void


async def test_a_default_that_was_asked_for_gets_no_verdict(autojump_clock: object) -> None:
    async def script(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, None)

    played = measured()
    Kernel(played, withheld=900_000)
    await play(played, [answering(script), answers])
    assert [] == verdicts(played)
    assert played.match.ended is not None
    assert played.match.ended.outcome is not None


async def test_without_evidence_there_is_no_verdict(autojump_clock: object) -> None:
    played = set_up(2, options={"first": 0, "max_turns": 2}, policy=Policy(main_ms=1_000, reserve_ms=0))
    await play(played, [silent, hear_out])
    assert [] == verdicts(played)
