"""Pointing's windows, the forms of their actions, options, setup and time (R1, R7)."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.rules.contract import BadSetupError, Illegal, Taken
from referee.rules.table import Deal, Table
from tests.referee.games.pointing_play import POINTING, after, host, plain, point, start, window

DAY_MS = 24 * 60 * 60 * 1000


def rejected(table: Table, seat: int, raw: str) -> str:
    """The reason why the action is rejected."""
    with pytest.raises(Illegal) as illegal:
        table.read(seat, raw.encode())
    return illegal.value.reason


def accepted(table: Table, seat: int, raw: str) -> Any:
    """The canonical spelling of the action."""
    return plain(table.read(seat, raw.encode()))


def voting() -> Table:
    """Seats 0 and 1 vote on 2, 3 and 4."""
    return after(*["A>B>A"] * 3, seats=5)


def test_there_are_13_seats_and_a_threshold_of_7_by_default() -> None:
    table = start()
    assert 13 == table.seats
    assert {"seats": 13, "token_threshold": 7} == plain(table.options)


@pytest.mark.parametrize("seats", [3, 4, 25, 26])
def test_the_rules_hold_for_any_number_of_seats_from_3_to_26(seats: int) -> None:
    table = start(seats=seats)
    assert ("point", list(range(seats))) == window(table)
    point(table, "A>B")
    assert seats == sum(section["size"] for section in host(table)["maps"][0])


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


@pytest.mark.parametrize("threshold", [0, 26, 10**30])
def test_token_threshold_is_any_whole_number_from_0(threshold: int) -> None:
    assert threshold == plain(start(token_threshold=threshold).options)["token_threshold"]


def test_there_is_no_setup() -> None:
    assert {} == plain(start().setup)
    assert {} == plain(Table(POINTING, Deal("tempo-up", 0, None, Raw(b"{}"))).setup)
    with pytest.raises(BadSetupError, match="setup: "):
        Table(POINTING, Deal("tempo-up", 0, None, Raw(b'{"targets":[]}')))


def test_there_is_one_variant() -> None:
    assert ["tempo-up"] == [variant.name for variant in POINTING.variants]


def test_nothing_is_told_before_the_first_window() -> None:
    assert () == start().start


@pytest.mark.parametrize("target", ["1", "2", "12", "null"])
def test_a_seat_points_at_one_other_seat_or_at_none(target: str) -> None:
    action = f'{{"target":{target}}}'
    assert action == encode(accepted(start(), 0, action)).decode()


def test_a_seat_cannot_point_at_itself() -> None:
    """The source's words: You can't name yourself."""
    assert "target: a seat cannot point at itself" == rejected(start(), 4, '{"target":4}')


@pytest.mark.parametrize("target", ["13", "25", "26", "-1", "1" + 40 * "0"])
def test_a_seat_cannot_point_at_a_seat_that_there_is_not(target: str) -> None:
    assert "target" in rejected(start(), 0, f'{{"target":{target}}}')


def test_the_last_seat_of_a_larger_table_may_be_pointed_at() -> None:
    assert {"target": 25} == accepted(start(seats=26), 0, '{"target":25}')


@pytest.mark.parametrize("seat", ["2", "3", "4", "null"])
def test_a_vote_names_a_tied_seat_or_nobody(seat: str) -> None:
    action = f'{{"seat":{seat}}}'
    assert action == encode(accepted(voting(), 1, action)).decode()


def test_r7_a_rejected_target_does_not_count_as_submitted_and_leaves_its_seat_with_the_default() -> None:
    """It changes nothing: the window closes with what else the seat has, here nothing."""
    table = start(seats=3)
    rejected(table, 0, '{"target":0}')
    point(table, "B>C")
    assert {"0": None, "1": 2, "2": None} == host(table)["rounds"][0]["targets"]


def test_the_reasons_of_rejections_are_the_same_whatever_others_have_done() -> None:
    for action in ('{"target":0}', '{"target":99}', '{"target":4}', "{}"):
        one, other = (rejected(after(arrows, seats=4), 0, action) for arrows in ("A>B", "A>B C>D>C"))
        assert one == other


def test_no_rule_depends_on_time_taken() -> None:
    for table in (start(), voting()):
        assert table.window is not None
        assert not table.window.timed
        assert not table.window.asap


def test_a_window_takes_a_day_and_there_is_no_reserve() -> None:
    """The published rules name no time; a round a day is what they are played at."""
    time = POINTING.variants[0].time
    assert ({"point": DAY_MS, "vote": DAY_MS}, 0) == (time.main_ms, time.reserve_ms)


def test_elapsed_time_changes_nothing() -> None:
    one, other = start(seats=3), start(seats=3)
    for table, elapsed in ((one, 0), (other, DAY_MS)):
        table.close(tuple(Taken(table.default(seat), elapsed_ms=elapsed) for seat in range(3)))
    assert one.state == other.state
