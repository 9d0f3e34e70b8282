"""A round of The Fight For a Name, step by step: income, moves, hexes, holders, gifts, what is told (R4-R6)."""

from typing import Any

import pytest

from tests.referee.games.fight_play import (
    ON_PILLAR,
    ask,
    canonical,
    close,
    move,
    player,
    position,
    reason,
    rest,
    shown,
    start,
    visiting,
    window,
)

EVERYONE = list(range(13))


def mp_told(heard: Any, seat: int) -> int:
    mp: int = heard.event(seat, "standing")["mp"]
    return mp


# 1. and 2.


def test_step_1_every_seat_on_the_board_gains_2_mp_and_unspent_mp_stay() -> None:
    table = start()
    assert 2 == shown(table, 0)["mp"]
    heard = move(table, s0="N", s1="N N")
    assert (1, 0) == (mp_told(heard, 0), mp_told(heard, 1))
    assert (3, 2) == (shown(table, 0)["mp"], shown(table, 1)["mp"])


def test_step_1_a_seat_with_a_title_gains_nothing() -> None:
    table = position({}, claims="Hope:0:1")
    rest(table)
    assert 0 == table.state.players[0].mp


def test_step_2_the_window_move_is_open_to_all_seats_those_with_titles_too() -> None:
    table = position({}, claims="Hope:0:1")
    assert ("move", EVERYONE) == window(table)
    assert {} == canonical(table, 0, {})
    assert {} == canonical(table, 1, {})


# 3.


def test_step_3_start_gives_4_mp_to_the_only_one_there() -> None:
    table = start()
    move(table, **{f"s{seat}": "N" for seat in range(1, 13)})
    assert 2 + 4 + 2 == shown(table, 0)["mp"]


def test_step_3_start_gives_3_mp_to_each_of_several() -> None:
    table = start()
    heard = move(table, **{f"s{seat}": "N" for seat in range(2, 13)})
    assert (5, 5) == (mp_told(heard, 0), mp_told(heard, 1))


def test_step_3_coming_back_to_start_earns_its_mp_and_costs_the_path() -> None:
    table = position({0: player("12", mp=1)} | {seat: player("36") for seat in range(1, 13)})
    assert 4 == mp_told(move(table, s0="S"), 0)


def test_step_3_a_coloured_hex_gives_the_mp_spent_on_this_move_plus_1() -> None:
    table = start()
    heard = move(table, s0="N", s1="N N", s2="N S")
    assert {"12": 2} == heard.event(0, "standing")["strengths"]
    assert {"5": 3} == heard.event(1, "standing")["strengths"]
    assert {} == heard.event(2, "standing")["strengths"]


def test_step_3_strength_is_kept_and_grows_with_every_move_that_ends_there() -> None:
    table = start()
    assert {"12": 2} == move(table, s0="N").event(0, "standing")["strengths"]
    assert {"12": 5} == move(table, s0="N S").event(0, "standing")["strengths"]
    assert {"12": 6} == rest(table).event(0, "standing")["strengths"]
    assert {"5": 2, "12": 6} == move(table, s0="N").event(0, "standing")["strengths"]


def test_r1_staying_on_a_coloured_hex_adds_1_strength() -> None:
    table = position({0: player("7")})
    assert {"7": 1} == rest(table).event(0, "standing")["strengths"]


def test_step_3_a_pillar_reached_this_round_is_visited() -> None:
    table = position({0: player(mp=4)})
    heard = move(table, s0="N N N N")
    assert ["pillar_shows"] == heard.types(0)
    assert ("pillar", [0]) == window(table)


def test_step_3_staying_on_a_pillar_gives_nothing() -> None:
    table = position({0: player(mp=4)})
    move(table, s0="N N N N")
    close(table, {})
    heard = rest(table)
    assert ["standing"] == heard.types(0)
    assert 2 == mp_told(heard, 0)
    assert "phi" == heard.event(None, "round_result")["positions"]["0"]


def crowd(size: int) -> Any:
    table = position({seat: player(mp=4) for seat in range(size)})
    return table, move(table, **{f"s{seat}": "N N N N" for seat in range(size)})


def test_step_3_five_visitors_of_one_pillar_all_get_their_answers() -> None:
    table, heard = crowd(5)
    assert [["pillar_shows"]] * 5 == [heard.types(seat) for seat in range(5)]
    assert ("pillar", [0, 1, 2, 3, 4]) == window(table)


def test_step_3_of_more_than_five_visitors_none_gets_anything() -> None:
    table, heard = crowd(6)
    for seat in range(6):
        assert ["crowded", "standing"] == heard.types(seat)
        assert "phi" == heard.event(seat, "crowded")["pillar"]
    assert all(["standing"] == heard.types(seat) for seat in range(6, 13))
    assert ("move", EVERYONE) == window(table)


def test_step_3_a_crowd_at_one_pillar_does_not_concern_another() -> None:
    table = position({seat: player(mp=4) for seat in range(7)})
    heard = move(table, **{f"s{seat}": "N N N N" for seat in range(6)}, s6="S S S S")
    assert ["crowded"] == heard.types(3)
    assert ("pillar", [6]) == window(table)


def test_o3_who_only_stays_at_a_pillar_is_not_counted_among_its_visitors() -> None:
    there = player("phi")
    stays = type(there)(position="phi", visits=(visiting("phi"),))
    table = position({0: stays} | {seat: player(mp=4) for seat in range(1, 6)})
    move(table, **{f"s{seat}": "N N N N" for seat in range(1, 6)})
    assert ("pillar", [1, 2, 3, 4, 5]) == window(table)


def test_r2_a_pillar_that_gave_nothing_for_its_crowd_counts_as_visited() -> None:
    table, _ = crowd(6)
    move(table, s0="S")
    assert "visited phi before" in reason(table, 0, {"path": ["N"]})


# 3., gifts (R5).


def test_step_3_gifts_arrive_after_the_moves() -> None:
    table = position({1: player("7")}, claims="Hope:0:1")
    assert "more than your 0 MP" in reason(table, 1, {"path": ["N"]})
    assert 2 == mp_told(close(table, {0: {"give": {"1": 2}}}), 1)


@pytest.mark.parametrize("give", [{"1": 2}, {"1": 1, "2": 1}, {"1": 1}, {}])
def test_r5_gifts_are_2_mp_to_one_seat_1_each_to_two_1_to_one_or_none(give: dict[str, int]) -> None:
    table = position({}, claims="Hope:0:1")
    assert ({"give": give} if give else {}) == canonical(table, 0, {"give": give})
    assert give == close(table, {0: {"give": give}}).event(None, "round_result")["gifts"]


@pytest.mark.parametrize(
    "give",
    [
        {"1": 0},
        {"1": -1},
        {"1": 3},
        {"1": 2, "2": 1},
        {"1": 2, "2": 0},
        {"1": 1, "2": 1, "3": 1},
        {"1": "2"},
        {"1": True},
        {"1": 1.0},
        {"1": None},
        {"0": 1},  # itself
        {"12": 1},  # has a title
        {"13": 1},
        {"01": 1},
        {"Start": 1},
        ["1"],
        None,
    ],
)
def test_r5_other_gifts_are_rejected(give: Any) -> None:
    assert "" != reason(position({}, claims="Hope:0:1 Justice:12:1"), 0, {"give": give})


def test_r5_who_gave_2_to_one_seat_may_give_it_nothing_in_the_next_round() -> None:
    table = position({}, claims="Hope:0:1 Justice:12:1")
    close(table, {0: {"give": {"1": 2}}})
    assert "was given 2 MP last round" in reason(table, 0, {"give": {"1": 1}})
    assert "was given" in reason(table, 0, {"give": {"1": 1, "2": 1}})
    assert "" == reason(table, 0, {"give": {"2": 2}})
    assert "" == reason(table, 12, {"give": {"1": 2}})
    close(table, {0: {"give": {"2": 2}}})
    assert "" == reason(table, 0, {"give": {"1": 2}})
    assert "" != reason(table, 0, {"give": {"2": 1}})


@pytest.mark.parametrize("give", [{"1": 1}, {"1": 1, "2": 1}])
def test_r5_who_gave_1_may_give_the_same_seat_again(give: dict[str, int]) -> None:
    table = position({}, claims="Hope:0:1")
    close(table, {0: {"give": give}})
    assert "" == reason(table, 0, {"give": {"1": 2}})


def test_r5_gifts_begin_in_the_round_after_the_title_was_claimed() -> None:
    table = position({0: player(crests="Charity", h1=1, h2=1, h8=1)})
    assert "only a seat with a title gives" in reason(table, 0, {"give": {"1": 1}})
    rest(table)
    assert "" == reason(table, 0, {"give": {"1": 1}})


def test_a_seat_with_a_title_names_gifts_only_and_one_on_the_board_none() -> None:
    table = position({1: player("7", mp=3)}, claims="Hope:0:1")
    assert "does not move" in reason(table, 0, {"path": ["N"]})
    assert "does not move" in reason(table, 0, {"reinforce": {"7": 1}, "give": {"1": 1}})
    assert "only a seat with a title" in reason(table, 1, {"give": {"2": 1}})


# 5.


def strengths(*amounts: int) -> Any:
    """A match in which seats 0, 1, … have these strengths on hex 7."""
    return position({seat: player(h7=amount - 1) for seat, amount in enumerate(amounts) if amount})


@pytest.mark.parametrize(
    ("amounts", "holders"),
    [
        ((5, 5, 3), {"7": 2}),
        ((5, 5), {}),
        ((5, 4), {"7": 0}),
        ((1,), {"7": 0}),
        ((4, 5, 4), {"7": 1}),
        ((5, 5, 3, 3, 2), {"7": 4}),
        ((0, 0), {}),
    ],
)
def test_step_5_a_hex_is_held_by_the_highest_strength_above_0_that_exactly_one_seat_has(
    amounts: tuple[int, ...], holders: dict[str, int]
) -> None:
    assert holders == rest(strengths(*amounts)).event(None, "round_result")["holders"]


def test_step_5_a_hex_can_change_its_holder() -> None:
    table = position({0: player(h7=2), 1: player("7", mp=4)})
    assert {"7": 0} == rest(table).event(None, "round_result")["holders"]
    assert {"7": 1} == move(table, s1="S N").event(None, "round_result")["holders"]


# R4.


def test_r4_white_hexes_give_no_strength_and_nobody_holds_them() -> None:
    table = position({0: player("Start", mp=2)}, white=(12,))
    heard = move(table, s0="N")
    assert {} == heard.event(0, "standing")["strengths"]
    assert 1 == mp_told(heard, 0)
    assert {} == heard.event(None, "round_result")["holders"]
    assert [12] == heard.event(None, "round_result")["white"]


def test_r4_reinforcing_a_white_hex_is_rejected() -> None:
    table = few_left({0: player("12", mp=9, reached="12 13")}, white=(12,))
    assert "hex 12 is white" in reason(table, 0, {"reinforce": {"12": 1}})
    assert "" == reason(table, 0, {"reinforce": {"13": 1}})


# R6.

TITLED = "Charity:12:1 Courage:11:1 Diligence:10:1 Faith:9:1 Honour:8:1 Hope:7:1 Humility:6:1"


def few_left(players: dict[int, Any], more_claims: str = " Justice:5:1", **more: Any) -> Any:
    """Five seats on the board."""
    return position(players, claims=TITLED + more_claims, **more)


def test_r6_the_final_phase_begins_the_round_after_5_or_fewer_seats_are_left_on_the_board() -> None:
    six = {0: player("7", mp=9, reached="7"), 5: player(crests="Justice", h2=1, h4=1, h10=1)}
    table = position(six, claims=TITLED)
    assert "final phase" in reason(table, 0, {"reinforce": {"7": 1}})
    assert False is shown(table, 0)["final_phase"]
    rest(table)
    assert True is shown(table, 0)["final_phase"]
    assert "" == reason(table, 0, {"reinforce": {"7": 1}})


def test_r6_each_mp_of_a_reinforcement_adds_1_strength() -> None:
    table = few_left({0: player("7", mp=9, reached="7 14", h14=2)})
    heard = close(table, {0: {"reinforce": {"14": 3, "7": 2}}})
    assert {"7": 3, "14": 6} == heard.event(0, "standing")["strengths"]
    assert 4 == mp_told(heard, 0)


def test_r6_a_hex_is_reinforced_if_a_move_before_this_round_ended_there_not_in_this_one() -> None:
    table = few_left({0: player("12", mp=9)})
    assert "before this round" in reason(table, 0, {"path": ["N"], "reinforce": {"5": 1}})
    assert "before this round" in reason(table, 0, {"path": ["N", "N"], "reinforce": {"5": 1}})
    move(table, s0="N")
    assert "" == reason(table, 0, {"path": ["N"], "reinforce": {"5": 1}})
    assert "before this round" in reason(table, 0, {"reinforce": {"12": 1}})


def test_r6_staying_counts_as_ending_a_move_there() -> None:
    table = few_left({0: player("12", mp=9)})
    assert "before this round" in reason(table, 0, {"reinforce": {"12": 1}})
    rest(table)
    assert "" == reason(table, 0, {"reinforce": {"12": 1}})


def test_r6_path_and_reinforcement_together_cost_no_more_than_the_seats_mp() -> None:
    table = few_left({0: player("12", mp=3, reached="12")})
    assert "more than your 3 MP" in reason(table, 0, {"path": ["N", "S"], "reinforce": {"12": 2}})
    assert "" == reason(table, 0, {"path": ["N", "S"], "reinforce": {"12": 1}})


def test_r6_the_strength_of_landing_counts_the_paths_mp_only() -> None:
    table = few_left({0: player("12", mp=9, reached="12 5")})
    heard = close(table, {0: {"path": ["N"], "reinforce": {"12": 4, "5": 2}}})
    assert {"5": 1 + 1 + 2, "12": 4} == heard.event(0, "standing")["strengths"]


@pytest.mark.parametrize(
    "reinforce",
    [
        {"12": 0},
        {"12": -1},
        {"12": 1.0},
        {"12": True},
        {"12": "1"},
        {"012": 1},
        {"Start": 1},
        {"phi": 1},
        [12],
        None,
    ],
)
def test_r5_an_amount_of_0_and_what_is_no_amount_or_hex_is_rejected(reinforce: Any) -> None:
    table = few_left({0: player("12", mp=9, reached="12")})
    assert "" != reason(table, 0, {"reinforce": reinforce})


# 7. and R11.


def test_step_7_all_are_told_positions_holders_white_hexes_titles_and_gifts_each_its_own() -> None:
    table = position(
        {
            0: player(crests="Charity", h1=2, h2=2, h8=2),
            1: player("12", mp=3, crests="Hope Faith"),
            2: player("phi"),
        },
        claims="Mercy:12:2",
        white=(9, 10, 11),
    )
    heard = close(table, {1: {"path": ["N"]}, 12: {"give": {"1": 1, "3": 1}}})
    expected = {
        "type": "round_result",
        "round": 6,
        "positions": {"1": "5", "2": "phi"} | {str(seat): "Start" for seat in range(3, 12)},
        "holders": {"5": 1},
        "white": [1, 2, 8, 9, 10, 11],
        "claimed": {"Charity": 0},
        "gifts": {"1": 1, "3": 1},
    }
    assert [expected] == heard.public
    own = {"type": "standing", "mp": 3, "crests": ["Faith", "Hope"], "strengths": {"5": 2}}
    assert [own] == heard.seats[1]
    assert [] == heard.seats[0] == heard.seats[12]


def test_r11_gifts_are_told_by_receiver_and_sum_not_by_giver() -> None:
    table = position({}, claims="Hope:0:1 Faith:1:1")
    heard = close(table, {0: {"give": {"5": 2}}, 1: {"give": {"5": 1, "4": 1}}})
    assert {"4": 1, "5": 3} == heard.event(None, "round_result")["gifts"]
    assert ["standing"] == heard.types(5)


def test_r11_nobody_is_told_anothers_mp_or_strength() -> None:
    paths = ("N", "N S N", "NE NW S N")
    tables = [position({0: player(mp=30), 1: player("5", mp=3)}) for _ in paths]
    heard = [move(table, s0=path, s1="N") for table, path in zip(tables, paths, strict=True)]
    assert 3 == len({one.event(0, "standing")["mp"] for one in heard})
    assert 3 == len({one.event(0, "standing")["strengths"]["12"] for one in heard})
    assert heard[0].public == heard[1].public == heard[2].public
    assert heard[0].seats[1:] == heard[1].seats[1:] == heard[2].seats[1:]


def test_the_end_of_a_round_waits_for_the_pillars() -> None:
    table = position({0: player(mp=4)})
    heard = close(table, {0: {"path": ON_PILLAR["phi"]}})
    assert [] == heard.public
    titles = heard.event(0, "pillar_shows")["titles"]
    heard = close(table, {0: ask(titles)})
    assert ["round_result"] == heard.types(None)
    assert ["pillar_answer", "standing"] == heard.types(0)


def test_the_docs_first_round() -> None:
    heard = move(start(), s0="N")
    result = heard.event(None, "round_result")
    assert {"0": "12"} | {str(seat): "Start" for seat in range(1, 13)} == result["positions"]
    assert {"12": 0} == result["holders"]
    assert (1, {"12": 2}) == (mp_told(heard, 0), heard.event(0, "standing")["strengths"])
    assert {5} == {mp_told(heard, seat) for seat in range(1, 13)}
