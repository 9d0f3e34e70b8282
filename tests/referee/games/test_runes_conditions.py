"""The vote for a condition, what each of the fifteen pays, and what is told of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from referee.games.runes_to_ruins.conditions import CONDITIONS
from referee.rules.table import Table
from tests.referee.games.runes_play import SYMBOLS, UNUSED, holding, play, put, start


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


def test_the_condition_with_most_votes_wins() -> None:
    assert 9 == won(start(), {0: {"3": 1}, 1: {"9": 1}, 2: {"9": 1}})
    assert 3 == won(start(), {0: {"3": 3, "1": 1}, 1: {"9": 1}, 2: {"9": 1}})


def test_the_lowest_number_wins_in_a_tie() -> None:
    assert 3 == won(start(), {0: {"11": 1}, 1: {"3": 1}})
    assert 7 == won(start(), {0: {"11": 2, "7": 2}, 1: {"2": 1}})


def test_with_no_votes_at_all_the_lowest_that_is_free_wins() -> None:
    table = start()
    assert [1, 2, 3] == [won(table) for _ in range(3)]


def test_votes_on_a_condition_used_before_are_void_but_legal() -> None:
    table = start()
    assert 5 == won(table, {0: {"5": 1}})
    assert 9 == won(table, {0: {"5": 4}, 1: {"9": 1}})
    assert 1 == won(table, {0: {"5": 4}, 1: {"9": 1}})


def test_when_12_have_been_used_all_15_are_free_again() -> None:
    table = start()
    used = [won(table, {0: {str(number): 1}}) for number in range(15, 4, -1)]
    assert list(range(15, 4, -1)) == used
    assert 1 == won(table, {0: {"15": 4}}), "eleven have been used"
    assert 15 == won(table, {0: {"15": 1}}), "twelve have been used"
    assert 2 == won(table, {0: {"15": 4}, 1: {"2": 1}})


def test_only_buyers_are_told_which_condition_won() -> None:
    heard = play(start(), {0: {"told": True, "abstain": True}, 1: {"votes": {"4": 1}}})
    assert {"condition": 4} == heard.one(0, "condition")
    assert all([] == heard.of(seat, "condition") for seat in range(1, 5))


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


def test_condition_7_counts_runes_that_share_a_group_with_another_of_the_symbol() -> None:
    """Seat 0's three Slashes are connected, of seats 1 to 3 all but one rune, and nothing of seat 4's."""
    assert [5, 6, 6, 6, 4] == paid(7)


def test_condition_10_pays_the_least_insight_held_when_it_is_paid() -> None:
    """4, 5, 6, 6, 6: seat 0 buys votes and the answer, seat 1 pays off mantra, seat 2 is alone with its vision."""
    actions = {
        0: {"votes": {"10": 1}, "more_votes": True, "told": True},
        1: {"learned": [{"most": list(UNUSED[:5])}]},
        2: {"visions": {"divine": "Box"}},
    }
    assert [6, 5, 4, 4, 4] == paid(10, actions)


def test_condition_11_pays_the_least_mantra_received_so_far_paid_off_or_not() -> None:
    actions = {1: {"learned": [{"shared": [2, 4]}]}, 3: {"learned": [{"most": list(UNUSED)}]}}
    assert [6, 5, 6, 4, 6] == paid(11, actions)


def test_condition_12_pays_the_fewest_visions_of_all_nine_kinds_in_the_round_just_ended() -> None:
    shown = {"mirror": {"rune": SYMBOLS[1][0], "seat": 0}, "window": {"position": 0, "seat": 0}, "veil": True}
    actions = {1: {"visions": shown}, 2: {"visions": {"divine": "Box"}}}
    assert [6, 4, 5, 6, 6] == paid(12, actions)


def test_conditions_13_and_14_pay_one_for_each_different_group_used() -> None:
    assert [4, 3, 3, 6, 6] == [len({rune.split()[0] for rune in symbol}) for symbol in SYMBOLS]
    assert [4, 3, 3, 6, 6] == paid(13)
    assert [6, 6, 6, 3, 6] == [len({rune.split()[1] for rune in symbol}) for symbol in SYMBOLS]
    assert [6, 6, 6, 3, 6] == paid(14)


def test_condition_15_pays_two_and_two_more_to_each_seat_that_is_itself_undiscovered() -> None:
    assert [4] * 5 == paid(15)
    assert [4, 4, 4, 2, 4] == paid(15, {1: {"guesses": [list(SYMBOLS[3])]}})


def test_equal_seats_get_the_same_and_the_next_lower_value_gets_1_less() -> None:
    """Figures 3, 3, 3, 3, 1 for condition 6."""
    assert [6, 6, 6, 6, 5] == paid(6)


def test_every_condition_pays_all_five() -> None:
    for condition in CONDITIONS:
        assert all(2 <= each <= 6 for each in paid(condition))


def test_from_round_5_8_11_on_one_more_insight_is_added_for_everyone() -> None:
    """Condition 14 pays seat 0 six; it is the only one voted for whenever it is free."""
    table = start()
    flat = []
    for _ in range(2, 13):
        table.state = replace(table.state, used=())
        earned = play(table, {0: {"votes": {"14": 1}}}).one(None, "insight")
        flat.append((earned["round"], earned["earned"]["0"] - 6))
    assert [(3, 0), (4, 0), (5, 1), (6, 1), (7, 1), (8, 2), (9, 2), (10, 2), (11, 3), (12, 3), (13, 3)] == flat


def test_the_condition_of_a_round_pays_at_the_start_of_the_next_after_the_purse_is_told() -> None:
    table = start()
    heard = play(table, {0: {"votes": {"14": 1}}})
    assert {"insight": 6, "mantra": 0} == heard.one(0, "purse")
    assert {"round": 3, "earned": {"0": 6, "1": 6, "2": 6, "3": 3, "4": 6}, "positions": {}} == heard.one(
        None, "insight"
    )
    assert [12, 12, 12, 9, 12] == [holding(table, seat).insight for seat in range(5)]


def test_the_last_rounds_vote_is_held_and_told_but_not_paid() -> None:
    table = start(rounds=2)
    heard = play(table, {0: {"votes": {"14": 1}, "told": True}})
    assert {"condition": 14} == heard.one(0, "condition")
    assert [14] == heard.one(None, "reveal")["conditions"]
    assert [] == heard.of(None, "insight")
    assert 6 == holding(table, 1).insight


def test_of_a_seat_that_abstained_only_the_position_is_told_but_it_is_paid_like_all_others() -> None:
    """Condition 1 pays by line segments 27, 21, 33, 29, 27: 4, 3, 6, 5, 4."""
    table = start()
    heard = play(table, {0: {"votes": {"1": 1}}, 1: {"abstain": True}, 2: {"abstain": True}})
    told = heard.one(None, "insight")
    assert {"0": 4, "3": 5, "4": 4} == told["earned"]
    assert {"1": 5, "2": 1} == told["positions"]
    assert [10, 9, 12, 11, 10] == [holding(table, seat).insight for seat in range(5)]


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


def test_abstainers_among_themselves_stand_in_drawn_order() -> None:
    firsts = {(1, 2), (2, 1)}
    lasts = {(4, 5), (5, 4)}
    assert firsts | lasts | {(1, 5), (5, 1)} == positions(15, (1, 3))
    assert 2 == len(positions(1, (0, 4)))
    assert {(3, 5, 1, 2, 4), (4, 5, 1, 2, 3)} == positions(1, (0, 1, 2, 3, 4))


def test_r2_a_seat_that_submits_nothing_neither_votes_nor_abstains_what_it_earns_is_told_in_full() -> None:
    told = play(start()).one(None, "insight")
    assert (["0", "1", "2", "3", "4"], {}) == (list(told["earned"]), told["positions"])


def test_discovered_seats_are_paid_like_all_others() -> None:
    table = start()
    told = play(table, {1: {"guesses": [list(SYMBOLS[3])], "votes": {"1": 1}}}).one(None, "insight")
    assert 5 == told["earned"]["3"]
