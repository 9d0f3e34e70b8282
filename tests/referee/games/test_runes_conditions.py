"""The vote for a condition, what each of the fifteen pays, and what is told of it."""

from tests.referee.games.playing import close
from tests.referee.games.runes_play import start


def test_r2_a_seat_that_submits_nothing_neither_votes_nor_abstains_what_it_earns_is_told_in_full() -> None:
    told = close(start()).event(None, "insight")
    assert (["0", "1", "2", "3", "4"], {}) == (list(told["earned"]), told["positions"])
