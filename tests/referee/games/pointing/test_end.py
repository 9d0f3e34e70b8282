"""The end of Pointing (R2 to R8), and what it shows to seats, spectators and the host (R5, R6)."""

from typing import Any

import pytest

from protocol.codec import encode
from protocol.words import Audience
from tests.referee.games.playing import close, host_view, outcome, shown, window
from tests.referee.games.pointing.play import POINTING, after, by_letter, point, seats, vote

CHAIN = ("A>B>C",) * 3
"""With four seats: A has 3 x 2 - 2 = 4, B 3, C 3 x 0 + 1 = 1, and D, alone, 1 - 2 - 2 = -3."""
CUT = ("A>B>A C>A",) * 3
"""With four seats: A and B have 0; C, whose pointer is cut, and D are alone in every round: -3."""
ALONE = ("A>B>A",) * 3
"""With five seats: A and B have 0, all others -3; nobody is connected but A and B."""
PAIRS = ("A>B C>D E>F G>H",) * 3
"""With eight seats: all have 1, the starts 3 - 2 and the ends 0 + 1, and one connection."""
MANY = range(40)
"""Seeds enough to see every seat drawn that can be."""


def ended(rounds: tuple[str, ...], seats: int, **options: int) -> dict[str, Any]:
    """Play these rounds and return the outcome; if it comes to a vote, nobody votes."""
    table = after(*rounds, seats=seats, **options)
    if table.outcome is None:
        vote(table, {})
    return outcome(table)


def scores(rounds: tuple[str, ...], seats: int) -> dict[str, int]:
    return by_letter(ended(rounds, seats)["scores"])


def drawn(rounds: tuple[str, ...], seats: int, votes: dict[str, str]) -> set[int]:
    """Who goes, over many seeds."""
    gone = set()
    for seed in MANY:
        table = after(*rounds, seed=seed, seats=seats)
        vote(table, votes)
        gone.add(outcome(table)["eliminated"])
    return gone


# Points and garnets for all three rounds.


def test_a_seat_that_was_the_end_of_a_chain_in_all_three_rounds_earns_1_point() -> None:
    assert 1 == scores(CHAIN, 4)["C"]


def test_a_seat_that_was_a_start_of_a_chain_in_all_three_rounds_loses_2_points() -> None:
    assert 3 * 2 - 2 == scores(CHAIN, 4)["A"]


def test_a_seat_that_submitted_a_target_in_all_three_rounds_loses_1_garnet() -> None:
    assert {"A": -1, "B": -1} == by_letter(ended(CHAIN, 4, token_threshold=0)["garnets"])


def test_r7_a_cut_target_counts_as_submitted() -> None:
    assert {"A": -1, "B": -1, "C": -1} == by_letter(ended(CUT, 4, token_threshold=0)["garnets"])


# R2: winners and prizes.


def test_r2_the_seats_with_the_most_points_are_the_winners() -> None:
    assert seats("A") == ended(CHAIN, 4)["winners"]
    assert seats("AB") == ended(CUT, 4)["winners"]


def test_r2_a_seat_whose_garnets_add_up_to_0_is_left_out() -> None:
    """A wins one and loses one for having pointed in all rounds."""
    came = ended(CHAIN, 4)
    assert ({"A": 1}, {"B": -1}) == (by_letter(came["tokens"]), by_letter(came["garnets"]))


def test_r2_threshold_of_7_with_7_winners_each_gets_a_token() -> None:
    came = ended(("A>B>C>D>E>F>G>A",) * 3, 8)
    assert seats("ABCDEFG") == came["winners"]
    assert dict.fromkeys("ABCDEFG", 1) == by_letter(came["tokens"])
    assert {} == came["garnets"]


# R3: who goes.


def test_r3_the_elimination_candidate_is_the_seat_with_the_fewest_points() -> None:
    table = after(*CHAIN, seats=4)
    assert window(table) is None
    assert seats("D") == [outcome(table)["eliminated"]]


def test_r3_among_tied_seats_it_is_the_one_with_the_fewest_different_other_seats_in_its_sections() -> None:
    """All have 0. A meets B and C; B meets A, D and E, and everyone else three as well."""
    table = after("A>B>A C>D>E>C", "A>B>A C>D>E>C", "A>C>A B>D>E>B", seats=5)
    assert window(table) is None
    assert seats("A") == [outcome(table)["eliminated"]]
    assert {"A": 2, "B": 3, "C": 3, "D": 3, "E": 3} == by_letter(outcome(table)["detail"]["connected"])


def test_r3_among_seats_still_tied_the_winners_vote() -> None:
    table = after(*CUT, seats=4)
    assert ("vote", seats("AB")) == window(table)
    assert seats("CD") == host_view(table)["tied"]


@pytest.mark.parametrize(
    ("votes", "gone"), [({"A": "C"}, "C"), ({"B": "D"}, "D"), ({"A": "D", "B": "D"}, "D"), ({"A": "E"}, "E")]
)
def test_r3_the_seat_with_the_most_votes_goes(votes: dict[str, str], gone: str) -> None:
    assert set(seats(gone)) == drawn(ALONE, 5, votes)


def test_r3_seats_still_tied_after_the_vote_are_drawn_from() -> None:
    """E, who was tied and has no vote, is safe."""
    assert set(seats("CD")) == drawn(ALONE, 5, {"A": "C", "B": "D"})


def test_r3_draws_depend_on_the_seed_alone() -> None:
    gone = []
    for _ in range(2):
        table = after(*ALONE, seed=7, seats=5)
        vote(table, {})
        gone.append(outcome(table)["eliminated"])
    assert gone[0] == gone[1]


# R4 and R8.


def test_r4_if_every_seat_has_the_same_points_all_are_winners_and_r3_still_names_one_of_them() -> None:
    table = after(*PAIRS, seats=8)
    assert ("vote", seats("ABCDEFGH")) == window(table)
    assert seats("ABCDEFGH") == host_view(table)["tied"]
    vote(table, {"C": "F"})
    came = outcome(table)
    assert {1} == set(came["scores"].values())
    assert seats("ABCDEFGH") == came["winners"]
    assert seats("F") == [came["eliminated"]]


def test_r8_the_eliminated_seat_may_be_a_winner_too_and_keeps_its_prizes() -> None:
    table = after(*PAIRS, seats=8, token_threshold=8)
    vote(table, {"C": "F"})
    came = outcome(table)
    assert 1 == by_letter(came["tokens"])["F"]
    assert dict.fromkeys("BDFH", 1) == by_letter(came["garnets"])


# What is told at the end.


def test_r6_the_vote_comes_before_the_reveal_and_tied_is_told_after_the_third_map() -> None:
    table = after(*CUT[:2], seats=4)
    told = point(table, CUT[2])
    assert ["map", "tied"] == [event["type"] for event in told]
    assert {"type": "tied", "seats": seats("CD")} == told[1]
    assert ["reveal"] == [event["type"] for event in vote(table, {"A": "C"})]


def test_r6_votes_are_not_sent_to_any_seat() -> None:
    """Whoever voted, if the same seat goes all are told the same."""
    told = []
    for votes in ({"A": "C"}, {"B": "C"}, {"A": "C", "B": "C"}):
        table = after(*CUT, seats=4)
        told.append((vote(table, votes), outcome(table)))
    assert told[0] == told[1] == told[2]


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


def test_r6_no_seat_sees_points_before_the_reveal() -> None:
    """In the window `vote` seat 4 has 1 point more or less, and the others are shown the same."""
    table = after(*["A>B>A"] * 3, seats=5)
    for seat in (0, 4, SPECTATOR):
        view = shown(table, seat)
        assert ([], None) == (view["rounds"], view["scores"])


def test_r6_votes_are_shown_to_their_own_voter_only() -> None:
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
