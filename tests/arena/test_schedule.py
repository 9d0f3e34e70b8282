"""The schedule: fair, repeatable, and silent about what it is made from."""

from collections import Counter
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from arena.schedule import SEED_BITS, Block, rotations, round_robin

entrants = st.integers(2, 9)
blocks = st.integers(1, 5)
seeds = st.integers()


def schedule(entrants: int, blocks: int, seed: int) -> list[Block]:
    return list(round_robin(entrants, blocks, seed))


@given(entrants, blocks, seeds)
def test_every_pair_plays_every_block_and_sits_in_each_seat_equally_often(n: int, count: int, seed: int) -> None:
    matches = [match for block in round_robin(n, count, seed) for match in block.matches]
    assert {(a, b): count for a in range(n) for b in range(n) if a != b} == Counter(m.entrants for m in matches)


@given(entrants, blocks, seeds)
def test_all_matches_of_a_block_have_one_deal_and_no_two_blocks_have_the_same(
    n: int, count: int, seed: int
) -> None:
    deals = [{match.seed for match in block.matches} for block in round_robin(n, count, seed)]
    assert {1} == {len(deal) for deal in deals}
    assert len(deals) == len(set.union(*deals))


@given(entrants, blocks, seeds)
def test_names_are_unique_and_the_schedule_is_a_function_of_its_arguments(n: int, count: int, seed: int) -> None:
    names = [match.name for block in round_robin(n, count, seed) for match in block.matches]
    assert len(names) == len(set(names))
    assert schedule(n, count, seed) == schedule(n, count, seed)


@given(entrants, blocks, seeds)
def test_more_blocks_only_add_to_a_schedule(n: int, count: int, seed: int) -> None:
    longer = round_robin(n, count + 1, seed)
    shorter = schedule(n, count, seed)
    assert shorter == list(islice(longer, len(shorter)))


@given(entrants, blocks)
def test_another_seed_gives_other_deals_and_other_names(n: int, count: int) -> None:
    one = {(match.seed, match.name) for block in round_robin(n, count, 1) for match in block.matches}
    other = {(match.seed, match.name) for block in round_robin(n, count, 2) for match in block.matches}
    assert not {seed for seed, _ in one} & {seed for seed, _ in other}
    assert not {name for _, name in one} & {name for _, name in other}


def test_a_name_tells_a_bot_neither_its_block_nor_its_seating() -> None:
    """Two matches of one deal have names with nothing in common, so that a bot cannot know the deal again."""
    first, second = schedule(2, 1, 1)[0].matches
    assert first.seed == second.seed
    assert first.name[:4] != second.name[:4]


def test_seeds_fit_any_json_reader() -> None:
    assert all(0 <= block.matches[0].seed < 2**SEED_BITS for block in round_robin(3, 50, 7))


def test_rounds_come_one_after_the_other() -> None:
    assert [0, 0, 0, 1, 1, 1] == [block.round for block in round_robin(3, 2, 1)]


def test_rotations_seat_everyone_everywhere_once_and_swap_two() -> None:
    assert [(4, 7), (7, 4)] == rotations((4, 7))
    assert [{0, 1, 2, 3, 4}] * 5 == [set(seat) for seat in zip(*rotations((0, 1, 2, 3, 4)), strict=True)]
