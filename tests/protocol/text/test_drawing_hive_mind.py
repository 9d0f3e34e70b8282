"""Hives as text: side by side, with what each viewer knows and no more."""

from typing import Any

from protocol.codec import encode
from protocol.games.hive_mind import Reveal
from protocol.text import drawing_of
from protocol.words import Event, View
from referee.games import GAMES
from referee.rules.contract import Addressed, ResolvedAction
from referee.rules.table import Deal, Table

board, words = drawing_of("hive-mind").board, drawing_of("hive-mind").words

ONE_ROUND = """\
round 2 on 1 (as seat 0)
   1
      / \\ / \\ / \\
     |A1*|B  |C1 |
    / \\ / \\ / \\ / \\
   |D1*|E1*|F1 |G  |
    \\ / \\ / \\ / \\ /
     |H  |I1 |J  |
      \\ / \\ / \\ /
       |K  |L  |
        \\ / \\ /
1, round 1: your tri ADE sees BFHI = %d
8 garnets; Doubles free: 0, Blocks free: 0
a hex: letter, how many shapes lay over it last; * yours, x scored and empty now"""


def table(*rounds: dict[int, Any], variant: str = "gauntlet") -> tuple[Table, list[Addressed]]:
    """Play these rounds; return the match, and all that was told."""
    match = Table(GAMES["hive-mind"], Deal(variant, 1))
    told: list[Addressed] = []
    for actions in rounds:
        taken = [ResolvedAction(match.read(seat, encode(actions.get(seat, {})))) for seat in range(5)]
        told += match.close(tuple(taken))
    return match, told


def drawn(view: View, told: list[Event], *, plain: bool = True) -> str:
    return board(view, told, plain=plain).plain


FIRST = {0: {"place": {"1": "ADE"}}, 1: {"place": {"1": "CFI"}}}
SECOND = {0: {"place": {"1": "HIJ"}}}


def test_a_seat_sees_what_lay_where_and_what_it_was_told() -> None:
    match, told = table(FIRST)
    hint = next(each.event for each in told if each.seat == 0)
    assert ONE_ROUND % hint.total == drawn(match.game.view(match.state, 0), [])  # type: ignore[attr-defined]
    assert f"1, round 1: your tri ADE sees BFHI = {hint.total}" == words(hint)  # type: ignore[attr-defined]


def test_another_seat_and_a_spectator_see_the_counts_but_no_hint() -> None:
    match, _ = table(FIRST)
    for seat in (2, None):
        text = drawn(match.game.view(match.state, seat), [])
        assert "|A1 |B  |C1 |" in text
        assert "sees" not in text


def test_a_hex_that_scored_is_marked() -> None:
    match, _ = table(FIRST, SECOND)
    assert "|H1x|I1x|J1x|" in drawn(match.game.view(match.state, 0), [])


def test_only_the_host_sees_values() -> None:
    match, _ = table(FIRST, SECOND)
    values = match.state.values["1"]
    row = "|" + "|".join(f"{cell}{value}x" for cell, value in zip("HIJ", values[7:10], strict=True)) + "|"
    assert row in drawn(match.game.host_view(match.state), [])
    for seat in (0, None):
        assert row not in drawn(match.game.view(match.state, seat), [])


def test_three_hives_stand_side_by_side_within_a_terminal() -> None:
    match, _ = table(variant="recharged")
    text = drawn(match.game.view(match.state, 0), [])
    assert "   Charge              Marcer              Zero" in text
    assert max(map(len, text.splitlines())) <= 100


def test_plain_text_is_ascii_and_the_reveal_shows_all() -> None:
    match, told = table(*[{}] * 3, variant="recharged")
    while match.window is not None:
        told += match.close(tuple([None] * 5))
    reveal = told[-1].event
    assert isinstance(reveal, Reveal)
    text = drawn(match.game.view(match.state, None), [reveal])
    assert text.isascii()
    assert text.startswith("the end")
    assert f"A{reveal.hives['Charge'][0]}" in text
    assert "points: seat 0 0" in words(reveal)
