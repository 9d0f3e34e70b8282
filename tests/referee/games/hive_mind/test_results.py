"""How Hive Mind ends: ranking, tokens, garnets, who goes, and the windows in which the winner decides."""

from typing import Any

import pytest

from protocol.games.hive_mind import Points
from referee.games.hive_mind.scoring import outcome as outcome_of
from referee.games.hive_mind.scoring import settle
from referee.games.hive_mind.state import RULE_SETS, HiveMindState, PointResults
from referee.rules.rng import MatchRandom
from referee.rules.table import Table
from tests.referee.games.hive_mind.play import (
    GAUNTLET,
    HIVE_MIND,
    NAMES,
    RECHARGED,
    TEMPO_UP,
    VARIANTS,
    finish,
    place,
    start,
)
from tests.referee.games.playing import close, outcome, shown

ONES = "111112232323"
"""Values of which A to E are the 1s."""
NOT_GAUNTLET = pytest.mark.parametrize("variant", [TEMPO_UP, RECHARGED])


def seat(
    hexes: int = 0, *, threes: int = 0, twos: int = 0, guesses: int = 0, blocks: int = 0, net: int = 0
) -> Points:
    return Points(hexes=hexes, threes=threes, twos=twos, guesses=guesses, blocks=blocks, score_guesses=net)


def settled(variant: str, points: list[Points], feats: tuple[int, ...] = (0, 0, 0, 0, 0)) -> PointResults:
    """Settle these points; seats left out have scored nothing."""
    return settle(RULE_SETS[variant], [*points, *[seat()] * (5 - len(points))], feats)


def ended(variant: str, result: PointResults, eliminated: int = 4) -> dict[str, Any]:
    state = HiveMindState(variant=variant, garnets=(0,) * 5, values={}, result=result, eliminated=eliminated)
    found = outcome_of(state)
    assert found is not None
    return {key: getattr(found, key) for key in ("ranking", "winners", "scores", "tokens", "garnets")}


# Ranking and winners.


@VARIANTS
def test_r11_then_more_points_on_3s_then_more_on_2s(variant: str) -> None:
    points = [seat(9, threes=3, twos=4), seat(9, threes=6), seat(9, threes=3, twos=6), seat(8, threes=8)]
    assert ((1,), (2,), (0,), (3,), (4,)) == settled(variant, points).ranking


@NOT_GAUNTLET
def test_r11_then_more_points_from_guesses(variant: str) -> None:
    points = [seat(4, twos=2, guesses=1), seat(2, twos=2, guesses=3), seat(5, twos=2)]
    assert ((1,), (0,), (2,), (3, 4)) == settled(variant, points).ranking


def test_r11_but_not_in_gauntlet() -> None:
    points = [seat(4, twos=2, guesses=1), seat(2, twos=2, guesses=3), seat(5, twos=2)]
    assert ((0, 1, 2), (3, 4)) == settled(GAUNTLET, points).ranking


@VARIANTS
def test_r2_seats_still_tied_all_stand_first_and_win_no_token(variant: str) -> None:
    result = ended(variant, settled(variant, [seat(7), seat(), seat(7)]))
    assert ((0, 2), (1, 3, 4)) == result["ranking"]
    assert (0, 2) == result["winners"]
    assert {} == result["tokens"]


# Tokens.


def test_equal_feats_are_decided_by_fewer_points_on_3s_then_on_2s_else_no_seat_wins() -> None:
    points = [seat(9, threes=3, twos=2), seat(8, threes=3), seat(7, threes=6), seat(6, threes=3), seat(5)]
    assert 4 == settled(GAUNTLET, points, (2, 2, 2, 2, 2)).feats_winner
    assert 2 == settled(GAUNTLET, points, (2, 2, 3, 2, 2)).feats_winner
    assert settled(GAUNTLET, points, (2, 2, 2, 2, 0)).feats_winner is None
    assert 3 == settled(GAUNTLET, points, (2, 0, 2, 2, 0)).feats_winner
    assert {"0": 1} == ended(GAUNTLET, settled(GAUNTLET, points, (2, 2, 2, 2, 0)))["tokens"]


# Garnets.


@pytest.mark.parametrize("variant", [GAUNTLET, RECHARGED])
def test_r8_a_garnet_for_every_5_points_rounded_down_none_below_5(variant: str) -> None:
    points = [seat(4), seat(5), seat(14), seat(15), seat(net=-8)]
    assert {"1": 1, "2": 2, "3": 3} == ended(variant, settled(variant, points))["garnets"]


@pytest.mark.parametrize(
    ("scores", "winners"),
    [
        ((9, 8, 7, 6, 5), "012"),
        ((9, 8, 7, 7, 5), "0123"),
        ((9, 9, 9, 7, 5), "012"),
        ((9, 9, 9, 9, 5), "0123"),
        ((5, 9, 5, 8, 5), "01234"),
        ((0, 0, 0, 0, 0), "01234"),
        ((1, 0, 0, 0, 2), "01234"),
        ((1, 2, 3, 4, 5), "234"),
    ],
)
def test_r7_in_tempo_up_every_seat_whose_score_is_at_least_the_third_highest_earns_1_garnet(
    scores: tuple[int, ...], winners: str
) -> None:
    result = ended(TEMPO_UP, settled(TEMPO_UP, [seat(score) for score in scores]))
    assert dict.fromkeys(winners, 1) == result["garnets"]


# Who goes.


def test_the_elimination_does_not_change_the_ranking() -> None:
    result = settled(GAUNTLET, [seat(9), seat(), seat(4), seat(6), seat(5)], (0, 1, 0, 0, 0))
    assert ((0,), (3,), (4,), (2,), (1,)) == result.ranking


# The windows of the winner.


def tie(variant: str, *, winner: int = 0) -> Table:
    """Play a match in which one seat alone has points, so that the other four are tied."""
    table = start(variant)
    place(table)
    place(table, *[None] * winner, "ADE")
    place(table)
    return table


def test_in_recharged_the_winner_chooses_among_the_tied_and_everyone_hears_of_it_at_the_end_only() -> None:
    table = tie(RECHARGED, winner=2)
    assert table.window is not None
    assert ("break_tie", [2]) == (table.window.name, [owed.seat for owed in table.owed])
    assert [0, 1, 3, 4] == shown(table, 2)["tied"]
    heard = close(table, {2: {"seat": 3}})
    assert {2: {"seat": 3}} == heard.taken
    assert 3 == outcome(table)["eliminated"]
    assert [[2], [0, 1, 3, 4]] == outcome(table)["ranking"]


def test_the_default_of_break_tie_is_drawn_among_the_tied_and_taken_shows_it() -> None:
    table = tie(RECHARGED, winner=2)
    heard = close(table)
    assert heard.taken[2]["seat"] == outcome(table)["eliminated"]
    state = tie(RECHARGED, winner=2).state
    drawn = {HIVE_MIND.draw_default(state, 2, MatchRandom(seed, 3)).seat for seed in range(60)}
    assert {0, 1, 3, 4} == drawn


@VARIANTS
def test_r3_with_several_winners_who_goes_is_drawn_among_the_tied_without_a_window(variant: str) -> None:
    gone = set()
    for seed in range(40):
        table = start(variant, seed=seed)
        place(table)
        place(table, "ADE", "ADE", "ADE")
        last = finish(table)
        windows = {GAUNTLET: 7}.get(variant, 3)
        assert windows == len(table.journal)
        assert "reveal" == last.types()[-1]
        assert [0, 1, 2] == outcome(table)["winners"]
        gone.add(outcome(table)["eliminated"])
    assert {3, 4} == gone


@NOT_GAUNTLET
def test_r3_when_the_tied_include_the_winner_it_is_drawn_among_all_the_tied_without_a_window(variant: str) -> None:
    """All five have 3 points on 1s or by guessing: seat 0 wins by its guesses, which do not count for who goes."""
    one, two, three = NAMES[variant]
    gone = set()
    for seed in range(60):
        table = start(variant, ONES, seed=seed)
        close(table)
        same = {"place": {one: "ABC"}}
        close(table, {1: same, 2: same, 3: same, 4: {"place": {two: "ABC"}}})
        close(table, {0: {"guess": {three: ONES}}})
        if table.window:
            assert "give_token" == table.window.name
            close(table)
        result = outcome(table)
        assert [[0], [1, 2, 3, 4]] == result["ranking"]
        assert dict.fromkeys("01234", 3) == result["scores"]
        gone.add(result["eliminated"])
    assert {0, 1, 2, 3, 4} == gone


@VARIANTS
def test_a_single_candidate_is_eliminated_even_with_several_winners(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "ADE", "ADE", "ADE", "ABC")
    finish(table)
    assert [0, 1, 2] == outcome(table)["winners"]
    # In gauntlet nobody has a feat, and seat 4 wins that token with no points on 3s and 2s.
    assert (3 if variant == GAUNTLET else 4) == outcome(table)["eliminated"]


# The token to give away.


def test_r9_the_winner_of_tempo_up_may_give_one_of_its_2_tokens_away() -> None:
    table = tie(TEMPO_UP, winner=1)
    assert table.window is not None
    assert ("give_token", [1]) == (table.window.name, [owed.seat for owed in table.owed])
    heard = close(table, {1: {"seat": 4}})
    assert [{"type": "token_given", "from": 1, "to": 4}] == heard.public
    assert "break_tie" == shown(table, 1)["window"]
    close(table, {1: {"seat": 4}})
    assert {"1": 1, "4": 1} == outcome(table)["tokens"]
    assert 4 == outcome(table)["eliminated"]


def test_r9_a_winner_that_gives_none_away_keeps_one_and_the_other_is_lost() -> None:
    table = tie(TEMPO_UP, winner=1)
    heard = close(table)
    assert ({1: None}, []) == (heard.taken, heard.public)
    finish(table)
    assert {"1": 1} == outcome(table)["tokens"]
