"""Hex geometry, on the three boards of hexes that the games have."""

from random import Random

import pytest

from protocol.games.hexes import FLAT, POINTED, Hexes, centred_rows
from protocol.games.mist.board import BOARD as MIST
from tests.referee.games.mist.naive import CELLS, DISTANCES, touching

HIVE = Hexes(centred_rows(["ABC", "DEFG", "HIJ", "KL"]), POINTED)

# The flat-topped board of side 4: rows by height on the page, with where each row's hexes stand.
ROW_X = {1: (0,), 2: (-1, 1), 3: (-2, 0, 2), 4: (-3, -1, 1, 3)}
ROW_LENGTHS = (1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1)
FLAT_PLACES = [(x, y - 6) for y, length in enumerate(ROW_LENGTHS) for x in ROW_X[length]]
FLAT_NAMES = [*map(str, range(1, 19)), "Start", *map(str, range(19, 37))]
GUARDIANS = Hexes(dict(zip(FLAT_NAMES, FLAT_PLACES, strict=True)), FLAT)


def names(board: Hexes, mask: int) -> set[str]:
    return set(board.cells(mask))


def steps(board: Hexes, one: str, other: str) -> int:
    """How often a cell must grow to reach another."""
    reached, count = board.bit[one], 0
    while not reached & board.bit[other]:
        reached, count = board.grow(reached), count + 1
    return count


def test_mist_has_61_hexes_in_rows_of_5_to_9_and_back() -> None:
    assert tuple(CELLS) == MIST.names
    assert 61 == MIST.all.bit_count()
    assert tuple(CELLS) == MIST.cells(MIST.all)


def test_neighbours_are_the_two_beside_in_the_row_and_two_in_each_neighbouring_row() -> None:
    found = {cell: names(MIST, MIST.neighbours(MIST.bit[cell])) for cell in CELLS}
    assert {cell: touching(cell) for cell in CELLS} == found


def test_the_six_cells_around_e5_are_as_the_page_lists_them() -> None:
    assert ("D4", "D5", "E4", "E6", "F4", "F5") == MIST.cells(MIST.neighbours(MIST.bit["E5"]))


@pytest.mark.parametrize("one", CELLS[::7])
def test_distance_is_the_number_of_steps_between_neighbours(one: str) -> None:
    assert DISTANCES[one] == {other: steps(MIST, one, other) for other in CELLS}


@pytest.mark.parametrize("radius", [0, 1, 3, 8])
def test_a_ball_is_every_cell_within_so_many_steps(radius: int) -> None:
    found = {cell: names(MIST, MIST.ball(MIST.bit[cell], radius)) for cell in CELLS}
    assert {cell: {other for other in CELLS if DISTANCES[cell][other] <= radius} for cell in CELLS} == found


def test_a_row_does_not_touch_the_next_one_around_the_edge() -> None:
    assert {"D8", "E8", "F8"} == names(MIST, MIST.neighbours(MIST.bit["E9"]))
    assert {"A1", "B2", "C1", "C2"} == names(MIST, MIST.neighbours(MIST.bit["B1"]))


def test_the_ball_of_several_cells_is_the_union_of_theirs() -> None:
    one, other = MIST.bit["A1"], MIST.bit["G4"]
    assert MIST.ball(one, 2) | MIST.ball(other, 2) == MIST.ball(one | other, 2)


def test_groups_are_the_connected_parts_of_a_mask() -> None:
    mask = MIST.mask(["A1", "A2", "B2", "A4", "I5", "H6"])
    assert [("A1", "A2", "B2"), ("A4",), ("H6", "I5")] == [MIST.cells(group) for group in MIST.groups(mask)]
    assert [3, 2, 1] == MIST.sizes(mask)
    assert [] == MIST.sizes(0)


@pytest.mark.parametrize(("size", "expected"), [(0, True), (2, True), (3, False), (60, False)])
def test_has_group_over_says_whether_some_group_is_larger(size: int, expected: bool) -> None:
    mask = MIST.mask(["A4", "I5", "H6", "E1", "E2", "E3", "C7"])
    assert expected is MIST.has_group_over(mask, size)


def test_names_become_masks_and_masks_become_names_in_row_order() -> None:
    assert ("A5", "C3", "C7", "I1") == MIST.cells(MIST.mask(["I1", "C7", "A5", "C3"]))
    assert () == MIST.cells(0)
    with pytest.raises(KeyError):
        MIST.mask(["A6"])


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("A", "DE"),
        ("B", "EF"),
        ("C", "FG"),
        ("H", "DEIK"),
        ("I", "EFHJKL"),
        ("J", "FGIL"),
        ("K", "HIL"),
        ("L", "IJK"),
    ],
)
def test_the_hive_of_twelve_touches_as_its_page_says(cell: str, expected: str) -> None:
    own_row = {"A": "B", "B": "AC", "C": "B"}.get(cell, "")
    assert set(expected + own_row) == names(HIVE, HIVE.neighbours(HIVE.bit[cell]))


def test_the_hive_goes_on_in_a_straight_line_to_the_edge() -> None:
    """HKL looks at I, F, C: from K past I."""
    assert ["I", "F", "C"] == [HIVE.name[cell] for cell in straight(HIVE, "K", "NE")]


def straight(board: Hexes, start: str, way: str) -> list[int]:
    line, here = [], board.step(board.bit[start], way)
    while here:
        line.append(here)
        here = board.step(here, way)
    return line


def test_the_flat_topped_board_has_36_numbered_hexes_and_start() -> None:
    assert 37 == GUARDIANS.all.bit_count()
    assert tuple(FLAT_NAMES) == GUARDIANS.cells(GUARDIANS.all)
    assert {"12", "15", "16", "21", "22", "25"} == names(GUARDIANS, GUARDIANS.neighbours(GUARDIANS.bit["Start"]))


def test_the_flat_topped_columns_run_straight_from_north_to_south() -> None:
    column = [GUARDIANS.name[cell] for cell in straight(GUARDIANS, "1", "S")]
    assert ["5", "12", "Start", "25", "32", "36"] == column


@pytest.mark.parametrize(
    "gate",
    ["1 N", "3 NE", "6 N", "33 S", "35 SE", "10 SE", "10 NE", "17 NE", "30 NE", "30 SE", "23 SE", "36 S", "2 NW"],
)
def test_a_step_through_a_gate_leads_off_the_flat_topped_board(gate: str) -> None:
    cell, way = gate.split()
    assert 0 == GUARDIANS.step(GUARDIANS.bit[cell], way)


@pytest.mark.parametrize(("way", "back"), [("N", "S"), ("NE", "SW"), ("SE", "NW")])
def test_a_step_and_its_opposite_cancel(way: str, back: str) -> None:
    inside = GUARDIANS.bit["Start"]
    assert inside == GUARDIANS.step(GUARDIANS.step(inside, way), back)


def test_distance_across_the_flat_topped_board() -> None:
    assert 6 == steps(GUARDIANS, "1", "36")
    assert 6 == steps(GUARDIANS, "7", "30")
    assert 3 == steps(GUARDIANS, "Start", "4")


def test_a_group_and_the_largest_are_those_that_groups_gives() -> None:
    rng = Random(1)
    for _ in range(200):
        cells = MIST.all & rng.getrandbits(MIST.all.bit_length())
        groups = list(MIST.groups(cells))
        assert max((each.bit_count() for each in groups), default=0) == MIST.largest(cells)
        for each in groups:
            assert each == MIST.group(each & -each, cells) == MIST.group(1 << each.bit_length() - 1, cells)


def test_a_group_is_followed_to_some_cells_until_it_holds_them_or_to_its_end() -> None:
    rng = Random(1)
    ended = 0
    for _ in range(200):
        mask = MIST.all & rng.getrandbits(MIST.all.bit_length())
        cells = MIST.mask(rng.sample(MIST.cells(mask), 2))
        whole = MIST.group(1 << cells.bit_length() - 1, mask)
        part = MIST.group_to(cells, mask)
        assert [part] == list(MIST.groups(part))
        assert part == part & whole
        assert (not cells & ~part) == (not cells & ~whole)
        if cells & ~whole:
            assert whole == part
            ended += 1
    assert 0 < ended < 200
    assert 0 == MIST.group_to(0, MIST.all)


def test_each_gives_the_cells_that_have_the_names() -> None:
    cells = MIST.mask(("A1", "E5", "C3"))
    assert ["A1", "C3", "E5"] == [MIST.name[cell] for cell in MIST.each(cells)]


def test_apart_means_neither_equal_nor_neighbours() -> None:
    """mist.md R1."""
    c3, c4, c5 = (MIST.bit[name] for name in ("C3", "C4", "C5"))
    assert MIST.apart((c3, c5))
    assert not MIST.apart((c3, c4))
    assert not MIST.apart((c3, c3))
