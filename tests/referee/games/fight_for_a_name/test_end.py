"""The end of The Fight For a Name (R9, R10), and what seats, spectators and the host see."""

from typing import Any

import pytest

from referee.rules.table import Table
from tests.referee.games.fight_for_a_name.play import ON_PILLAR, SETUP, TITLES, player, position, rest, start
from tests.referee.games.playing import Heard, close, host_view, outcome, rejected, shown, window


def titles(*seats: int, round_: int = 3, first: int = 0) -> str:
    """Write claims of these seats, from the `first` title in the alphabet on, made in that round."""
    return " ".join(f"{title}:{seat}:{round_}" for title, seat in zip(TITLES[first:], seats, strict=False))


def last_round(players: Any = None, claims: str = "", **more: Any) -> tuple[Table, Heard]:
    """After a last round in which nobody moved."""
    table = position(players or {}, claims=claims, round_=12, **more)
    return table, rest(table)


def over(table: Table) -> dict[str, Any]:
    """Close, without votes, whatever is still open; return the outcome."""
    while table.window is not None:
        close(table, {})
    return outcome(table)


def vote(table: Table, votes: dict[int, Any]) -> Heard:
    return close(table, {seat: {"seat": named} for seat, named in votes.items()})


# When it ends.


def test_the_match_ends_after_round_12() -> None:
    table = start()
    rest(table, 11)
    assert table.outcome is None
    heard = rest(table)
    assert ["round_result", "reveal"] == heard.types(None)
    assert 12 == heard.event(None, "round_result")["round"]
    assert "rounds" == outcome(table)["reason"]


LEAVING = {0: player(crests="Temperance", h6=1, h2=1, h8=1)}


def test_the_match_ends_after_a_round_that_leaves_2_or_fewer_seats_without_a_title() -> None:
    table = position(LEAVING, claims=titles(*range(3, 13)))
    rest(table)
    assert "titles" == over(table)["reason"]
    assert {1, 2} == set(outcome(table)["ranking"][-1] + outcome(table)["ranking"][-2])


def test_o7_when_all_twelve_titles_are_claimed_one_seat_is_left_and_is_eliminated() -> None:
    leaving = LEAVING | {1: player(crests="Prudence", h5=1, h1=1, h7=1)}
    table = position(leaving, claims=titles(*range(3, 13)))
    rest(table)
    assert ([[2]], 2) == (over(table)["ranking"][-1:], outcome(table)["eliminated"])


# R9.


@pytest.mark.parametrize(
    ("count", "tokens"),
    [(1, {"0": 3}), (2, {"0": 1, "1": 1}), (8, {str(seat): 1 for seat in range(8)}), (9, {}), (10, {})],
)
def test_r9_fewer_than_9_winners_get_a_token_each_a_single_one_3(count: int, tokens: dict[str, int]) -> None:
    table, _ = last_round(claims=titles(*range(count)))
    result = over(table)
    assert tokens == result["tokens"]
    assert list(range(count)) == result["winners"]


def test_r9_the_winners_claimed_in_the_first_round_in_which_anyone_did() -> None:
    claims = titles(7, 4, round_=5) + " " + titles(1, 2, round_=6, first=2)
    assert [4, 7] == over(last_round(claims=claims)[0])["winners"]


def with_others(winners: int, others: int = 2) -> str:
    """So many winners from seat 0 on, and the seats after them with later titles."""
    later = titles(*range(winners, winners + others), round_=4, first=winners)
    return titles(*range(winners)) + " " + later


@pytest.mark.parametrize("winners", [1, 5])
def test_r9_fewer_than_6_winners_vote_for_one_more_seat_with_a_title(winners: int) -> None:
    table, heard = last_round(claims=with_others(winners))
    assert ("token_vote", list(range(winners))) == window(table)
    assert ["round_result"] == heard.types(None)
    assert [winners, winners + 1] == shown(table, 0)["candidates"]


@pytest.mark.parametrize(
    ("votes", "token"),
    [({0: 3}, "3"), ({0: 3, 1: 4, 2: 4}, "4"), ({0: 3, 1: 4}, None), ({}, None), ({0: 4, 1: None}, "4")],
)
def test_r9_most_votes_win_a_token_a_tie_or_no_vote_give_none(votes: dict[int, Any], token: str | None) -> None:
    table, _ = last_round(claims=with_others(3))
    vote(table, votes)
    expected = {"0": 1, "1": 1, "2": 1} | ({token: 1} if token else {})
    assert expected == over(table)["tokens"]


# R10.

ONE_TITLE = "Charity:12:3"


def seats(table: Table) -> list[int]:
    """Return the candidates of the open vote."""
    return list(table.state.candidates)


def test_r10_the_only_seat_without_a_title_is_eliminated() -> None:
    leaving = LEAVING | {1: player(crests="Prudence", h5=1, h1=1, h7=1)}
    table = position(leaving, claims=titles(*range(3, 13)))
    rest(table)
    assert 2 == over(table)["eliminated"]


def test_r10_seats_with_the_fewest_crests_of_unclaimed_titles_tie() -> None:
    players = {seat: player(crests="Hope Mercy") for seat in range(12)}
    players[3] = player(crests="Hope", h36=9)
    table, _ = last_round(players, ONE_TITLE)
    assert window(table) is None
    assert 3 == outcome(table)["eliminated"]


def test_r10_then_the_least_mp_spent_on_all_hexes_that_are_not_white() -> None:
    players = {seat: player(crests="Hope", h30=5) for seat in range(12)}
    players[4] = player(crests="Hope", h36=2, h35=2)
    table, _ = last_round(players, ONE_TITLE)
    assert 4 == outcome(table)["eliminated"]


def tied(claims: str = ONE_TITLE) -> Table:
    """Seats 2, 3 and 4 are level at the bottom."""
    titled = {int(claim.split(":")[1]) for claim in claims.split()}
    others = set(range(13)) - titled - {2, 3, 4}
    return last_round({seat: player(crests="Hope") for seat in others}, claims)[0]


def test_r10_then_the_winners_vote_on_those_still_tied() -> None:
    table = tied()
    assert ("elimination_vote", [12]) == window(table)
    assert [2, 3, 4] == seats(table) == shown(table, 12)["candidates"]
    heard = vote(table, {12: 3})
    assert ["reveal"] == heard.types(None)
    assert 3 == outcome(table)["eliminated"]


def test_r10_the_seat_with_the_most_votes_goes() -> None:
    table = tied("Charity:12:3 Courage:11:3 Diligence:10:3")
    vote(table, {12: 3, 11: 4, 10: 4})
    assert 4 == outcome(table)["eliminated"]


def test_r10_the_seat_with_justice_chooses_among_seats_still_tied() -> None:
    table = tied("Charity:12:3 Courage:11:3 Justice:10:5")
    vote(table, {})  # for a token
    vote(table, {12: 3, 11: 4})
    assert ("justice", [10]) == window(table)
    assert [3, 4] == seats(table) == shown(table, 10)["candidates"]
    assert "not among the candidates" in rejected(table, 10, {"seat": 2})
    assert ["reveal"] == vote(table, {10: 3}).types(None)
    assert 3 == outcome(table)["eliminated"]


def drawn(claims: str, *votes: dict[int, Any]) -> set[int]:
    """Who is eliminated over many seeds."""
    found = set()
    for seed in range(30):
        table = tied(claims)
        table.deal = type(table.deal)(table.deal.variant, seed, table.deal.options, table.deal.setup)
        for each in votes:
            vote(table, each)
        found.add(outcome(table)["eliminated"])
    return found


def test_r10_if_justice_does_not_choose_it_is_drawn_from_those_still_tied() -> None:
    assert {3, 4} == drawn("Charity:12:3 Justice:11:3", {12: 3, 11: 4}, {})


def test_r10_the_elimination_is_drawn_if_no_seat_has_justice() -> None:
    assert {3, 4} == drawn("Charity:12:3 Courage:11:3", {12: 3, 11: 4})
    assert {2, 3, 4} == drawn("Charity:12:3", {})


def test_o5_while_pillars_answer_others_cannot_tell_that_they_do() -> None:
    one, other = (position({0: player(mp=4)}) for _ in range(2))
    close(one, {0: {"path": ON_PILLAR["phi"]}, 1: {"path": []}})
    close(other, {0: {"path": ON_PILLAR["psi"]}})
    assert "pillar" == one.state.phase
    for seat in (*range(1, 13), None):
        assert shown(one, seat) == shown(other, seat)
        assert {str(n): "Start" for n in range(13)} == shown(one, seat)["positions"]
        assert [] == shown(one, seat)["history"]


def test_o5_a_seat_that_takes_part_in_no_vote_cannot_tell_which_is_open() -> None:
    players = {seat: player(crests="Hope") for seat in range(3, 10)}
    table = position(players, claims="Charity:12:3 Justice:11:4 Mercy:10:4", round_=12)
    rest(table)
    seen = []
    for phase in ("token_vote", "elimination_vote", "justice"):
        assert phase == table.state.phase
        seen.append([shown(table, seat) for seat in (0, 5, 10, None)])
        close(table, {})
    assert seen[0] == seen[1] == seen[2]


def test_the_host_sees_everything() -> None:
    table = position({0: player(mp=4, crests="Faith:2", h7=3)}, claims="Charity:12:3")
    close(table, {0: {"path": ON_PILLAR["phi"]}, 12: {"give": {"0": 2}}})
    view = host_view(table)
    assert (SETUP, "pillar", 6) == (view["setup"], view["phase"], view["round"])
    assert list(range(13)) == view["challenge"]
    seat = view["players"][0]
    assert ("phi", 0, 2) == (seat["position"], seat["mp"], seat["income"])
    assert ({"Faith": 2}, {"7": 4}, {"7": 3}) == (seat["crests"], seat["strengths"], seat["spent"])
    assert 0 == view["players"][12]["barred"]
