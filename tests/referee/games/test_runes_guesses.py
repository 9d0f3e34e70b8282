"""Guesses: how they are compared, what their sender is told, discovery and its reward, the Power of Light."""

from typing import Any

import pytest

from tests.referee.games.runes_play import SYMBOLS, UNUSED, Heard, holding, play, put, start

FOREIGN = list(UNUSED)


def guess(runes: Any, *, seat: int = 0) -> dict[str, int]:
    """The counts told for a guess in round 2, without its index."""
    told = play(start(), {seat: {"guesses": [runes]}}).one(seat, "guess")
    return {key: told[key] for key in told if key != "index"}


def test_the_three_counts_right_place_wrong_place_and_another_of_a_shared_group_there() -> None:
    """Against seat 1: Origin Slope in place, Torn Box elsewhere, Origin Divider sharing a group there."""
    runes = ["Origin Slope", "Torn Box", "Slash Slope", "Cross Splitter", "Straight Zig-Zag", "Origin Divider"]
    assert ["Torn Box", "Slash Divider", "Torn Splitter", "Origin Enclosure"] == list(SYMBOLS[1][2:])
    assert {"exact": 1, "moved": 1, "group": 1} == guess(runes)


def test_a_rune_of_the_symbol_in_the_wrong_place_is_moved_even_if_it_shares_a_group_with_what_is_there() -> None:
    """Seat 3's first three runes, all Splitters, turned round."""
    runes = [*SYMBOLS[3][1:3], SYMBOLS[3][0], *SYMBOLS[3][3:]]
    assert {"exact": 3, "moved": 3, "group": 0} == guess(runes)


def test_group_counts_either_order() -> None:
    """Against seat 2, whose symbol begins with Cross Box: a Cross, then a Box, in that place."""
    for first in ("Cross Divider", "Slash Box"):
        runes = [first, *SYMBOLS[2][1:]]
        assert {"exact": 5, "moved": 0, "group": 1} == guess(runes)
    assert {"exact": 5, "moved": 0, "group": 0} == guess(["Torn Divider", *SYMBOLS[2][1:]])


@pytest.mark.parametrize("seat", [0, 1])
def test_the_closest_symbol_is_by_exact_then_moved_then_group(seat: int) -> None:
    """Five of seat 3's runes, all in wrong places, and one of seat 4's in its place: seat 4's symbol is closest.

    Angled Zig-Zag is both seats'.
    """
    runes = [
        "Torn Slope",
        "Straight Splitter",
        "Slash Splitter",
        "Origin Zig-Zag",
        "Angled Zig-Zag",
        "Torn Splitter",
    ]
    assert {"exact": 1, "moved": 1, "group": 0} == guess(runes, seat=seat)


def test_more_moved_is_closer_among_equals_in_exact() -> None:
    """Two of seat 3's in wrong places, against one of seat 2's and more that share a group with what is there."""
    runes = [SYMBOLS[3][2], SYMBOLS[3][0], UNUSED[0], UNUSED[1], SYMBOLS[2][3], UNUSED[2]]
    told = guess(runes)
    assert (0, 2) == (told["exact"], told["moved"])


def test_a_guess_is_compared_with_every_other_seat_but_not_with_the_guessers_own_symbol() -> None:
    assert 2 == sum(guess(list(SYMBOLS[0]))[key] for key in ("exact", "moved"))
    heard = play(start(), {0: {"guesses": [list(SYMBOLS[0])]}})
    assert [] == heard.of(None, "discovered")


def test_the_guesser_is_not_told_whose_symbol_is_closest_and_nobody_else_is_told_anything() -> None:
    quiet, heard = play(start()), play(start(), {0: {"guesses": [[*SYMBOLS[3][:5], UNUSED[0]]]}})
    assert {"index", "exact", "moved", "group"} == set(heard.one(0, "guess"))
    assert quiet.public == heard.public
    assert all(quiet.seats[seat] == heard.seats[seat] for seat in range(1, 5))


def test_all_six_exact_discovers_the_seat_and_all_are_told() -> None:
    table = start()
    heard = play(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    assert {"index": 0, "exact": 6, "moved": 0, "group": 0} == heard.one(0, "guess")
    assert {"seats": [3]} == heard.one(None, "discovered")
    assert 2 == holding(table, 3).discovered


def found(finders: dict[int, list[Any]]) -> Heard:
    table = start()
    for seat in finders:
        put(table, seat, insight=10)
    return play(table, {seat: {"guesses": guesses} for seat, guesses in finders.items()})


def test_its_finder_gains_10_insight() -> None:
    assert 10 + 10 == found({0: [list(SYMBOLS[3])]}).one(0, "purse")["insight"]


def test_several_finders_gain_5_each() -> None:
    heard = found({seat: [list(SYMBOLS[3])] for seat in (0, 1, 4)})
    assert [15, 15, 15] == [heard.one(seat, "purse")["insight"] for seat in (0, 1, 4)]


def test_finding_the_same_symbol_twice_gains_once_and_two_symbols_gain_twice() -> None:
    assert 10 - 1 + 10 == found({0: [list(SYMBOLS[3])] * 2}).one(0, "purse")["insight"]
    assert 10 - 1 + 20 == found({0: [list(SYMBOLS[3]), list(SYMBOLS[4])]}).one(0, "purse")["insight"]


def test_what_a_finder_gains_pays_for_its_mantra_of_the_round() -> None:
    table = start()
    put(table, 0, insight=0, mantra=13)
    heard = play(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    assert {"insight": 9, "mantra": 0} == heard.one(0, "purse")


def test_seats_discovered_in_one_round_are_told_ascending() -> None:
    heard = found({0: [list(SYMBOLS[4]), list(SYMBOLS[1])], 1: [list(SYMBOLS[2])]})
    assert {"seats": [1, 2, 4]} == heard.one(None, "discovered")


def test_two_seats_may_discover_each_other_in_one_round() -> None:
    heard = found({0: [list(SYMBOLS[1])], 1: [list(SYMBOLS[0])]})
    assert {"seats": [0, 1]} == heard.one(None, "discovered")


def test_r1_guesses_leave_out_seats_discovered_in_an_earlier_round() -> None:
    table = start()
    play(table, {1: {"guesses": [list(SYMBOLS[3])]}})
    told = play(table, {0: {"guesses": [list(SYMBOLS[3])]}}).one(0, "guess")
    assert told["exact"] < 6
    assert [] == play(table, {0: {"guesses": [list(SYMBOLS[3])]}}).of(None, "discovered")


def test_a_seat_discovered_this_round_is_still_compared_with_all_guesses_of_the_round() -> None:
    heard = found({0: [list(SYMBOLS[3])], 1: [[*SYMBOLS[3][:5], UNUSED[0]]]})
    assert 5 == heard.one(1, "guess")["exact"]


def test_with_nobody_to_compare_the_counts_are_0() -> None:
    table = start(artefacts={"1": ["light"], "2": ["light"]})
    play(table, {0: {"guesses": [list(SYMBOLS[3])]}, 1: {"guesses": [list(SYMBOLS[4])]}})
    heard = play(table, {1: {"light": True}, 2: {"light": True}, 0: {"guesses": [list(SYMBOLS[1])]}})
    assert {"index": 0, "exact": 0, "moved": 0, "group": 0} == heard.one(0, "guess")


def test_under_light_no_guess_is_compared_with_the_seat_this_round() -> None:
    table = start(artefacts={"3": ["light"]})
    heard = play(table, {3: {"light": True}, 0: {"guesses": [list(SYMBOLS[3])]}})
    assert [] == heard.of(None, "discovered")
    assert heard.one(0, "guess")["exact"] < 6
    assert ((0, 0, 0),) * 5 == holding(table, 3).nearest
    heard = play(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    assert {"seats": [3]} == heard.one(None, "discovered")


def test_light_is_told_to_nobody_and_hides_from_guesses_only() -> None:
    table, other = start(artefacts={"3": ["light"]}), start(artefacts={"3": ["light"]})
    action = {"visions": {"divine": "Box"}, "learned": [{"rune": "Cross Box"}]}
    assert play(table, {0: action}).seats == play(other, {0: action, 3: {"light": True}}).seats


def test_guesses_are_told_in_order_by_index() -> None:
    table = start()
    heard = play(table, {0: {"guesses": [FOREIGN, list(SYMBOLS[3])]}})
    assert [(0, 0), (1, 6)] == [(each["index"], each["exact"]) for each in heard.of(0, "guess")]


def test_r7_discovered_seats_go_on_guessing_and_are_paid() -> None:
    table = start()
    play(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    before = holding(table, 3).insight
    heard = play(table, {3: {"guesses": [list(SYMBOLS[4])]}})
    assert before + 10 == heard.one(3, "purse")["insight"]
    assert {"3"} < set(heard.one(None, "insight")["earned"])
