"""Guesses: how they are compared, what their sender is told, discovery and its reward, the Power of Light."""

from typing import Any

from tests.referee.games.playing import Heard, close
from tests.referee.games.runes_play import SYMBOLS, holding, put, start


def guess(runes: Any, *, seat: int = 0) -> dict[str, int]:
    """The counts told for a guess in round 2, without its index."""
    told = close(start(), {seat: {"guesses": [runes]}}).event(seat, "guess")
    return {key: told[key] for key in told if key not in ("index", "type")}


def test_the_three_counts_right_place_wrong_place_and_another_of_a_shared_group_there() -> None:
    """Against seat 1: Origin Slope in place, Torn Box elsewhere, Origin Divider sharing a group there."""
    runes = ["Origin Slope", "Torn Box", "Slash Slope", "Cross Splitter", "Straight Zig-Zag", "Origin Divider"]
    assert ["Torn Box", "Slash Divider", "Torn Splitter", "Origin Enclosure"] == list(SYMBOLS[1][2:])
    assert {"exact": 1, "moved": 1, "group": 1} == guess(runes)


def found(finders: dict[int, list[Any]]) -> Heard:
    table = start()
    for seat in finders:
        put(table, seat, insight=10)
    return close(table, {seat: {"guesses": guesses} for seat, guesses in finders.items()})


def test_finding_the_same_symbol_twice_gains_once_and_two_symbols_gain_twice() -> None:
    assert 10 - 1 + 10 == found({0: [list(SYMBOLS[3])] * 2}).event(0, "purse")["insight"]
    assert 10 - 1 + 20 == found({0: [list(SYMBOLS[3]), list(SYMBOLS[4])]}).event(0, "purse")["insight"]


def test_r1_guesses_leave_out_seats_discovered_in_an_earlier_round() -> None:
    table = start()
    close(table, {1: {"guesses": [list(SYMBOLS[3])]}})
    told = close(table, {0: {"guesses": [list(SYMBOLS[3])]}}).event(0, "guess")
    assert told["exact"] < 6
    assert [] == close(table, {0: {"guesses": [list(SYMBOLS[3])]}}).of(None, "discovered")


def test_under_light_no_guess_is_compared_with_the_seat_this_round() -> None:
    table = start(artefacts={"3": ["light"]})
    heard = close(table, {3: {"light": True}, 0: {"guesses": [list(SYMBOLS[3])]}})
    assert [] == heard.of(None, "discovered")
    assert heard.event(0, "guess")["exact"] < 6
    assert ((0, 0, 0),) * 5 == holding(table, 3).nearest
    heard = close(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    assert {"type": "discovered", "seats": [3]} == heard.event(None, "discovered")


def test_r7_discovered_seats_go_on_guessing_and_are_paid() -> None:
    table = start()
    close(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    before = holding(table, 3).insight
    heard = close(table, {3: {"guesses": [list(SYMBOLS[4])]}})
    assert before + 10 == heard.event(3, "purse")["insight"]
    assert {"3"} < set(heard.event(None, "insight")["earned"])
