"""Pointing: thirteen seats, three rounds; each points at one other seat, or at none, in secret.

The rules by their numbers are in docs/games/pointing.md; a round's map is `pointing_map`'s.
"""

from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from protocol.games.pointing import (
    Map,
    Point,
    PointingDetail,
    PointingHostView,
    PointingOptions,
    PointingView,
    Reveal,
    Round,
    Section,
    Tied,
    Vote,
)
from protocol.words import Action, Options, Outcome, Setup, View
from referee.games.pointing_map import Connections, Targets, anonymous, connect, points
from referee.luck import Luck
from referee.rules import Game, Illegal, Owed, Step, Taken, TimeTerms, Told, Variant, Window

ROUNDS = 3
DAY_MS = 86_400_000
"""The published rules name no time; a day a round is what matches of this kind among people take."""


class Played(Struct, frozen=True):
    """One round that is over."""

    pointed: Targets
    """As submitted, before anything was cut."""
    connections: Connections
    sections: tuple[Section, ...]
    points: tuple[int, ...]


class PointingState(Struct, frozen=True):
    """A match under way."""

    options: PointingOptions
    rounds: tuple[Played, ...] = ()
    tied: tuple[int, ...] = ()
    """The seats that are voted on, from the third round's end on, if there is a vote."""
    eliminated: int | None = None
    """Known once the match is over."""


class Pointing(Game[PointingState]):
    """See the top of the file."""

    name = "pointing"
    variants = (Variant("tempo-up", TimeTerms({"point": DAY_MS, "vote": DAY_MS})),)
    actions = {"point": Point, "vote": Vote}  # noqa: RUF012 - a ClassVar of the contract
    events = (Map, Tied, Reveal)
    options = PointingOptions
    view_type = PointingView

    def seats(self, options: Options) -> int:
        """As many as the option says."""
        return cast("PointingOptions", options).seats

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[PointingState]:
        """Nothing is dealt, and nothing told."""
        del variant, setup, luck
        return Step(PointingState(cast("PointingOptions", options)))

    def window(self, state: PointingState) -> Window | None:
        """Three rounds of all, then the winners' vote if one is needed (R3)."""
        if len(state.rounds) < ROUNDS:
            nobody = Point(target=None)
            return Window("point", tuple(Owed(seat, nobody) for seat in range(state.options.seats)))
        if state.eliminated is None:
            return Window("vote", tuple(Owed(seat, Vote(seat=None)) for seat in _winners(state)))
        return None

    def check(self, state: PointingState, seat: int, action: Action) -> Action:
        """At another seat, or at nobody; a vote for one of the tied, or for none."""
        if isinstance(action, Point):
            if action.target is not None and action.target not in range(state.options.seats):
                raise Illegal(f"target: there is no seat {action.target}")
            if action.target == seat:
                raise Illegal("target: you cannot point at yourself")
        elif isinstance(action, Vote) and action.seat is not None and action.seat not in state.tied:
            raise Illegal(f"seat: {action.seat} is not one of the tied seats")
        return action

    def close(self, state: PointingState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[PointingState]:
        """A round's map, or the vote's end."""
        if len(state.rounds) == ROUNDS:
            votes = [cast("Vote", part.action).seat for part in taken if part is not None]
            return _finish(state, _voted_out(state.tied, votes, luck))
        pointed = tuple(cast("Point", part.action).target for part in taken if part is not None)
        connections = connect(pointed)
        been_node = frozenset(seat for played in state.rounds for seat in _nodes(played.connections))
        played = Played(pointed, connections, anonymous(connections), points(connections, been_node))
        after = replace(state, rounds=(*state.rounds, played))
        told = (Told(Map(round=len(after.rounds), sections=played.sections)),)
        if len(after.rounds) < ROUNDS:
            return Step(after, told)
        last = _last(after)
        if len(last) == 1:
            step = _finish(after, last[0])
            return Step(step.state, (*told, *step.told))
        return Step(replace(after, tied=last), (*told, Told(Tied(seats=last))))

    def view(self, state: PointingState, seat: int | None) -> View:
        """The maps, the seat's own pointers, and the vote."""
        return PointingView(
            seat=seat,
            seats=state.options.seats,
            round=len(state.rounds) + 1,
            maps=tuple(played.sections for played in state.rounds),
            targets=() if seat is None else tuple(played.pointed[seat] for played in state.rounds),
            tied=state.tied,
            may_vote=bool(state.tied) and seat in _winners(state),
        )

    def host_view(self, state: PointingState) -> View:
        """Everything."""
        return PointingHostView(
            round=len(state.rounds) + 1,
            targets=tuple(_by_seat(played.pointed) for played in state.rounds),
            maps=tuple(played.sections for played in state.rounds),
            points=_by_seat(tuple(sum(played.points[seat] for played in state.rounds) for seat in _seats(state))),
            tied=state.tied,
        )

    def outcome(self, state: PointingState) -> Outcome | None:
        """R2, R3, R4, R8."""
        if state.eliminated is None:
            return None
        total, winners = _totals(state), _winners(state)
        rest = [seat for seat in _seats(state) if seat != state.eliminated]
        groups = [
            tuple(seat for seat in rest if total[seat] == score) for score in sorted(set(total), reverse=True)
        ]
        prized = winners if len(winners) <= state.options.token_threshold else ()
        garnets = {
            str(seat): gained
            for seat in _seats(state)
            if (gained := (seat in prized) - all(played.pointed[seat] is not None for played in state.rounds))
        }
        return Outcome(
            ranking=(*(group for group in groups if group), (state.eliminated,)),
            winners=winners,
            eliminated=state.eliminated,
            scores=_by_seat(total),
            tokens={str(seat): 1 for seat in prized},
            garnets=garnets,
            reason="finished",
            detail=PointingDetail(rounds=_rounds(state), connected=_by_seat(_connected(state))),
        )


def _seats(state: PointingState) -> range:
    return range(state.options.seats)


def _by_seat(values: tuple[int | None, ...]) -> dict[str, int]:
    return {str(seat): value for seat, value in enumerate(values)}  # type: ignore[misc]


def _nodes(connections: Connections) -> tuple[int, ...]:
    return tuple(part.members[0] for part in connections.parts if part.is_node)


def _totals(state: PointingState) -> tuple[int, ...]:
    """By seat: the points of three rounds, with those for all three together."""
    starts = frozenset.intersection(*(played.connections.starts() for played in state.rounds))
    ends = frozenset.intersection(*(played.connections.ends() for played in state.rounds))
    return tuple(
        sum(played.points[seat] for played in state.rounds) + (seat in ends) - 2 * (seat in starts)
        for seat in _seats(state)
    )


def _winners(state: PointingState) -> tuple[int, ...]:
    total = _totals(state)
    return tuple(seat for seat in _seats(state) if total[seat] == max(total))


def _connected(state: PointingState) -> tuple[int, ...]:
    """By seat: how many different others were in its three sections (R3)."""
    met: list[set[int]] = [set() for _ in _seats(state)]
    for played in state.rounds:
        for part in played.connections.parts:
            for seat in part.members:
                met[seat].update(part.members)
    return tuple(len(others) - 1 for others in met)


def _last(state: PointingState) -> tuple[int, ...]:
    """The seats with the fewest points, and of these the ones with the fewest connections (R3)."""
    total, connected = _totals(state), _connected(state)
    least = min((total[seat], connected[seat]) for seat in _seats(state))
    return tuple(seat for seat in _seats(state) if (total[seat], connected[seat]) == least)


def _voted_out(tied: tuple[int, ...], votes: list[int | None], luck: Luck) -> int:
    """The seat with the most votes; among equals, or without any vote, a drawn one (R3)."""
    most = max(votes.count(seat) for seat in tied)
    equal = [seat for seat in tied if votes.count(seat) == most]
    return equal[0] if len(equal) == 1 else luck.shared().choice(equal)


def _finish(state: PointingState, eliminated: int) -> Step[PointingState]:
    after = replace(state, eliminated=eliminated)
    return Step(after, (Told(Reveal(rounds=_rounds(after), scores=_by_seat(_totals(after)))),))


def _rounds(state: PointingState) -> tuple[Round, ...]:
    return tuple(
        Round(targets=_by_seat(played.pointed), points=_by_seat(played.points))  # type: ignore[arg-type]
        for played in state.rounds
    )
