"""Symbols as text: runes from their segments, and nothing that its viewer does not know."""

from random import Random

import pytest

from protocol.codec import encode
from protocol.games.runes_to_ruins import Reveal
from protocol.games.runes_to_ruins.drawing import symbol_lines
from protocol.text import drawing_of
from protocol.words import Event, View
from referee.games import GAMES
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.rules.contract import Addressed, ResolvedAction
from referee.rules.table import Deal, Table

board, words = drawing_of("runes-to-ruins").board, drawing_of("runes-to-ruins").words

SYMBOL = ("Slash Box", "Cross Enclosure", "Slash Slope", "Straight Divider", "Slash Zig-Zag", "Angled Splitter")
DRAWN = """\
. . . . . . .
 / \\|   |  /
. . .-.-. . .
 \\ /|   |/
. . .-.-.-.-.
  |    /  |
. . . . . . .
  |  /   / \\
. . .-.-. . ."""


def table(rounds: int) -> tuple[Table, list[Addressed]]:
    """Play a match in which all take defaults, seat 0 but for its symbol."""
    match = Table(GAMES["runes-to-ruins"], Deal("guardians", 1))
    told: list[Addressed] = []
    symbols = [SYMBOL, *(draw_symbol(Random(seat)) for seat in range(1, 5))]
    for number in range(rounds):
        actions = [match.default(seat) for seat in range(5)]
        if number == 0:
            actions = [match.read(seat, encode({"symbol": symbol})) for seat, symbol in enumerate(symbols)]
        told += match.close(tuple(map(ResolvedAction, actions)))
    return match, told


def drawn(view: View, told: list[Event], *, plain: bool = True) -> str:
    return board(view, told, plain=plain).plain


def test_a_symbol_is_drawn_from_its_runes_segments() -> None:
    lines = symbol_lines(SYMBOL, plain=True)
    assert DRAWN.splitlines() == [line.rstrip() for line in lines]
    assert {13} == {len(line) for line in lines}


def test_a_terminal_that_can_do_more_shows_lines() -> None:
    plain, drawn = (symbol_lines(SYMBOL, plain=each) for each in (True, False))
    assert "".join(plain).count("-") == "".join(drawn).count("\N{BOX DRAWINGS LIGHT HORIZONTAL}")


def test_a_seat_sees_its_own_symbol_and_a_spectator_none() -> None:
    match, _ = table(1)
    own = "\n".join(line.rstrip() for line in symbol_lines(SYMBOL, plain=True))
    assert own in drawn(match.game.view(match.state, 0), [])
    for seat in (1, None):
        assert own not in drawn(match.game.view(match.state, seat), [])


def test_the_host_sees_all_within_a_terminal() -> None:
    match, _ = table(1)
    text = drawn(match.game.host_view(match.state), [])
    assert text.isascii()
    assert 5 == text.count("insight")
    assert max(map(len, text.splitlines())) <= 100


def test_the_end_shows_all_symbols() -> None:
    match, told = table(1)
    while match.window is not None:
        told += match.close(tuple(ResolvedAction(match.default(seat)) for seat in range(5)))
    reveal = told[-1].event
    assert isinstance(reveal, Reveal)
    assert "seat 4" in drawn(match.game.view(match.state, None), [reveal])
    assert "seat 0: Slash Box, Cross Enclosure" in words(reveal)


@pytest.mark.parametrize("event_type", GAMES["runes-to-ruins"].events, ids=lambda each: each.__name__)
def test_every_event_has_words(event_type: type[Event]) -> None:
    for each in table(2)[1]:
        if isinstance(each.event, event_type):
            assert words(each.event)
