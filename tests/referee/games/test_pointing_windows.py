"""Pointing's windows, the forms of their actions, options, setup and time (R1, R7)."""

import pytest
from msgspec import Raw

from referee.rules.contract import BadSetupError, ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.playing import host_view, plain, rejected
from tests.referee.games.pointing_play import POINTING, point, start

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
