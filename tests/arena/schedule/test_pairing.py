"""Pairings: nobody meets twice who need not, by brute force over all pairings."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.schedule.fields import FieldPeriod
from arena.schedule.pairing import Byes, complete, pairs_of
from arena.schedule.swiss import Swiss
from tests.arena.schedule.paired import Decide, all_tied, by_lot, lower_wins, pairs, played_out, spec
from tests.long import cases

Pairs = list[tuple[int, int]]


def all_pairings(bots: Sequence[int]) -> Iterator[Pairs]:
    """Every way to pair an even number of bots."""
    if not bots:
        yield []
        return
    first, *rest = bots
    for place, other in enumerate(rest):
        for more in all_pairings(rest[:place] + rest[place + 1 :]):
            yield [(first, other), *more]


def fewest_rematches(bots: Sequence[int], met: set[frozenset[int]]) -> int:
    """How many rematches the best of all pairings has."""
    return min(sum(frozenset(pair) in met for pair in pairing) for pairing in all_pairings(bots))


def rematches(found: Pairs, met: set[frozenset[int]]) -> int:
    return sum(frozenset(pair) in met for pair in found)


def test_the_smallest_tournament_in_which_three_pairs_have_to_change() -> None:
    """Two changes in one pair do not help here, and there is a pairing without any rematch: 05 14 27 36."""
    rounds = "01 23 45 67", "12 56 03 47", "25 06 17 34", "20 15 64 37"
    met = {frozenset(map(int, pair)) for round_ in rounds for pair in round_.split()}
    found = pairs_of([0, 1, 2, 3, 5, 4, 6, 7], lambda one, other: frozenset((one, other)) not in met)
    assert 0 == rematches(found, met)
    assert set(range(8)) == {bot for pair in found for bot in pair}


@settings(max_examples=cases(150, 1_000))
@given(st.sampled_from([2, 4, 6, 8]), st.integers(0, 28), st.randoms(use_true_random=False))
def test_as_few_as_possible_meet_again_whoever_has_met(size: int, forbidden: int, rng: Random) -> None:
    """Also where every pairing has a rematch, and where those who have met are no rounds that were played."""
    order = rng.sample(range(size), size)
    all_meetings = [frozenset(pair) for pair in combinations(range(size), 2)]
    met = set(rng.sample(all_meetings, min(forbidden, len(all_meetings))))
    found = pairs_of(order, lambda one, other: frozenset((one, other)) not in met)
    assert sorted(order) == sorted(bot for pair in found for bot in pair)
    assert fewest_rematches(order, met) == rematches(found, met)
    assert found == pairs_of(order, lambda one, other: frozenset((one, other)) not in met)


@pytest.mark.parametrize(("entrants", "turns"), [(6, 5), (7, 6), (8, 7), (9, 8)])
@settings(max_examples=cases(40, 300), deadline=None)
@given(decide=st.sampled_from([by_lot, lower_wins, all_tied]), seed=st.integers())
def test_in_a_swiss_two_meet_again_only_if_every_pairing_has_a_rematch(
    entrants: int, turns: int, decide: Decide, seed: int
) -> None:
    """With an odd number, whoever of those with the fewest byes has the bye."""
    played, _ = played_out(Swiss(spec("swiss", entrants, rounds=turns)), decide, seed)
    met: set[frozenset[int]] = set()
    byes = dict.fromkeys(range(entrants), 0)
    for round_ in pairs(played):
        found = [(one, other) for one, other in round_]
        left_over = set(byes).difference(*found)
        best = min(
            fewest_rematches([bot for bot in byes if bot != out], met)
            for out in ([bot for bot in byes if byes[bot] == min(byes.values())] if left_over else [-1])
        )
        assert (best == 0) == (rematches(found, met) == 0)
        met |= {frozenset(pair) for pair in found}
        for bot in left_over:
            assert byes[bot] == min(byes.values())
            byes[bot] += 1


@settings(max_examples=cases(60, 400))
@given(st.integers(1, 20), st.floats(0, 1), st.randoms(use_true_random=False))
def test_a_largest_pairing_is_as_large_as_an_independent_count_says(
    size: int, density: float, rng: Random
) -> None:
    """Tutte's matrix with random entries has twice that rank (L. Lovasz, 1979), but with vanishing chance."""
    prime = 2**61 - 1
    entries = Random(size)  # Hypothesis would make them small and equal, and then the rank is too low.
    matrix = [[0] * size for _ in range(size)]
    for one, other in combinations(range(size), 2):
        if rng.random() < density:
            matrix[one][other] = entries.randrange(1, prime)
            matrix[other][one] = -matrix[one][other]
    found = complete(range(size), [], lambda one, other: matrix[one][other] != 0)
    assert all(found[found[bot]] == bot != found[bot] and matrix[bot][found[bot]] for bot in found)
    assert rank(matrix, prime) == len(found)


def rank(matrix: list[list[int]], prime: int) -> int:
    """Gauss's elimination modulo a prime."""
    rows = [list(row) for row in matrix]
    found = 0
    for column in range(len(rows)):
        pivot = next((row for row in range(found, len(rows)) if rows[row][column] % prime), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        inverse = pow(rows[found][column], -1, prime)
        for row in range(found + 1, len(rows)):
            factor = rows[row][column] * inverse % prime
            if factor:
                rows[row] = [
                    (value - factor * above) % prime for value, above in zip(rows[row], rows[found], strict=True)
                ]
        found += 1
    return found


def test_bots_that_have_a_partner_keep_one() -> None:
    found = complete([0, 1, 2, 3], [(1, 2)], lambda one, other: abs(one - other) == 1)
    assert {0: 1, 1: 0, 2: 3, 3: 2} == found


def test_bots_that_come_later_begin_level_with_those_that_were_left_over_least_often() -> None:
    byes = Byes(5)
    for _ in range(2):
        for bot in (0, 1, 2):
            byes.add(bot)
    byes.admit(
        FieldPeriod(
            first=9, active=(0, 1, 2, 3, 4), heads=0, blocks=1, rounds=None, entered=((3, None), (4, None))
        )
    )
    assert [0, 1, 2, 3, 4] == byes.candidates([0, 1, 2, 3, 4])
    byes.add(3)
    assert [4, 2, 1, 0] == byes.candidates([4, 3, 2, 1, 0])
