"""A ladder: neighbours in rating meet, never twice in a row, and ratings move as Elo's do."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.schedule.blocks import ScheduledMatch
from arena.schedule.ladder import START, STEP, Ladder, final_ratings, first_ratings, move
from tests.arena.schedule.paired import Decide, all_tied, by_lot, lower_wins, pairs, played_out, result, spec
from tests.long import cases


def ladder(entrants: int, turns: int, *, filled: bool = False) -> Ladder:
    return Ladder(spec("ladder", entrants, rounds=turns, filled=filled))


def match(one: int, other: int) -> ScheduledMatch:
    return ScheduledMatch("", 0, 0, (one, other), 0)


@settings(max_examples=cases(15, 25))
@given(st.integers(4, 20), st.integers(2, 12), st.sampled_from([by_lot, lower_wins, all_tied]))
def test_no_two_meet_in_two_rounds_running(entrants: int, turns: int, decide: Decide) -> None:
    rounds, _ = played_out(ladder(entrants, turns), decide)
    for before, after in pairwise(pairs(rounds)):
        assert not set(before) & set(after)


@given(st.integers(2, 9), st.integers(1, 12), st.booleans())
def test_byes_and_the_house_go_round(entrants: int, turns: int, filled: bool) -> None:
    rounds, _ = played_out(ladder(entrants, turns, filled=filled))
    everyone = range(entrants)
    met = [pair for round_ in pairs(rounds) for pair in round_]
    played = [sum(bot in pair and max(pair) < entrants for pair in met) for bot in everyone]
    assert max(played) - min(played) <= 1
    house = sum(entrants in pair for pair in met)
    assert (turns if filled and entrants % 2 else 0) == house


def test_the_order_of_strength_comes_out() -> None:
    _, results = played_out(ladder(6, 40), lower_wins)
    ratings = final_ratings(ladder(6, 40).spec, 1, results)[:6]
    assert sorted(ratings, reverse=True) == ratings


def test_after_some_rounds_bots_meet_their_neighbours() -> None:
    """Of 16 bots that have found their places, the last ten rounds' pairs lie close together."""
    rounds, _ = played_out(ladder(16, 60), lower_wins)
    apart = [other - one for round_ in pairs(rounds[-10:]) for one, other in round_]
    assert sum(apart) / len(apart) < 4


def test_a_rating_moves_by_what_was_not_foreseen() -> None:
    ratings = [START, START, START + 400]
    move([result(match(0, 1), lower_wins)], ratings)
    assert [START + STEP / 2, START - STEP / 2] == ratings[:2]
    ratings = [START, START, START + 400]
    move([result(match(0, 2), lower_wins)], ratings)
    assert START + STEP * 10 / 11 == pytest.approx(ratings[0])


@given(st.integers(2, 8), st.integers(1, 8))
def test_ratings_add_up_to_what_they_were(entrants: int, turns: int) -> None:
    _, results = played_out(ladder(entrants, turns, filled=True))
    of = ladder(entrants, turns, filled=True).spec
    found = final_ratings(of, 1, results)
    assert sum(first_ratings(of)) == pytest.approx(sum(found))
