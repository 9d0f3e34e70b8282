"""The account of processor time never says more than a bot can have used, however late it is read."""

from hypothesis import given
from hypothesis import strategies as st

from referee.match.window import KEPT, LOOK_US, Account

PIECES = st.lists(st.tuples(st.integers(0, 50_000), st.integers(0, 3)), max_size=3 * KEPT)
"""How long a bot does something, in microseconds, and how many of three cores it uses."""


def read_after_each(pieces: list[tuple[int, int]]) -> tuple[Account, list[tuple[int, int]]]:
    """Return an account that was read after each piece, and the true readings from the start on."""
    account, truth = Account(), [(0, 0)]
    account.read(0, 0, 3)
    for length, cores in pieces:
        at, used = truth[-1]
        truth.append((at + length, used + length * cores))
        account.read(*truth[-1], 3)
    return account, truth


@given(PIECES, st.data())
def test_it_never_says_more_than_was_used_by_then(pieces: list[tuple[int, int]], data: st.DataObject) -> None:
    account, truth = read_after_each(pieces)
    piece = data.draw(st.integers(0, len(truth) - 1))
    start, used = truth[piece]
    length, cores = pieces[piece] if piece < len(pieces) else (0, 0)
    later = data.draw(st.integers(0, length))
    assert used + later * cores >= account.used(start + later)


@given(PIECES)
def test_at_its_last_reading_it_says_all_that_was_used(pieces: list[tuple[int, int]]) -> None:
    account, truth = read_after_each(pieces)
    at, used = truth[-1]
    assert used == account.used(at) == account.used(at + 1_000_000) == account.total


@given(PIECES, st.integers(0, 200_000), st.integers(0, 200_000))
def test_it_never_runs_backwards(pieces: list[tuple[int, int]], one: int, other: int) -> None:
    account, _ = read_after_each(pieces)
    assert account.used(min(one, other)) <= account.used(max(one, other))


def test_time_used_before_the_first_reading_does_not_count_in_the_window() -> None:
    account = Account()
    account.read(1_000, 777, 1)
    assert 0 == account.used(1_000)


def test_a_counter_that_restarted_takes_nothing_back() -> None:
    account = Account()
    for at, counter in ((0, 0), (1_000, 900), (2_000, 100), (3_000, 600)):
        account.read(at, counter, 1)
    assert 1_400 == account.used(3_000)


def test_while_the_stopwatch_stands_nothing_is_used() -> None:
    account = Account()
    for at, counter in ((0, 0), (500, 500), (500, 9_000), (600, 9_100)):
        account.read(at, counter, 1)
    assert 600 == account.used(600)


def test_the_next_look_is_when_all_its_cores_could_have_used_the_rest() -> None:
    account = Account()
    account.read(0, 0, 2)
    assert 500_000 == account.next_look(1_000_000)
    account.read(500_000, 200_000, 2)
    assert 900_000 == account.next_look(1_000_000)


def test_looks_do_not_come_closer_than_ten_milliseconds_until_the_goal_is_seen() -> None:
    account = Account()
    account.read(0, 0, 1)
    account.read(1_000, 999, 1)
    assert 1_000 + LOOK_US == account.next_look(1_000)
    account.read(11_000, 1_000, 1)
    assert 11_000 == account.next_look(1_000)


def test_before_the_first_reading_nothing_is_used_and_the_next_look_is_due() -> None:
    account = Account()
    assert (0, 0, 0) == (account.total, account.used(1_000), account.next_look(1_000))
