"""Rounds of Pointing, its windows, options and setup, and the maps and tables of its page (R1, R5, R7)."""

import json
import re
from itertools import permutations, product
from typing import Any, get_args

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.pointing import PointingEvent, PointingOptions, PointingView
from protocol.games.pointing.map import Targets, anonymous, connect
from referee.adjudication.adjudicate import adjudicate_line
from referee.rules.contract import BadSetupError, ResolvedAction
from referee.rules.table import Deal, Table
from tests.docs_pages import page
from tests.referee.games.playing import close, host_view, plain, rejected
from tests.referee.games.pointing.play import POINTING, after, by_letter, point, scored, sections, start

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


def test_r1_a_seat_that_submits_nothing_has_no_target() -> None:
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
    """Put everyone into another seat."""
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


DAY_MS = 24 * 60 * 60 * 1000


def test_there_are_13_seats_and_a_threshold_of_7_by_default() -> None:
    table = start()
    assert 13 == table.seats
    assert {"seats": 13, "token_threshold": 7} == plain(table.options)


@pytest.mark.parametrize(
    "options",
    [
        '{"seats":2}',
        '{"seats":27}',
        '{"seats":"13"}',
        '{"seats":13.0}',
        '{"seats":true}',
        '{"seats":null}',
        '{"token_threshold":-1}',
        '{"token_threshold":7.5}',
        '{"rounds":3}',
    ],
)
def test_an_option_that_breaks_its_rule_is_an_error_that_names_it(options: str) -> None:
    with pytest.raises(BadSetupError, match="options: "):
        Table(POINTING, Deal("tempo-up", 0, Raw(options.encode())))


def test_there_is_no_setup() -> None:
    assert {} == plain(start().setup)
    assert {} == plain(Table(POINTING, Deal("tempo-up", 0, None, Raw(b"{}"))).setup)
    with pytest.raises(BadSetupError, match="setup: "):
        Table(POINTING, Deal("tempo-up", 0, None, Raw(b'{"targets":[]}')))


def test_there_is_one_variant() -> None:
    assert ["tempo-up"] == [variant.name for variant in POINTING.variants]


def test_r7_a_rejected_target_does_not_count_as_submitted_and_leaves_its_seat_with_the_default() -> None:
    """It changes nothing: the window closes with what else the seat has, here nothing."""
    table = start(seats=3)
    assert rejected(table, 0, {"target": 0})
    point(table, "B>C")
    assert {"0": None, "1": 2, "2": None} == host_view(table)["rounds"][0]["targets"]


def test_a_window_takes_a_day_and_there_is_no_reserve() -> None:
    """The published rules name no time; a round a day is what they are played at."""
    time = POINTING.variants[0].time
    assert ({"point": DAY_MS, "vote": DAY_MS}, 0) == (time.main_ms, time.reserve_ms)


def test_elapsed_time_changes_nothing() -> None:
    one, other = start(seats=3), start(seats=3)
    for table, elapsed in ((one, 0), (other, DAY_MS)):
        table.close(tuple(ResolvedAction(table.default(seat), elapsed_ms=elapsed) for seat in range(3)))
    assert one.state == other.state


PAGE = page("docs/games/pointing.md")


def blocks(info: str) -> list[Any]:
    """Read the JSON in the blocks of code that are opened so."""
    return [json.loads(text) for text in re.findall(rf"^```{info}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading."""
    table = PAGE.split(f"### {heading}\n")[1].split("\n#")[0]
    return [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| `")]


def words(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)


def test_its_maps_are_those_of_the_loop_with_two_trees_and_of_the_worked_example() -> None:
    assert [sections("A>B>A C>A E>D>A", 5), sections(EXAMPLE)] == blocks("json sections")


def test_its_trees_are_those_of_their_pointers() -> None:
    listed = re.findall(r"^\| (A.*) \| `([\[\],]+)` \|$", PAGE, re.MULTILINE)
    assert len(listed) > 5
    for pointers, tree in listed:
        arrows = pointers.replace("▶", ">").replace(" and ", " ").removesuffix(" alone")
        seats = len(set(re.findall("[A-Z]", arrows)))
        # Where fewer than three sit, the others are alone; the tree is of the section in which A is.
        told = sections(arrows, max(3, seats))
        assert json.loads(tree) in [each["shape"] for each in told if each["size"] == seats]


def test_its_example_comes_out() -> None:
    (scenario,), (expected,) = blocks("json scenario"), blocks("json gives")
    assert expected == json.loads(adjudicate_line(json.dumps(scenario).encode()))


def test_every_ruling_stands_under_its_number_and_in_order() -> None:
    assert [f"R{number}" for number in range(1, 9)] == re.findall(r"^\*\*(R\d+)\. ", PAGE, re.MULTILINE)


def test_options_events_and_view_are_listed_in_full() -> None:
    assert list(PointingOptions.__struct_fields__) == [words(row[0])[0] for row in rows("Options")]
    assert list(PointingView.__struct_fields__) == [word for row in rows("The view") for word in words(row[0])]
    for form, row in zip(get_args(PointingEvent), rows("Events"), strict=True):
        assert [form.__struct_config__.tag] == words(row[0])
        assert set(form.__struct_fields__) <= set(words(row[2]))
