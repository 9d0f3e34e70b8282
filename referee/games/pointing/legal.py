"""Pointing's legal actions, which can all be listed: each is one choice, a seat or none."""

from collections.abc import Sequence

from protocol.games.pointing import MOST_SEATS, Point, PointingView, Vote
from protocol.words import Action
from referee.rules import Building

NOBODY = MOST_SEATS
CHOICES = (*(f"seat {seat}" for seat in range(MOST_SEATS)), "nobody")


def listed(view: PointingView, seat: int) -> Sequence[Action]:
    """Return all legal actions: the one without a seat first, then in order of seats."""
    if view.may_vote:
        return [Vote(seat=each) for each in (None, *view.tied)]
    return [Point(target=each) for each in (None, *range(view.seats)) if each != seat]


def build(view: PointingView, seat: int) -> Building:
    """See `Game.build`."""
    targets = view.tied if view.may_vote else [each for each in range(view.seats) if each != seat]
    choice = yield 1 << NOBODY | sum(1 << each for each in targets)
    target = None if choice == NOBODY else choice
    return Vote(seat=target) if view.may_vote else Point(target=target)


def spell(action: Action) -> Sequence[int]:
    """See `Game.spell`."""
    match action:
        case Point(target=target) | Vote(seat=target):
            return (NOBODY if target is None else target,)
        case _:
            raise AssertionError(action)
