"""The end of The Fight For a Name: when it comes, winners and tokens (R9), the eliminated (R10), the outcome."""

import json
from typing import Any

import pytest

from referee.rules.contract import Illegal
from referee.rules.table import Table
from tests.referee.games.fight_play import (
    SETUP,
    TITLES,
    Heard,
    close,
    plain,
    player,
    position,
    reason,
    rest,
    shown,
    start,
    window,
)


def titles(*seats: int, round_: int = 3, first: int = 0) -> str:
    """These seats have titles, from the `first` in the alphabet on, claimed in that round."""
    return " ".join(f"{title}:{seat}:{round_}" for title, seat in zip(TITLES[first:], seats, strict=False))


def last_round(players: Any = None, claims: str = "", **more: Any) -> tuple[Table, Heard]:
    """After a last round in which nobody moved."""
    table = position(players or {}, claims=claims, round_=12, **more)
    return table, rest(table)


def outcome(table: Table) -> dict[str, Any]:
    assert table.outcome is not None
    found: dict[str, Any] = plain(table.outcome)
    return found


def over(table: Table) -> dict[str, Any]:
    """The outcome after closing, without votes, whatever is still open."""
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


def test_the_option_rounds_sets_the_last_round() -> None:
    table = start(rounds=1)
    assert ["round_result", "reveal"] == rest(table).types(None)
    assert "rounds" == outcome(table)["reason"]


LEAVING = {0: player(crests="Temperance", h6=1, h2=1, h8=1)}


def test_the_match_ends_after_a_round_that_leaves_2_or_fewer_seats_without_a_title() -> None:
    table = position(LEAVING, claims=titles(*range(3, 13)))
    rest(table)
    assert "titles" == over(table)["reason"]
    assert {1, 2} == set(outcome(table)["ranking"][-1] + outcome(table)["ranking"][-2])


def test_with_3_seats_without_a_title_it_goes_on() -> None:
    table = position(LEAVING, claims=titles(*range(4, 13)))
    rest(table)
    assert ("move", list(range(13))) == window(table)


def test_o7_when_all_twelve_titles_are_claimed_one_seat_is_left_and_is_eliminated() -> None:
    leaving = LEAVING | {1: player(crests="Prudence", h5=1, h1=1, h7=1)}
    table = position(leaving, claims=titles(*range(3, 13)))
    rest(table)
    assert ([[2]], 2) == (over(table)["ranking"][-1:], outcome(table)["eliminated"])


def test_of_both_reasons_titles_is_named() -> None:
    table, _ = last_round(LEAVING, titles(*range(3, 13)))
    assert "titles" == over(table)["reason"]


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


def test_r9_six_winners_do_not_vote_for_a_token() -> None:
    table, _ = last_round(claims=with_others(6))
    assert ("elimination_vote", list(range(6))) == window(table)


def test_r9_where_no_other_seat_has_a_title_there_is_no_window() -> None:
    table, _ = last_round({seat: player(h30=seat) for seat in range(3, 13)}, titles(0, 1, 2))
    assert window(table) is None


@pytest.mark.parametrize("named", [0, 5, 13, -1, "3", 3.0, True, [3]])
def test_r9_only_a_candidate_may_be_voted_for(named: Any) -> None:
    table, _ = last_round(claims=with_others(3))
    assert "" == reason(table, 1, {"seat": 3})
    assert "" != reason(table, 1, {"seat": named})


@pytest.mark.parametrize("action", [{}, {"seat": 3, "why": 1}, [], None, 3, {"vote": 3}])
def test_a_vote_has_the_one_key_seat(action: Any) -> None:
    table, _ = last_round(claims=with_others(3))
    with pytest.raises(Illegal):
        table.read(1, json.dumps(action).encode())


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
    """The candidates of the open vote."""
    return list(table.state.candidates)


def test_r10_the_only_seat_without_a_title_is_eliminated() -> None:
    leaving = LEAVING | {1: player(crests="Prudence", h5=1, h1=1, h7=1)}
    table = position(leaving, claims=titles(*range(3, 13)))
    rest(table)
    assert 2 == over(table)["eliminated"]


def test_r10_of_several_those_with_the_fewest_crests_of_unclaimed_titles() -> None:
    players = {seat: player(crests="Hope Mercy") for seat in range(12)}
    players[3] = player(crests="Hope", h36=9)
    table, _ = last_round(players, ONE_TITLE)
    assert window(table) is None
    assert 3 == outcome(table)["eliminated"]


def test_r10_crests_of_claimed_titles_do_not_count() -> None:
    players = {seat: player(crests="Hope") for seat in range(12)}
    players[3] = player(crests="Charity", h36=9)
    table, _ = last_round(players, ONE_TITLE)
    assert 3 == outcome(table)["eliminated"]


def test_r10_then_the_least_mp_spent_on_all_hexes_that_are_not_white() -> None:
    players = {seat: player(crests="Hope", h30=5) for seat in range(12)}
    players[4] = player(crests="Hope", h36=2, h35=2)
    table, _ = last_round(players, ONE_TITLE)
    assert 4 == outcome(table)["eliminated"]


def test_r10_mp_not_strength_counts() -> None:
    players = {seat: player(crests="Hope", h30=4) for seat in range(12)}
    # Three landings without any MP: a strength of 3.
    players[4] = player("30", crests="Hope", h36=1, h35=1, h34=1)
    table, _ = last_round(players, ONE_TITLE)
    assert 4 == outcome(table)["eliminated"]


def test_r10_mp_on_hexes_that_turned_white_do_not_count() -> None:
    players = {seat: player(crests="Hope", h30=4) for seat in range(12)}
    players[0] = player(crests="Temperance Hope", h6=9, h2=9, h8=9)
    players[4] = player(crests="Hope", h2=5, h36=1)
    table, _ = last_round(players, ONE_TITLE)
    assert 4 == over(table)["eliminated"]


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


def test_r10_the_elimination_vote_comes_after_the_token_vote() -> None:
    table = tied("Charity:12:3 Courage:11:4")
    assert ("token_vote", [12]) == window(table)
    assert [] == vote(table, {12: 11}).public
    assert ("elimination_vote", [12]) == window(table)
    assert ["reveal"] == vote(table, {12: 2}).types(None)
    assert {"11": 1, "12": 3} == outcome(table)["tokens"]


def test_r10_voting_for_a_seat_that_does_not_stand_is_rejected() -> None:
    table = tied()
    assert "" == reason(table, 12, {"seat": 4})
    for named in (0, 5, 12):
        assert "not among the candidates" in reason(table, 12, {"seat": named})


def test_r10_the_seat_with_the_most_votes_goes() -> None:
    table = tied("Charity:12:3 Courage:11:3 Diligence:10:3")
    vote(table, {12: 3, 11: 4, 10: 4})
    assert 4 == outcome(table)["eliminated"]


def test_r10_of_seats_still_tied_the_seat_with_justice_chooses() -> None:
    table = tied("Charity:12:3 Courage:11:3 Justice:10:5")
    vote(table, {})  # for a token
    vote(table, {12: 3, 11: 4})
    assert ("justice", [10]) == window(table)
    assert [3, 4] == seats(table) == shown(table, 10)["candidates"]
    assert "not among the candidates" in reason(table, 10, {"seat": 2})
    assert ["reveal"] == vote(table, {10: 3}).types(None)
    assert 3 == outcome(table)["eliminated"]


def test_r10_if_nobody_votes_it_chooses_among_all_the_tied() -> None:
    table = tied("Justice:12:3")
    vote(table, {})
    assert ("justice", [12]) == window(table)
    assert [2, 3, 4] == seats(table)
    vote(table, {12: 2})
    assert 2 == outcome(table)["eliminated"]


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


def test_r10_if_nobody_has_justice_it_is_drawn() -> None:
    assert {3, 4} == drawn("Charity:12:3 Courage:11:3", {12: 3, 11: 4})
    assert {2, 3, 4} == drawn("Charity:12:3", {})


def test_r10_without_winners_there_is_no_vote_and_it_is_drawn() -> None:
    found = set()
    for seed in range(60):
        table = start(rounds=1, seed=seed)
        rest(table)
        assert ([], {}) == (outcome(table)["winners"], outcome(table)["tokens"])
        found.add(outcome(table)["eliminated"])
    assert set(range(13)) == found


def test_votes_are_told_to_nobody() -> None:
    table = tied("Charity:12:3 Courage:11:3 Justice:10:5")
    heard = [vote(table, {12: 10}), vote(table, {12: 3, 11: 4})]
    assert [[], []] == [one.public for one in heard]
    assert [[[]] * 13] * 2 == [one.seats for one in heard]


# What is told and named at the end.


def test_the_reveal_tells_titles_pillars_ranks_and_claims_and_is_the_last_event() -> None:
    table, heard = last_round(
        {seat: player(h30=seat + 1) for seat in range(12)}, "Hope:12:3", challenge=(5, *range(5), *range(6, 13))
    )
    assert ["round_result", "reveal"] == heard.types(None)
    expected = {
        "type": "reveal",
        "titles": SETUP["titles"],
        "pillars": SETUP["pillars"],
        "challenge": [5, *range(5), *range(6, 13)],
        "claims": {"Hope": {"seat": 12, "round": 3}},
    }
    assert expected == heard.event(None, "reveal")
    assert expected == shown(table, 0)["revealed"] == shown(table, None)["revealed"]


def test_the_ranking_is_by_round_of_claim_the_rest_tied_but_for_the_eliminated_one() -> None:
    claims = titles(7, 4, round_=6) + " " + titles(1, round_=5, first=2) + " " + titles(9, 2, round_=8, first=3)
    table, _ = last_round(
        {0: player(h30=1), 3: player()} | {s: player(h30=2) for s in (5, 6, 8, 10, 11, 12)}, claims
    )
    result = over(table)
    assert [[1], [4, 7], [2, 9], [0, 5, 6, 8, 10, 11, 12], [3]] == result["ranking"]
    assert ([1], 3) == (result["winners"], result["eliminated"])
    assert (None, {}) == (result["scores"], result["garnets"])


def test_the_detail_has_claims_crests_and_strengths_of_all_seats() -> None:
    players = {seat: player(crests="Faith Hope", h30=seat) for seat in range(1, 12)}
    table, _ = last_round(players | {0: player()}, "Hope:12:3")
    detail = over(table)["detail"]
    assert {"claims", "crests", "strengths"} == set(detail)
    assert {"Hope": {"seat": 12, "round": 3}} == detail["claims"]
    seats = [str(seat) for seat in range(13)]
    assert seats == list(detail["crests"]) == list(detail["strengths"])
    assert ([], ["Faith", "Hope"], ["Hope"]) == tuple(detail["crests"][seat] for seat in ("0", "1", "12"))
    assert ({}, {"30": 5}, {}) == tuple(detail["strengths"][seat] for seat in ("0", "4", "12"))


def test_nothing_is_told_in_private_by_the_reveal() -> None:
    table = tied()
    assert [[]] * 13 == vote(table, {}).seats
