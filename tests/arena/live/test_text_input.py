"""What a person types, in each game's own words: read, shown as it could have been typed, and refused clearly."""

from typing import Any

import pytest

from arena.live.text_input import ParseError, registry

ASKED = (
    "assign 1 Torn Box, 2 Cross Box; divine Box; veil; pattern 1 2: Box, Torn, Box, Torn, Box, Torn; "
    "place divine 3; except 1: Torn Box; mirror 2 Cross Box; window 5 4"
)
TYPED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("mist", "first", "first 1", {"first": 1}),
    ("mist", "turn", "C3 D7", {"cells": ["C3", "D7"]}),
    ("mist", "turn", "none", {"cells": []}),
    ("mist", "turn", "swap", {"swap": True}),
    ("fight-for-a-name", "challenge", "1 4", {"pick": [1, 4]}),
    ("fight-for-a-name", "challenge", "none", {"pick": []}),
    ("fight-for-a-name", "move", "N NE", {"path": ["N", "NE"]}),
    ("fight-for-a-name", "move", "stay", {}),
    ("fight-for-a-name", "move", "N put 12:2 7:1", {"path": ["N"], "reinforce": {"12": 2, "7": 1}}),
    ("fight-for-a-name", "move", "give 3:1 5:1", {"give": {"3": 1, "5": 1}}),
    (
        "fight-for-a-name",
        "pillar",
        "body Hope red parting Faith blue other Mercy green neither Honour Justice crest Charity",
        {
            "body": ["Hope", "red"],
            "parting": ["Faith", "blue"],
            "other": ["Mercy", "green"],
            "neither": ["Honour", "Justice"],
            "crest": "Charity",
        },
    ),
    ("fight-for-a-name", "justice", "4", {"seat": 4}),
    ("fight-for-a-name", "justice", "nobody", {"seat": None}),
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
    (
        "runes-to-ruins",
        "symbol",
        "Torn Box, Cross Box, Slash Box, Torn Slope, Cross Slope, Slash Slope",
        {"symbol": ["Torn Box", "Cross Box", "Slash Box", "Torn Slope", "Cross Slope", "Slash Slope"]},
    ),
    (
        "runes-to-ruins",
        "round",
        "vote 13; vote 7 3; more votes; told; light; dark 2",
        {"votes": {"13": 1, "7": 3}, "more_votes": True, "told": True, "light": True, "dark": 2},
    ),
    (
        "runes-to-ruins",
        "round",
        ASKED,
        {
            "visions": {
                "assign": {"1": "Torn Box", "2": "Cross Box"},
                "divine": "Box",
                "veil": True,
                "pattern": {"groups": ["Box", "Torn"] * 3, "seats": [1, 2]},
                "place": {"order": "divine", "position": 3},
                "except": {"seat": 1, "runes": ["Torn Box"]},
                "mirror": {"rune": "Cross Box", "seat": 2},
                "window": {"position": 5, "seat": 4},
            }
        },
    ),
    (
        "runes-to-ruins",
        "round",
        "rune Torn Box; count 1 Box 2; has 1 Torn Box; line row 0 Torn Box; shared 1 2; most Torn Box, Cross Box",
        {
            "learned": [
                {"rune": "Torn Box"},
                {"count": {"seat": 1, "group": "Box", "number": 2}},
                {"has": {"seat": 1, "rune": "Torn Box"}},
                {"line": {"rune": "Torn Box", "row": 0}},
                {"shared": [1, 2]},
                {"most": ["Torn Box", "Cross Box"]},
            ]
        },
    ),
    ("runes-to-ruins", "round", "none", {}),
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
        ("fight-for-a-name", "move", "put 12", "put HEX:MP"),
        ("fight-for-a-name", "pillar", "body Hope red", "crest TITLE"),
        ("fight-for-a-name", "challenge", "one", "numbers"),
        ("hive-mind", "round", "Charge", "a Hive and three letters"),
        ("hive-mind", "scores", "12", "seat:score"),
        ("hive-mind", "break_tie", "ann", "a seat's number"),
        ("runes-to-ruins", "round", "count Box", "'count Box' is not understood"),
        ("runes-to-ruins", "round", "dance", "'dance' is not understood"),
        ("pointing", "point", "ann", "a seat's number, or nobody"),
    ],
)
def test_what_is_no_action_is_refused_with_what_would_be_one(
    game: str, window: str, text: str, complaint: str
) -> None:
    with pytest.raises(ParseError, match=complaint):
        registry.read(game, window, text)


@pytest.mark.parametrize("game", registry.TEXT_INPUTS)
def test_json_can_be_typed_in_any_game(game: str) -> None:
    assert {"x": [1]} == registry.read(game, "any", '{"x": [1]}')
