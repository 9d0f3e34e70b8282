"""One round of Pointing: loops, the disconnect, sections, points, and the anonymous map (R1, R5, R7)."""

from itertools import permutations, product
from typing import Any

import pytest

from protocol.codec import encode
from protocol.games.pointing.map import Targets, anonymous, connect
from tests.referee.games.playing import close, host_view
from tests.referee.games.pointing_play import after, by_letter, point, scored, sections, start

EXAMPLE = "A>B>C>D E>B F>G>H>I>J>K>G L>M>L"
"""The source's worked example, with D pointing at nobody."""
NODE = {"kind": "node", "size": 1, "shape": [], "cut": False}
PAIR = {"kind": "chain", "size": 2, "shape": [[]], "cut": False}


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
    assert {"0": None, "1": 2, "2": None} == host_view(table)["rounds"][0]["targets"]


# Points.


def test_4_a_chain_seat_scores_1_for_each_seat_after_it_on_the_way_to_the_end() -> None:
    assert dict(zip("ABCDEFGH", range(7, -1, -1), strict=True)) == scored("A>B>C>D>E>F>G>H", seats=8)


# The map.


def test_r5_the_map_of_a_round_is_told_to_all_when_the_round_closes_with_its_number_from_1() -> None:
    table = start(seats=3)
    for number in (1, 2):
        assert [{"type": "map", "round": number, "sections": [PAIR, NODE]}] == point(table, "A>B")
    assert {"type": "map", "round": 3, "sections": [PAIR, NODE]} == point(table, "A>B")[0]


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
    assert {"C": 0 + 1, "D": 3 * 1 - 2} == {key: by_letter(host_view(table)["scores"])[key] for key in "CD"}
