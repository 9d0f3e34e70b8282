"""A round of The Fight For a Name, step by step: income, moves, hexes, holders, gifts, what is told (R4-R6)."""

from typing import Any

import pytest

from referee.games.fight_for_a_name.moving import destination
from referee.rules import Illegal
from tests.referee.games.fight_play import move, player, position, rest, start, visiting
from tests.referee.games.playing import accepted, close, rejected, shown, window

EVERYONE = list(range(13))


def mp_told(heard: Any, seat: int) -> int:
    mp: int = heard.event(seat, "standing")["mp"]
    return mp


# 3.


def crowd(size: int) -> Any:
    table = position({seat: player(mp=4) for seat in range(size)})
    return table, move(table, **{f"s{seat}": "N N N N" for seat in range(size)})


def test_step_3_of_more_than_five_visitors_none_gets_anything() -> None:
    table, heard = crowd(6)
    for seat in range(6):
        assert ["crowded", "standing"] == heard.types(seat)
        assert "phi" == heard.event(seat, "crowded")["pillar"]
    assert all(["standing"] == heard.types(seat) for seat in range(6, 13))
    assert ("move", EVERYONE) == window(table)


def test_o3_who_only_stays_at_a_pillar_is_not_counted_among_its_visitors() -> None:
    there = player("phi")
    stays = type(there)(position="phi", visits=(visiting("phi"),))
    table = position({0: stays} | {seat: player(mp=4) for seat in range(1, 6)})
    move(table, **{f"s{seat}": "N N N N" for seat in range(1, 6)})
    assert ("pillar", [1, 2, 3, 4, 5]) == window(table)


def test_r2_a_pillar_that_gave_nothing_for_its_crowd_counts_as_visited() -> None:
    table, _ = crowd(6)
    move(table, s0="S")
    assert "visited phi before" in rejected(table, 0, {"path": ["N"]})


# 3., gifts (R5).


@pytest.mark.parametrize("give", [{"1": 2}, {"1": 1, "2": 1}, {"1": 1}, {}])
def test_r5_gifts_are_2_mp_to_one_seat_1_each_to_two_1_to_one_or_none(give: dict[str, int]) -> None:
    table = position({}, claims="Hope:0:1")
    assert ({"give": give} if give else {}) == accepted(table, 0, {"give": give})
    assert give == close(table, {0: {"give": give}}).event(None, "round_result")["gifts"]


def test_r5_who_gave_2_to_one_seat_may_give_it_nothing_in_the_next_round() -> None:
    table = position({}, claims="Hope:0:1 Justice:12:1")
    close(table, {0: {"give": {"1": 2}}})
    assert "was given 2 MP last round" in rejected(table, 0, {"give": {"1": 1}})
    assert "was given" in rejected(table, 0, {"give": {"1": 1, "2": 1}})
    assert "" == rejected(table, 0, {"give": {"2": 2}})
    assert "" == rejected(table, 12, {"give": {"1": 2}})
    close(table, {0: {"give": {"2": 2}}})
    assert "" == rejected(table, 0, {"give": {"1": 2}})
    assert "" != rejected(table, 0, {"give": {"2": 1}})


# R4.


def test_r4_white_hexes_give_no_strength_and_nobody_holds_them() -> None:
    table = position({0: player("Start", mp=2)}, white=(12,))
    heard = move(table, s0="N")
    assert {} == heard.event(0, "standing")["strengths"]
    assert 1 == mp_told(heard, 0)
    assert {} == heard.event(None, "round_result")["holders"]
    assert [12] == heard.event(None, "round_result")["white"]


# R6.

TITLED = "Charity:12:1 Courage:11:1 Diligence:10:1 Faith:9:1 Honour:8:1 Hope:7:1 Humility:6:1"


def few_left(players: dict[int, Any], more_claims: str = " Justice:5:1", **more: Any) -> Any:
    """Five seats on the board."""
    return position(players, claims=TITLED + more_claims, **more)


def test_r6_the_final_phase_begins_the_round_after_5_or_fewer_seats_are_left_on_the_board() -> None:
    six = {0: player("7", mp=9, reached="7"), 5: player(crests="Justice", h2=1, h4=1, h10=1)}
    table = position(six, claims=TITLED)
    assert "final phase" in rejected(table, 0, {"reinforce": {"7": 1}})
    assert False is shown(table, 0)["final_phase"]
    rest(table)
    assert True is shown(table, 0)["final_phase"]
    assert "" == rejected(table, 0, {"reinforce": {"7": 1}})


def test_r6_a_hex_is_reinforced_if_a_move_before_this_round_ended_there_not_in_this_one() -> None:
    table = few_left({0: player("12", mp=9)})
    assert "before this round" in rejected(table, 0, {"path": ["N"], "reinforce": {"5": 1}})
    assert "before this round" in rejected(table, 0, {"path": ["N", "N"], "reinforce": {"5": 1}})
    move(table, s0="N")
    assert "" == rejected(table, 0, {"path": ["N"], "reinforce": {"5": 1}})
    assert "before this round" in rejected(table, 0, {"reinforce": {"12": 1}})


# 7. and R11.


def test_r11_gifts_are_told_by_receiver_and_sum_not_by_giver() -> None:
    table = position({}, claims="Hope:0:1 Faith:1:1")
    heard = close(table, {0: {"give": {"5": 2}}, 1: {"give": {"5": 1, "4": 1}}})
    assert {"4": 1, "5": 3} == heard.event(None, "round_result")["gifts"]
    assert ["standing"] == heard.types(5)


def test_the_docs_first_round() -> None:
    heard = move(start(), s0="N")
    result = heard.event(None, "round_result")
    assert {"0": "12"} | {str(seat): "Start" for seat in range(1, 13)} == result["positions"]
    assert {"12": 0} == result["holders"]
    assert (1, {"12": 2}) == (mp_told(heard, 0), heard.event(0, "standing")["strengths"])
    assert {5} == {mp_told(heard, seat) for seat in range(1, 13)}


@pytest.mark.parametrize(
    ("at", "path", "said"),
    [
        ("6", ("N", "N"), "step 1, N from 6, enters mu; a path ends at a pillar"),
        ("1", ("NE",), "step 1, NE from 1, leads off the board"),
    ],
)
def test_a_path_that_cannot_be_names_its_step(at: str, path: tuple[Any, ...], said: str) -> None:
    with pytest.raises(Illegal, match=f"^{said}$"):
        destination(at, path)
