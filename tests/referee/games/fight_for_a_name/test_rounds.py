"""The timed game and the rounds of The Fight For a Name (R3 to R8), step by step."""

from typing import Any

import pytest
from msgspec.structs import replace

from referee.games.fight_for_a_name.moving import destination
from referee.rules import Illegal
from tests.referee.games.fight_for_a_name.play import (
    ON_PILLAR,
    SETUP,
    ask,
    begun,
    in_state,
    move,
    player,
    position,
    rest,
    setup_but,
    start,
    visiting,
)
from tests.referee.games.playing import Heard, accepted, close, rejected, shown, window

# Of 3, 5, 8, 13, 21, 34, 55, 89 two sums make 26: 5 + 21, and 5 + 8 + 13.
RIGHT, ALSO_RIGHT, WRONG = {"pick": [1, 4]}, {"pick": [3, 1, 2]}, {"pick": [0, 1]}


def rank(picks: dict[int, Any], elapsed: dict[int, int], seed: int = 0) -> list[int]:
    table = begun(seed=seed)
    close(table, picks, elapsed)
    return list(table.state.challenge)


def test_r7_it_is_a_window_for_all_seats_before_round_1_and_timed() -> None:
    table = begun()
    assert ("challenge", list(range(13))) == window(table)
    assert table.window is not None
    assert table.window.timed
    heard = close(table, {0: RIGHT})
    assert [] == heard.public
    assert [[]] * 13 == heard.seats
    assert ("move", list(range(13))) == window(table)
    assert 1 == shown(table, 0)["round"]


def test_r7_right_answers_rank_before_wrong_or_none() -> None:
    ranked = rank({4: WRONG, 7: RIGHT}, {4: 1, 7: 59_000, 0: 0})
    assert 7 == ranked[0]


def test_r7_among_right_ones_faster_ranks_before_slower() -> None:
    elapsed = {seat: 1000 * (seat * 7 % 13) for seat in range(13)}
    expected = sorted(range(13), key=elapsed.__getitem__)
    assert expected == rank(dict.fromkeys(range(13), RIGHT), elapsed)


def test_r7_remaining_ties_are_drawn() -> None:
    """Of wrong answers, however long they took."""
    picks = {2: RIGHT, 3: RIGHT}
    orders = {tuple(rank(picks, {2: 5, 3: 5}, seed)[:2]) for seed in range(20)}
    assert {(2, 3), (3, 2)} == orders
    assert {4, 7} <= {rank({4: WRONG, 7: WRONG}, {4: 1, 7: 9}, seed)[-1] for seed in range(80)}


def test_o1_no_positions_are_no_answer_even_where_the_target_is_0() -> None:
    setup = setup_but(challenge={"numbers": [-1, 1, 2, 3, 4, 5, 6, 7], "target": 0})
    for seed in range(6):
        table = begun(setup=setup, seed=seed)
        close(table, {3: {"pick": [0, 1]}, 4: {"pick": []}}, {3: 60_000})
        assert 3 == table.state.challenge[0]


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


def test_r5_a_seat_that_gave_2_to_another_may_give_it_nothing_in_the_next_round() -> None:
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


def test_r4_white_hexes_give_no_strength_and_have_no_holder() -> None:
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


PHI = SETUP["pillars"]["phi"]
"""Charity, Courage, Diligence, Faith, Honour, Hope."""
ASKED = ask(PHI)


def at_phi(seed: int = 0, **others: str) -> Any:
    """Play until seat 0 (and others, `s1="psi"`) has just reached its pillar."""
    table = start(seed=seed)
    rest(table)  # A round on Start leaves everyone with MP enough.
    seats = {0: "phi"} | {int(key[1:]): pillar for key, pillar in others.items()}
    return table, close(table, {seat: {"path": ON_PILLAR[pillar]} for seat, pillar in seats.items()})


def answered(asked: Any, seed: int = 0) -> dict[str, Any]:
    table, _ = at_phi(seed)
    return close(table, {0: asked}).event(0, "pillar_answer")


@pytest.mark.parametrize(("colour", "right"), [("red", True), ("orange", False), ("blue", False)])
def test_r3_body_says_whether_that_is_the_colour_of_the_titles_body(colour: str, right: bool) -> None:
    assert right is answered(ASKED | {"body": ["Charity", colour]})["body"]


@pytest.mark.parametrize(("colour", "right"), [("yellow", True), ("orange", False), ("blue", False)])
def test_r3_parting_says_whether_that_is_the_colour_of_the_titles_partings(colour: str, right: bool) -> None:
    assert right is answered(ASKED | {"parting": ["Courage", colour]})["parting"]


def test_r3_other_is_a_drawn_colour_not_the_named_one_that_is_on_neither_part() -> None:
    # Diligence is yellow with green partings.
    told = {answered(ASKED | {"other": ["Diligence", "red"]}, seed)["other"] for seed in range(40)}
    assert {"orange", "blue", "purple"} == told
    told = {answered(ASKED | {"other": ["Diligence", "green"]}, seed)["other"] for seed in range(40)}
    assert {"red", "orange", "blue", "purple"} == told


def test_r3_neither_is_two_drawn_colours_that_are_on_neither_banner_sorted() -> None:
    # Charity is red with orange, Courage orange with yellow.
    asked = {"body": ["Hope", "red"], "parting": ["Honour", "red"], "other": ["Faith", "red"]}
    asked |= {"neither": ["Charity", "Courage"], "crest": "Diligence"}  # type: ignore[dict-item]
    told = {tuple(answered(asked, seed)["neither"]) for seed in range(40)}
    assert {("blue", "green"), ("blue", "purple"), ("green", "purple")} == told


def test_r3_the_crest_is_now_the_seats() -> None:
    table, _ = at_phi()
    heard = close(table, {0: ASKED})
    assert "Hope" == heard.event(0, "pillar_answer")["crest"]
    assert ["Hope"] == heard.event(0, "standing")["crests"]
    assert [] == heard.event(1, "standing")["crests"]


def test_r3_a_seat_that_submits_nothing_learns_nothing_and_gets_no_crest() -> None:
    table, _ = at_phi()
    assert table.default(0) is None
    heard = close(table, {})
    assert ["standing"] == heard.types(0)
    assert [] == heard.event(0, "standing")["crests"]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        *({key: value for key, value in ASKED.items() if key != left_out} for left_out in ASKED),
        ASKED | {"crest": "Faith"},  # twice
        ASKED | {"neither": ["Faith", "Faith"]},
        ASKED | {"body": ["Hope", "red"]},
        ASKED | {"crest": "Humility"},  # not shown
        ASKED | {"crest": "hope"},
        ASKED | {"crest": ["Hope"]},
        ASKED | {"crest": None},
        ASKED | {"body": ["Charity", "white"]},
        ASKED | {"body": ["Charity"]},
        ASKED | {"body": ["Charity", "red", "red"]},
        ASKED | {"body": "Charity"},
        ASKED | {"body": ["red", "Charity"]},
        ASKED | {"neither": ["Faith"]},
        ASKED | {"neither": ["Faith", "Honour", "Honour"]},
        ASKED | {"path": []},
    ],
)
def test_r3_the_six_titles_are_put_into_the_five_actions_each_exactly_once(asked: Any) -> None:
    table, _ = at_phi()
    assert "" == rejected(table, 0, ASKED)
    assert "" != rejected(table, 0, asked)


def test_r12_a_crest_the_seat_has_may_be_chosen_and_counts_from_the_round_it_was_first_got() -> None:
    table = position({0: player(mp=4, crests="Hope:2")})
    close(table, {0: {"path": ON_PILLAR["phi"]}})
    close(table, {0: ASKED})
    assert {"Hope": 2} == shown(table, 0)["crests"]


def test_o4_a_crest_may_serve_in_the_round_in_which_it_is_got() -> None:
    # Hope is purple with red partings.
    table = position({0: player(mp=4, h6=1, h7=1, h13=1)})
    close(table, {0: {"path": ON_PILLAR["phi"]}})
    heard = close(table, {0: ASKED})
    assert {"Hope": 0} == heard.event(None, "round_result")["claimed"]


# Charity is red (1, 7, 13, 19, …) with orange partings (2, 8, 14, 20, …).
BANNER: dict[str, Any] = {"h1": 2, "h2": 2, "h8": 2}


def claimed(players: dict[int, Any], **more: Any) -> dict[str, int]:
    """Play a round in which nobody moves; return the titles claimed."""
    titles: dict[str, int] = result(rest(position(players, **more)))["claimed"]
    return titles


def result(heard: Heard) -> dict[str, Any]:
    return heard.event(None, "round_result")


def test_step_6_the_crest_a_hex_of_the_body_colour_and_two_of_the_parting_claim_a_title() -> None:
    assert {"Charity": 0} == claimed({0: player(crests="Charity", **BANNER)})


def test_r8_a_seat_that_could_claim_two_titles_takes_the_first_in_alphabetical_order() -> None:
    both = player(crests="Charity Courage", h1=1, h2=1, h8=1, h14=1, h3=1, h9=1)
    assert {"Charity": 0} == claimed({0: both})


# Several that could claim it: both have its crest, a red hex and two orange ones.


def test_step_6_of_several_the_one_that_spent_most_on_its_banners_hexes_claims_the_title() -> None:
    """What was spent on a hex that its banner would not use does not count."""
    one = player(crests="Charity:1", h1=2, h2=2, h8=2, h3=9)
    assert {"Charity": 1} == claimed({0: one, 1: player(crests="Charity:5", h7=3, h14=2, h20=2)})
    assert {"Charity": 0} == claimed({0: one, 1: player(crests="Charity:1", h7=1, h14=2, h20=2)})


def test_step_6_if_they_spent_the_same_the_one_that_got_the_crest_earlier_does() -> None:
    for earlier in (0, 1):
        rounds = {earlier: 2, 1 - earlier: 4}
        players = {
            0: player(crests=f"Charity:{rounds[0]}", h1=2, h2=2, h8=2),
            1: player(crests=f"Charity:{rounds[1]}", h7=2, h14=2, h20=2),
        }
        challenge = (1 - earlier, earlier, *range(2, 13))
        assert {"Charity": earlier} == claimed(players, challenge=challenge)


def test_step_6_then_the_one_that_did_better_in_the_timed_game_does() -> None:
    players = {
        0: player(crests="Charity", h1=2, h2=2, h8=2),
        1: player(crests="Charity", h7=2, h14=2, h20=2),
    }
    for better in (0, 1):
        challenge = (12, better, *range(2, 12), 1 - better)
        assert {"Charity": better} == claimed(players, challenge=challenge)


# What a claim does.


def test_r6_a_reinforcement_of_a_hex_that_turns_white_this_round_is_given_back() -> None:
    few = "Courage:12:1 Diligence:11:1 Faith:10:1 Honour:9:1 Hope:8:1 Humility:7:1 Justice:6:1 Mercy:5:1"
    players = {0: player(crests="Charity", h1=5, h2=5, h8=5), 1: player("7", mp=3, reached="8")}
    heard = close(position(players, claims=few), {1: {"reinforce": {"8": 2}}})
    assert 3 == heard.event(1, "standing")["mp"]


def test_the_docs_claim_of_charity() -> None:
    # 14 lies north-west of 18: two landings there, for 1 and for 2 MP.
    one = player(h7=9, h13=9, h2=9, h14=9, h20=9)
    table = position({0: one, 1: player("18", mp=3)})
    move(table, s1="NW")
    heard = move(table, s1="SE NW")
    assert {"14": 5} == heard.event(1, "standing")["strengths"]
    players = [replace(seat, crests={"Charity": 1}) if "7" in seat.spent else seat for seat in table.state.players]
    in_state(table, replace(table.state, players=tuple(players)))
    before = heard.event(1, "standing")["mp"]
    heard = move(table, s1="SE")
    assert ({"Charity": 0}, [2, 7, 14]) == (result(heard)["claimed"], result(heard)["white"])
    assert before + 2 - 1 + 3 == heard.event(1, "standing")["mp"]
