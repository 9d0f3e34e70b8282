"""Commentary: each game's sentences on its golden matches, and on positions that golden matches seldom have."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from protocol.text import COMMENTARIES, Commentary, Remark, Scene, remarks_on, series
from protocol.words import View
from tests.golden.commentary import NAMES, commentary_path, commented, scenes
from tests.golden.matches import FOLDER, adjudicated, path, variants

REWRITE = "run scripts/golden and read the diff"


def result_of(game: str, variant: str) -> Any:
    return json.loads(path(game, variant).read_bytes())["result"]


def said(scenario: dict[str, Any]) -> list[str]:
    """Return all remarks on a scenario after the deal, as lines without their step."""
    return [line[4:] for line in commented(adjudicated(scenario)).splitlines()]


@pytest.mark.parametrize(("game", "variant"), variants())
def test_the_commentary_on_a_golden_match_is_as_it_was(game: str, variant: str) -> None:
    kept = commentary_path(game, variant).read_text().splitlines()
    assert kept == commented(result_of(game, variant)).splitlines(), (
        f"{game}, {variant}: if this is meant, {REWRITE}"
    )


def test_no_golden_commentary_is_left_of_a_game_that_is_gone() -> None:
    assert {commentary_path(*each) for each in variants()} == set(FOLDER.glob("*.commentary.txt"))


@pytest.mark.parametrize(("game", "variant"), variants())
def test_commentary_speaks_of_names_and_never_of_seats_or_windows(game: str, variant: str) -> None:
    text = commentary_path(game, variant).read_text()
    assert re.search(r"\b(seats?|windows?)\b", text) is None
    assert any(name in text for name in NAMES)
    assert " *** " in text


@pytest.mark.parametrize(("game", "variant"), variants())
def test_every_view_of_the_host_has_a_score_for_each_seat(game: str, variant: str) -> None:
    for scene in scenes(result_of(game, variant)):
        assert len(scene.names) == len(COMMENTARIES[game].scores(scene.after))


def mist(*turns: dict[str, Any]) -> list[str]:
    steps = [{str(number % 2): turn} for number, turn in enumerate(turns)]
    return said({"game": "mist", "options": {"first": 0}, "steps": steps})


def test_a_pair_of_mist_that_is_spotted_is_lost() -> None:
    lines = mist({"cells": ["C3"]}, {"cells": ["C4", "D6"]})
    assert ["    anna places C3", "**  anna spots all of bob's pair: two pieces lost"] == lines


def test_only_spotted_pieces_of_a_triple_are_lost_in_mist() -> None:
    lines = mist({"cells": ["C3"]}, {"cells": ["C4", "D6", "H5"]})
    assert ["**  anna spots C4 and D6 of bob's three pieces: two pieces lost", "    bob places H5"] == lines[1:]


def test_a_piece_of_mist_that_meets_another_is_lost() -> None:
    lines = mist({"cells": ["A1"]}, {"cells": ["I5"]}, {"cells": ["I5"]}, {"cells": ["I5"]})
    assert [
        "*   anna runs into bob on I5: one piece lost",
        "*   bob runs into its own piece on I5: one piece lost",
    ] == lines[2:]


def test_groups_of_mist_that_grow_together_and_a_change_of_the_lead_are_told() -> None:
    lines = mist(
        {"cells": ["A1"]}, {"cells": ["I1"]}, {"cells": ["A3"]}, {"cells": ["I2"]}, {"cells": ["A2"]},
        {"cells": ["I3"]}, {"cells": ["H1"]}, {"cells": ["I4"]}, {"cells": ["B2"]}, {"cells": ["I5"]},
    )  # fmt: skip
    assert "**  anna joins two groups into one of 3" in lines
    assert "*   bob is in the lead, 4 to 3" in lines


def test_of_groups_of_mist_that_grow_in_one_turn_the_largest_alone_is_told() -> None:
    lines = mist(
        {"cells": ["A1"]}, {"cells": ["I1"]}, {"cells": ["A3"]}, {"cells": ["I2"]}, {"cells": ["A4", "B1"]}
    )
    assert "    anna places A4 and B1" == lines[-2]
    assert "    anna's largest group grows to 2" == lines[-1]


class Points(View, frozen=True, kw_only=True):
    """A view of a game that is nothing but points."""

    points: tuple[int, ...]


POINTS = Commentary(remarks=lambda _scene: (), scores=lambda view: getattr(view, "points", ()), unit="Points")


@pytest.mark.parametrize(
    ("before", "after", "remarks"),
    [
        ((0, 0), (1, 0), [Remark("anna is in the lead, 1 to 0", (0,), 1)]),
        ((2, 1), (2, 3), [Remark("bob takes the lead, 3 to 2", (1,), 2)]),
        ((2, 1), (2, 2), [Remark("bob draws level at 2", (1,), 1)]),
        ((2, 1, 1), (2, 2, 2), [Remark("bob and carl draw level at 2", (1, 2), 1)]),
        ((2, 1), (3, 2), []),
        ((0, 0), (0, 0), []),
    ],
)
def test_the_lead_is_told_where_it_changes(
    before: Sequence[int], after: Sequence[int], remarks: list[Remark]
) -> None:
    scene = Scene(before=Points(points=tuple(before)), after=Points(points=tuple(after)), names=NAMES)
    assert remarks == remarks_on(POINTS, scene)


def test_a_change_of_the_lead_is_told_before_the_end() -> None:
    whole = replace(POINTS, remarks=lambda _scene: (Remark("bob gains 2"), Remark("bob wins", (1,), 3)))
    scene = Scene(before=Points(points=(2, 1)), after=Points(points=(2, 3)), names=NAMES)
    texts = [remark.text for remark in remarks_on(whole, scene)]
    assert ["bob gains 2", "bob takes the lead, 3 to 2", "bob wins"] == texts


def test_nothing_leads_at_the_deal() -> None:
    assert [] == remarks_on(POINTS, Scene(before=None, after=Points(points=(3, 0)), names=NAMES))


@pytest.mark.parametrize(
    ("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_series_reads_as_in_a_sentence(words: list[str], text: str) -> None:
    assert text == series(words)
