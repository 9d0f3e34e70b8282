"""What a person types, in each game's own words: read, shown as it could have been typed, and refused clearly."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.codec import decode_action, decode_json, encode
from protocol.text import InputTerms, ParseError, registry
from referee.games import GAMES
from tests.games import WITH_TEXT, with_variants

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


WINDOWS = [(game, window) for game in WITH_TEXT for window in GAMES[game].actions]


@pytest.mark.parametrize(("game", "variant"), with_variants(WITH_TEXT))
def test_the_help_lists_the_forms_of_each_window(game: str, variant: str) -> None:
    terms = InputTerms(variant, {}, 0)
    explained = registry.explain(game, terms)
    for window, forms in registry.GAME_TEXTS[game].forms(terms).items():
        assert f"in the window {window}:" in explained
        for typed, meaning in forms:
            assert typed in explained
            assert meaning in explained


@pytest.mark.parametrize(
    ("game", "window", "default", "happens"),
    [
        ("mist", "first", {"first": 1}, "you go first"),
        ("mist", "turn", {"cells": ["E5"]}, "you place one piece on E5, which is destroyed"),
        ("mist", "turn", {"cells": []}, "you place no piece"),
        ("mist", "turn", None, "you place no piece"),
        ("pointing", "vote", {"seat": None}, "you vote for nobody"),
        ("hive-mind", "give_token", None, "the token goes to nobody and is lost"),
        ("fight-for-a-name", "move", {}, "you stay where you are, and put and give nothing"),
        ("runes-to-ruins", "symbol", None, "a symbol is drawn for you"),
    ],
)
def test_the_effect_of_no_submission_is_a_sentence(
    game: str, window: str, default: dict[str, Any] | None, happens: str
) -> None:
    assert f"If you submit nothing, {happens}." == registry.if_nothing(game, window, default)


SEEN = SimpleNamespace(seat=0, numbers=(14, 48, 21, 4), target=124)
"""What effects need of a view."""


@pytest.mark.parametrize(
    ("game", "window", "text", "effect"),
    [
        ("mist", "first", "first 0", "you go first"),
        ("mist", "first", "first 1", "seat 1 goes first"),
        ("mist", "turn", "C3", "you place a piece, on C3"),
        ("mist", "turn", "C3 D7 F1", "you place three pieces, on C3, D7 and F1"),
        ("mist", "turn", "swap", "you take over the other's first move"),
        ("mist", "turn", "none", "you place no piece"),
        ("pointing", "point", "3", "you point at seat 3"),
        ("pointing", "point", "nobody", "you point at nobody"),
        ("pointing", "vote", "3", "you vote for seat 3 to go"),
        ("hive-mind", "round", "Charge EFI double Charge", "you place EFI on Charge and double Charge"),
        (
            "hive-mind",
            "round",
            "Zero EFI guess Zero 112332112213",
            "you place EFI on Zero and guess the values of Zero",
        ),
        ("hive-mind", "round", "none", "you place no shape"),
        ("hive-mind", "scores", "1:12 2:1", "you guess 12 points for seat 1 and 1 point for seat 2"),
        ("hive-mind", "scores", "none", "you guess no score"),
        ("hive-mind", "give_token", "2", "you give the token to seat 2"),
        ("hive-mind", "break_tie", "2", "you vote for seat 2 to go"),
        ("fight-for-a-name", "challenge", "0 3", "you answer 14 + 4 = 18, and the target is 124"),
        ("fight-for-a-name", "challenge", "none", "you give no answer"),
        ("fight-for-a-name", "move", "NW N put 12:2", "you walk NW N and put 2 MP on hex 12"),
        ("fight-for-a-name", "move", "give 3:1", "you give 1 MP to seat 3"),
        ("fight-for-a-name", "move", "stay", "you stay where you are, and put and give nothing"),
        ("fight-for-a-name", "token_vote", "3", "you vote for seat 3"),
        ("fight-for-a-name", "justice", "3", "you name seat 3"),
        ("fight-for-a-name", "justice", "nobody", "you name nobody"),
        (
            "runes-to-ruins",
            "round",
            "vote 7; told; dark 2; divine Box; has 1 Torn Box",
            (
                "you vote for condition 7; learn which condition wins; use the Power of Dark on seat 2;"
                " ask as a vision who uses a rune of this Divine group;"
                " ask by what you learned whether that seat uses this rune"
            ),
        ),
        ("runes-to-ruins", "round", "none", "you do nothing in this round"),
    ],
)
def test_the_effect_of_an_action_is_said_before_it_is_submitted(
    game: str, window: str, text: str, effect: str
) -> None:
    action = registry.read(game, window, text)
    assert effect == registry.GAME_TEXTS[game].effect(window, SEEN, action)


@pytest.mark.parametrize(("game", "window"), WINDOWS)
def test_each_window_describes_its_effect_without_a_submission(game: str, window: str) -> None:
    if window == "first":
        assert "first 1" == registry.say_default(game, window, {"first": 1})
    else:
        assert registry.GAME_TEXTS[game].if_nothing(window, None) == registry.say_default(game, window, None)


REFUSED = [
    ("mist", "first", "C3", "type first 0 or first 1"),
    ("mist", "turn", "c3 a9", "A9 is no cell: row A is A1 to A5"),
    ("mist", "turn", "j9", "J9 is no cell: rows are A to I, from A1 to A5 and E1 to E9"),
    ("mist", "turn", "\x1b[31m", r"'\x1b[31M' is no cell: rows are A to I, from A1 to A5 and E1 to E9"),
    ("fight-for-a-name", "challenge", "one", "one is not a number's position: 0 to 7"),
    ("fight-for-a-name", "challenge", "8", "8 is not a number's position: 0 to 7"),
    ("fight-for-a-name", "challenge", "\u0663", "'\u0663' is not a number's position: 0 to 7"),
    ("fight-for-a-name", "move", "E", "E is not a direction, nor put, give or stay: N, NE, SE, S, SW, NW"),
    ("fight-for-a-name", "move", "put 12", "12 is not understood: type put HEX:MP or give SEAT:MP"),
    ("fight-for-a-name", "move", "put 37:1", "37 is not a hex: 1 to 36"),
    ("fight-for-a-name", "move", "put 3:0", "0 is not an amount of MP: 1 to 1000000"),
    ("fight-for-a-name", "move", "give 13:1", "13 is not a seat: 0 to 12"),
    ("fight-for-a-name", "move", "give 3:3", "3 is not a gift's MP: 1 to 2"),
    ("fight-for-a-name", "pillar", "head", "head is not one of the uses of a title: body, parting, other,"),
    ("fight-for-a-name", "pillar", "body Hope", "body lacks a word; type body TITLE COLOUR"),
    ("fight-for-a-name", "pillar", "body hope pink", "pink is not a colour: red, orange, yellow"),
    ("fight-for-a-name", "pillar", "crest Love", "Love is not a title: Charity, Courage"),
    (
        "fight-for-a-name",
        "pillar",
        "body Hope red neither Honour Faith crest Mercy",
        "parting and other are missing; type body TITLE COLOUR",
    ),
    ("fight-for-a-name", "justice", "13", "13 is not a seat's number, nor nobody: 0 to 12"),
    ("hive-mind", "round", "Charge", "Charge what? type a Hive and a shape's three hexes"),
    ("hive-mind", "round", "double", "double what? type double and a Hive"),
    ("hive-mind", "round", "4 ADE", "4 is not a Hive in play, nor double, block or guess"),
    ("hive-mind", "round", "1 ADM", "ADM is no shape: type three of the hexes A to L after 1"),
    ("hive-mind", "round", "guess 1 123", "123 is no guess for 1: type 12 digits 1 to 3, for hexes A to L"),
    ("hive-mind", "scores", "12", "12 is no guess: type SEAT:POINTS for other seats, or none"),
    ("hive-mind", "scores", "5:1", "5 is not a seat's number: 0 to 4"),
    ("hive-mind", "break_tie", "ann", "ann is not a seat's number: 0 to 4"),
    ("runes-to-ruins", "symbol", "Torn Box", "a symbol is six runes, set off by commas; there is 1"),
    ("runes-to-ruins", "round", "guess Torn Hat", "'Torn Hat' is no rune: Straight, Torn, Origin, Cross,"),
    ("runes-to-ruins", "round", "vote 16", "16 is not a condition: 1 to 15"),
    ("runes-to-ruins", "round", "count Box", "count Box is not understood: type count SEAT GROUP NUMBER"),
    (
        "runes-to-ruins",
        "round",
        "vote 1 \x1b[31m x",
        r"'vote 1 \x1b[31m x' is not understood: type vote CONDITION VOTES",
    ),
    (
        "runes-to-ruins",
        "round",
        "vote 1 \u202e x",
        r"'vote 1 \u202e x' is not understood: type vote CONDITION VOTES",
    ),
    ("runes-to-ruins", "round", "count 1 Box 7", "7 is not a number of runes: 0 to 6"),
    ("runes-to-ruins", "round", "line row 2 Torn Box", "2 is not a row: 0 to 1"),
    ("runes-to-ruins", "round", "divine Torn", "Torn is not a Divine group: Divider, Slope,"),
    ("runes-to-ruins", "round", "place holy 1", "holy is not an Order: divine, mundane"),
    (
        "runes-to-ruins",
        "round",
        "pattern 1 2",
        "a pattern has ':' after its seats: type pattern SEAT SEAT ...: GROUP",
    ),
    (
        "runes-to-ruins",
        "round",
        "except 1 Torn Box",
        "except has ':' after its seat: type except SEAT: RUNE, RUNE, ...",
    ),
    ("runes-to-ruins", "round", "dance", "dance is not the start of a part: more votes, told, abstain, light,"),
    ("pointing", "point", "ann", "ann is not a seat's number, nor nobody: 0 to 25"),
    ("pointing", "vote", "9" * 5_000, "'99999999999999999999' is not a seat's number, nor nobody: 0 to 25"),
]


@pytest.mark.parametrize(("game", "window", "text", "complaint"), REFUSED)
def test_text_that_is_no_action_is_refused_with_an_example_of_one(
    game: str, window: str, text: str, complaint: str
) -> None:
    with pytest.raises(ParseError, match=f"^{re.escape(complaint)}"):
        registry.read(game, window, text)


BITS = sorted(
    {bit for _, _, typed, _ in TYPED for bit in re.findall(r"\w+|\W", typed)}
    | {"0", "99", "-1", "\u0663", "\u212a", "\x00", "'", '"', "é", "C3!", "1:", "J9"}
)


@pytest.mark.parametrize(("game", "window"), WINDOWS)
@given(text=st.lists(st.sampled_from(BITS), max_size=12).map("".join) | st.text(max_size=30))
def test_any_text_that_is_read_has_the_form_of_its_window(game: str, window: str, text: str) -> None:
    """So the referee never refuses a person's action for its form, in words that are about JSON."""
    try:
        action = registry.read(game, window, text)
    except ParseError:
        return
    decode_action(encode(action), GAMES[game].actions[window])


JSON = [
    ("mist", "first", '{"first": 1}'),
    ("fight-for-a-name", "move", '{"path": ["N"]}'),
    ("hive-mind", "scores", '{"scores": {"1": 2}}'),
    ("pointing", "point", '{"target": 1}'),
    ("runes-to-ruins", "round", '{"told": true}'),
]


@pytest.mark.parametrize(("game", "window", "text"), JSON)
def test_json_can_be_typed_in_any_game(game: str, window: str, text: str) -> None:
    assert decode_json(text.encode()) == registry.read(game, window, text)


@pytest.mark.parametrize(
    ("game", "window", "text", "complaint"),
    [
        ("mist", "turn", '{"cells": [', "this is not JSON: "),
        ("mist", "turn", '{"cells": ' + "[" * 100_000, "this is not JSON: "),
        (
            "mist",
            "turn",
            '{"cells": ["C3", 4]}',
            "this is not an action of the window turn: cells 1: expected text, got a whole number",
        ),
        (
            "mist",
            "turn",
            '{"cell": []}',
            "this is not an action of the window turn: this window takes 'cells', 'swap'; it has no 'cell'",
        ),
        (
            "mist",
            "turn",
            '{"\\u001b[31m\u202e": 1}',
            (
                r"this is not an action of the window turn: this window takes 'cells', 'swap'; "
                r"it has no '\x1b[31m\u202e'"
            ),
        ),
        (
            "fight-for-a-name",
            "move",
            '{"path": ["n"]}',
            "this is not an action of the window move: path 0: 'n' is not known there",
        ),
        (
            "fight-for-a-name",
            "move",
            '{"reinforce": {"99": 1}}',
            "this is not an action of the window move: a key of reinforce: '99' is not known there",
        ),
    ],
)
def test_json_of_another_form_is_refused_without_a_path(game: str, window: str, text: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=f"^{re.escape(complaint)}"):
        registry.read(game, window, text)
