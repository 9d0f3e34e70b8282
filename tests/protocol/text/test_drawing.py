"""Boards as text: hexes that touch as they do on the board, and nothing that its viewer does not know."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.games.mist import FirstMove, MistView, OpponentPlaced, Reveal, Swapped
from protocol.text import GAME_TEXTS, INK, Picture, Tile, drawing_of, honeycomb
from protocol.words import Event
from referee.games import GAMES
from referee.rules.contract import Addressed, ResolvedAction
from referee.rules.table import Deal, Table

THREE = """\
      / \\ / \\
top  |ab |cd |
    / \\ / \\ / \\
   |ef |gh |ij |
    \\ / \\ / \\ /
"""
SEAT_0 = """\
turn 4, seat 0 to move (as seat 0, O)
            / \\ / \\ / \\ / \\ / \\
A          | 1 | 2 | 3 | 4 | 5 |
          / \\ / \\ / \\ / \\ / \\ / \\
B        | 1 | 2 | 3 | 4 | 5 | 6 |
        / \\ / \\ / \\ / \\ / \\ / \\ / \\
C      | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
      / \\ / \\ / \\ / \\ / \\ / \\ / \\ / \\
D    | 1 | 2 | 3 |.4 |.5 |.6 |.7 | 8 |
    / \\ / \\ / \\ / \\ / \\ / \\ / \\ / \\ / \\
E  | 1 | 2 | 3 |.4 |## |.6 |.7 |.8 | 9 |
    \\ / \\ / \\ / \\ / \\ / \\ / \\ / \\ / \\ /
F    | 1 | 2 |.3 |.4 |.5 |.6 |X7 |.8 |
      \\ / \\ / \\ / \\ / \\ / \\ / \\ / \\ /
G      | 1 |.2 |.3 |.4 |O5+|.6*|.7 |
        \\ / \\ / \\ / \\ / \\ / \\ / \\ /
H        | 1 |.2 |.3 |.4 |.5 |.6 |
          \\ / \\ / \\ / \\ / \\ / \\ /
I          | 1 |.2 |.3 |.4 |.5 |
            \\ / \\ / \\ / \\ / \\ /
O seat 0, X seat 1, . empty; o x remembered;
+ placed, ! spotted, * destroyed"""


def table(*turns: bytes, options: bytes = b'{"first":1}') -> tuple[Table, tuple[Addressed, ...]]:
    """Play a match of Mist; return it after these turns, and what the last of them told."""
    game = Table(GAMES["mist"], Deal("contractual-obligation", 1, Raw(options)))
    told: tuple[Addressed, ...] = ()
    for turn in turns:
        assert game.window is not None
        seat = game.window.owed[0].seat
        taken = [ResolvedAction(game.read(seat, turn)) if seat == each else None for each in range(2)]
        told = game.close(tuple(taken))
    return game, told


def cells(*names: str) -> bytes:
    return b'{"cells":[%s]}' % ",".join(f'"{name}"' for name in names).encode()


TURNS = (cells("C3", "F7"), cells("G5"), cells("G6", "D2"))
"""Seat 1 opens; seat 0 sees three cells far from G5, and spots G6."""


def history(seat: int, *turns: bytes) -> list[Event]:
    """All that a seat was told in a match of these turns."""
    said = [each for number in range(1, len(turns) + 1) for each in table(*turns[:number])[1]]
    return [each.event for each in said if each.seat in (None, seat)]


def board(view: Any, told: tuple[Event, ...] = (), *, plain: bool = True) -> Picture:
    return drawing_of("mist").board(view, told, plain=plain)


def test_cells_touch_those_beside_and_two_in_each_row_above_and_below() -> None:
    places = {"ab": (-1, 0), "cd": (1, 0), "ef": (-2, 1), "gh": (0, 1), "ij": (2, 1)}
    tiles = {name: Tile(f"{name} ") for name in places}
    assert THREE == honeycomb(places, tiles, {0: "top"}, plain=True).plain


def test_a_seat_sees_its_vision_and_signs_for_what_happened_last() -> None:
    game, _ = table(*TURNS)
    assert SEAT_0 == board(game.game.view(game.state, 0)).plain


def test_plain_boards_are_ascii_and_others_have_the_same_shape() -> None:
    game, _ = table(*TURNS)
    plain = board(game.game.view(game.state, 0)).plain
    drawn = board(game.game.view(game.state, 0), plain=False).plain
    assert plain.isascii()
    assert plain == drawn.translate({ord(ink): wall for wall, ink in INK.items()})


def test_a_spectator_sees_the_first_move_and_no_piece() -> None:
    game, _ = table(*TURNS)
    *rows, _, legend = board(game.game.view(game.state, None)).plain.splitlines()
    text = "\n".join(rows)
    assert ("| 3+|", "| 7+|") == (text[text.index("3+") - 2 :][:5], text[text.index("7+") - 2 :][:5])
    assert 2 == text.count("+")
    assert "O" not in text
    assert "X" not in text
    assert "+ placed, ! spotted, * destroyed" == legend


def test_pieces_that_were_seen_or_placed_before_are_remembered_in_small_letters() -> None:
    told = history(1, *TURNS, cells("A1"), cells("I5"))
    game, _ = table(*TURNS, cells("A1"), cells("I5"))
    text = drawing_of("mist").board(game.game.view(game.state, 1), (), plain=True, told=told).plain
    assert "D    | 1 |x2 | 3 |" in text
    assert "C      | 1 | 2 |x3 |" in text
    assert "A          | 1 |" in text
    assert "|o" not in text


def test_after_a_swap_the_pieces_that_are_remembered_are_the_others() -> None:
    view = MistView(
        seat=1, turn=3, mover=0, pieces=(0, 3), forbidden=(), may_swap=False, first_move=("C3",), swapped=True,
        visible={}, spotted=(), destroyed=(), placed=(), lost=(),
    )  # fmt: skip
    told = (FirstMove(seat=0, cells=("C3",)), Swapped(seat=1))
    assert "|x3 |" in drawing_of("mist").board(view, (), plain=True, told=told).plain


def test_the_host_sees_every_piece_and_what_each_seat_sees() -> None:
    game, _ = table(*TURNS)
    text = board(game.game.host_view(game.state)).plain
    assert (1, 3) == (text.count("|O"), text.count("|X"))
    assert 14 == text.count("x|")


def test_after_the_reveal_everyone_sees_the_whole_board() -> None:
    game, told = table(*TURNS, options=b'{"first":1,"max_turns":3}')
    events = tuple(each.event for each in told if each.seat is None)
    assert isinstance(events[-1], Reveal)
    text = board(game.game.view(game.state, None), events).plain
    assert text.startswith("the end, after 3 turns\n")
    assert (1, 3) == (text.count("|O"), text.count("|X"))


def test_the_drawing_names_that_the_first_player_is_unknown() -> None:
    game, _ = table(options=b"{}")
    assert board(game.game.view(game.state, 1)).plain.startswith("before the first turn (as seat 1, X)\n")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            OpponentPlaced(spotted=("C3",), destroyed=("C3", "D4"), visible={}),
            "the opponent moved; you spotted C3; destroyed: C3 and D4",
        ),
        (
            OpponentPlaced(spotted=(), destroyed=(), visible={}, placed=("A1",)),
            "the opponent moved; you saw it place A1",
        ),
        (OpponentPlaced(spotted=(), destroyed=(), visible={}), "the opponent moved; you see none of its pieces"),
        (
            OpponentPlaced(
                spotted=("C3",), destroyed=(), visible={"C3": "opponent", "D4": "opponent", "E4": "own"}
            ),
            "the opponent moved; you spotted C3; you see its piece on D4",
        ),
        (
            Reveal(board={}, groups={"0": (3, 1), "1": ()}, turns=9),
            "groups of seat 0: 3 1; groups of seat 1: nothing",
        ),
    ],
)
def test_events_are_said_in_words(event: Event, said: str) -> None:
    assert said == drawing_of("mist").words(event)


def test_every_event_of_mist_has_its_words() -> None:
    _, told = table(*TURNS)
    assert [
        "you placed D2 G6; destroyed: G6",
        "the opponent moved; you spotted G6; destroyed: G6; you see its piece on F7",
    ] == [drawing_of("mist").words(each.event) for each in told]


def test_a_game_without_a_drawing_is_shown_as_json() -> None:
    game, told = table(*TURNS)
    assert "hopscotch" not in GAME_TEXTS
    drawing = drawing_of("hopscotch")
    view = game.game.view(game.state, 0)
    assert '"may_swap": false' in drawing.board(view, (), plain=True).plain
    assert drawing.words(told[0].event).startswith('{"type":"placed","cells":["D2","G6"]')
