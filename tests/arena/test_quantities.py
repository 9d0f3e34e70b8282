"""One thing is not things."""

from io import StringIO

import pytest

from arena.quantities import pluralise, span
from arena.reports.tournament import void_text
from arena.schedule.blocks import SWAPPED, Block
from arena.schedule.tables import design_of
from arena.terminal import Screen
from arena.tournament import observers
from arena.tournament.observers import LiveProgress


@pytest.mark.parametrize(
    ("number", "thing", "said"),
    [
        (0, "match", "0 matches"),
        (1, "match", "1 match"),
        (2, "match", "2 matches"),
        (1, "block", "1 block"),
        (11, "block", "11 blocks"),
        (2, "void attempt", "2 void attempts"),
    ],
)
def test_a_number_of_things_is_said_as_people_say_it(number: int, thing: str, said: str) -> None:
    assert said == pluralise(number, thing)


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0, "0 s"),
        (100, "0.1 s"),
        (60_000, "60 s"),
        (90_000, "90 s"),
        (600_000, "10 min"),
        (86_400_000, "24 h"),
        (86_400_001, "86,400.001 s"),
    ],
)
def test_a_time_that_rules_give_is_said_exactly(milliseconds: int, said: str) -> None:
    assert said == span(milliseconds)


def test_the_number_may_have_a_format() -> None:
    assert "1,000,000 windows" == pluralise(1_000_000, "window", ",")


def test_one_void_attempt_is_one() -> None:
    assert "1 attempt was void and played again" == void_text(1, 0)
    assert "2 attempts were void and played again; 1 other match of their blocks too" == void_text(2, 1)
    assert "1 attempt was void and played again; 3 other matches of its block too" == void_text(1, 3)


def test_a_schedule_of_one_block_is_told_so() -> None:
    told = design_of([Block(0, 0, (0, 1), SWAPPED, 1)], range(2), 2).text
    assert "1 block: each bot plays 1, each two bots meet in 1, each bot sits in each seat in 1 match" == told


def test_progress_of_one_match_and_one_void_attempt_is_of_one() -> None:
    console = Screen(file=StringIO())
    with LiveProgress(console, 0, 1) as progress:
        progress.void(Block(0, 0, (0, 1), SWAPPED, 1).matches[0], "a power cut", 0)
    assert isinstance(console.file, StringIO)
    assert "0/1 match, 1 void attempt" == console.file.getvalue().splitlines()[-1]


def test_progress_does_not_say_its_last_line_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "LINE_SECONDS", 0)
    console = Screen(file=StringIO())
    with LiveProgress(console, 0, None) as progress:
        progress.void(Block(0, 0, (0, 1), SWAPPED, 1).matches[0], "a power cut", 0)
        progress._say_now_and_then()
    assert isinstance(console.file, StringIO)
    assert 1 == console.file.getvalue().count("0 matches, 1 void attempt")


def test_progress_is_printed_at_the_end_without_a_terminal_and_drawn_with_one() -> None:
    match = Block(0, 0, (0, 1), SWAPPED, 1).matches[0]
    for is_terminal in (False, True):
        console = Screen(file=StringIO(), force_terminal=is_terminal, width=100)
        with LiveProgress(console, 1, 2) as progress:
            progress.ended(match, None)  # type: ignore[arg-type]
            assert progress._bar.live.is_started is is_terminal
        assert not progress._bar.live.is_started
        assert isinstance(console.file, StringIO)
        assert is_terminal or ["2/2 matches"] == console.file.getvalue().splitlines()
