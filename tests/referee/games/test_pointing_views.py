"""What Pointing shows: to a seat the maps and its own part, to a spectator the maps, to the host all (R5, R6)."""

import pytest

from protocol.codec import encode
from protocol.words import Audience
from tests.referee.games.playing import close, host_view, outcome, shown
from tests.referee.games.pointing_play import POINTING, after, vote

SPECTATOR = None


@pytest.mark.parametrize("seat", range(4))
def test_r5_a_view_does_not_depend_on_who_else_sits_where(seat: int) -> None:
    """Twice the same two chains of two, in which the seat does the same; the rest differs."""
    matches = {
        0: ("A>B C>D", "A>B D>C"),
        1: ("A>B C>D", "C>B A>D"),
        2: ("A>B C>D", "B>A C>D"),
        3: ("A>B C>D", "B>A C>D"),
    }[seat]
    one, other = (encode(POINTING.view(after(arrows, seats=4).state, seat)) for arrows in matches)
    assert one == other


def test_r6_nobody_is_shown_points_before_the_reveal() -> None:
    """In the window `vote` seat 4 has 1 point more or less, and the others are shown the same."""
    table = after(*["A>B>A"] * 3, seats=5)
    for seat in (0, 4, SPECTATOR):
        view = shown(table, seat)
        assert ([], None) == (view["rounds"], view["scores"])


def test_r6_votes_are_shown_to_nobody_but_their_own_voter() -> None:
    """And the window may close with other votes to the same end: the others are shown the same."""
    matches = [after(*["A>B>A"] * 3, seats=5) for _ in range(2)]
    vote(matches[0], {"A": "C", "B": "C"})
    vote(matches[1], {"A": "C"})
    assert [2, 2] == [shown(table, 0)["voted"] for table in matches]
    assert [2, None] == [shown(table, 1)["voted"] for table in matches]
    for seat in (0, 2, 3, 4, SPECTATOR):
        one, other = (encode(POINTING.view(table.state, seat)) for table in matches)
        assert one == other


def test_the_host_is_shown_everything() -> None:
    table = after(*["A>B>A C>A"] * 3, seats=5)
    close(table, {0: {"seat": 4}})
    view = host_view(table)
    assert {"0": 1, "1": 0, "2": 0, "3": None, "4": None} == view["rounds"][2]["targets"]
    assert {"0": 4, "1": None} == view["votes"]
    assert (4, [2, 3, 4]) == (view["eliminated"], view["tied"])
    assert outcome(table)["scores"] == view["scores"]
    assert outcome(table)["detail"]["connected"] == view["connected"]


def test_every_event_is_for_all_and_the_map_alone_is_anonymous() -> None:
    assert {"map": True, "tied": False, "reveal": False} == {
        str(event.__struct_config__.tag): event.anonymous
        for event in POINTING.events
        if event.audience is Audience.PUBLIC
    }
