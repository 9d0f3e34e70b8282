"""What Mist shows: to a seat no more than it was told, to a spectator what is public, to the host everything."""

import pytest

from protocol.words import Audience
from referee.games.mist import Mist
from tests.referee.games.mist_play import CONTRACT, HEAVEN, start, turn
from tests.referee.games.naive_mist import CELLS
from tests.referee.games.playing import host_view

BOTH = pytest.mark.parametrize("variant", [HEAVEN, CONTRACT])


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
    assert {"0": [1], "1": [1]} == view["groups"]
    assert (3, 0, ["A1"], False) == (view["turn"], view["mover"], view["first_move"], view["swapped"])


def test_what_only_one_seat_may_hear_cannot_be_told_in_public() -> None:
    public = {event.__struct_config__.tag for event in Mist.events if event.audience is Audience.PUBLIC}
    assert {"first_chosen", "first_move", "swapped", "reveal"} == public
    tags = [event.__struct_config__.tag for event in Mist.events]
    assert ["first_chosen", "first_move", "swapped", "placed", "opponent_placed", "vision", "reveal"] == tags
