"""Pointing's maps as text: trees and loops, and nothing that its viewer does not know."""

from protocol.games.pointing import Map, Reveal
from protocol.text import drawing_of
from protocol.words import Event, View
from referee.games import GAMES
from referee.rules.contract import ResolvedAction
from referee.rules.table import Deal, Table

board, words = drawing_of("pointing").board, drawing_of("pointing").words

EXAMPLE = (1, 2, 3, None, 1, 6, 7, 8, 9, 10, 6, 12, 11)
"""The example of the page: A to M are 0 to 12."""
DRAWN = """\
round 2 (as seat 0)
you pointed at 1
chain of 5    loop of 2    loop of 5    node, cut
o             @            @            o
`-o           @            `.o
  `-o                      @
    +-o                    @
    `-o                    @
                           @
o seat, its branches point at it; @ in a loop, each points at the next; . cut"""


def table(rounds: int) -> tuple[Table, list[Event]]:
    """Play so many rounds of the example; return the match, and what all were told."""
    table, told = Table(GAMES["pointing"], Deal("tempo-up", 1)), []
    for _ in range(rounds):
        actions = (
            table.read(seat, b'{"target":%s}' % str("null" if to is None else to).encode())
            for seat, to in enumerate(EXAMPLE)
        )
        told += [each.event for each in table.close(tuple(map(ResolvedAction, actions)))]
    return table, told


def drawn(view: View, told: list[Event], *, plain: bool = True) -> str:
    text = board(view, told, plain=plain)
    return text.plain


def test_a_seat_sees_the_last_map_and_where_it_pointed() -> None:
    match, told = table(1)
    assert DRAWN == drawn(match.game.view(match.state, 0), told)
    assert "round 1: chain of 5, loop of 2, loop of 5, one alone" == words(told[0])


def test_a_spectator_and_a_seat_see_no_pointers_and_the_host_all() -> None:
    match, told = table(1)
    pointers = "0>1  1>2  2>3  3>-  4>1"
    assert pointers in drawn(match.game.host_view(match.state), told)
    for seat in (0, None):
        assert pointers not in drawn(match.game.view(match.state, seat), told)


def test_plain_text_is_ascii_and_the_rest_has_lines() -> None:
    match, told = table(1)
    view = match.game.view(match.state, None)
    assert drawn(view, told).isascii()
    assert "└─●" in drawn(view, told, plain=False)


def test_a_map_is_no_wider_than_a_terminal() -> None:
    nodes = table(0)[0]
    told = [each.event for each in nodes.close((ResolvedAction(nodes.read(0, b'{"target":null}')),) * 13)]
    assert isinstance(told[0], Map)
    text = drawn(nodes.game.view(nodes.state, 0), told)
    assert 13 == text.count("node")
    assert max(map(len, text.splitlines())) <= 104


def test_the_end_shows_who_pointed_where_in_every_round() -> None:
    match, told = table(3)
    while match.window is not None:
        told += [each.event for each in match.close((None,) * 13)]
    assert isinstance(told[-1], Reveal)
    text = drawn(match.game.view(match.state, None), told)
    assert 3 == text.count("0>1  1>2  2>3  3>-  4>1")
    assert words(told[-1]).startswith("points: seat ")
