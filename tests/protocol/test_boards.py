"""Boards of the games: hexes, the paths of The Fight For a Name (R1), and layouts of Hives that fit hints."""

from random import Random

import pytest

from protocol.games.fight_for_a_name.board import GATES, PILLARS, START, visits, walks
from protocol.games.hexes import FLAT, POINTED, Hexes, centred_rows
from protocol.games.hive_mind import Hint
from protocol.games.hive_mind import layouts as hives
from protocol.games.hive_mind.board import CELLS as HIVE_CELLS
from protocol.games.hive_mind.board import SHAPES
from protocol.games.mist.board import BOARD as MIST
from referee.games.hive_mind import state as rules
from tests.referee.games.fight_for_a_name import naive as naive_fight
from tests.referee.games.fight_for_a_name.play import move, player, position, start, visiting
from tests.referee.games.mist.naive import CELLS, DISTANCES, touching
from tests.referee.games.playing import accepted, rejected

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


PLENTY = 40


def ends(at: str, path: str) -> str:
    """Where a path from there leads, or the reason it leads nowhere."""
    table = position({0: player(at, mp=PLENTY)})
    if why := rejected(table, 0, {"path": path.split()}):
        return why
    move(table, s0=path)
    return table.state.players[0].position or "nowhere"


@pytest.mark.parametrize(
    ("pillar", "at", "path"),
    [
        ("phi", "1", "N"),  # Phi must be reached by traveling North from hex 1.
        ("mu", "3", "NE"),  # Mu must be reached by traveling North East from hex 3, …
        ("mu", "6", "N"),  # … or North from hex 6.
        ("omega", "10", "SE"),  # Omega must be reached by traveling South East from hex 10, …
        ("omega", "10", "NE"),  # … or North East from hex 10 …
        ("omega", "17", "NE"),  # … or 17.
    ],
)
def test_the_sources_three_examples_of_pillars(pillar: str, at: str, path: str) -> None:
    assert pillar == ends(at, path)


def test_the_rest_of_the_ten_pillars_are_derived_by_symmetry() -> None:
    assert 10 == len(PILLARS)
    assert naive_fight.GATES == {
        pillar: {(int(hex_), way) for hex_, way in gates} for pillar, gates in GATES.items()
    }


@pytest.mark.parametrize(
    ("pillar", "path", "hex_"),
    [
        ("phi", "S", "1"),
        ("psi", "N", "36"),
        ("mu", "SW", "3"),
        ("mu", "S", "6"),
        ("lambda", "SE", "2"),
        ("lambda", "S", "4"),
        ("sigma", "N", "33"),
        ("sigma", "NW", "35"),
        ("theta", "N", "31"),
        ("theta", "NE", "34"),
        ("omega", "NW", "10"),
        ("omega", "SW", "17"),
        ("gamma", "SW", "30"),
        ("gamma", "NW", "23"),
        ("delta", "NE", "7"),
        ("delta", "SE", "14"),
        ("xi", "SE", "27"),
        ("xi", "NE", "20"),
    ],
)
def test_r1_from_a_pillar_the_first_step_goes_back_through_a_gate(pillar: str, path: str, hex_: str) -> None:
    assert hex_ == ends(pillar, path)


def test_r1_a_path_to_a_pillar_goes_in_one_direction_throughout() -> None:
    assert "phi" == ends("Start", "N N N N")
    assert "one direction" in ends("2", "NE N")
    assert "one direction" in ends("17", "N NE")
    assert "omega" == ends("19", "NE NE")


@pytest.mark.parametrize(
    ("one", "other", "steps"), [("phi", "psi", 8), ("mu", "sigma", 6), ("lambda", "theta", 6)]
)
def test_o2_a_straight_path_leads_from_one_pillar_to_another(one: str, other: str, steps: int) -> None:
    assert other == ends(one, "S " * steps)
    assert one == ends(other, "N " * steps)


def test_the_docs_three_paths_to_omega() -> None:
    assert "omega" == ends("19", "NE NE") == ends("13", "NE NE")
    assert "one direction" in ends("17", "N NE")


def test_r1_a_pillar_visited_before_may_not_be_entered_again() -> None:
    seat = player("1", mp=PLENTY)
    table = position({0: type(seat)(position="1", mp=PLENTY, visits=(visiting("phi"),))})
    assert "visited phi before" in rejected(table, 0, {"path": ["N"]})
    assert "" == rejected(table, 0, {"path": ["S"]})


def test_r1_a_path_has_0_to_mp_steps() -> None:
    table = start()
    assert "" == rejected(table, 0, {"path": ["N", "N"]})
    assert "more than your 2 MP" in rejected(table, 0, {"path": ["N", "N", "N"]})
    assert {} == accepted(table, 0, {"path": []})


def test_walks_are_the_shortest_and_go_round_pillars() -> None:
    reach = walks(START, 3)
    assert ((), ("N",)) == (reach[START], reach["12"])
    assert {3} == {len(reach[number]) for number in ("1", "7", "10", "27", "30", "36")}
    assert not set(GATES) & set(walks("1", 9))


def test_pillars_are_reached_straight_on_and_once() -> None:
    assert {"phi", "psi", "omega", "delta", "xi", "gamma"} == {name for name, _ in visits(START, 4, ())}
    assert "phi" not in dict(visits(START, 4, ("phi",)))
    assert {} == dict(visits(START, 3, ()))


def hint(cells: str, values: str) -> Hint:
    """Return what a shape on a Hive of these values is told."""
    shape = SHAPES[cells]
    total = rules.total(values, hives.mask(shape.looks))
    return Hint(hive="1", round=1, shape=shape.kind, cells=cells, looks=shape.looks, total=total)


def test_there_are_20790_layouts_and_the_true_one_fits_its_hints() -> None:
    assert 20_790 == len(set(hives.layouts()))
    rng = Random(1)
    for _ in range(10):
        values = rules.draw_values(rng)
        left = hives.fitting([hint(cells, values) for cells in rng.sample(list(SHAPES), 3)])
        layout = tuple(hives.mask(rules.where(values, digit)) for digit in "23")
        assert layout in left
        assert len(left) < len(hives.layouts())


def test_means_are_taken_over_the_layouts_left() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL")), (hives.mask("ABCE"), hives.mask("DJL"))]
    means = dict(zip(HIVE_CELLS, hives.mean_values(left), strict=True))
    assert (2, 2.5, 2.5, 1, 3) == tuple(means[cell] for cell in "ADEFJ")
