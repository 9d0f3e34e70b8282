"""Choices one after the other: a draft takes those that its mask allows, and luck draws each as often."""

from collections import Counter
from random import Random

import pytest

from protocol.words import View
from referee.rules.contract import Addressed, Building, Draft, IllegalChoiceError, LegalActions, check_own, drawn
from referee.rules.reveal import Leak, audience
from tests.referee.toy import Bid, Cups, Hand


def two_choices() -> Building:
    """First 1, 2 or 4; then only that again."""
    first = yield 0b10110
    second = yield 1 << first
    return Bid(amount=10 * first + second)


class TwoChoices(Cups):
    """A game of these choices, in which bids of 1 and 2 can be listed, too."""

    def __init__(self, *, is_listed: bool) -> None:
        self._is_listed = is_listed

    def build(self, view: object, seat: int) -> Building:
        return two_choices()

    def spell(self, view: object, action: object) -> tuple[int, ...]:
        assert isinstance(action, Bid)
        return divmod(action.amount, 10)

    def listed(self, view: object, seat: int) -> list[Bid] | None:
        return [Bid(amount=1), Bid(amount=2), Bid(amount=3)] if self._is_listed else None


@pytest.mark.parametrize("choice", [-1, 0, 3, 5, 100])
def test_a_choice_that_the_mask_does_not_allow_is_refused_and_changes_nothing(choice: int) -> None:
    draft = Draft(two_choices())
    with pytest.raises(IllegalChoiceError):
        draft.choose(choice)
    assert ((), 0b10110) == (draft.choices, draft.mask)
    draft.choose(4)
    with pytest.raises(IllegalChoiceError, match=r"^choice 2 is not legal here after 4$"):
        draft.choose(2)
    draft.choose(4)
    assert (0, Bid(amount=44), (4, 4)) == (draft.mask, draft.action, draft.choices)


def test_each_bit_of_a_mask_is_drawn_about_equally_often() -> None:
    rng = Random(1)
    counts = Counter(drawn(0b1011001, rng) for _ in range(4_000))
    assert {0, 3, 4, 6} == set(counts)
    assert all(900 < count < 1_100 for count in counts.values())


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_sample_is_each_action_about_equally_often(is_listed: bool) -> None:
    actions = LegalActions(TwoChoices(is_listed=is_listed), View(), 0)
    rng = Random(2)
    counts = Counter(actions.sample(rng).amount for _ in range(3_000))  # type: ignore[attr-defined]
    assert ({1, 2, 3} if is_listed else {11, 22, 44}) == set(counts)
    assert all(900 < count < 1_100 for count in counts.values())
    assert actions.draft(actions.choices(Bid(amount=22))).action == Bid(amount=22)


class OwnView(View, frozen=True, kw_only=True):
    """A view that says whose it is."""

    seat: int | None


@pytest.mark.parametrize(("view", "seat"), [(OwnView(seat=2), 2), (View(), 0)])
def test_a_view_is_its_seats_own(view: View, seat: int) -> None:
    check_own(view, seat)


@pytest.mark.parametrize(
    ("view", "seat"),
    [(OwnView(seat=2), 1), (OwnView(seat=None), 0), (OwnView(seat=2), None), (View(), None), (View(), -1)],
)
def test_anothers_view_and_a_spectators_are_not(view: View, seat: int | None) -> None:
    with pytest.raises(ValueError, match=r"^seat: "):
        check_own(view, seat)


def test_private_events_are_not_sent_to_all() -> None:
    assert [1] == list(audience(Addressed(Hand(lucky=1), 1), 3))
    with pytest.raises(Leak, match="must not be told in public"):
        audience(Addressed(Hand(lucky=1)), 3)
