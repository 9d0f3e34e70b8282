"""A table folds what was taken into a match, and a journal folds again to the same."""

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.mist import Placed
from referee.games.mist import Mist
from referee.rules.contract import BadSetupError, Illegal, ResolvedAction
from referee.rules.reveal import Leak
from referee.rules.table import Answered, Deal, Table, WindowClosed, replay
from tests.referee.proofs.planting import tells_all
from tests.referee.toy import Bid, Cups, Guess, Look

ONE_ROUND = Deal("plain", 3, Raw(b'{"rounds":1}'))


def bids(*amounts: int) -> tuple[ResolvedAction, ...]:
    return tuple(ResolvedAction(Bid(amount=amount)) for amount in amounts)


def test_a_journal_replays_to_the_same_events_state_and_outcome() -> None:
    table = Table(Cups(), ONE_ROUND)
    table.close(bids(1, 3, 3))
    table.answer(2, Look(cup=1))
    table.close((None, ResolvedAction(None, by_default=True), ResolvedAction(Look(cup=1))))
    table.close(tuple(ResolvedAction(Guess(guess=n), elapsed_ms=n) for n in range(3)))
    again = replay(Cups(), ONE_ROUND, table.journal)
    assert [WindowClosed, Answered, WindowClosed, WindowClosed] == [type(move) for move in table.journal]
    assert encode(table.start) == encode(again.start)
    assert (table.state, table.outcome, table.journal) == (again.state, again.outcome, again.journal)
    assert table.outcome is not None
    assert (None, ()) == (table.window, table.owed)


def test_an_answer_leaves_the_window_open_and_closing_opens_the_next() -> None:
    table = Table(Cups(), ONE_ROUND)
    table.close(bids(3, 3, 0))
    assert ("look", 1) == (table.window and table.window.name, table.number)
    assert [0] == [told.seat for told in table.answer(0, Look(cup=1))]
    assert ("look", 1) == (table.window and table.window.name, table.number)
    table.close((ResolvedAction(Look(cup=1)), ResolvedAction(None, by_default=True), None))
    assert ("guess", 2) == (table.window and table.window.name, table.number)


def test_submissions_are_answered_at_once_and_defaults_fill_the_rest() -> None:
    table, fork = Table(Cups(), ONE_ROUND), Table(Cups(), ONE_ROUND)
    for each in (table, fork):
        each.close(bids(3, 3, 0))
    assert [0] == [told.seat for told in table.submit(0, Look(cup=1), 7)]
    assert () == table.fork().submit(1, None, 9)
    assert (
        ResolvedAction(Look(cup=1), elapsed_ms=7),
        ResolvedAction(None, by_default=True),
        None,
    ) == table.results()
    table.close(table.results())
    assert {} == table.submitted
    for move in table.journal[1:]:
        fork.apply(move)
    assert (table.state, table.journal) == (fork.state, fork.journal)


def test_a_seat_that_owes_nothing_is_turned_down_whatever_it_submits() -> None:
    table = Table(Cups(), ONE_ROUND)
    table.close(bids(3, 0, 0))
    for raw in (b'{"cup":1}', b"nonsense"):
        with pytest.raises(Illegal, match="this seat owes nothing now"):
            table.read(1, raw)
    assert Look(cup=1) == table.read(0, b'{"cup":1}')


def test_a_drawn_default_depends_on_seed_window_and_seat_only() -> None:
    table, other = Table(Cups(), ONE_ROUND), Table(Cups(), ONE_ROUND)
    table.close(bids(0, 0, 0))
    other.close(bids(0, 0, 0))
    forwards = [table.default(seat) for seat in (0, 1, 2)]
    assert forwards == [other.default(seat) for seat in (2, 1, 0)][::-1]


def test_a_fork_goes_its_own_way() -> None:
    table = Table(Cups(), ONE_ROUND)
    before = table.state
    fork = table.fork()
    fork.close(bids(1, 0, 0))
    assert (before, 0, []) == (table.state, table.number, table.journal)
    assert (1, 1) == (fork.number, len(fork.journal))


def test_options_or_a_setup_that_break_the_rules_deal_no_match() -> None:
    with pytest.raises(BadSetupError, match="options: "):
        Table(Cups(), Deal("plain", 0, Raw(b'{"rounds":0}')))
    with pytest.raises(BadSetupError, match=r"setup\.cups: 1 cups; there are 4"):
        Table(Cups(), Deal("plain", 0, None, Raw(b'{"cups":[1]}')))


def test_an_event_for_one_seats_eyes_is_not_told_to_all() -> None:
    table = Table(tells_all(Mist, Placed)(), Deal("contractual-obligation", 0, Raw(b'{"first":0}')))
    with pytest.raises(Leak, match="Placed must not be told in public"):
        table.close((ResolvedAction(table.read(0, b'{"cells":["A1"]}')), None))
