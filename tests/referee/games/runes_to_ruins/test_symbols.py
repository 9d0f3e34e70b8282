"""Runes, symbols, and round 1 of Runes to Ruins, in which symbols are submitted until all differ."""

from random import Random
from typing import Any, get_args

import pytest

from protocol.games.runes_to_ruins import Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES, RUNE, RUNES, RuneName
from referee.games.runes_to_ruins.symbols import draw_symbol, fault, joined_pairs
from referee.rules.table import Table
from tests.referee.games.playing import accepted, close, rejected
from tests.referee.games.runes_to_ruins.naive_actions import is_legal
from tests.referee.games.runes_to_ruins.play import GAME, SYMBOLS, holding, opening, start
from tests.referee.games.runes_to_ruins.symbol_count import legal_symbols


def test_there_are_36_runes_one_for_each_pair_of_groups_named_mundane_divine() -> None:
    assert [f"{mundane} {divine}" for divine in DIVINE for mundane in MUNDANE] == list(NAMES)
    assert [rune.name for rune in RUNES] == [f"{rune.mundane} {rune.divine}" for rune in RUNES]
    assert get_args(RuneName) == NAMES


@pytest.mark.parametrize(
    ("rune", "segments", "lines"),
    [
        ("Straight Divider", 2, 1),
        ("Slash Divider", 2, 1),
        ("Angled Slope", 4, 2),
        ("Straight Zig-Zag", 4, 3),
    ],
)
def test_the_source_counts_these_runes_line_segments_and_straight_lines(
    rune: str, segments: int, lines: int
) -> None:
    assert (segments, lines) == (len(RUNE[rune].segments.split()), RUNE[rune].straight_lines)


def test_no_two_runes_are_drawn_alike_and_each_segment_stays_in_one_square() -> None:
    drawn = {frozenset(frozenset(segment) for segment in rune.segments.split()) for rune in RUNES}
    assert len(RUNES) == len(drawn)
    for rune in RUNES:
        for one, other in (map(int, (segment[0], segment[1])) for segment in rune.segments.split()):
            across, down = abs(one % 3 - other % 3), abs(one // 3 - other // 3)
            assert 1 == max(across, down), rune.name


def test_a_symbol_has_six_different_runes() -> None:
    table = opening()
    twice = [*SYMBOLS[0][:5], SYMBOLS[0][0]]
    assert "a symbol has six different runes" == rejected(table, 0, {"symbol": twice})
    for symbol in (SYMBOLS[0][:5], [*SYMBOLS[0], "Torn Box"], [], "Torn Box", None, [*SYMBOLS[0][:5], "torn box"]):
        assert rejected(table, 0, {"symbol": symbol})


def test_in_one_order_all_six_groups_differ() -> None:
    boxes = ["Straight Box", "Torn Box", "Straight Slope", "Torn Slope", "Cross Box", "Cross Slope"]
    assert "in one Order all six groups must differ" in rejected(opening(), 0, {"symbol": boxes})


def test_in_the_other_order_no_group_has_more_than_three() -> None:
    three = [
        "Straight Divider",
        "Straight Slope",
        "Straight Splitter",
        "Cross Zig-Zag",
        "Cross Enclosure",
        "Cross Box",
    ]
    four = ["Straight Divider", "Straight Slope", "Straight Splitter", "Straight Zig-Zag", *three[4:]]
    assert accepted(opening(), 0, {"symbol": three})
    assert "no group may have more than three" in rejected(opening(), 0, {"symbol": four})


def test_all_six_hang_together_where_segments_end_on_common_points() -> None:
    """The same six runes, turned round the grid: twice they hang together."""
    runes = ["Slash Divider", "Torn Slope", "Origin Splitter", "Straight Zig-Zag", "Angled Enclosure", "Cross Box"]
    symbols = [runes[n:] + runes[:n] for n in range(6)]
    assert [True, True, False, False, False, False] == [is_legal(symbol) for symbol in symbols]
    for symbol in symbols[:2]:
        assert accepted(opening(), 0, {"symbol": symbol})
    for symbol in symbols[2:]:
        assert "the six runes do not all hang together" == rejected(opening(), 0, {"symbol": symbol})


def test_runes_may_hang_together_by_a_common_corner_which_makes_no_side_by_side_pair() -> None:
    """Torn Divider and Origin Zig-Zag hang on the rest by the corner where Torn Divider meets Angled Box.

    Joined side by side are 0 and 3, 1 and 2, 3 and 4, 4 and 5.
    """
    symbol: Six = (
        *("Straight Slope", "Torn Divider", "Origin Zig-Zag"),
        *("Straight Enclosure", "Origin Splitter", "Angled Box"),
    )
    assert accepted(opening(), 0, {"symbol": symbol})
    assert 4 == joined_pairs(symbol)


def test_a_drawn_symbol_is_legal_and_none_of_those_that_are_ruled_out() -> None:
    first = [draw_symbol(Random(seed)) for seed in range(300)]
    assert 300 == len(set(first))
    assert all(is_legal(list(symbol)) and fault(symbol) is None for symbol in first)
    for seed, symbol in enumerate(first[:20]):
        other = draw_symbol(Random(seed), without=(symbol,))
        assert other != symbol
        assert is_legal(list(other))


@pytest.mark.slow
def test_28_731_986_symbols_are_legal_and_those_that_differ_in_both_orders_are_drawn_no_more_often() -> None:
    """About 1 in 124 differs in both. Drawn twice as often as the others, they would be 64 of 4,000, not 32."""
    legal, both = legal_symbols()
    assert 28_731_986 == legal
    drawn = [draw_symbol(Random(seed)) for seed in range(4000)]
    groups = [
        (len({RUNE[rune].divine for rune in six}), len({RUNE[rune].mundane for rune in six})) for six in drawn
    ]
    assert 4000 * both / legal == pytest.approx(groups.count((6, 6)), rel=0.4)


CLASHING = {seat: {"symbol": SYMBOLS[min(seat, 3)]} for seat in range(5)}
"""Seats 3 and 4 submit the same."""


def attempts(table: Table, number: int) -> None:
    """Lets seats 3 and 4 clash so many times, with another symbol each time, while the rest submit the same."""
    for _ in range(number):
        clash = table.default(3)
        close(
            table,
            {seat: {"symbol": SYMBOLS[seat]} for seat in range(3)} | {3: clash_of(clash), 4: clash_of(clash)},
        )


def clash_of(action: Any) -> dict[str, Any]:
    return {"symbol": list(action.symbol)}


def test_a_symbol_that_two_seats_submit_is_invalid_for_everyone_and_all_submit_again() -> None:
    table = opening()
    heard = close(table, CLASHING)
    assert [{"type": "resubmit", "attempt": 2}] == heard.public
    assert [[]] * 5 == heard.seats
    assert table.window is not None
    assert "symbol" == table.window.name
    for seat in range(5):
        assert "this symbol was submitted by more than one seat and is invalid" == rejected(
            table, seat, CLASHING[3]
        )
        assert accepted(table, seat, {"symbol": SYMBOLS[0]})
    heard = close(table, {seat: {"symbol": symbol} for seat, symbol in enumerate((*SYMBOLS[:3], *SYMBOLS[4:]))})
    assert list(SYMBOLS[4]) == heard.event(3, "symbol_set")["symbol"]


def test_a_seat_that_submits_nothing_gets_a_drawn_legal_symbol() -> None:
    table = opening()
    heard = close(table)
    drawn = [heard.event(seat, "symbol_set")["symbol"] for seat in range(5)]
    assert all(is_legal(symbol) for symbol in drawn)
    assert 5 == len({tuple(symbol) for symbol in drawn})


def test_a_drawn_default_may_clash_like_any_other_symbol() -> None:
    """Our own ruling 7."""
    table = opening()
    heard = close(table, {1: clash_of(table.default(0))})
    assert [{"type": "resubmit", "attempt": 2}] == heard.public


def test_an_invalid_symbol_is_not_drawn_as_a_default() -> None:
    table = opening()
    drawn = clash_of(table.default(0))
    close(table, CLASHING | {3: drawn, 4: drawn})
    assert [tuple(drawn["symbol"])] == list(table.state.invalid)
    assert clash_of(table.default(0)) != drawn


def test_there_are_at_most_ten_resubmits_then_the_clashing_seats_get_drawn_symbols() -> None:
    table = opening()
    attempts(table, 10)
    assert 11 == table.state.attempt
    clash = clash_of(table.default(3))
    heard = close(table, {seat: {"symbol": SYMBOLS[seat]} for seat in range(3)} | {3: clash, 4: clash})
    assert [] == heard.public
    symbols = [tuple(heard.event(seat, "symbol_set")["symbol"]) for seat in range(5)]
    assert list(SYMBOLS[:3]) == symbols[:3]
    assert 5 == len(set(symbols))
    assert 11 == len(table.state.invalid)
    for symbol in symbols[3:]:
        assert is_legal(list(symbol))
        assert symbol not in table.state.invalid
    assert tuple(clash["symbol"]) == holding(table, 4).submitted[-1]


def test_before_round_2_each_seat_has_6_insight_and_no_mantra() -> None:
    table = start()
    assert [(6, 0)] * 5 == [(holding(table, seat).insight, holding(table, seat).mantra) for seat in range(5)]


def test_every_window_is_open_for_a_day() -> None:
    assert {"symbol": 86_400_000, "round": 86_400_000} == GAME.variant("guardians").time.main_ms
