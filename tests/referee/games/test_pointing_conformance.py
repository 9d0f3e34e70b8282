"""Conformance really varies Pointing's secret, who points where: leaks planted in it are caught and named."""

import re
from typing import ClassVar

import pytest
from msgspec.structs import replace

from protocol.games.pointing import Map, PointingView, Section
from protocol.words import Action, Event
from referee.games.pointing.game import Pointing, PointingState
from referee.proofs.conformance import ConformanceError, check_game
from referee.proofs.conformance.reseating import ANONYMOUS
from referee.rules.contract import Addressed, Illegal, Step, Taken
from referee.rules.rng import Luck

SECRET = "secret swap: told the same"  # noqa: S105 - a promise, not a password
FEW = range(40)


def by_seat(state: PointingState, number: int) -> tuple[Section, ...]:
    """A round's sections in the order of their lowest seats."""
    played = state.rounds[number]
    parts = sorted(played.connections.parts, key=lambda part: min(part.members))
    unsorted = list(played.sections)
    ordered = []
    for part in parts:
        section = next(each for each in unsorted if (each.kind, each.size) == (part.kind, len(part.members)))
        unsorted.remove(section)
        ordered.append(section)
    return tuple(ordered)


class OrderOfMap(Pointing):
    """The map lists its sections in the order of their lowest seats."""

    def close(self, state: PointingState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[PointingState]:
        step = super().close(state, taken, luck)
        told = tuple(
            Addressed(replace(each.event, sections=by_seat(step.state, each.event.round - 1)))
            if isinstance(each.event, Map)
            else each
            for each in step.told
        )
        return Step(step.state, told)


class OrderOfShownMap(Pointing):
    """The map is told as it should be; the view lists its sections in the order of their lowest seats."""

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        maps = tuple(by_seat(state, number) for number in range(len(state.rounds)))
        return replace(super().view(state, seat), maps=maps)


class StartOfLoop(Pointing):
    """Whether the first seat is on a loop shows in the map."""

    def close(self, state: PointingState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[PointingState]:
        step = super().close(state, taken, luck)
        looped = any(part.kind == "loop" and 0 in part.members for part in step.state.rounds[-1].connections.parts)
        told = tuple(
            Addressed(replace(each.event, round=-each.event.round))
            if looped and isinstance(each.event, Map)
            else each
            for each in step.told
        )
        return Step(step.state, told)


class PointedAtInView(Pointing):
    """A seat is shown whether anybody points at seat 0."""

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        pointed_at = sum(played.pointed.count(0) for played in state.rounds)
        return replace(super().view(state, seat), seats=100 + pointed_at)


class ScoreInView(Pointing):
    """A seat is shown before the reveal whether it leads."""

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        view = super().view(state, seat)
        total = [sum(played.points[each] for played in state.rounds) for each in range(state.options.seats)]
        leads = seat is not None and total[seat] == max(total)
        return view if state.end else replace(view, seats=view.seats + 100 * leads)


class VotersInView(Pointing):
    """While the winners vote, all are shown who they are."""

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        view = super().view(state, seat)
        winners = state.standing.winners if state.standing and not state.end else ()
        return replace(view, tied=(*view.tied, *winners))


class VotesInView(Pointing):
    """After the vote all are shown how many voted."""

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        voted = sum(vote is not None for vote in state.votes)
        return replace(super().view(state, seat), round=100 + voted)


class PointersInReason(Pointing):
    """The reason for which a self-pointer is rejected says how many pointed at the seat in the round before."""

    def check(self, state: PointingState, seat: int, action: Action) -> Action:
        try:
            return super().check(state, seat, action)
        except Illegal as illegal:
            pointers = state.rounds[-1].pointed.count(seat) if state.rounds else 0
            raise Illegal(f"{illegal.reason}, as {pointers} did") from None


class NamedMap(Map, frozen=True, kw_only=True, tag="map"):
    anonymous: ClassVar[bool] = False


class Ghost(Event, frozen=True, kw_only=True, tag="ghost"):
    anonymous: ClassVar[bool] = True


class NeverTold(Pointing):
    """The only event that is declared anonymous is one that no match ever tells."""

    events = (NamedMap, *Pointing.events[1:], Ghost)  # type: ignore[assignment]


LEAKS: dict[type[Pointing], str] = {
    OrderOfMap: ANONYMOUS,
    OrderOfShownMap: SECRET,
    StartOfLoop: ANONYMOUS,
    PointedAtInView: SECRET,
    ScoreInView: SECRET,
    VotersInView: SECRET,
    VotesInView: SECRET,
    PointersInReason: SECRET,
    NeverTold: ANONYMOUS,
}


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_what_is_planted_is_caught_and_named(leak: type[Pointing]) -> None:
    with pytest.raises(ConformanceError, match=re.escape(LEAKS[leak])):
        check_game(leak(), FEW)


def test_conformance_varies_who_points_where_and_opens_both_windows() -> None:
    (report,) = check_game(Pointing(), FEW)
    assert () == report.unopened
    # Three observers have a twin; at the first window there is nothing yet that could differ.
    assert 2 * report.matches < report.twinned
    assert 3 * 4 * report.matches <= report.reseated
