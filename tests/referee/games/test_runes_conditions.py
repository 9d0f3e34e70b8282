"""The vote for a condition, what each of the fifteen pays, and what is told of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from referee.rules.table import Table
from tests.referee.games.runes_play import SYMBOLS, play, put, start


def won(table: Table, votes: dict[int, Any] | None = None) -> int:
    """The condition that wins a vote: seat to its votes."""
    for seat in range(5):
        put(table, seat, insight=20)
    actions: dict[int, Any] = {seat: {} for seat in range(5)}
    for seat, each in (votes or {}).items():
        actions[seat] = {"votes": each, "more_votes": sum(each.values()) > 1}
    actions[4]["told"] = True
    condition: int = play(table, actions).one(4, "condition")["condition"]
    return condition


def paid(condition: int, actions: Any = None, symbols: Any = SYMBOLS) -> list[int]:
    """What the seats earn for a condition in round 3."""
    table = start(symbols)
    earned = play(table, {0: {"votes": {str(condition): 1}}} | (actions or {})).one(None, "insight")["earned"]
    assert condition == table.state.conditions[-1]
    return [earned[str(seat)] for seat in range(5)]


def test_when_12_have_been_used_all_15_are_free_again() -> None:
    table = start()
    used = [won(table, {0: {str(number): 1}}) for number in range(15, 4, -1)]
    assert list(range(15, 4, -1)) == used
    assert 1 == won(table, {0: {"15": 4}}), "eleven have been used"
    assert 15 == won(table, {0: {"15": 1}}), "twelve have been used"
    assert 2 == won(table, {0: {"15": 4}, 1: {"2": 1}})


@pytest.mark.parametrize(
    ("condition", "figures"),
    [
        # 4+8+4+2+6+3, 2+4+7+2+3+3, 12+3+2+4+6+6, 3+3+4+3+4+12, 3+8+3+2+3+8 line segments
        (1, [27, 21, 33, 29, 27]),
        # 4+4+2+1+3+3, 2+3+4+1+2+3, 6+3+2+4+3+3, 2+3+2+3+3+6, 2+4+3+1+2+4 straight lines
        (3, [17, 15, 21, 19, 16]),
        # three Slashes, three Origins, three Angled, three Splitters; nothing twice
        (6, [3, 3, 3, 3, 1]),
        # shared with 2, 2 and 4; 3, 3 and 4; 0, 0 and 3; 1, 1, 2 and 4; 0, 1 and 3
        (8, [3, 3, 3, 4, 3]),
    ],
)
def test_conditions_1_3_6_8_pay_the_most_and_2_4_9_the_least(condition: int, figures: list[int]) -> None:
    ranks = sorted(set(figures), reverse=True)
    assert [6 - ranks.index(figure) for figure in figures] == paid(condition)
    opposite = {1: 2, 3: 4, 8: 9}.get(condition)
    if opposite:
        ranks.reverse()
        assert [6 - ranks.index(figure) for figure in figures] == paid(opposite)


def test_condition_5_pays_for_joined_pairs_of_the_seven_that_lie_side_by_side() -> None:
    """Not joined are 3 and 4 of seats 0 and 4, 0 and 3 of seat 1, 1 and 2 of seat 2, 1 and 4 of seats 3 and 4.

    The symbol that stands in for seat 2 here has only four pairs.
    """
    assert [6, 6, 6, 6, 5] == paid(5)
    few = (
        "Straight Slope",
        "Torn Divider",
        "Origin Zig-Zag",
        "Straight Enclosure",
        "Origin Splitter",
        "Angled Box",
    )
    assert [6, 6, 4, 6, 5] == paid(5, symbols=(*SYMBOLS[:2], few, *SYMBOLS[3:]))


def test_from_round_5_8_11_on_one_more_insight_is_added_for_everyone() -> None:
    """Condition 14 pays seat 0 six; it is the only one voted for whenever it is free."""
    table = start()
    flat = []
    for _ in range(2, 13):
        table.state = replace(table.state, used=())
        earned = play(table, {0: {"votes": {"14": 1}}}).one(None, "insight")
        flat.append((earned["round"], earned["earned"]["0"] - 6))
    assert [(3, 0), (4, 0), (5, 1), (6, 1), (7, 1), (8, 2), (9, 2), (10, 2), (11, 3), (12, 3), (13, 3)] == flat


def positions(condition: int, abstainers: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The positions that are told over many matches."""
    seen = set()
    for number in range(60):
        table = start()
        table.number = number + 1
        votes = {seat: {"votes": {str(condition): 1}} for seat in range(5) if seat not in abstainers}
        told = play(table, votes | {seat: {"abstain": True} for seat in abstainers}).one(None, "insight")
        seen.add(tuple(told["positions"][str(seat)] for seat in abstainers))
    return seen


def test_an_abstainer_stands_as_drawn_before_or_after_all_non_abstainers_that_earned_the_same() -> None:
    """Condition 15 pays all the same; condition 6 all but seat 4; condition 1 seats 0 and 4, after 2 and 3."""
    assert {(1,), (5,)} == positions(15, (2,))
    assert {(1,), (4,)} == positions(6, (0,))
    assert {(5,)} == positions(6, (4,))
    assert {(3,), (4,)} == positions(1, (0,))


def test_r2_a_seat_that_submits_nothing_neither_votes_nor_abstains_what_it_earns_is_told_in_full() -> None:
    told = play(start()).one(None, "insight")
    assert (["0", "1", "2", "3", "4"], {}) == (list(told["earned"]), told["positions"])
