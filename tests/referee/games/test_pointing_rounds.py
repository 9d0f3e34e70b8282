"""One round of Pointing: loops, the disconnect, sections, points, and the anonymous map (R1, R5, R7)."""

from itertools import permutations, product
from typing import Any

import pytest

from protocol.codec import encode
from referee.games.pointing.map import Targets, anonymous, connect
from tests.referee.games.pointing_play import after, by_letter, close, host, point, scored, sections, start

EXAMPLE = "A>B>C>D E>B F>G>H>I>J>K>G L>M>L"
"""The source's worked example, with D pointing at nobody."""
NODE = {"kind": "node", "size": 1, "shape": [], "cut": False}
PAIR = {"kind": "chain", "size": 2, "shape": [[]], "cut": False}


def kinds(arrows: str, seats: int = 13) -> list[tuple[str, int]]:
    """Kind and size of each section."""
    return [(each["kind"], each["size"]) for each in sections(arrows, seats)]


def loop(*shape: Any) -> dict[str, Any]:
    return {"kind": "loop", "size": len(shape), "shape": list(shape), "cut": False}


def chain(size: int, *shape: Any, cut: bool = False) -> dict[str, Any]:
    return {"kind": "chain", "size": size, "shape": list(shape), "cut": cut}


# The source's worked example.


def test_the_example_in_the_source_comes_out_as_printed() -> None:
    expected = dict(zip("ABCDEFGHIJKLM", (3, 2, 1, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0), strict=True))
    assert expected == scored(EXAMPLE)


@pytest.mark.parametrize("earlier", [("F>A",), ("F>A", "A>B")], ids=["second time", "third time"])
def test_in_the_example_f_scores_minus_2_if_it_has_been_a_node(earlier: tuple[str, ...]) -> None:
    """Its words: They score 1 Point if this is their first time as a node. Otherwise they score -2 Points."""
    before = (*earlier[:-1], "A>B>C>D>E>A G>H>I>J>K>L>M>G")
    assert -2 == scored(*before, EXAMPLE)["F"]


def test_the_map_of_the_example_shows_the_cut_pointer_at_the_loop_and_at_the_node() -> None:
    """Its words: Pointers that are removed via the Disconnect Rule will be shown in Grey."""
    expected = [chain(5, [[[], []]]), loop([], []), loop([[]], [], [], [], []), NODE | {"cut": True}]
    assert expected == sections(EXAMPLE)


# A round, step by step.


def test_r1_a_seat_that_submits_nothing_points_at_nobody() -> None:
    table = start(seats=3)
    close(table, {1: {"target": 2}})
    assert {"0": None, "1": 2, "2": None} == host(table)["rounds"][0]["targets"]


def test_1_seats_that_lie_on_a_cycle_form_a_loop() -> None:
    assert [("loop", 13)] == kinds("A>B>C>D>E>F>G>H>I>J>K>L>M>A")


def test_1_a_loop_has_at_least_2_seats() -> None:
    assert [("loop", 2), ("node", 1)] == kinds("A>B>A", 3)


def test_2_a_seat_on_no_loop_that_points_straight_at_one_stops_pointing() -> None:
    assert [("loop", 2), ("node", 1)] == kinds("A>B>A C>A", 3)


def test_2_a_seat_that_points_at_a_loop_through_others_keeps_its_pointer() -> None:
    """D and C still hang together: only C's pointer is cut."""
    assert [chain(2, [], cut=True), loop([[[]]], [])] == sections("A>B>A D>C>A", 4)


def test_2_a_loop_seat_points_at_its_loop_and_is_not_cut() -> None:
    assert [("loop", 3)] == kinds("A>B>C>A", 3)


def test_3_a_section_is_a_loop_a_node_or_a_chain() -> None:
    assert [("chain", 2), ("loop", 2), ("node", 1)] == kinds("A>B C>D>C", 5)


def test_3_a_chain_is_a_tree_in_which_all_pointers_lead_to_the_one_seat_that_points_at_nobody() -> None:
    assert [chain(7, [[], []], [[], []])] == sections("A>E B>E C>F D>F E>G F>G", 7)


def test_3_a_node_is_one_seat_alone_whether_it_points_at_nobody_or_its_pointer_was_cut() -> None:
    assert [loop([[]], []), NODE, NODE | {"cut": True}] == sections("A>B>A C>A", 4)


# Points.


def test_4_a_loop_seat_scores_0() -> None:
    assert dict.fromkeys("ABC", 0) == scored("A>B>C>A", seats=3)


def test_4_a_chain_seat_scores_1_for_each_seat_after_it_on_the_way_to_the_end() -> None:
    assert dict(zip("ABCDEFGH", range(7, -1, -1), strict=True)) == scored("A>B>C>D>E>F>G>H", seats=8)


def test_4_seats_on_another_branch_are_not_after_it() -> None:
    assert {"A": 2, "B": 1, "C": 0, "D": 1} == scored("A>B>C D>C", seats=4)


def test_4_the_end_of_a_chain_scores_0() -> None:
    assert 0 == scored("A>D B>D C>D", seats=4)["D"]


def test_4_a_node_scores_1_the_first_time_that_seat_is_a_node_in_the_match() -> None:
    assert 1 == scored("A>B", seats=3)["C"]
    assert 1 == scored("A>B>C>A", "A>B", seats=3)["C"]


@pytest.mark.parametrize("rounds", [("A>B", "A>B"), ("A>B", "A>B>C", "A>B"), ("A>B", "A>B", "B>A")])
def test_4_a_node_scores_minus_2_every_later_time(rounds: tuple[str, ...]) -> None:
    assert -2 == scored(*rounds, seats=3)["C"]


def test_4_that_another_seat_was_a_node_does_not_count() -> None:
    assert 1 == scored("A>B", "A>C", seats=3)["B"]


@pytest.mark.parametrize(
    ("arrows", "seats"),
    [
        ("A>B>C>D>E>F>G>H>I>A", 9),
        ("A>B>C>D>E>F>G>H>I", 9),
        ("A>I B>I C>I D>I E>I F>I G>I H>I", 9),
        ("A>B>C>D>E>F>G>H>I>J>K>L>M>N>O>P>Q>R>S>T>U>V>W>X>Y>Z", 26),
    ],
)
def test_4_in_a_section_of_9_seats_or_more_every_seat_scores_minus_1_whatever_it_is(
    arrows: str, seats: int
) -> None:
    assert {-1} == set(scored(arrows, seats=seats).values())


def test_4_a_section_of_8_seats_is_small_enough() -> None:
    assert 7 == scored("A>B>C>D>E>F>G>H", seats=8)["A"]
    assert 0 == scored("A>B>C>D>E>F>G>H>A", seats=8)["A"]


def test_4_size_counts_after_the_disconnect() -> None:
    """Loop and tree are 9 seats together, but no section of 9 once C's pointer is cut."""
    assert [0, 0, 0, 1, 2, 3, 4, 5, 6] == list(scored("A>B>A I>H>G>F>E>D>C>A", seats=9).values())


# The map.


def test_r5_the_map_of_a_round_is_told_to_all_when_the_round_closes_with_its_number_from_1() -> None:
    table = start(seats=3)
    for number in (1, 2):
        assert [{"type": "map", "round": number, "sections": [PAIR, NODE]}] == point(table, "A>B")
    assert {"type": "map", "round": 3, "sections": [PAIR, NODE]} == point(table, "A>B")[0]


def test_the_keys_of_a_section_stand_in_the_order_of_its_text() -> None:
    assert ["kind", "size", "shape", "cut"] == list(sections("", 3)[0])


def test_sections_are_sorted_by_their_text_so_that_13_comes_before_2() -> None:
    assert [("chain", 10), ("chain", 2), ("node", 1)] == kinds("A>B>C>D>E>F>G>H>I>J K>L")


def test_a_lone_seat_is_written_as_an_empty_list_and_a_points_at_b_as_a_list_in_a_list() -> None:
    assert [[[]], []] == [each["shape"] for each in sections("A>B", 3)]


def test_branches_are_sorted_by_text_deeper_first() -> None:
    """`[[]]` comes before `[]`: byte by byte, `[` is less than `]`."""
    assert [chain(4, [[]], [])] == sections("A>D B>C>D", 4) == sections("C>D A>B>D", 4)


def test_cut_says_whether_the_pointer_of_the_end_of_a_chain_was_cut() -> None:
    told = sections("A>B>A D>C>A E>F", 6)
    assert [PAIR, PAIR | {"cut": True}] == [each for each in told if each["kind"] == "chain"]


def test_a_loops_shape_is_for_each_of_its_seats_in_pointing_order_the_trees_whose_cut_pointer_hit_it() -> None:
    """A has two hanging on it, the seat that A points at has none, the one after that has one."""
    assert loop([[], []], [], [[]]) in sections("A>B>C>A D>A E>A F>C", 6)
    assert loop([[], []], [[]], []) in sections("A>B>C>A D>A E>A F>B", 6)


def test_the_trees_that_hit_one_seat_of_a_loop_are_sorted_by_text() -> None:
    assert loop([[[]], []], []) in sections("A>B>A C>A E>D>A", 5) == sections("A>B>A C>D>A E>A", 5)


def test_of_the_rotations_of_a_loop_the_one_with_the_least_text_is_told() -> None:
    """`[[[]],[],[]]` is less than `[[],[[]],[]]`, wherever the loop is entered."""
    for hit in "ABC":
        assert loop([[]], [], []) in sections(f"A>B>C>A D>{hit}", 4)


def test_a_loop_keeps_its_sense_of_turning() -> None:
    """Its mirror image is another loop: only rotations are the same."""
    turned = [loop([[[]]], [[]], []), loop([[[]]], [], [[]])]
    assert turned[0] in sections("A>B>C>A E>D>A F>B", 6)
    assert turned[1] in sections("A>B>C>A E>D>A F>C", 6)


def test_the_cut_of_a_loop_is_false() -> None:
    assert [False] == [each["cut"] for each in sections("A>B>A C>A", 3) if each["kind"] == "loop"]


def test_the_trees_that_hang_on_a_loop_are_listed_as_sections_of_their_own_as_well() -> None:
    assert [chain(2, [], cut=True), loop([[[]]], [[]]), NODE | {"cut": True}] == sections("A>B>A D>C>A E>B", 5)


def all_rounds(seats: int) -> list[Targets]:
    """Every way in which so many seats can point."""
    return list(product(*[[*(other for other in range(seats) if other != seat), None] for seat in range(seats)]))


def moved(pointed: Targets, seat_of: tuple[int, ...]) -> Targets:
    """The same with everyone in another seat."""
    targets: list[int | None] = [None] * len(pointed)
    for seat, target in enumerate(pointed):
        targets[seat_of[seat]] = None if target is None else seat_of[target]
    return tuple(targets)


@pytest.mark.parametrize("seats", [3, 4])
def test_r5_two_rounds_have_the_same_map_exactly_if_they_differ_only_in_who_sits_where(seats: int) -> None:
    """Of all rounds there are: byte-identical maps where only seats differ, and no others."""
    seatings = list(permutations(range(seats)))
    of_map: dict[bytes, set[frozenset[Targets]]] = {}
    for pointed in all_rounds(seats):
        alike = frozenset(moved(pointed, seat_of) for seat_of in seatings)
        of_map.setdefault(encode(anonymous(connect(pointed))), set()).add(alike)
    assert {1} == {len(each) for each in of_map.values()}
    kinds_of_rounds = {alike for each in of_map.values() for alike in each}
    assert len(of_map) == len(kinds_of_rounds)


def test_r7_a_cut_seat_that_somebody_points_at_is_the_end_of_its_chain() -> None:
    """C's pointer is cut in all three rounds: it is the end of D>C each time, and earns the point for it."""
    table = after(*["A>B>A D>C>A"] * 3, seats=4)
    assert {"C": 0 + 1, "D": 3 * 1 - 2} == {key: by_letter(host(table)["scores"])[key] for key in "CD"}
