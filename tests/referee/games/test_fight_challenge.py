"""The timed game of The Fight For a Name (R7)."""

from typing import Any

from tests.referee.games.fight_play import begun, setup_but
from tests.referee.games.playing import close, shown, window

# Of 3, 5, 8, 13, 21, 34, 55, 89 two sums make 26: 5 + 21, and 5 + 8 + 13.
RIGHT, ALSO_RIGHT, WRONG = {"pick": [1, 4]}, {"pick": [3, 1, 2]}, {"pick": [0, 1]}


def rank(picks: dict[int, Any], elapsed: dict[int, int], seed: int = 0) -> list[int]:
    table = begun(seed=seed)
    close(table, picks, elapsed)
    return list(table.state.challenge)


def test_r7_it_is_a_window_for_all_seats_before_round_1_and_timed() -> None:
    table = begun()
    assert ("challenge", list(range(13))) == window(table)
    assert table.window is not None
    assert table.window.timed
    heard = close(table, {0: RIGHT})
    assert [] == heard.public
    assert [[]] * 13 == heard.seats
    assert ("move", list(range(13))) == window(table)
    assert 1 == shown(table, 0)["round"]


def test_r7_right_answers_rank_before_wrong_or_none() -> None:
    ranked = rank({4: WRONG, 7: RIGHT}, {4: 1, 7: 59_000, 0: 0})
    assert 7 == ranked[0]


def test_r7_among_right_ones_faster_ranks_before_slower() -> None:
    elapsed = {seat: 1000 * (seat * 7 % 13) for seat in range(13)}
    expected = sorted(range(13), key=elapsed.__getitem__)
    assert expected == rank(dict.fromkeys(range(13), RIGHT), elapsed)


def test_r7_what_is_still_equal_is_drawn() -> None:
    picks = {2: RIGHT, 3: RIGHT}
    orders = {tuple(rank(picks, {2: 5, 3: 5}, seed)[:2]) for seed in range(20)}
    assert {(2, 3), (3, 2)} == orders


def test_o1_no_positions_are_no_answer_even_where_the_target_is_0() -> None:
    setup = setup_but(challenge={"numbers": [-1, 1, 2, 3, 4, 5, 6, 7], "target": 0})
    for seed in range(6):
        table = begun(setup=setup, seed=seed)
        close(table, {3: {"pick": [0, 1]}, 4: {"pick": []}}, {3: 60_000})
        assert 3 == table.state.challenge[0]
