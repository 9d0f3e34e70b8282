"""The Fight For a Name under the virtual clock: pillars answer at once, the timed game goes by measured time."""

from itertools import combinations
from typing import Any

import trio

from protocol.messages import EventMessage, Opened
from referee.games.registry import GAMES
from tests.referee.games.fight_play import ask
from tests.referee.games.playing import plain
from tests.referee.virtual import Bot, Played, answering, play, set_up

SECONDS_TO_SOLVE = [30 - 2 * seat for seat in range(12)]
"""By seat, of those that solve the puzzle: the later the seat, the faster."""
TO_PILLARS = {0: "phi", 1: "psi"}
PATHS = {"phi": ["N"] * 4, "psi": ["S"] * 4}
SECONDS_TO_ASK = {0: 10, 1: 100}


def solution(view: Any) -> list[int]:
    positions = range(len(view["numbers"]))
    picks = (pick for count in positions for pick in combinations(positions, count + 1))
    return list(next(pick for pick in picks if sum(view["numbers"][n] for n in pick) == view["target"]))


async def script(bot: Bot, window: Opened) -> None:
    """Solves the puzzle in the seat's time, rests a round, goes to its pillar, asks; seat 12 does nothing."""
    view = plain(window.view)
    seat = view["seat"]
    if seat == 12:
        return
    if window.window == "challenge":
        await trio.sleep(SECONDS_TO_SOLVE[seat])
        bot.submit(window.id, {"pick": solution(view)})
    elif window.window == "move":
        goes = view["round"] == 2 and seat in TO_PILLARS
        bot.submit(window.id, {"path": PATHS[TO_PILLARS[seat]]} if goes else {})
    else:
        await trio.sleep(SECONDS_TO_ASK[seat])
        bot.submit(window.id, ask(view["visits"][-1]["titles"]))


async def played() -> Played:
    match = set_up(13, game=GAMES["fight-for-a-name"], variant="guardians", options={"rounds": 2})
    return await play(match, [answering(script)] * 13)


def events(match: Played, seat: int) -> list[tuple[float, Any]]:
    """What a seat was told, and when."""
    heard = ((at, message) for at, message in match.bots[seat].heard if isinstance(message, EventMessage))
    return [(at, plain(message.event)) for at, message in heard]


def when(match: Played, seat: int, type_: str) -> float:
    return next(at for at, event in events(match, seat) if event["type"] == type_)


async def test_a_visitor_is_answered_as_soon_as_its_own_submission_is_final_while_others_still_think(
    autojump_clock: trio.testing.MockClock,
) -> None:
    match = await played()
    opened = when(match, 0, "pillar_shows")
    assert opened == when(match, 1, "pillar_shows")
    assert 10 == round(when(match, 0, "pillar_answer") - opened)
    assert 100 == round(when(match, 1, "pillar_answer") - opened)


async def test_nobody_can_tell_how_long_another_took_but_by_the_windows_end(
    autojump_clock: trio.testing.MockClock,
) -> None:
    match = await played()
    opened = when(match, 0, "pillar_shows")
    for seat in (0, *range(2, 13)):
        own_answer = opened + SECONDS_TO_ASK[0] if seat == 0 else opened
        heard = [at for at, _ in match.bots[seat].heard if own_answer < at]
        assert 100 == round(min(heard) - opened)


async def test_r7_among_right_answers_the_faster_by_the_referees_measure_rank_before_the_slower(
    autojump_clock: trio.testing.MockClock,
) -> None:
    match = await played()
    reveal = events(match, 5)[-1][1]
    assert "reveal" == reveal["type"]
    assert [*range(11, -1, -1), 12] == reveal["challenge"]
