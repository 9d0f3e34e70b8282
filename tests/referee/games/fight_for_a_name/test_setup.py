"""Options, setup and time of The Fight For a Name; under the virtual clock, pillars answer at once."""

import json
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
import trio
from msgspec import Raw

from protocol.codec import encode
from protocol.games.fight_for_a_name import FightOptions
from protocol.messages import EventMessage, Opened
from referee.games import GAMES
from referee.rules.contract import BadSetupError
from referee.rules.table import Deal, Table
from tests.referee.games.fight_for_a_name.play import COLOURS, FIGHT, PILLARS, SETUP, TITLES, ask, setup_but
from tests.referee.games.playing import plain
from tests.referee.virtual import Bot, Played, answering, play, set_up


def dealt(setup: Any = None, seed: int = 0, options: Any = None) -> Table:
    given = None if setup is None else Raw(json.dumps(setup).encode())
    return Table(FIGHT, Deal("guardians", seed, Raw(json.dumps(options or {}).encode()), given))


def refusal(setup: Any) -> str:
    with pytest.raises(BadSetupError) as caught:
        dealt(setup)
    return str(caught.value)


@pytest.mark.parametrize("seed", range(30))
def test_a_drawn_setup_keeps_the_counts(seed: int) -> None:
    setup = plain(dealt(seed=seed).setup)
    assert dict.fromkeys(COLOURS, 6) == Counter(setup["colours"].values())
    assert [str(n) for n in range(1, 37)] == list(setup["colours"])
    assert TITLES == list(setup["titles"])
    assert dict.fromkeys(COLOURS, 2) == Counter(banner["body"] for banner in setup["titles"].values())
    assert dict.fromkeys(COLOURS, 2) == Counter(banner["parting"] for banner in setup["titles"].values())
    assert all(banner["body"] != banner["parting"] for banner in setup["titles"].values())
    assert PILLARS == list(setup["pillars"])
    assert dict.fromkeys(TITLES, 5) == Counter(t for titles in setup["pillars"].values() for t in titles)
    assert {6} == {len(set(titles)) for titles in setup["pillars"].values()}
    assert 10 == len({frozenset(titles) for titles in setup["pillars"].values()})
    assert 8 == len(set(setup["challenge"]["numbers"])) == len(setup["challenge"]["numbers"])


def test_a_drawn_setup_may_be_given_and_comes_out_the_same() -> None:
    for seed in range(10):
        drawn = plain(dealt(seed=seed).setup)
        assert drawn == plain(dealt(drawn, seed=99).setup)


def spoilt(*path: Any, value: Any) -> Any:
    """Copy `SETUP` with another value at a place; `...` takes the key away."""
    setup = part = setup_but()
    for key in path[:-1]:
        part = part[key]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return setup


ALIKE = list(SETUP["pillars"]["phi"])


@pytest.mark.parametrize(
    ("setup", "named"),
    [
        (spoilt("colours", "1", value="blue"), "setup.colours: red has 5 hexes; each has 6"),
        (spoilt("colours", "1", value=...), "setup.colours: 35 of 36; there is no 1"),
        (spoilt("colours", "37", value="red"), "'37'"),
        (spoilt("colours", "1", value="white"), "'white'"),
        (spoilt("colours", value=...), "colours"),
        (spoilt("titles", "Hope", value=...), "setup.titles: 11 of 12; there is no Hope"),
        (spoilt("titles", "Hop", value={"body": "red", "parting": "blue"}), "'Hop'"),
        (spoilt("titles", "Hope", value={"body": "red", "parting": "red"}), "setup.titles.Hope: body and parting"),
        (spoilt("titles", "Hope", "body", value="green"), "setup.titles: green has 3 bodies; each has 2"),
        (spoilt("titles", "Hope", "parting", value="green"), "setup.titles: red has 1 partings; each has 2"),
        (spoilt("titles", "Hope", value={"body": "purple"}), "parting"),
        (spoilt("titles", "Hope", "crest", value="red"), "crest"),
        (spoilt("pillars", "phi", value=...), "setup.pillars: 9 of 10; there is no phi"),
        (spoilt("pillars", "phi", value=ALIKE[:5]), "setup.pillars.phi: 5 titles"),
        (spoilt("pillars", "phi", value=[*ALIKE[:5], ALIKE[0]]), "setup.pillars.phi: 6 titles, 5 of them"),
        (spoilt("pillars", "phi", value=[*ALIKE[:5], "Justice"]), "setup.pillars: Hope has 4 pillars; each has 5"),
        (spoilt("pillars", "alpha", value=ALIKE), "'alpha'"),
        (
            setup_but(pillars=SETUP["pillars"] | {"mu": ALIKE[::-1], "lambda": SETUP["pillars"]["psi"]}),
            "setup.pillars.mu: the same 6 titles as phi",
        ),
        (spoilt("challenge", "numbers", value=[1, 2, 3, 4, 5, 6, 7]), "setup.challenge.numbers: 7 numbers"),
        (spoilt("challenge", "numbers", value=[1, 2, 3, 4, 5, 6, 7, 7]), "8 numbers, 7 of them different"),
        (spoilt("challenge", "numbers", value=[1, 2, 3, 4, 5, 6, 7, 8.5]), "numbers"),
        (spoilt("challenge", "numbers", value=[1, 2, 3, 4, 5, 6, 7, 8.0]), "numbers"),
        (spoilt("challenge", "numbers", value=[True, 2, 3, 4, 5, 6, 7, 8]), "numbers"),
        (spoilt("challenge", "target", value=4), "setup.challenge.target: 4 is the sum of none"),
        (spoilt("challenge", "target", value=0), "setup.challenge.target: 0 is the sum of none"),
        (spoilt("challenge", "target", value=...), "target"),
        (spoilt("challenge", value=...), "challenge"),
        (setup_but(banners={}), "banners"),
        ({}, "colours"),
        ([], "setup"),
    ],
)
def test_a_setup_that_breaks_the_counts_is_rejected_with_the_count_that_is_off(setup: Any, named: str) -> None:
    assert named.replace("'", "") in refusal(setup).replace("'", "")


def test_o1_whole_numbers_below_1_are_numbers_too() -> None:
    numbers = [-4, 0, 1, 2, 50, 60, 70, 80]
    given = setup_but(challenge={"numbers": numbers, "target": 0})
    assert numbers == plain(dealt(given).setup)["challenge"]["numbers"]


def test_rounds_is_12_by_default_and_there_is_no_other_option() -> None:
    assert {"rounds": 12} == plain(dealt().options)
    assert {"rounds": 1} == plain(dealt(options={"rounds": 1}).options)
    with pytest.raises(BadSetupError, match="seats"):
        dealt(options={"seats": 12})


def test_o6_a_day_for_each_decision_ten_minutes_for_the_timed_game_and_no_reserve() -> None:
    (variant,) = FIGHT.variants
    day = 86_400_000
    votes = {"token_vote": day, "elimination_vote": day, "justice": day}
    assert ("guardians", 0) == (variant.name, variant.time.reserve_ms)
    assert {"challenge": 600_000, "move": day, "pillar": day} | votes == variant.time.main_ms
    assert 13 == FIGHT.seats(FightOptions())
    assert b'{"rounds":12}' == encode(dealt().options)


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
    """Return what a seat was told, and when."""
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


async def test_only_the_windows_end_reveals_another_seats_time(
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
