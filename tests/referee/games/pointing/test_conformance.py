"""Conformance really varies Pointing's secret, who points where: leaks planted in it are caught and named."""

from typing import ClassVar

import pytest
from msgspec.structs import replace

from protocol.games.pointing import Map, Section
from protocol.words import Event
from referee.games.pointing.game import Pointing
from referee.games.pointing.state import PointingState
from referee.proofs.conformance import check_game
from referee.proofs.conformance.swaps import ANONYMOUS
from referee.rules.contract import Addressed, AnyGame, ResolvedActions, Transition
from referee.rules.rng import MatchRandom
from tests.long import mostly_slow
from tests.referee.proofs.planting import SECRET, assert_caught, says_in_reasons, shows

FEW = range(40)


def by_seat(state: PointingState, number: int) -> tuple[Section, ...]:
    """Sort a round's sections by their lowest seats."""
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

    def close(self, state: PointingState, taken: ResolvedActions, rng: MatchRandom) -> Transition[PointingState]:
        step = super().close(state, taken, rng)
        told = tuple(
            Addressed(replace(each.event, sections=by_seat(step.state, each.event.round - 1)))
            if isinstance(each.event, Map)
            else each
            for each in step.told
        )
        return Transition(step.state, told)


class StartOfLoop(Pointing):
    """Whether the first seat is on a loop shows in the map."""

    def close(self, state: PointingState, taken: ResolvedActions, rng: MatchRandom) -> Transition[PointingState]:
        step = super().close(state, taken, rng)
        looped = any(part.kind == "loop" and 0 in part.members for part in step.state.rounds[-1].connections.parts)
        told = tuple(
            Addressed(replace(each.event, round=-each.event.round))
            if looped and isinstance(each.event, Map)
            else each
            for each in step.told
        )
        return Transition(step.state, told)


def leads(state: PointingState, seat: int | None) -> int:
    """Whether a seat leads, before the reveal."""
    total = [sum(played.points[each] for played in state.rounds) for each in range(state.options.seats)]
    return not state.end and seat is not None and total[seat] == max(total)


def shown_sections(state: PointingState, _: int | None) -> tuple[tuple[Section, ...], ...]:
    """List the sections of maps by their lowest seats in the view; the map is told as it should be."""
    return tuple(by_seat(state, number) for number in range(len(state.rounds)))


def voters(state: PointingState, seat: int | None) -> tuple[int, ...]:
    """Who votes, while they do."""
    winners = state.standing.winners if state.standing and not state.end else ()
    return (*Pointing().view(state, seat).tied, *winners)


class NamedMap(Map, frozen=True, kw_only=True, tag="map"):
    anonymous: ClassVar[bool] = False


class Ghost(Event, frozen=True, kw_only=True, tag="ghost"):
    anonymous: ClassVar[bool] = True


class NeverTold(Pointing):
    """The only event that is declared anonymous is one that no match ever tells."""

    events = (NamedMap, *Pointing.events[1:], Ghost)  # type: ignore[assignment]


LEAKS: dict[str, tuple[type[AnyGame], str]] = {
    "sections in the order of seats": (OrderOfMap, ANONYMOUS),
    "shown sections in the order of seats": (shows(Pointing, maps=shown_sections), SECRET),
    "whether seat 0 is on a loop": (StartOfLoop, ANONYMOUS),
    "who points at seat 0": (
        shows(Pointing, more=lambda state, _: sum(played.pointed.count(0) for played in state.rounds)),
        SECRET,
    ),
    "whether a seat leads": (shows(Pointing, more=leads), SECRET),
    "who votes": (shows(Pointing, tied=voters), SECRET),
    "how many voted": (
        shows(Pointing, more=lambda state, _: sum(vote is not None for vote in state.votes)),
        SECRET,
    ),
    "who pointed at a seat, by reasons": (
        says_in_reasons(Pointing, lambda state, seat: state.rounds[-1].pointed.count(seat) if state.rounds else 0),
        SECRET,
    ),
    "an anonymous event that is never told": (NeverTold, ANONYMOUS),
}


@pytest.mark.parametrize("leak", mostly_slow(4, LEAKS))
def test_planted_faults_are_caught_and_named(leak: str) -> None:
    assert_caught(*LEAKS[leak], FEW)


@pytest.mark.slow
def test_conformance_varies_who_points_where_and_opens_both_windows() -> None:
    (report,) = check_game(Pointing(), range(10))
    assert () == report.unopened
    # Three observers have a twin; at the first window there is nothing yet that could differ.
    assert 2 * report.matches < report.twinned
    assert 3 * 4 * report.matches <= report.reseated
