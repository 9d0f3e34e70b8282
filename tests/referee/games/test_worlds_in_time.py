"""A caller says until when worlds are searched, and may give a game's options as they stand."""

from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import asdict

from bots.kit import after
from protocol.codec import encode
from protocol.games.pointing import PointingOptions
from protocol.words import Event
from referee.games import GAMES
from referee.rules import Deal, NoWorldInTimeError, Table
from tests.games import WITH_WORLDS
from tests.referee.games.test_worlds import play_window

EACH_GAME = pytest.mark.parametrize("name", WITH_WORLDS)


def never() -> bool:
    return False


def at_call(number: int) -> Callable[[], bool]:
    """Return a function that is True from the call with this number on."""
    calls = iter(range(number))
    return lambda: next(calls, None) is None


def under_way(name: str) -> tuple[Table, list[list[Event]]]:
    """Return a match after some windows with hidden facts, and the events by seat."""
    table = Table(GAMES[name], Deal(GAMES[name].variants[0].name, 3))
    told = [[each.event for each in table.start if each.seat in (None, seat)] for seat in range(table.seats)]
    for _ in range(4 if name == "mist" else 2):
        play_window(table, told, Random(1))
    return table, told


def given(table: Table, told: list[list[Event]], seat: int, rng: Random) -> tuple[Any, list[Event], int, Random]:
    return table.game.view(table.state, seat), told[seat], seat, rng


@EACH_GAME
def test_with_time_enough_the_worlds_are_those_of_the_same_luck(name: str) -> None:
    table, told = under_way(name)
    seat = table.owed[0].seat
    one, other = Random(7), Random(7)
    unbounded = [encode(world) for world in islice(table.game.worlds(*given(table, told, seat, one)), 3)]
    bounded = islice(table.game.worlds_until(never, *given(table, told, seat, other)), 3)
    assert unbounded == [encode(world) for world in bounded]
    assert one.getstate() == other.getstate()


@EACH_GAME
def test_without_time_no_world_is_an_error_of_its_own_type(name: str) -> None:
    table, told = under_way(name)
    worlds = table.game.worlds_until(at_call(0), *given(table, told, table.owed[0].seat, Random(7)))
    with pytest.raises(NoWorldInTimeError, match=f"^{name}: no world was found in time$"):
        next(worlds)
    assert not issubclass(NoWorldInTimeError, ValueError), "a search that finds nothing that fits is another thing"


@EACH_GAME
def test_worlds_that_were_found_in_time_are_kept(name: str) -> None:
    table, told = under_way(name)
    draws = 200_000 if name == "runes-to-ruins" else 5_000
    found = list(table.game.worlds_until(at_call(draws), *given(table, told, table.owed[0].seat, Random(7))))
    assert 1 <= len(found) < draws


def test_time_may_be_told_in_seconds() -> None:
    soon, later = after(0), after(3600)
    assert (True, False) == (soon(), later())


@EACH_GAME
def test_options_as_a_games_type_makes_them_give_whole_states(name: str) -> None:
    """Where a default depends on the variant, `options()` leaves it out."""
    table, told = under_way(name)
    seat = table.owed[0].seat
    game = table.game
    (with_options,) = islice(game.worlds(*given(table, told, seat, Random(7)), options=game.options()), 1)
    (with_own,) = islice(game.worlds(*given(table, told, seat, Random(7)), options=table.options), 1)
    assert encode(with_own) == encode(with_options)
    assert UNSET not in asdict(with_options).values()


def test_options_of_another_match_of_pointing_are_an_error() -> None:
    table, told = under_way("pointing")
    with pytest.raises(ValueError, match=r"options\.seats: 5, and the view is of a match of 13 seats"):
        next(table.game.worlds(*given(table, told, 0, Random(1)), options=PointingOptions(seats=5)))
