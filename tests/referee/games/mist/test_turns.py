"""A turn of Mist, step by step, and who is told and shown what (R3, R5, R10)."""

import pytest

from protocol.words import Audience
from referee.games.mist import Mist
from tests.referee.games.mist.naive import CELLS, DISTANCES
from tests.referee.games.mist.play import CONTRACT, HEAVEN, start, swap, turn
from tests.referee.games.playing import host_view, shown

BOTH = pytest.mark.parametrize("variant", [HEAVEN, CONTRACT])


def within(radius: int, *centres: str) -> list[str]:
    """Every cell so near to one of these, in row order."""
    return [cell for cell in CELLS if any(DISTANCES[centre][cell] <= radius for centre in centres)]


@BOTH
@pytest.mark.parametrize(("cells", "radius"), [("C3", 3), ("C3 G6", 1), ("C3 G6 E9", 0)])
def test_step_1_vision_is_within_3_1_or_0_of_the_cells_for_1_2_or_3_pieces(
    variant: str, cells: str, radius: int
) -> None:
    table = start(variant)
    turn(table, "I1")
    heard = turn(table, cells)
    assert within(radius, *cells.split()) == list(heard.event(1, "placed")["visible"])


@BOTH
def test_step_3_a_piece_on_a_piece_of_either_colour_is_destroyed(variant: str) -> None:
    table = start(variant)
    turn(table, "A1")
    turn(table, "I5")
    on_own = turn(table, "A1").event(0, "placed")
    assert (["A1"], "own") == (on_own["destroyed"], on_own["visible"]["A1"])
    on_other = turn(table, "A1").event(1, "placed")
    assert (["A1"], "opponent") == (on_other["destroyed"], on_other["visible"]["A1"])


def test_step_3_a_piece_on_e5_lets_see_but_spots_nothing() -> None:
    table = start(CONTRACT)
    turn(table, "E5")
    heard = turn(table, "E4 E6")
    watched = heard.event(0, "opponent_placed")
    assert within(3, "E5") == list(watched["visible"])
    assert ([], "opponent") == (watched["spotted"], watched["visible"]["E4"])


def test_step_3_a_piece_on_e5_may_be_spotted_like_any_other() -> None:
    table = start(CONTRACT)
    turn(table, "E2")
    watched = turn(table, "E5").event(0, "opponent_placed")
    assert ["E5"] == watched["spotted"] == watched["destroyed"]


@BOTH
def test_step_3_a_piece_destroyed_by_a_piece_below_it_may_still_be_spotted(variant: str) -> None:
    table = start(variant)
    turn(table, "C3")
    watched = turn(table, "C3").event(0, "opponent_placed")
    assert ["C3"] == watched["spotted"] == watched["destroyed"]
    assert "own" == watched["visible"]["C3"]


@BOTH
def test_r3_the_first_turns_cells_are_told_to_all_and_both_hear_of_it_like_of_any_turn(variant: str) -> None:
    heard = turn(start(variant), "i5 B2")
    assert [{"type": "first_move", "seat": 0, "cells": ["B2", "I5"]}] == heard.public
    assert ["placed"] == [event["type"] for event in heard.seats[0]]
    empty = {"type": "opponent_placed", "spotted": [], "destroyed": [], "visible": {}}
    assert [empty | ({"placed": []} if variant == HEAVEN else {})] == heard.seats[1]


def test_r5_a_swap_changes_the_owner_of_the_pieces_and_of_their_vision() -> None:
    table = start(HEAVEN)
    before = turn(table, "C3 G4").event(0, "placed")["visible"]
    heard = swap(table)
    assert [{"type": "swapped", "seat": 1}] == heard.public
    assert [{"type": "vision", "visible": before}] == heard.seats[1]
    assert [] == heard.seats[0]


def test_r5_after_a_swap_the_original_first_player_has_no_vision_and_its_pieces_are_the_others() -> None:
    table = start(HEAVEN)
    turn(table, "C3")
    swap(table)
    assert {} == shown(table, 0)["visible"]
    assert "opponent" == turn(table, "C5").event(0, "placed")["visible"]["C3"]


@BOTH
def test_r10_the_watcher_is_not_told_of_pieces_out_of_its_vision(variant: str) -> None:
    table = start(variant)
    turn(table, "A1")
    few = turn(table, "I1").event(0, "opponent_placed")
    table = start(variant)
    turn(table, "A1")
    many = turn(table, "I1 I3 I5").event(0, "opponent_placed")
    assert few == many


def test_r10_in_heaven_and_hell_the_watcher_sees_every_placement_in_its_vision_spotted_or_not() -> None:
    table = start(HEAVEN)
    turn(table, "C3")
    turn(table, "C3")
    watched = turn(table, "C3 C5 I5").event(1, "opponent_placed")
    assert ([], ["C3"], ["C3", "C5"]) == (watched["spotted"], watched["destroyed"], watched["placed"])


@BOTH
def test_r10_the_mover_is_not_told_why_a_piece_was_destroyed(variant: str) -> None:
    """Spotted, or on a piece of the other: where it does not see the difference, neither is it told."""
    spotted, covered = start(variant), start(variant)
    turn(spotted, "C3")
    turn(covered, "C5 A1")
    told = [turn(table, "C5 G1 I1").event(1, "placed") for table in (spotted, covered)]
    assert ["C5"] == told[0]["destroyed"] == told[1]["destroyed"]
    assert ["type", "cells", "destroyed", "visible"] == list(told[0])


@BOTH
def test_the_host_is_shown_the_whole_board_and_what_each_seat_sees_and_spots(variant: str) -> None:
    table = start(variant)
    turn(table, "A1")
    turn(table, "A1 I5")
    view = host_view(table)
    assert CELLS == list(view["board"])
    assert {"A1": 0, "E5": "blocked", "I5": 1} == {k: v for k, v in view["board"].items() if v != "empty"}
    assert [[], ["A1", "A2", "B1", "B2", "H5", "H6", "I4", "I5"]] == view["vision"]
    assert [[], ["H5", "H6", "I4", "I5"]] == view["spotting"]
    assert [["A1"], ["A1", "I5"]] == view["placed"]
    assert [[], ["A1"]] == view["lost"]
    assert {"0": [1], "1": [1]} == view["groups"]
    assert (3, 0, ["A1"], False) == (view["turn"], view["mover"], view["first_move"], view["swapped"])


def test_private_events_cannot_be_sent_to_all() -> None:
    public = {event.__struct_config__.tag for event in Mist.events if event.audience is Audience.PUBLIC}
    assert {"first_chosen", "first_move", "swapped", "reveal"} == public
    tags = [event.__struct_config__.tag for event in Mist.events]
    assert ["first_chosen", "first_move", "swapped", "placed", "opponent_placed", "vision", "reveal"] == tags
