"""Round 1 of Runes to Ruins: symbols are submitted until all differ."""

from typing import Any

from referee.rules.table import Table
from tests.referee.games.naive_actions import is_legal
from tests.referee.games.playing import accepted, close, rejected
from tests.referee.games.runes_play import GAME, SYMBOLS, holding, opening, start

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


def test_a_symbol_that_two_seats_submit_is_invalid_for_everyone_and_all_submit_anew() -> None:
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
