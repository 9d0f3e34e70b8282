"""When evidence comes, and what comes of it: no missed window goes unjudged, and nothing follows the end."""

from typing import Any

import pytest
import trio
from msgspec import Raw

from protocol.codec import encode
from protocol.messages import Opened, Submit
from protocol.refusals import Conduct
from referee.match.policy import Policy
from referee.match.records import Ended, Judged, WindowTime
from referee.match.verdicts import Verdict
from referee.sandbox.meter import Reading
from referee.transcript.replayer import replay
from tests.referee.host.retold import whole
from tests.referee.toy import Cups
from tests.referee.virtual import Bot, Played, answering, hear_out, play, set_up, silent

SECOND = 1_000_000
IDLE = Reading(0, 0, 0, 1.0, {1: (0, 0, 0)})


def withheld_always(_seat: int) -> Reading:
    """Nine tenths of all time since the clock's zero."""
    waited = round(trio.current_time() * SECOND * 0.9)
    return Reading(0, waited, 0, 1.0, {1: (0, waited, 0)})


def idle_match(max_turns: int, **policy: Any) -> Played:
    """Of Mist, whose bots neither run nor wait, with a loop that is never behind."""
    return set_up(
        2,
        options={"first": 0, "max_turns": max_turns},
        policy=Policy(reserve_ms=0, **policy),
        measure=lambda _seat: IDLE,
        behind=lambda _since: 0.0,
    )


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


async def test_nothing_is_written_after_the_end_if_several_are_to_be_judged_at_it(autojump_clock: object) -> None:
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
