"""The schedule: fair, repeatable, and silent about what it is made from."""

from collections import Counter
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.schedule.blocks import SEED_BITS, Block, rotations
from arena.schedule.round_robin import round_robin
from arena.schedule.tables import Tables, shifts_of
from tests.long import cases

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
    assert [(4, 7), (7, 4)] == rotations((4, 7), (0, 1))
    assert [{0, 1, 2, 3, 4}] * 5 == [set(seat) for seat in zip(*rotations((0, 1, 2, 3, 4), range(5)), strict=True)]


def tables(
    entrants: int, seats: int, rounds: int, *, rotations: int | None = None, filled: bool = False
) -> Tables:
    return Tables(entrants=entrants, seats=seats, rounds=rounds, rotations=rotations or seats, filled=filled)


designs = st.builds(
    lambda seats, more, rounds, rotations: tables(seats + more, seats, rounds, rotations=min(rotations, seats)),
    st.integers(3, 6),
    st.integers(0, 9),
    st.integers(1, 6),
    st.integers(1, 6),
)


@settings(max_examples=cases(8, 12))
@given(designs, seeds)
def test_each_match_of_many_seats_has_the_same_table_in_another_rotation(design: Tables, seed: int) -> None:
    for block in design.blocks(seed):
        first, *_ = seated = [match.entrants for match in block.matches]
        assert seated == rotations(first, shifts_of(design.seats, design.rotations))
        assert design.rotations == len(set(seated))
        assert design.seats == len(set(first))
        assert 1 == len({match.seed for match in block.matches})


@settings(max_examples=cases(8, 12))
@given(designs, seeds)
def test_tables_are_a_function_of_their_arguments(design: Tables, seed: int) -> None:
    assert list(design.blocks(seed)) == list(design.blocks(seed))


@settings(max_examples=cases(8, 12))
@given(designs, seeds)
def test_no_bot_sits_at_two_tables_of_a_round_and_only_left_over_bots_have_a_bye(
    design: Tables, seed: int
) -> None:
    by_round: dict[int, list[int]] = {}
    for block in design.blocks(seed):
        by_round.setdefault(block.round, []).extend(block.matches[0].entrants)
    for present in by_round.values():
        assert len(present) == len(set(present)) == design.entrants - design.entrants % design.seats


def test_another_seed_draws_other_tables() -> None:
    one, other = ([b.matches[0].entrants for b in tables(9, 5, 5).blocks(seed)] for seed in (1, 2))
    assert one != other


@settings(max_examples=cases(8, 12))
@given(st.integers(2, 12), st.integers(3, 6), seeds)
def test_the_house_takes_the_seats_that_are_left_over_and_everyone_plays_in_every_round(
    entrants: int, seats: int, seed: int
) -> None:
    design = tables(entrants, seats, 3, filled=True)
    present: dict[int, Counter[int]] = {}
    for block in design.blocks(seed):
        present.setdefault(block.round, Counter()).update(block.matches[0].entrants)
    house = {entrants: -entrants % seats} if entrants % seats else {}
    assert [{**dict.fromkeys(range(entrants), 1), **house}] * 3 == [dict(round_) for round_ in present.values()]
