"""The pillars of identity: what may be asked, what is answered, and when (step 4, R3, R12)."""

from typing import Any

import pytest

from tests.referee.games.fight_play import ON_PILLAR, SETUP, ask, player, position, rest, start
from tests.referee.games.playing import close, rejected, shown

PHI = SETUP["pillars"]["phi"]
"""Charity, Courage, Diligence, Faith, Honour, Hope."""
ASKED = ask(PHI)


def at_phi(seed: int = 0, **others: str) -> Any:
    """A match in which seat 0 (and others, `s1="psi"`) has just reached its pillar."""
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
