"""A viewer of a match sees only the events of the viewpoint."""

import io

import pytest

from arena.errors import WrongUse
from arena.live import watch
from arena.live.watch import Eyes, Watcher, read_eyes
from arena.terminal import Screen
from tests.protocol.text.test_drawing import TURNS, table


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
    assert "to seat 0 (ann): the opponent moved; you spotted G6; destroyed: G6" in watched(0)
    assert "you placed" not in watched(0)
    assert "(as seat 0, O)" in watched(0)


def test_the_host_hears_and_sees_all() -> None:
    assert "to seat 1 (bob): you placed D2 G6; destroyed: G6" in watched("host")
    assert "to seat 0 (ann): the opponent moved" in watched("host")
    assert "(as the host)" in watched("host")


def test_the_host_alone_reads_the_commentary() -> None:
    assert "ann places G5" in commented("host")
    for eyes in ("spectator", 0, 1):
        assert "ann places G5" not in commented(eyes)


def test_no_commentary_is_made_over_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MOST_WAITING", 1)
    assert "ann places G5" not in commented("host", delay=0.001)


def commented(eyes: Eyes, delay: float = 0) -> str:
    """Return what these eyes are shown of a match after its first turns, all given before they are drawn."""
    screen = io.StringIO()
    watcher = Watcher(Screen(file=screen, width=200), eyes, ("ann", "bob"), delay=delay)
    for number in (1, 2):
        watcher(*table(*TURNS[:number]))
    with watcher:
        pass
    return screen.getvalue()


def test_eyes_are_named_spectator_host_or_a_seat_there_is() -> None:
    assert ["spectator", "host", 1] == [read_eyes("--watch", text, 2) for text in ("spectator", "host", "1")]
    for text in ("2", "-1", "referee", "", "1.0"):
        with pytest.raises(WrongUse, match="is neither spectator nor host nor a seat from 0 to 1"):
            read_eyes("--watch", text, 2)


def on_terminal(height: int = 24) -> tuple[Screen, io.StringIO]:
    shown = io.StringIO()
    return Screen(file=shown, width=80, height=height, force_terminal=True, color_system=None), shown


def test_at_a_terminal_each_step_is_drawn_in_place_of_the_last() -> None:
    screen, shown = on_terminal()
    game, told = table(*TURNS)
    with Watcher(screen, 0, ("ann", "bob")) as watcher:
        watcher(game, told)
        first = shown.getvalue()
        watcher(game, told)
    second = shown.getvalue()[len(first) :]
    lines = first.count("\n") + 1
    assert lines <= 23
    assert f"\x1b[{1}A\x1b[2K" * (lines - 1) in second
    assert "(as seat 0, O)" in second


def test_steps_are_shown_one_below_the_other_if_a_person_types() -> None:
    screen, shown = on_terminal()
    game, told = table(*TURNS)
    with Watcher(screen, 0, ("ann", "bob"), in_place=False) as watcher:
        watcher(game, told)
        watcher(game, told)
    assert "\x1b[1A" not in shown.getvalue()
    assert 2 == shown.getvalue().count("(as seat 0, O)")


def test_with_a_delay_the_match_goes_on_and_all_steps_are_shown_in_the_end() -> None:
    screen = io.StringIO()
    steps = [table(*TURNS[:number]) for number in (1, 2, 3)]
    with Watcher(Screen(file=screen, width=200), "host", ("ann", "bob"), delay=0.01) as watcher:
        for step in steps:
            watcher(*step)
    text = screen.getvalue()
    places = [text.index(f"turn {number}, seat") for number in (2, 3, 4)]
    assert sorted(places) == places


def test_so_many_steps_wait_and_of_more_the_oldest_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MOST_WAITING", 2)
    screen = io.StringIO()
    watcher = Watcher(Screen(file=screen, width=200), "host", ("ann", "bob"), delay=0.001)
    for number in (1, 2, 3):
        watcher(*table(*TURNS[:number]))
    with watcher:
        pass
    assert "1 step behind the match; 1 step was left out" in screen.getvalue()
    assert "turn 2, seat" not in screen.getvalue()


def test_a_match_that_is_stopped_is_not_shown_to_its_end() -> None:
    screen = io.StringIO()
    with (
        pytest.raises(KeyboardInterrupt),
        Watcher(Screen(file=screen, width=200), "host", ("ann", "bob"), delay=60) as watcher,
    ):
        for number in (1, 2, 3):
            watcher(*table(*TURNS[:number]))
        raise KeyboardInterrupt
    assert "turn 4, seat" not in screen.getvalue()


def test_in_a_small_terminal_the_board_is_cut_and_never_scrolls_away() -> None:
    screen, shown = on_terminal(height=10)
    game, told = table(*TURNS)
    with Watcher(screen, "host", ("ann", "bob")) as watcher:
        watcher(game, told)
        assert shown.getvalue().count("\n") <= 9
