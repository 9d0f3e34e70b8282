"""What becomes of an outcome when bots forfeit: they stand last, tied, and win nothing; what others won stays."""

from protocol.words import Outcome
from referee.match.match import forfeited_at_once, with_forfeits

OUTCOME = Outcome(
    ranking=((2,), (0, 1), (3,)),
    winners=(2, 0),
    eliminated=3,
    scores={"0": 5, "1": 5, "2": 9, "3": 0},
    tokens={"0": 1, "2": 2},
    garnets={"1": -1, "2": 3, "3": 4},
    reason="decided",
)


def test_without_a_forfeit_an_outcome_stays_as_it_is() -> None:
    assert OUTCOME is with_forfeits(OUTCOME, frozenset())


def test_a_seat_that_forfeits_is_last_and_the_others_results_stay() -> None:
    found = with_forfeits(OUTCOME, frozenset({2, 1}))
    assert ((0,), (3,), (1, 2)) == found.ranking
    assert ((0,), 1) == (found.winners, found.eliminated)
    assert ({"0": 1}, {"3": 4}) == (found.tokens, found.garnets)
    assert OUTCOME.scores == found.scores


def test_if_all_winners_forfeit_those_who_are_first_then_win() -> None:
    assert (0,) == with_forfeits(OUTCOME, frozenset({2})).winners
    found = with_forfeits(OUTCOME, frozenset({0, 2}))
    assert (((1,), (3,), (0, 2)), (1,)) == (found.ranking, found.winners)


def test_one_who_would_have_been_eliminated_and_forfeits_is() -> None:
    assert 3 == with_forfeits(OUTCOME, frozenset({0, 3})).eliminated


def test_a_match_is_decided_at_once_when_at_most_one_is_left() -> None:
    assert forfeited_at_once(3, frozenset()) is None
    assert forfeited_at_once(3, frozenset({1})) is None
    found = forfeited_at_once(3, frozenset({0, 2}))
    assert found is not None
    assert (((1,), (0, 2)), (1,), None) == (found.ranking, found.winners, found.eliminated)
    of_two = forfeited_at_once(2, frozenset({1}))
    assert of_two is not None
    assert (((0,), (1,)), 1) == (of_two.ranking, of_two.eliminated)
    nobody = forfeited_at_once(2, frozenset({0, 1}))
    assert nobody is not None
    assert (((0, 1),), (), None) == (nobody.ranking, nobody.winners, nobody.eliminated)
