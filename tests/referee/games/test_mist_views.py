"""What Mist shows: to a seat no more than it was told, to a spectator what is public, to the host everything."""

from typing import Any

import pytest

from protocol.codec import encode
from protocol.words import Audience
from referee.games.mist import Mist
from referee.rules.table import Table
from tests.referee.games.mist_play import CONTRACT, HEAVEN, MIST, plain, shown, start, time_out, turn
from tests.referee.games.naive_mist import CELLS

BOTH = pytest.mark.parametrize("variant", [HEAVEN, CONTRACT])


@BOTH
def test_views_of_the_same_match_played_twice_are_byte_identical(variant: str) -> None:
    for seat in (0, 1, None):
        assert encode(MIST.view(played(variant).state, seat)) == encode(MIST.view(played(variant).state, seat))


def played(variant: str) -> Table:
    table = start(variant)
    for cells in ("C3 G4", "E1", "C5", "G4 I1 A1"):
        turn(table, cells)
    return table


@BOTH
def test_before_the_first_turn_nobody_is_on_turn(variant: str) -> None:
    table = start(variant, first="choose")
    for seat in (0, 1, None):
        assert turn_shown(table, seat) == {
            "turn": 0,
            "mover": None,
            "pieces": [0, 0],
            "forbidden": [],
            "may_swap": False,
            "first_move": None,
        }
    time_out(table)
    assert (1, 0) == (shown(table, 0)["turn"], shown(table, 0)["mover"])


@BOTH
def test_after_the_end_nobody_is_on_turn(variant: str) -> None:
    table = start(variant, max_turns=1)
    turn(table, "A1")
    assert turn_shown(table, 1) == {
        "turn": 1,
        "mover": None,
        "pieces": [0, 0],
        "forbidden": [],
        "may_swap": False,
        "first_move": ["A1"],
    }


def turn_shown(table: Table, seat: int | None) -> dict[str, Any]:
    view = shown(table, seat)
    return {key: view[key] for key in ("turn", "mover", "pieces", "forbidden", "may_swap", "first_move")}


@BOTH
def test_the_host_is_shown_the_whole_board_and_what_each_seat_sees_and_spots(variant: str) -> None:
    table = start(variant)
    turn(table, "A1")
    turn(table, "A1 I5")
    view = plain(MIST.host_view(table.state))
    assert CELLS == list(view["board"])
    assert {"A1": 0, "E5": "blocked", "I5": 1} == {k: v for k, v in view["board"].items() if v != "empty"}
    assert [[], ["A1", "A2", "B1", "B2", "H5", "H6", "I4", "I5"]] == view["vision"]
    assert [[], ["H5", "H6", "I4", "I5"]] == view["spotting"]
    assert {"0": [1], "1": [1]} == view["groups"]
    assert (3, 0, ["A1"], False) == (view["turn"], view["mover"], view["first_move"], view["swapped"])


def test_what_only_one_seat_may_hear_cannot_be_told_in_public() -> None:
    public = {event.__struct_config__.tag for event in Mist.events if event.audience is Audience.PUBLIC}
    assert {"first_chosen", "first_move", "swapped", "reveal"} == public
    tags = [event.__struct_config__.tag for event in Mist.events]
    assert ["first_chosen", "first_move", "swapped", "placed", "opponent_placed", "vision", "reveal"] == tags
