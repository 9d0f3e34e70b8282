"""Who watches a match sees what their eyes may see."""

import io

import pytest

from arena.errors import WrongUse
from arena.live.watch import Eyes, Watcher, read_eyes
from arena.terminal import Screen
from tests.arena.live.test_drawing import TURNS, table


def watched(eyes: Eyes) -> str:
    screen = io.StringIO()
    game, told = table(*TURNS)
    Watcher(Screen(file=screen, width=200), eyes, ("ann", "bob"))(game, told)
    return screen.getvalue()


def test_a_spectator_hears_only_what_is_public() -> None:
    assert "placed D2" not in watched("spectator")
    assert "spotted G6" not in watched("spectator")
    assert "(as a spectator)" in watched("spectator")


def test_a_seat_hears_what_is_for_it_and_sees_its_own_view() -> None:
    assert "to seat 0 (ann): the opponent has placed: you spotted G6; destroyed G6" in watched(0)
    assert "you placed" not in watched(0)
    assert "(as seat 0, O)" in watched(0)


def test_the_host_hears_and_sees_all() -> None:
    assert "to seat 1 (bob): you placed D2 G6; destroyed: G6" in watched("host")
    assert "to seat 0 (ann): the opponent has placed" in watched("host")
    assert "(as the host)" in watched("host")


def test_eyes_are_named_spectator_host_or_a_seat_there_is() -> None:
    assert ["spectator", "host", 1] == [read_eyes("--watch", text, 2) for text in ("spectator", "host", "1")]
    for text in ("2", "-1", "referee", "", "1.0"):
        with pytest.raises(WrongUse, match="is neither spectator nor host nor a seat from 0 to 1"):
            read_eyes("--watch", text, 2)
