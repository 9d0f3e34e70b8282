"""How a match of Mist ends: R7 to R9, the reveal and the outcome."""

from itertools import combinations
from random import Random

import pytest
from msgspec import to_builtins

from protocol.games.mist.board import BOARD, PLAYABLE
from referee.games.mist import MistState
from tests.referee.games.mist.naive import CELLS
from tests.referee.games.mist.play import CONTRACT, HEAVEN, MIST, act, place, position, seat_due, start, swap, turn

BOTH = pytest.mark.parametrize("variant", [HEAVEN, CONTRACT])
FULL_ROWS = "A1 A2 A3 A4 A5 B1 B2 B3 B4 B5 B6 C1 C2 C3 C4 C5 C6 C7 D1 D2 D3 D4 D5 D6 D7 D8 E1 E2 E3 E4"
"""The upper half of the board, 30 cells in one group."""


def rest(*taken: str) -> str:
    """Every playable cell that is not among these."""
    return " ".join(cell for cell in CELLS if cell != "E5" and cell not in " ".join(taken).split())


def reason(state: MistState) -> str | None:
    return state.reason


def winner(state: MistState) -> int:
    outcome = MIST.outcome(state)
    assert outcome is not None
    (seat,) = outcome.winners
    return seat


def test_r7_the_match_ends_when_no_playable_cell_is_empty() -> None:
    own, other = FULL_ROWS.removesuffix(" E4"), rest(FULL_ROWS)
    assert "full" == reason(place(position(own, other), "E4").state)


def test_r7_the_match_ends_when_one_player_would_win_even_if_every_empty_cell_went_to_the_other() -> None:
    own = FULL_ROWS
    other = rest(FULL_ROWS, "E6", "E7")
    after = place(position(own, other, advantage=1), "E6").state
    assert ("decided", 0) == (reason(after), winner(after))


@pytest.mark.parametrize("advantage", [0, 1])
def test_r7_is_exactly_a_guaranteed_win_however_the_empty_cells_are_shared_out(advantage: int) -> None:
    """Against every way to share out what is empty, over random positions near the end."""
    rng = Random(advantage)
    verdicts = []
    for _ in range(120):
        state, placed = random_late_position(rng, advantage)
        after = place(state, placed).state
        expected = shared_out_winners(after)
        verdicts.append(len(expected) == 1)
        assert verdicts[-1] == (after.reason is not None)
        if after.reason:
            assert expected == {winner(after)}
    assert {True, False} == set(verdicts)


def random_late_position(rng: Random, advantage: int) -> tuple[MistState, str]:
    """All but a few cells taken, in patches; and a cell for seat 0 to take."""
    cells = [cell for cell in CELLS if cell != "E5"]
    rng.shuffle(cells)
    empty, taken = cells[:6], cells[6:]
    tilt = rng.choice((0.4, 0.5, 0.6))
    own = [cell for cell in taken if rng.random() < (0.8 if cell < "E5" else 0.2) * 2 * tilt]
    other = [cell for cell in taken if cell not in own]
    return position(" ".join(own), " ".join(other), advantage=advantage), empty[0]


def shared_out_winners(state: MistState) -> set[int]:
    """Who can win, over every way to give the empty cells to the two."""
    empty = BOARD.cells(PLAYABLE & ~state.pieces[0] & ~state.pieces[1])
    winners = set()
    for count in range(len(empty) + 1):
        for given in combinations(empty, count):
            mine = state.pieces[0] | BOARD.mask(given)
            lists = BOARD.sizes(mine), BOARD.sizes(PLAYABLE & ~mine)
            tied = lists[0] == lists[1]
            winners.add(state.options.advantage if tied else int(lists[1] > lists[0]))
    return winners


@pytest.mark.parametrize(
    ("own", "other", "advantage", "expected"),
    [
        ("A1 A2 A3", "I1 I2", 1, 0),
        ("A1 A2 C7", "I1 I2 I3", 0, 1),
        ("A1 A2 C1 C2 E1", "I1 I2 G7 G1 E9", 1, 0),
        ("A1 A2 C1", "I1 I2", 1, 0),
        ("A1 A2", "I1 I2 G1", 0, 1),
        ("A1 A2", "I1 I2", 0, 0),
        ("A1 A2", "I1 I2", 1, 1),
        ("", "I1", 0, 1),
        ("", "", 0, 0),
        ("", "", 1, 1),
    ],
)
def test_r8_group_sizes_largest_first_the_first_difference_decides_a_list_that_ends_first_loses(
    own: str, other: str, advantage: int, expected: int
) -> None:
    """Ended by `max_turns` with nothing new placed; equal lists go to the seat with the advantage."""
    state = position(own, other, variant=HEAVEN, advantage=advantage, max_turns=11)
    after = place(state, "").state
    assert ("turn_limit", expected) == (reason(after), winner(after))


def groups(state: MistState, seat: int) -> tuple[int, ...]:
    outcome = MIST.outcome(state)
    assert outcome is not None
    sizes: tuple[int, ...] = outcome.detail.groups[str(seat)]
    return sizes


@BOTH
@pytest.mark.parametrize("max_turns", [1, 2, 5])
def test_r9_after_max_turns_turns_the_match_ends_as_it_stands(variant: str, max_turns: int) -> None:
    table = start(variant, max_turns=max_turns)
    for played in range(max_turns):
        assert (None, played) == (table.outcome, table.state.turns)
        turn(table, CELLS[2 * played])
    assert table.window is None
    assert table.outcome is not None
    assert ("turn_limit", max_turns) == (table.outcome.reason, table.outcome.detail.turns)


def test_r9_a_swap_counts_as_a_turn() -> None:
    table = start(HEAVEN, max_turns=2)
    turn(table, "C3")
    heard = swap(table)
    assert ["swapped", "reveal"] == [event["type"] for event in heard.public]
    assert table.outcome is not None
    assert (1,) == table.outcome.winners


def test_r9_full_goes_before_decided_and_turn_limit() -> None:
    own, other = FULL_ROWS, rest(FULL_ROWS, "E6")
    assert "full" == reason(place(position(own, other, max_turns=11), "E6").state)


def test_r9_decided_goes_before_turn_limit() -> None:
    own, other = FULL_ROWS, rest(FULL_ROWS, "E6", "E7")
    assert "decided" == reason(place(position(own, other, max_turns=11), "E6").state)


@BOTH
@pytest.mark.parametrize("seed", range(20))
def test_r7_cells_kept_as_hanging_together_without_a_seats_pieces_do(variant: str, seed: int) -> None:
    """Else a match could go on that R7 has decided."""
    table, rng = start(variant), Random(seed)
    while table.window is not None:
        seat = seat_due(table)
        act(table, to_builtins(MIST.legal_actions(table.state, seat).sample(rng)))
        for cells, pieces in zip(table.state.without, table.state.pieces, strict=True):
            assert not cells & pieces
            assert 1 >= len(list(BOARD.groups(cells)))
