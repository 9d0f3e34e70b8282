"""Swiss: nobody meets twice, equals meet, byes go round, and the table is by points, then Buchholz."""

from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.schedule.blocks import Block
from arena.schedule.pairing import Byes, pairs_of
from arena.schedule.swiss import Swiss, SwissScore, swiss_rows
from tests.arena.schedule.paired import Decide, all_tied, by_lot, lower_wins, pairs, played_out, spec
from tests.long import cases

deciders = st.sampled_from([by_lot, lower_wins, all_tied])
seeds = st.integers()


def swiss(entrants: int, turns: int, blocks: int = 1, *, filled: bool = False) -> Swiss:
    return Swiss(spec("swiss", entrants, rounds=turns, blocks=blocks, filled=filled))


@settings(max_examples=cases(15, 25))
@given(st.integers(2, 24), deciders, seeds, st.booleans())
def test_no_two_bots_meet_twice_in_half_as_many_rounds_as_there_are_bots(
    entrants: int, decide: Decide, seed: int, filled: bool
) -> None:
    rounds, _ = played_out(swiss(entrants, max(1, entrants // 2), filled=filled), decide, seed)
    met = Counter(pair for round_ in pairs(rounds) for pair in round_)
    assert {1} == set(met.values())


@settings(max_examples=cases(15, 25))
@given(st.integers(2, 24), st.integers(1, 12), deciders, st.booleans())
def test_in_each_round_everyone_plays_once_or_is_the_one_who_is_left_over(
    entrants: int, turns: int, decide: Decide, filled: bool
) -> None:
    turns = min(turns, max(1, entrants - 1))
    rounds, _ = played_out(swiss(entrants, turns, filled=filled), decide)
    assert turns == len(rounds)
    for round_ in pairs(rounds):
        present = [bot for pair in round_ for bot in pair]
        everyone = entrants + entrants % 2 if filled else entrants - entrants % 2
        assert len(present) == len(set(present)) == everyone


@given(st.integers(1, 7), deciders)
def test_no_bot_is_left_over_twice_before_each_was_once(turns: int, decide: Decide) -> None:
    rounds, _ = played_out(swiss(7, turns), decide)
    left_over = Counter({*range(7)}.difference(*round_).pop() for round_ in pairs(rounds))
    assert {1} == set(left_over.values())


def test_winners_meet_winners() -> None:
    """Eight bots, three rounds, the better one wins: in each round all meet others with as many points."""
    rounds, _ = played_out(swiss(8, 3), lower_wins)
    points = [0] * 8
    for round_ in pairs(rounds):
        assert all(points[one] == points[other] for one, other in round_)
        for better, _worse in round_:
            points[better] += 1
    assert [3, 2, 2, 2, 1, 1, 1, 0] == sorted(points, reverse=True)


def test_a_small_tournament_comes_out_as_it_always_did() -> None:
    rounds, results = played_out(swiss(5, 3), lower_wins)
    assert [[(0, 3), (1, 2)], [(0, 1), (3, 4)], [(0, 4), (2, 3)]] == pairs(rounds)
    assert [
        (0, 6.0, 8.0, 0),
        (1, 4.0, 14.0, 1),
        (2, 4.0, 10.0, 1),
        (3, 2.0, 12.0, 0),
        (4, 2.0, 10.0, 1),
    ] == [(row.entrant, row.points, row.buchholz, row.byes) for row in swiss_rows(swiss(5, 3).spec, 1, results)]


def test_a_bye_counts_as_won_and_against_the_house_points_must_be_made() -> None:
    _, with_bye = played_out(swiss(3, 1, 2), all_tied)
    _, with_house = played_out(swiss(3, 1, 2, filled=True), all_tied)
    assert [4, 2, 2] == [row.points for row in swiss_rows(swiss(3, 1, 2).spec, 1, with_bye)]
    assert [2, 2, 2] == [row.points for row in swiss_rows(swiss(3, 1, 2, filled=True).spec, 1, with_house)]


def test_buchholz_is_the_points_of_those_one_met_a_bye_like_one_of_equal_points() -> None:
    byes = Byes(4)
    byes.add(2)
    byes.add(3)
    score = SwissScore(points=[3, 2, 1, 0, 9], byes=byes, met=[[1, 2], [0, 3], [0], [1]])
    assert [3, 3, 4, 2] == [score.buchholz(bot, None) for bot in range(4)]
    assert [3, 3, 12, 11] == [score.buchholz(bot, 4) for bot in range(4)]


@given(st.integers(2, 30), st.randoms(use_true_random=False))
def test_as_long_as_each_may_meet_half_of_the_others_all_are_paired_with_one_they_may_meet(
    half: int, rng: object
) -> None:
    """The argument in `pairs_of`: here meetings are forbidden at random, as many as it allows."""
    bots = 2 * half
    met: list[set[int]] = [set() for _ in range(bots)]
    order = sorted(range(bots), key=lambda _: rng.random())  # type: ignore[attr-defined]
    for _ in range(half):
        found = pairs_of(order, lambda one, other: other not in met[one])
        assert all(other not in met[one] for one, other in found)
        for one, other in found:
            met[one].add(other)
            met[other].add(one)
        rng.shuffle(order)  # type: ignore[attr-defined]


def test_neighbours_in_the_order_are_paired() -> None:
    assert [(5, 3), (1, 4)] == pairs_of([5, 3, 1, 4], lambda *_: True)
    assert [(3, 1), (5, 4)] == pairs_of([5, 3, 1, 4], lambda one, other: {one, other} not in ({5, 3}, {5, 1}))


def test_more_blocks_of_a_pair_have_other_deals() -> None:
    rounds, _ = played_out(swiss(4, 1, 3))
    blocks: list[Block] = rounds[0]
    assert [blocks[0].entrants] * 3 == [block.entrants for block in blocks[::2]]
    assert all(one.matches[0].seed != other.matches[0].seed for one, other in pairwise(blocks))


def test_whom_one_meets_twice_counts_twice_for_buchholz() -> None:
    score = SwissScore.of(2)
    for _ in range(2):
        score.add_round([(0, 1)], None)
    score.points[1] = 3
    assert 6 == score.buchholz(0, None)
