"""What a model is sent: examples are legal where they stand, fields are explained, nothing is of another match."""

import json
import re
from collections.abc import Container, Iterator
from random import Random
from typing import Any

import pytest
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from arena.simulation import Match
from bots.kit import Session
from bots.language_model.prompts import Context, in_words, read_answer
from protocol import text
from protocol.codec import decode_json, encode
from protocol.games.fight_for_a_name.board import ROWS
from protocol.messages import PROTOCOL, ClockTerms, EventMessage, Opened, Submit, Welcome
from protocol.text import GAME_TEXTS
from referee.games import GAMES
from tests.bots.in_process import BOTS

LISTED = re.compile(r"^  ACTION: (?P<typed>.*?)(?:  .*)?$", re.MULTILINE)
"""An example as a prompt has it, before its meaning."""
MOST_CHARACTERS = 25_000
DAY_MS = 86_400_000


class Terms(Struct, frozen=True):
    """A match of sample bots, all of the same name, and windows that must come in it."""

    game: str
    variant: str
    bot: str
    seed: int
    comes: set[str]
    options: dict[str, Any] = {}

    def __str__(self) -> str:
        return f"{self.game} {self.variant} {self.bot} {encode(self.options).decode()}"


class Asked(Struct):
    """A prompt, and the match at which it is sent."""

    match: Match[Any]
    seat: int
    window: str
    system: str
    user: str

    @property
    def examples(self) -> list[str]:
        return [found["typed"] for found in LISTED.finditer(self.user)]


def prompts(terms: Terms, windows: Container[str] | None = None) -> Iterator[Asked]:
    """Play a match; yield the prompt of every seat in these windows, None: in all of them."""
    match = Match(terms.game, variant=terms.variant, seed=terms.seed, options=terms.options)
    said: list[list[Any]] = [[] for _ in range(match.seats)]
    sessions = [Session(BOTS[terms.game][terms.bot](), each.append) for each in said]
    contexts = []
    for seat, session in enumerate(sessions):
        welcome = Welcome(
            protocol=PROTOCOL,
            match="m",
            game=terms.game,
            variant=terms.variant,
            seat=seat,
            seats=match.seats,
            options=to_builtins(match.options),
            clock=ClockTerms(main_ms={}),
            seed=Random(terms.seed + seat).getrandbits(32),
        )
        session.hear(welcome)
        contexts.append(Context(welcome, 16_000))
    heard = [0] * match.seats
    number = 0
    while match.window is not None:
        name = match.window.name
        for owed in match.window.owed:
            seat = owed.seat
            for event in match.events(seat)[heard[seat] :]:
                told = decode_json(encode(event))
                sessions[seat].hear(EventMessage(heard[seat], told))
                contexts[seat].event(told)
                heard[seat] += 1
            view = decode_json(encode(match.view(seat)))
            default = None if owed.drawn or owed.default is None else decode_json(encode(owed.default))
            opened = Opened(number, name, view, default, DAY_MS, 0)
            if windows is None or name in windows:
                system, user = contexts[seat].messages(opened, DAY_MS / 1000 - 3)
                yield Asked(match, seat, name, system["content"], user["content"])
            sessions[seat].hear(opened)
            (*_, last) = (each for each in said[seat] if isinstance(each, Submit))
            number += 1
            action = decode_json(last.action)
            match.submit(seat, action)
            contexts[seat].closed(name, action or default, by_default=action is None)


def check(asked: Asked) -> None:
    """Copy each example into an answer, and what is read of it into the rules."""
    assert asked.examples
    for typed in asked.examples:
        action = read_answer(asked.match.game.name, asked.window, f"I copy one.\nACTION: {typed}")
        asked.match.check(asked.seat, action)


ARTEFACTS = {"artefacts": {"0": ["light", "dark"]}}
MATCHES = [
    Terms("mist", "contractual-obligation", "random", 1, {"first", "turn"}, {"max_turns": 40}),
    Terms("mist", "contractual-obligation", "hunter", 2, {"turn"}, {"first": 1}),
    Terms("mist", "heaven-and-hell", "random", 2, {"first", "turn"}, {"advantage": 1}),
    Terms("mist", "heaven-and-hell", "cautious", 3, {"turn"}, {"first": 0, "max_turns": 20}),
    Terms("hive-mind", "recharged", "random", 4, {"round"}),
    Terms("hive-mind", "tempo-up", "random", 5, {"round", "give_token"}),
    Terms("hive-mind", "tempo-up", "random", 6, {"round"}, {"garnets": 0}),
    Terms("hive-mind", "gauntlet", "random", 7, {"round", "scores"}),
    Terms("hive-mind", "gauntlet", "random", 8, {"round", "scores"}, {"garnets": 2}),
    Terms("pointing", "tempo-up", "random", 9, {"point"}),
    Terms("pointing", "tempo-up", "loyal", 10, {"point"}, {"seats": 3}),
    Terms("fight-for-a-name", "guardians", "random", 11, {"challenge", "move"}),
    Terms("fight-for-a-name", "guardians", "herald", 12, {"challenge", "move", "pillar"}),
    Terms("fight-for-a-name", "guardians", "herald", 14, {"challenge", "move"}, {"rounds": 1}),
    Terms("fight-for-a-name", "guardians", "herald", 15, {"challenge", "move", "pillar"}, {"rounds": 3}),
    Terms("runes-to-ruins", "guardians", "random", 16, {"symbol", "round"}),
    Terms("runes-to-ruins", "guardians", "random", 17, {"symbol", "round"}, {"rounds": 6} | ARTEFACTS),
]
SELDOM = [
    Terms("fight-for-a-name", "guardians", "herald", 0, {"token_vote"}),
    Terms("fight-for-a-name", "guardians", "herald", 0, {"elimination_vote"}),
    Terms("fight-for-a-name", "guardians", "herald", 9, {"justice"}),
    Terms("hive-mind", "recharged", "random", 5, {"break_tie"}),
    Terms("pointing", "tempo-up", "random", 0, {"vote"}),
]
"""Windows that open in few matches, and the seed of one."""
EACH_MATCH = pytest.mark.parametrize("terms", MATCHES, ids=str)


@EACH_MATCH
def test_every_prompt_is_true_where_it_stands(terms: Terms) -> None:
    """Its examples are legal, the fields that it shows are explained, the windows that it describes may open."""
    seen = set()
    for asked in prompts(terms):
        seen.add(asked.window)
        check(asked)
        assert len(LISTED.findall(asked.user)) == asked.user.count("ACTION: ")
        assert "ACTION: " not in asked.system.replace("must be ACTION: and then", "")
        assert "such as" not in asked.user
        described = set(re.findall(r"^in the window (\w+):$", asked.system, re.MULTILINE))
        options = to_builtins(asked.match.options)
        assert asked.window in described
        assert described == set(GAME_TEXTS[terms.game].forms(text.InputTerms(terms.variant, options, asked.seat)))
        data = asked.user.partition("The same as data: ")[2].partition("\n")[0]
        explained = asked.system.partition("WHAT YOU KNOW")[2].partition("HOW TO ANSWER")[0]
        words = set(re.findall(r"\w+", explained))
        assert set() == set(_keys(json.JSONDecoder().raw_decode(data)[0])) - words
        assert "/help" not in asked.system + asked.user
        assert "briefly" not in asked.system
        assert "You have 23 hours 59 minutes. " in asked.user
        assert len(asked.system) + len(asked.user) < MOST_CHARACTERS
    assert terms.comes <= seen


@pytest.mark.parametrize("terms", SELDOM, ids=str)
def test_the_examples_of_windows_that_seldom_open_are_legal(terms: Terms) -> None:
    seen = set()
    for asked in prompts(terms, terms.comes):
        check(asked)
        seen.add(asked.window)
    assert terms.comes == seen


def test_in_the_final_phase_the_examples_put_mp_on_hexes() -> None:
    """Played with heralds for so long that few are left on the board."""
    shown: set[bool] = set()
    for asked in prompts(Terms("fight-for-a-name", "guardians", "herald", 13, set(), {"rounds": 40}), {"move"}):
        putting = [typed for typed in asked.examples if "put" in typed.split()]
        if putting:
            check(asked)
            shown.update(typed.partition(" ")[0] == "put" for typed in putting)
        if len(shown) == 2:
            return
    pytest.fail("some form of it was never shown")


def _keys(data: Any) -> Iterator[str]:
    """Yield the names of fields, without seats, cells, titles and other names of things."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key.islower() and key.isidentifier():
                yield key
            yield from _keys(value)
    elif isinstance(data, list):
        for each in data:
            yield from _keys(each)


NEVER = {
    ("mist", "contractual-obligation", 0, '{"first": 1}'): {"first"},
    ("mist", "contractual-obligation", 1, "{}"): {"first"},
    ("hive-mind", "recharged", 0, "{}"): {"scores", "give_token"},
    ("hive-mind", "tempo-up", 0, "{}"): {"scores"},
    ("hive-mind", "gauntlet", 0, "{}"): {"give_token"},
    ("fight-for-a-name", "guardians", 0, '{"rounds": 1}'): {"pillar", "token_vote", "elimination_vote", "justice"},
    ("fight-for-a-name", "guardians", 0, '{"rounds": 3}'): {"token_vote", "elimination_vote", "justice"},
}


@pytest.mark.parametrize(("game", "variant", "seat", "options"), NEVER)
def test_windows_that_never_open_for_a_seat_are_left_out(game: str, variant: str, seat: int, options: str) -> None:
    forms = GAME_TEXTS[game].forms(text.InputTerms(variant, json.loads(options), seat))
    assert set(GAMES[game].actions) - set(forms) == NEVER[game, variant, seat, options]


@pytest.mark.parametrize(
    ("game", "variant", "options", "words"),
    [
        ("mist", "contractual-obligation", {}, ["swap", "none"]),
        ("runes-to-ruins", "guardians", {}, ["light", "dark SEAT"]),
        ("fight-for-a-name", "guardians", {"rounds": 4}, ["put", "give"]),
        ("hive-mind", "gauntlet", {}, ["Charge", "Zero"]),
    ],
)
def test_forms_that_are_never_legal_for_a_seat_are_left_out(
    game: str, variant: str, options: dict[str, Any], words: list[str]
) -> None:
    forms = GAME_TEXTS[game].forms(text.InputTerms(variant, options, 0))
    typed = [each for window in forms.values() for each, _ in window]
    for word in words:
        assert not [each for each in typed if re.search(rf"\b{word}\b", each)], word
    default = GAME_TEXTS[game].forms(text.InputTerms(GAMES[game].variants[0].name, ARTEFACTS, 0))
    if game in ("runes-to-ruins", "fight-for-a-name"):
        assert any(words[0] in each for window in default.values() for each, _ in window)


def test_all_example_symbols_are_legal_and_no_two_seats_get_the_same() -> None:
    match = Match("runes-to-ruins", seed=1)
    symbols = set()
    for seat in range(5):
        for attempt in range(1, 12):
            view = match.game.view(match.state, seat)
            shown = GAME_TEXTS["runes-to-ruins"].examples("symbol", replace(view, attempt=attempt))
            ((typed, _),) = shown
            match.check(seat, read_answer("runes-to-ruins", "symbol", f"ACTION: {typed}"))
            symbols.add(typed)
    assert 55 == len(symbols)


def test_the_board_of_the_fight_is_a_drawing_of_its_own() -> None:
    """Each row of hexes is on a line without words, the last one too."""
    page = GAME_TEXTS["fight-for-a-name"].rules("guardians")
    drawn = [line.split() for line in page.splitlines() if line.startswith("  ") and line.strip()[0].isdecimal()]
    assert ROWS == drawn[: len(ROWS)]
    assert len(drawn) == len(ROWS)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 second"),
        (1.9, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (90, "1 minute 30 seconds"),
        (3_600, "1 hour"),
        (3_630, "1 hour"),
        (86_397, "23 hours 59 minutes"),
        (90_061, "1 day 1 hour"),
    ],
)
def test_a_duration_is_said_in_words(seconds: float, words: str) -> None:
    assert words == in_words(seconds)
