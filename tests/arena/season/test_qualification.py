"""Who goes on: the order of a table, ties at the cut, places between groups, and the draw of groups."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from arena.season.qualification import Finish, cut_texts, drawn, qualified, ranked


def bot(
    label: str, mean: float, seeding: int = 0, *, against: Mapping[str, float] | None = None, **other: int | bool
) -> Finish:
    """`against`: points of two matches against each of these."""
    met = {name: (2, points) for name, points in (against or {}).items()}
    fields: dict[str, Any] = {"place": 0.0, "faults": 0, "played": 4} | other
    return Finish(label=label, mean=mean, seeding=seeding, against=met, **fields)


def names(found: list[Finish]) -> str:
    return "".join(one.label for one in found)


def test_bots_are_ranked_by_place_then_mean_points_then_faults() -> None:
    table = [bot("d", 0.9, place=-1), bot("c", 0.4, faults=1), bot("b", 0.4), bot("a", 0.5), bot("e", 1, place=-2)]
    assert "edabc" == names(ranked(table))


def test_those_that_are_level_are_ranked_by_points_against_each_other_then_by_the_field() -> None:
    ring = [
        bot("a", 0.5, 0, against={"b": 0, "c": 1, "d": 2}),
        bot("b", 0.5, 1, against={"a": 2, "c": 0.5, "d": 0}),
        bot("c", 0.5, 2, against={"a": 1, "b": 1.5, "d": 0}),
        bot("d", 0.1, 3, against={"a": 0, "b": 2, "c": 2}),
    ]
    # Of the three: b has 2.5, c has 2.5, a has 1; d is not among them, and does not count.
    assert "bcad" == names(ranked(ring))
    assert "bcad" == names(ranked(ring[::-1]))


def test_points_against_each_other_do_not_count_where_not_all_have_met() -> None:
    some = [bot("a", 0.5, 0, against={"b": 0}), bot("b", 0.5, 1, against={"a": 2}), bot("c", 0.5, 2)]
    assert "abc" == names(ranked(some))


def test_sums_that_differ_by_their_rounding_are_level() -> None:
    one, other = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert one > other
    assert "ab" == names(ranked([bot("b", one, 1), bot("a", other, 0)]))


GROUPS = [
    [bot("a", 1.0, 0), bot("e", 0.5, 1), bot("i", 0.2, 2)],
    [bot("b", 0.9, 0), bot("f", 0.6, 1), bot("j", 0.4, 2)],
    [bot("c", 0.8, 0), bot("g", 0.3, 1), bot("k", 0.1, 2)],
    [bot("d", 0.7, 0), bot("h", 0.6, 1)],
]


def taken(**rule: Any) -> str:
    return "".join(one.finish.label for one in qualified(GROUPS, **rule))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [({"each_group": 2}, "abcdefgh"), ({"top": 6}, "abcdfh"), ({"top": 10}, "abcdefghij"), ({}, "abcdefghijk")],
)
def test_the_first_of_each_group_come_first_and_mean_points_decide_between_groups(
    rule: dict[str, int], expected: str
) -> None:
    assert expected == taken(**rule)


def test_the_rest_is_who_goes_nowhere_else() -> None:
    on = frozenset("abcdefgh")
    assert "ijk" == "".join(one.finish.label for one in qualified(GROUPS, without=on))


@pytest.mark.parametrize("groups", [2, 4, 8])
def test_two_of_a_group_do_not_meet_in_the_first_round_of_a_knock_out(groups: int) -> None:
    """Seeds k and n + 1 - k meet."""
    tables = [[bot(f"{group}{place}", 1 - place / 10) for place in range(4)] for group in range(groups)]
    field = [one.part for one in qualified(tables, each_group=2)]
    assert all(one != other for one, other in zip(field, field[::-1], strict=True))


def test_for_a_bot_that_has_withdrawn_the_next_one_moves_up_or_its_place_stays_empty() -> None:
    table = [bot("a", 0.9), bot("b", 0.8, withdrawn=True), bot("c", 0.7)]
    assert "ac" == "".join(one.finish.label for one in qualified([table], top=2))
    assert "ab" == "".join(one.finish.label for one in qualified([table], top=2, leave_empty=True))


def test_the_rule_that_decided_a_tie_at_the_cut_is_named() -> None:
    met = [bot("a", 0.5, 0, against={"b": 0.5}), bot("b", 0.5, 1, against={"a": 1.5})]
    assert ["b goes on before a, which is level: by points against each other"] == cut_texts([met], {"b"})
    even = [bot("a", 0.5, 0, against={"b": 1}), bot("b", 0.5, 1, against={"a": 1})]
    assert ["a goes on before b, which is level: by the order of the field"] == cut_texts([even], {"a"})
    assert [] == cut_texts([met], {"a", "b"})
    # On a stage of the rest, those who are placed before have gone elsewhere.
    assert ["a goes on after b, which is level: by points against each other"] == cut_texts([met], {"a"})
    assert ["b goes on after a, which is level: by the order of the field"] == cut_texts([even], {"b"})


def test_groups_are_drawn_as_a_snake() -> None:
    assert [[0, 5, 6], [1, 4, 7], [2, 3, 8]] == drawn(9, 3, None)
    assert [[0, 3, 4], [1, 2]] == drawn(5, 2, None)


def test_lots_mix_those_of_a_row_only_and_sizes_stay_even() -> None:
    seen = set()
    for seed in range(40):
        groups = drawn(11, 4, Random(seed))
        seen.add(tuple(map(tuple, groups)))
        assert sorted(bot for group in groups for bot in group) == list(range(11))
        assert {2, 3} == set(map(len, groups))
        for row in range(2):
            assert set(range(4 * row, 4 * row + 4)) == {group[row] for group in groups}
    assert len(seen) > 30
