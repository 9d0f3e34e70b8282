"""The board of The Fight For a Name: numbers, pillars and their gates, and paths over it (R1)."""

import pytest

from protocol.games.fight_for_a_name.board import GATES, PILLARS, START, visits, walks
from tests.referee.games.fight_for_a_name import naive as naive_fight
from tests.referee.games.fight_for_a_name.play import move, player, position, start, visiting
from tests.referee.games.playing import accepted, rejected

PLENTY = 40


def ends(at: str, path: str) -> str:
    """Where a path from there leads, or the reason it leads nowhere."""
    table = position({0: player(at, mp=PLENTY)})
    if why := rejected(table, 0, {"path": path.split()}):
        return why
    move(table, s0=path)
    return table.state.players[0].position or "nowhere"


@pytest.mark.parametrize(
    ("pillar", "at", "path"),
    [
        ("phi", "1", "N"),  # Phi must be reached by traveling North from hex 1.
        ("mu", "3", "NE"),  # Mu must be reached by traveling North East from hex 3, …
        ("mu", "6", "N"),  # … or North from hex 6.
        ("omega", "10", "SE"),  # Omega must be reached by traveling South East from hex 10, …
        ("omega", "10", "NE"),  # … or North East from hex 10 …
        ("omega", "17", "NE"),  # … or 17.
    ],
)
def test_the_sources_three_examples_of_pillars(pillar: str, at: str, path: str) -> None:
    assert pillar == ends(at, path)


def test_the_rest_of_the_ten_pillars_are_derived_by_symmetry() -> None:
    assert 10 == len(PILLARS)
    assert naive_fight.GATES == {
        pillar: {(int(hex_), way) for hex_, way in gates} for pillar, gates in GATES.items()
    }


@pytest.mark.parametrize(
    ("pillar", "path", "hex_"),
    [
        ("phi", "S", "1"),
        ("psi", "N", "36"),
        ("mu", "SW", "3"),
        ("mu", "S", "6"),
        ("lambda", "SE", "2"),
        ("lambda", "S", "4"),
        ("sigma", "N", "33"),
        ("sigma", "NW", "35"),
        ("theta", "N", "31"),
        ("theta", "NE", "34"),
        ("omega", "NW", "10"),
        ("omega", "SW", "17"),
        ("gamma", "SW", "30"),
        ("gamma", "NW", "23"),
        ("delta", "NE", "7"),
        ("delta", "SE", "14"),
        ("xi", "SE", "27"),
        ("xi", "NE", "20"),
    ],
)
def test_r1_from_a_pillar_the_first_step_goes_back_through_a_gate(pillar: str, path: str, hex_: str) -> None:
    assert hex_ == ends(pillar, path)


def test_r1_a_path_to_a_pillar_goes_in_one_direction_throughout() -> None:
    assert "phi" == ends("Start", "N N N N")
    assert "one direction" in ends("2", "NE N")
    assert "one direction" in ends("17", "N NE")
    assert "omega" == ends("19", "NE NE")


@pytest.mark.parametrize(
    ("one", "other", "steps"), [("phi", "psi", 8), ("mu", "sigma", 6), ("lambda", "theta", 6)]
)
def test_o2_a_straight_path_leads_from_one_pillar_to_another(one: str, other: str, steps: int) -> None:
    assert other == ends(one, "S " * steps)
    assert one == ends(other, "N " * steps)


def test_the_docs_three_paths_to_omega() -> None:
    assert "omega" == ends("19", "NE NE") == ends("13", "NE NE")
    assert "one direction" in ends("17", "N NE")


def test_r1_a_pillar_visited_before_may_not_be_entered_again() -> None:
    seat = player("1", mp=PLENTY)
    table = position({0: type(seat)(position="1", mp=PLENTY, visits=(visiting("phi"),))})
    assert "visited phi before" in rejected(table, 0, {"path": ["N"]})
    assert "" == rejected(table, 0, {"path": ["S"]})


def test_r1_a_path_has_0_to_mp_steps() -> None:
    table = start()
    assert "" == rejected(table, 0, {"path": ["N", "N"]})
    assert "more than your 2 MP" in rejected(table, 0, {"path": ["N", "N", "N"]})
    assert {} == accepted(table, 0, {"path": []})


def test_walks_are_the_shortest_and_go_round_pillars() -> None:
    reach = walks(START, 3)
    assert ((), ("N",)) == (reach[START], reach["12"])
    assert {3} == {len(reach[number]) for number in ("1", "7", "10", "27", "30", "36")}
    assert not set(GATES) & set(walks("1", 9))


def test_pillars_are_reached_straight_on_and_once() -> None:
    assert {"phi", "psi", "omega", "delta", "xi", "gamma"} == {name for name, _ in visits(START, 4, ())}
    assert "phi" not in dict(visits(START, 4, ("phi",)))
    assert {} == dict(visits(START, 3, ()))
