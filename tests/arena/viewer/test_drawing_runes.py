"""Runes to Ruins as drawn: what a board concludes of a symbol is true, and guesses are compared right."""

import re
from pathlib import Path
from typing import Any, cast

import pytest

from arena.viewer.page import runes_of
from protocol.games.runes_to_ruins import GuessAnswer, RunesHostView, RunesView
from protocol.games.runes_to_ruins.runes import RUNE
from protocol.text import COMMENTARIES
from referee.games import GAMES
from tests.arena.in_browser import Opened
from tests.arena.viewer.drawn import Drawings
from tests.golden.commentary import NAMES
from tests.golden.matches import random_match

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
GAME = GAMES["runes-to-ruins"]
BOTS = NAMES[:5]
Views = list[tuple[RunesHostView, list[RunesView]]]


@pytest.fixture
def drawings(opened: Opened, tmp_path: Path) -> Drawings:
    return Drawings(opened, tmp_path)


@pytest.fixture(scope="module")
def matches() -> list[Views]:
    """Return the host's view and each seat's before each window of three matches, and at their ends."""
    found: list[Views] = []

    def look(sitting: Any) -> None:
        state = sitting.table.state
        host = cast("RunesHostView", GAME.host_view(state))
        found[-1].append((host, [cast("RunesView", GAME.view(state, seat)) for seat in range(5)]))

    for seed in (1, 2, 3):
        found.append([])
        random_match(GAME, "guardians", seed, look)
    return found


def board(drawings: Drawings, view: Any, **ctx: Any) -> list[str]:
    pictures: list[str] = drawings.board("runes-to-ruins", view, BOTS, runes=runes_of("runes-to-ruins"), **ctx)[
        "pictures"
    ]
    return pictures


def test_what_a_seat_concludes_of_a_symbol_is_true(drawings: Drawings, matches: list[Views]) -> None:
    concluded = {"runes": 0, "groups": 0, "excluded": 0, "has": 0}
    for views in matches:
        for host, seats in views[-5:-1]:
            for seat, view in enumerate(seats):
                pictures = board(drawings, view, eyes=str(seat))
                for other, holding in enumerate(host.holdings):
                    if other != seat and holding.symbol:
                        compare(pictures[other], holding.symbol, concluded)
    assert all(number > 20 for number in concluded.values()), concluded


def compare(words: str, symbol: tuple[str, ...], concluded: dict[str, int]) -> None:
    """Assert that all that a card says of a symbol is true, and count it."""
    for position, said in re.findall(r"; (\d): ([^;]*)", words):
        rune = RUNE[symbol[int(position)]]
        groups = {rune.divine, rune.mundane}
        if said in RUNE:
            assert said == rune.name
            concluded["runes"] += 1
            continue
        for part in said.split(", "):
            if part.startswith("not "):
                excluded = part.removeprefix("not ").split(" or ")
                assert not groups & set(excluded)
                concluded["excluded"] += len(excluded)
            elif part != "unknown":
                assert part in groups
                concluded["groups"] += 1
    for named in re.findall(r"; has ([^;]+)", words):
        assert set(named.split(", ")) <= set(symbol)
        concluded["has"] += 1
    for counted in re.findall(r"; groups: ([^;]+)", words):
        for group, number in re.findall(r"([\w-]+) (\d)", counted):
            runes = [RUNE[name] for name in symbol]
            assert int(number) == sum(group in (each.divine, each.mundane) for each in runes)


def test_scores_are_those_of_the_commentary(drawings: Drawings, matches: list[Views]) -> None:
    for host, _ in matches[0][::3]:
        scores = drawings.scores("runes-to-ruins", host, BOTS)
        assert scores == list(COMMENTARIES["runes-to-ruins"].scores(host))


def test_a_guess_is_compared_as_the_referee_compared_it(drawings: Drawings, matches: list[Views]) -> None:
    """Compare the last guess of each seat at the end of each round, where no seat used light."""
    compared = 0
    for views in matches:
        for host, seats in views[2:-1]:
            shown = [each for each in board(drawings, host) if "; guess: " in each]
            for seat, view in enumerate(seats):
                played = view.history[-1] if view.history else None
                answers = [each for each in played.told if isinstance(each, GuessAnswer)] if played else []
                if not answers or not played or not played.action or len(answers) != len(played.action.guesses):
                    continue
                last = answers[-1]
                words = f"{last.exact} in place, {last.moved} elsewhere, {last.group} by group"
                mine = next(each for each in shown if each.startswith(f"{BOTS[seat]}, "))
                assert words in mine
                compared += 1
    assert compared > 20


def test_a_seat_sees_neither_symbols_nor_purses_of_others(drawings: Drawings, matches: list[Views]) -> None:
    host, seats = matches[0][3]
    pictures = board(drawings, seats[2], eyes="2")
    symbols = [holding.symbol for holding in host.holdings]
    for seat, symbol in enumerate(symbols):
        assert symbol is not None
        whole = ", ".join(f"{at}: {name}" for at, name in enumerate(symbol))
        assert (whole in pictures[seat]) == (seat == 2)
        assert ("insight" in pictures[seat]) == (seat == 2)
    assert not [each for each in pictures if each.startswith("How close")]


def test_the_end_shows_all_symbols_and_who_came_close(drawings: Drawings, matches: list[Views]) -> None:
    host, seats = matches[0][-1]
    reveal = {
        "symbols": {str(seat): holding.symbol for seat, holding in enumerate(host.holdings)},
        "guesses": {str(seat): holding.guesses for seat, holding in enumerate(host.holdings)},
    }
    own = board(drawings, seats[0], eyes="0", reveal=reveal)
    assert own[5].startswith("How close guesses came. anna at bob: ")
    assert own[5] == board(drawings, host, reveal=reveal)[5]
    assert all(holding.symbol and holding.symbol[5] in own[seat] for seat, holding in enumerate(host.holdings))
