"""`Match`: step by step, for search; what is played on a copy leaves the original alone."""

import re
from typing import Any

import numpy as np
import pytest

from arena import IllegalActionError, Match, play
from protocol.codec import encode
from protocol.games.mist import Turn
from referee.games import GAMES
from tests.arena.simulation.bots import quick
from tests.games import with_variants

VARIANTS = with_variants(GAMES)


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_a_match_of_defaults_ends_as_one_that_bots_play_by_default(game: str, variant: str) -> None:
    match = Match(game, variant=variant, seed=5)
    while match.window is not None:
        assert match.outcome is None
        match.submit(match.owed[-1], None)
    assert () == match.owed
    played = play(game, [lambda window: None] * match.seats, variant=variant, seed=5)  # noqa: ARG005
    assert match.outcome == played.outcome
    assert [match.events(seat) for seat in range(match.seats)] == [
        played.match.events(seat) for seat in range(match.seats)
    ]
    html = match._repr_html_()
    assert game in html
    assert "<script" not in html


def test_actions_may_be_structs_or_plain_values_and_a_wrong_one_changes_nothing() -> None:
    match = Match("mist", variant="heaven-and-hell", seed=1, options={"first": 0})
    assert (0,) == match.owed
    with pytest.raises(IllegalActionError, match=r"seat 1, window 'turn': this seat owes nothing now"):
        match.submit(1, {"cells": ["A1"]})
    for wrong in ({"cells": ["E5"]}, {"cell": "A1"}, ["A1"], {"cells": {1, 2}}, object()):
        with pytest.raises(IllegalActionError, match=r"seat 0, window 'turn': "):
            match.submit(0, wrong)
    assert (0,) == match.owed
    assert Turn(cells=("C3",)) == match.check(0, {"cells": ["c3"]})
    match.submit(0, {"cells": ["c3"]})
    match.submit(1, Turn(cells=("G7",)))
    assert 3 == match.view(0).turn
    assert match.host_view().board["C3"] == 0


def test_a_copy_is_a_match_of_its_own_also_within_a_window() -> None:
    match = Match("hive-mind", seed=3)
    first, *others = match.owed
    match.submit(first, None)
    copy = match.copy()
    for seat in others:
        copy.submit(seat, None)
    assert tuple(others) == match.owed
    assert copy.state != match.state
    before = match.events(0)
    while copy.window is not None:
        copy.submit(copy.owed[0], None)
    assert before == match.events(0)
    assert copy.outcome is not None
    assert match.outcome is None


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
@pytest.mark.parametrize("seat", [-1, 99, 1.0, "0", True])
def test_there_is_no_such_seat(game: str, variant: str, seat: Any) -> None:
    match = Match(game, variant=variant, seed=3)
    for shown in (match.view, match.events):
        with pytest.raises(ValueError, match="seat: "):
            shown(seat)
    assert encode(match.view(1)) == encode(match.view(np.int64(1)))  # type: ignore[arg-type]


def test_changing_a_returned_object_does_not_change_the_match() -> None:
    match = Match("mist", seed=1, options={"first": 0})
    for seat, cell in ((0, "C3"), (1, "G7"), (0, "C5")):
        match.submit(seat, {"cells": [cell]})
    view = match.view(0)
    view.visible.clear()
    match.events(0)[-1].visible.clear()  # type: ignore[attr-defined]
    assert match.view(0).visible
    assert match.events(0)[-1].visible  # type: ignore[attr-defined]


def test_a_notebook_shows_the_board_and_names_are_text_there() -> None:
    def decide(window: object) -> None:
        """Its name is hostile."""

    decide.__name__ = "<img src=x onerror=alert(1)>"
    result = play("mist", [quick, quick], seed=1)
    assert "over" in repr(result.match)
    assert re.search("<span style=", result.match._repr_html_())
    hostile = play("mist", [decide, decide], seed=1)
    assert "<img" not in hostile._repr_html_()
    assert "&lt;img" in hostile._repr_html_()
