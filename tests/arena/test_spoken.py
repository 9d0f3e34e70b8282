"""What a person types, in each game's own words: read, shown as it could have been typed, and refused clearly."""

from typing import Any

import pytest

from arena.spoken import registry
from arena.spoken.unclear import Unclear

TYPED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("mist", "first", "first 1", {"first": 1}),
    ("mist", "turn", "C3 D7", {"cells": ["C3", "D7"]}),
    ("mist", "turn", "none", {"cells": []}),
    ("mist", "turn", "swap", {"swap": True}),
    (
        "hive-mind",
        "round",
        "Charge ADE Zero HKL double Charge block Zero guess Zero 112332112213",
        {
            "place": {"Charge": "ADE", "Zero": "HKL"},
            "double": ["Charge"],
            "block": ["Zero"],
            "guess": {"Zero": "112332112213"},
        },
    ),
    ("hive-mind", "round", "none", {}),
    ("hive-mind", "scores", "1:12 3:-1", {"scores": {"1": 12, "3": -1}}),
    ("hive-mind", "give_token", "3", {"seat": 3}),
    ("pointing", "point", "4", {"target": 4}),
    ("pointing", "point", "nobody", {"target": None}),
    ("pointing", "vote", "12", {"seat": 12}),
    ("pointing", "vote", "nobody", {"seat": None}),
]


@pytest.mark.parametrize(("game", "window", "text", "action"), TYPED)
def test_an_action_is_read_and_shown_in_the_games_words(
    game: str, window: str, text: str, action: dict[str, Any]
) -> None:
    assert action == registry.read(game, window, text)
    assert text == registry.say(game, action)


@pytest.mark.parametrize(
    ("game", "window", "text", "complaint"),
    [
        ("mist", "first", "C3", "first 0 or first 1"),
        ("hive-mind", "round", "Charge", "a Hive and three letters"),
        ("hive-mind", "scores", "12", "seat:score"),
        ("hive-mind", "break_tie", "ann", "a seat's number"),
        ("pointing", "point", "ann", "a seat's number, or nobody"),
    ],
)
def test_what_is_no_action_is_refused_with_what_would_be_one(
    game: str, window: str, text: str, complaint: str
) -> None:
    with pytest.raises(Unclear, match=complaint):
        registry.read(game, window, text)


@pytest.mark.parametrize("game", registry.SPOKEN)
def test_json_can_be_typed_in_any_game(game: str) -> None:
    assert {"x": [1]} == registry.read(game, "any", '{"x": [1]}')
