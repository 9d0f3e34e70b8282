"""How even tables are: everyone meets everyone and sits everywhere nearly equally often."""

import pytest

from arena.schedule import tables
from arena.schedule.round_robin import round_robin
from arena.schedule.tables import Design, Span, Tables, design_of, shifts_of, table_sizes
from tests.long import mostly_slow


def design(bots: int, seats: int, rounds: int, rotations: int | None = None, *, filled: bool = False) -> Design:
    tables = Tables(entrants=bots, seats=seats, rounds=rounds, rotations=rotations or seats, filled=filled)
    return design_of(tables.blocks(7), range(bots), seats)


def even(design: Design) -> tuple[int, int, int]:
    """Of what is the same for all: how often each plays, meets another, sits in a seat."""
    for span in (design.played, design.met, design.sat):
        assert span.least == span.most
    return design.played.least, design.met.least, design.sat.least


def test_one_table_for_all_bots_is_perfectly_even() -> None:
    assert (4, 4, 4) == even(design(5, 5, 4))
    assert (3, 3, 3) == even(design(13, 13, 3))
    assert (4, 4, 4) == even(design(2, 5, 4, filled=True))


def test_with_one_bot_too_many_byes_go_round_and_all_is_even_after_as_many_rounds() -> None:
    assert (5, 4, 5) == even(design(6, 5, 6))
    assert (13, 12, 13) == even(design(14, 13, 14))


def test_a_round_robin_of_pairs_is_even() -> None:
    assert (6, 2, 6) == even(design_of(round_robin(4, 2, 1), range(4), 2))


@pytest.mark.parametrize("bots", mostly_slow(4, [5, 6, 9, 14, 8, 11, 20, 24]))
def test_no_bot_plays_two_blocks_more_than_another(bots: int) -> None:
    played = design(bots, 5, 12).played
    assert played.most - played.least <= (bots % 5 > 0)


@pytest.mark.parametrize("bots", mostly_slow(2, [7, 13, 9, 20]))
def test_pairs_meet_nearly_equally_often(bots: int) -> None:
    """Chance alone would have some pairs of 20 bots never meet in 20 rounds, and others nine times."""
    met = design(bots, 5, 20).met
    assert met.least > 0
    assert met.most - met.least <= 2


@pytest.mark.slow
def test_two_uneven_tables_are_as_even_as_the_best_known_design() -> None:
    """Each round halves 26 bots: counts cannot all be near 4.8, and by chance they would be 1 to 9."""
    assert Span(2, 7) == design(26, 13, 10).met


@pytest.mark.slow
def test_a_perfect_design_is_found_where_there_is_one() -> None:
    """The affine plane of order 5; and for every two of 100 bots to meet once at most."""
    assert (6, 1, 6) == even(design(25, 5, 6))
    assert Span(0, 1) == design(100, 5, 10).met
    assert (15, 10, 15) == even(design(7, 5, 21))


@pytest.mark.parametrize(("bots", "seats"), [(11, 5), (14, 13)])
def test_a_long_schedule_repeats_its_first_rounds_with_parts_going_round_until_all_is_even(
    bots: int, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the cycle has come once for each bot, all have played and sat everywhere equally often."""
    monkeypatch.setattr(tables, "PLACES", bots * bots + 1)
    found = design(bots, seats, bots * bots, 2)
    assert found.played.least == found.played.most
    assert found.sat.least == found.sat.most
    assert found.met.least >= 0.85 * found.met.most


@pytest.mark.slow
def test_a_long_schedule_with_a_house_stays_even_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PLACES", 500)
    found = design(12, 5, 1_000, 2, filled=True)
    assert Span(1_000, 1_000) == found.played
    assert found.met.least >= 0.95 * found.met.most
    assert found.sat.least >= 0.9 * found.sat.most


@pytest.mark.parametrize("rotations", range(1, 14))
def test_fewer_rotations_are_evened_out_over_the_blocks(rotations: int) -> None:
    """All 13 give each seat once a block; fewer leave some, but never a whole block's worth behind."""
    sat = design(13, 13, 13, rotations).sat
    assert sat.least <= rotations <= sat.most
    assert sat.most - sat.least <= 3


def test_at_one_table_the_order_round_it_is_another_in_every_round() -> None:
    tables = Tables(entrants=5, seats=5, rounds=6, rotations=5, filled=False)
    orders = {frozenset(zip(b.entrants, b.entrants[1:] + b.entrants[:1], strict=True)) for b in tables.blocks(1)}
    assert len(orders) > 3


def test_a_house_that_fills_two_tables_is_shared_by_both() -> None:
    assert [3, 3] == table_sizes(6, 5, filled=True)
    assert [3, 4, 4] == table_sizes(11, 5, filled=True)
    assert [5, 5] == table_sizes(11, 5, filled=False)
    assert [5, 5] == table_sizes(10, 5, filled=True)


def test_shifts_are_spread_round_the_table() -> None:
    assert (0, 4, 8) == shifts_of(13, 3)
    assert tuple(range(5)) == shifts_of(5, 5)


def test_it_is_said_in_one_line() -> None:
    assert (
        "8 blocks: each bot plays 5, each two bots meet in 2 to 3 (on average 2.9),"
        " each bot sits in each seat in 5 matches"
    ) == (design(8, 5, 8).text)
    assert Span(2, 3) == design(8, 5, 8).met
    assert 40 == design(8, 5, 8).matches
