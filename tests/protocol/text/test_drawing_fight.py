"""The Fight's board as text: hexes where they lie, and nothing that its viewer does not know."""

import re

from protocol.codec import encode
from protocol.games.fight_for_a_name import board as board_rules
from protocol.games.fight_for_a_name.drawing import GATES, PILLARS, PLACES
from protocol.text import drawing_of
from protocol.words import Event, View
from referee.games import GAMES
from referee.rules.contract import Addressed, ResolvedAction
from referee.rules.table import Deal, Table

board, words = drawing_of("fight-for-a-name").board, drawing_of("fight-for-a-name").words

TOP = """\
                      __^___ phi
  lambda       ______/  1%s  \\______   mu
delta   __^___<  2%s  \\______/  3%s  >__^___ omega
 ______/  4%s  \\______/  5%s  \\______/  6%s  \\______"""
WIDE, HIGH = 80, 22
"""A terminal, and its lines but for two."""


def table(rounds: int) -> tuple[Table, list[Addressed]]:
    """Play a match in which seat 0 steps to 12 in the first round and all others stay."""
    match = Table(GAMES["fight-for-a-name"], Deal("guardians", 1))
    told = list(match.start)
    for number in range(rounds + 1):
        actions = [match.default(seat) for seat in range(13)]
        if number == 1:
            actions[0] = match.read(0, encode({"path": ["N"]}))
        told += match.close(tuple(map(ResolvedAction, actions)))
    return match, told


def drawn(view: View, told: list[Event], *, plain: bool = True) -> str:
    return board(view, told, plain=plain).plain


def test_every_hex_is_drawn_where_it_lies() -> None:
    match, _ = table(0)
    text = drawn(match.game.view(match.state, 0), [])
    colours = [match.state.setup.colours[str(number)][0] for number in range(1, 7)]
    drawn_rows = "\n".join(line[:52].rstrip() for line in text.splitlines())
    assert TOP % tuple(colours) in drawn_rows
    for number in range(1, 37):
        assert f" {number}{match.state.setup.colours[str(number)][0]}" in text
    assert 37 == len(PLACES)


def test_holders_and_who_stands_where_are_shown_to_all_and_strengths_to_their_seat() -> None:
    match, _ = table(1)
    for seat in (0, 1, None):
        text = drawn(match.game.view(match.state, seat), [])
        assert "=0" in text
        assert "Start: 1, 2, 3" in text
        assert ("your strengths: 12: 2" in text) is (seat == 0)


def test_only_the_host_sees_what_each_has() -> None:
    match, _ = table(1)
    assert "seat 1 at Start: 7 MP" in drawn(match.game.host_view(match.state), [])
    assert "MP" not in drawn(match.game.view(match.state, None), [])


def test_plain_text_is_ascii_and_fits_a_terminal() -> None:
    match, _ = table(1)
    text = drawn(match.game.host_view(match.state), [])
    assert text.isascii()
    for shown in (text, *(drawn(match.game.view(match.state, eyes), []) for eyes in (0, 12, None))):
        assert max(map(len, shown.splitlines())) <= WIDE
        assert len(shown.splitlines()) <= HIGH
    assert not drawn(match.game.view(match.state, 0), [], plain=False).isascii()


def test_every_event_of_a_match_has_words() -> None:
    match, told = table(2)
    while match.window is not None:
        owed = {each.seat for each in match.owed}
        told += match.close(
            tuple(ResolvedAction(match.default(seat)) if seat in owed else None for seat in range(13))
        )
    assert all(words(each.event) for each in told)
    assert "Charity: " in words(told[-1].event)


def test_a_viewer_finds_itself_on_its_hex_at_start_and_at_a_pillar() -> None:
    match, _ = table(1)
    assert "\\=0*1@_/" in drawn(match.game.view(match.state, 0), [])
    assert "*12@" in drawn(match.game.view(match.state, 1), [])
    assert "@" not in drawn(match.game.view(match.state, None), []).replace("@: you", "")
    actions = [match.default(seat) for seat in range(13)]
    actions[0] = match.read(0, encode({"path": ["N"] * 3}))
    match.close(tuple(map(ResolvedAction, actions)))
    assert "phi@" in drawn(match.game.view(match.state, 0), [])


def test_every_gate_of_the_rules_is_drawn() -> None:
    ways: dict[str, set[str]] = {}
    for gates in board_rules.GATES.values():
        for name, way in gates:
            ways.setdefault(name, set()).add(way)
    assert {name: set(each) for name, each in GATES.items()} == ways
    assert set(PILLARS) == set(board_rules.PILLARS)
    match, _ = table(0)
    text = drawn(match.game.view(match.state, None), []).rsplit("\n", 1)[0]
    assert sum(map(len, GATES.values())) == sum(text.count(sign) for sign in "<>^") + len(
        re.findall(r" v\b", text)
    )
