"""Mist before a turn is played: windows, forms of actions, what a turn may name, defaults, time."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.rules.contract import BadSetupError
from referee.rules.table import Deal, Table
from tests.referee.games import playing
from tests.referee.games.mist.play import CONTRACT, HEAVEN, MIST, act, seat_due, start, time_out, turn
from tests.referee.games.playing import plain

BOTH = pytest.mark.parametrize("variant", [HEAVEN, CONTRACT])


def rejected(table: Table, action: Any) -> str:
    return playing.rejected(table, seat_due(table), action)


def accepted(table: Table, action: Any) -> Any:
    return playing.accepted(table, seat_due(table), action)


def later(variant: str) -> Table:
    """Play a match's first two turns, so that none of their rules hold any more."""
    table = start(variant)
    turn(table, "A1")
    turn(table, "I5")
    return table


@BOTH
def test_r1_cells_are_named_in_either_case_and_told_in_upper_case_by_row_then_number(variant: str) -> None:
    assert {"cells": ["A4", "G5", "H2"]} == accepted(later(variant), {"cells": ["h2", "A4", "g5"]})


@BOTH
def test_a_reason_quotes_no_more_than_a_little_of_what_was_sent(variant: str) -> None:
    assert len(rejected(later(variant), {"cells": ["x" * 60_000]})) < 100


@BOTH
@pytest.mark.parametrize("cells", [["C3", "C3"], ["C3", "c3"], ["C3", "G7", "c3"]])
def test_r1_two_cells_of_one_submission_must_differ(variant: str, cells: list[str]) -> None:
    assert "C3 is named twice" == rejected(later(variant), {"cells": cells}).replace("c3", "C3")


@BOTH
@pytest.mark.parametrize("other", ["C2", "C4", "B2", "B3", "D3", "D4"])
def test_r1_two_cells_of_one_submission_must_not_be_neighbours(variant: str, other: str) -> None:
    assert "is next to another cell" in rejected(later(variant), {"cells": ["C3", "G2", other]})


def test_r2_heaven_and_hell_names_0_to_3_cells() -> None:
    table = later(HEAVEN)
    for cells in ([], ["A1"], ["A1", "C1"], ["A1", "C1", "E1"]):
        assert {"cells": cells} == accepted(table, {"cells": cells})
    assert "4 cells; this turn names 0 to 3" == rejected(table, {"cells": ["A1", "C1", "E1", "G1"]})


def test_r2_contractual_obligation_names_1_to_3_cells() -> None:
    table = later(CONTRACT)
    for cells in (["A1"], ["A1", "C1"], ["A1", "C1", "E1"]):
        assert {"cells": cells} == accepted(table, {"cells": cells})
    assert "0 cells; this turn names 1 to 3" == rejected(table, {"cells": []})
    assert "4 cells; this turn names 1 to 3" == rejected(table, {"cells": ["A1", "C1", "E1", "G1"]})


def test_r2_e5_may_be_named_in_contractual_obligation_only() -> None:
    assert {"cells": ["A1", "E5"]} == accepted(later(CONTRACT), {"cells": ["e5", "A1"]})
    assert "E5 may not be named this turn" == rejected(later(HEAVEN), {"cells": ["A1", "e5"]})


@pytest.mark.parametrize("cell", ["D4", "D5", "E4", "E6", "F4", "F5"])
def test_r3_the_first_turn_of_contractual_obligation_names_none_of_the_six_around_e5(cell: str) -> None:
    assert f"{cell} may not be named this turn" == rejected(start(CONTRACT), {"cells": ["A1", cell]})
    assert {"cells": ["A1", cell]} == accepted(later(CONTRACT), {"cells": ["A1", cell]})


def test_r3_the_first_turn_of_contractual_obligation_names_1_or_2_cells_and_e5_itself_may_be_one() -> None:
    table = start(CONTRACT)
    for cells in (["E5"], ["C3", "E5"]):
        assert {"cells": cells} == accepted(table, {"cells": cells})
    assert "0 cells; this turn names 1 to 2" == rejected(table, {"cells": []})
    assert "3 cells; this turn names 1 to 2" == rejected(table, {"cells": ["A1", "C1", "E1"]})


@pytest.mark.parametrize(("variant", "default"), [(HEAVEN, []), (CONTRACT, ["E5"])])
def test_r4_the_default_is_no_pieces_or_one_on_e5_on_the_first_turn_too(variant: str, default: list[str]) -> None:
    table = start(variant)
    for _ in range(3):
        seat = seat_due(table)
        assert {"cells": default} == plain(table.default(seat))
        assert {"cells": default} == accepted(table, {"cells": default})
        assert default == time_out(table).event(seat, "placed")["cells"]


@pytest.mark.parametrize(("variant", "default"), [(HEAVEN, ""), (CONTRACT, "E5")])
def test_r4_the_opponent_is_not_sent_that_the_mover_ran_out_of_time(variant: str, default: str) -> None:
    late, meant = start(variant), start(variant)
    assert turn(meant, default) == time_out(late)
    assert meant.state == late.state


@pytest.mark.parametrize("advantage", [0, 1])
@pytest.mark.parametrize("named", [0, 1])
@BOTH
def test_r6_the_seat_with_the_advantage_names_who_goes_first_publicly(
    variant: str, advantage: int, named: int
) -> None:
    table = start(variant, advantage=advantage, first="choose")
    assert table.window is not None
    assert ("first", advantage) == (table.window.name, seat_due(table))
    heard = act(table, {"first": named})
    assert [{"type": "first_chosen", "seat": named}] == heard.public
    assert [[], []] == heard.seats
    assert ("turn", named) == (table.window.name, seat_due(table))


@pytest.mark.parametrize("first", [0, 1])
@BOTH
def test_r6_the_option_first_skips_the_window_and_first_chosen_is_not_told(variant: str, first: int) -> None:
    table = start(variant, first=first)
    assert () == table.start
    assert table.window is not None
    assert ("turn", first) == (table.window.name, seat_due(table))


def test_r5_only_the_second_players_first_turn_may_be_a_swap() -> None:
    table = start(HEAVEN)
    reason = "this turn may not be a swap"
    assert reason == rejected(table, {"swap": True})
    turn(table, "A1")
    assert {"swap": True} == accepted(table, {"swap": True})
    for cells in ("C1", "E1", "G1"):
        turn(table, cells)
        assert reason == rejected(table, {"swap": True})


def test_r11_60_seconds_a_turn_and_in_heaven_and_hell_a_reserve_of_300() -> None:
    assert 60_000 == MIST.variant(HEAVEN).time.main_ms["turn"] == MIST.variant(CONTRACT).time.main_ms["turn"]
    assert 300_000 == MIST.variant(HEAVEN).time.reserve_ms
    assert 0 == MIST.variant(CONTRACT).time.reserve_ms


def test_contractual_obligation_is_the_default_variant() -> None:
    assert [CONTRACT, HEAVEN] == [variant.name for variant in MIST.variants]


def test_options_left_out_have_their_defaults() -> None:
    for given in (None, Raw(b"{}"), Raw(b"null")):
        table = Table(MIST, Deal(CONTRACT, 0, given, given))
        assert {"advantage": 0, "first": "choose", "max_turns": 400} == plain(table.options)
        assert {} == plain(table.setup)


@pytest.mark.parametrize(
    "options",
    [
        {"advantage": 2},
        {"advantage": "0"},
        {"advantage": True},
        {"advantage": None},
        {"first": 2},
        {"first": "chose"},
        {"first": None},
        {"first": False},
        {"max_turns": 0},
        {"max_turns": -1},
        {"max_turns": 1.5},
        {"max_turns": True},
        {"turns": 3},
        [],
    ],
)
def test_an_unknown_option_or_a_value_that_breaks_its_rule_is_an_error_that_names_the_place(options: Any) -> None:
    with pytest.raises(BadSetupError, match=r"^options: "):
        Table(MIST, Deal(CONTRACT, 0, Raw(encode(options))))


def test_mist_has_no_setup() -> None:
    with pytest.raises(BadSetupError, match=r"^setup: "):
        Table(MIST, Deal(CONTRACT, 0, None, Raw(b'{"first":0}')))
