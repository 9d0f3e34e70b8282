"""Pointing: thirteen seats, three rounds; in each, every seat points at one other seat or at none, in secret.

The rulings R1 to R8 are in docs/games/pointing.md; one round's connections and their map are `map`'s.
"""

from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from protocol.games.pointing import (
    FEWEST_SEATS,
    MOST_SEATS,
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
from protocol.games.pointing_map import Connections, Targets, anonymous, connect, points
from protocol.words import Action, Options, Outcome, Setup
from referee.rules import (
    DAY_MS,
    Addressed,
    Announced,
    Game,
    Illegal,
    Luck,
    Owed,
    Step,
    Taken,
    TimeTerms,
    Variant,
    Window,
)

ROUNDS = 3
ALWAYS_END, ALWAYS_START = 1, -2
"""Points for having been the end, or a start, of a chain in all rounds."""
ALWAYS_POINTED = -1
"""Garnets for having pointed at another seat in all rounds."""

ValueT = TypeVar("ValueT")


class Played(Struct, frozen=True):
    """One round that is over. Tuples are indexed by seat."""

    pointed: Targets
    """As submitted, before anything was cut."""
    connections: Connections
    sections: tuple[Section, ...]
    """The map, as it was told."""
    points: tuple[int, ...]


class Standing(Struct, frozen=True):
    """Where everyone stands after the last round. Tuples are indexed by seat, but for lists of seats."""

    points: tuple[int, ...]
    """All of them, those for all three rounds included."""
    connected: tuple[int, ...]
    """How many different others were in each seat's sections (R3)."""
    winners: tuple[int, ...]
    last: tuple[int, ...]
    """The seats with the fewest points, and of these the ones with the fewest connections (R3)."""


class End(Struct, frozen=True):
    """What the match came to."""

    eliminated: int
    reveal: Reveal


class PointingState(Struct, frozen=True):
    """A match between two windows."""

    options: PointingOptions
    rounds: tuple[Played, ...] = ()
    standing: Standing | None = None
    """None while there are rounds to play."""
    votes: tuple[int | None, ...] = ()
    """Whom each winner voted for, in the winners' order, once the vote is over."""
    end: End | None = None
    """None while the match goes on."""


class Pointing(Game[PointingState]):
    """Chains score, loops do not, crowds and loners lose; the map says what came of it, but not who is where."""

    name = "pointing"
    # The published rules name no time. People take a day for a window in matches of this kind.
    variants = (Variant("tempo-up", TimeTerms({"point": DAY_MS, "vote": DAY_MS})),)
    actions = {"point": Point, "vote": Vote}  # noqa: RUF012 - a ClassVar of the contract
    announced = {"point": Announced.SEATS, "vote": Announced.NAME}  # noqa: RUF012 - a ClassVar of the contract
    events = (Map, Tied, Reveal)
    options = PointingOptions
    view_type = PointingView

    def seats(self, options: Options) -> int:
        """As many as the option says."""
        return cast("PointingOptions", options).seats

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[PointingState]:
        """Nothing is dealt, and nothing told."""
        return Step(PointingState(cast("PointingOptions", options)))

    def window(self, state: PointingState) -> Window | None:
        """Three rounds of all, then the winners' vote if one is needed (R3)."""
        if state.end is not None:
            return None
        if state.standing is None:
            return _POINT_WINDOWS[state.options.seats]
        return Window("vote", tuple(Owed(seat, Vote(seat=None)) for seat in state.standing.winners))

    def check(self, state: PointingState, seat: int, action: Action) -> Action:
        """At another seat, or at nobody; a vote for one of the tied seats, the voter itself too, or none (R3)."""
        if isinstance(action, Point) and action.target is not None:
            if action.target >= state.options.seats:
                raise Illegal(f"target: {action.target} is no seat; the seats are 0 to {state.options.seats - 1}")
            if action.target == seat:
                raise Illegal("target: a seat cannot point at itself")
        if isinstance(action, Vote) and action.seat is not None and action.seat not in _tied(state):
            raise Illegal(f"seat: {action.seat} is not one of the tied seats")
        return action

    def close(self, state: PointingState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[PointingState]:
        """A round, or the vote that ends the match."""
        actions = [part.action for part in taken if part is not None]
        if state.standing is not None:
            votes = tuple(cast("Vote", action).seat for action in actions)
            voted_out = _voted_out(state.standing.last, votes, luck)
            return _end(replace(state, votes=votes), voted_out, ())
        after = _play_round(state, tuple(cast("Point", action).target for action in actions))
        told = (Addressed(Map(round=len(after.rounds), sections=after.rounds[-1].sections)),)
        if after.standing is None:
            return Step(after, told)
        if len(after.standing.last) == 1:
            return _end(after, after.standing.last[0], told)
        return Step(after, (*told, Addressed(Tied(seats=after.standing.last))))

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        """The maps, the seat's own submissions, who is voted on, and after the reveal all that it told (R6)."""
        is_winner = bool(state.standing and seat in state.standing.winners)
        return PointingView(
            seat=seat,
            seats=state.options.seats,
            round=len(state.rounds) + 1,
            maps=tuple(played.sections for played in state.rounds),
            targets=() if seat is None else tuple(played.pointed[seat] for played in state.rounds),
            tied=_tied(state),
            may_vote=is_winner and bool(_tied(state)) and state.end is None,
            voted=None if seat is None else _votes(state).get(str(seat)),
            rounds=state.end.reveal.rounds if state.end else (),
            scores=state.end.reveal.scores if state.end else None,
        )

    def host_view(self, state: PointingState) -> PointingHostView:
        """Everything."""
        standing = state.standing or _standing(state)
        return PointingHostView(
            round=len(state.rounds) + 1,
            maps=tuple(played.sections for played in state.rounds),
            rounds=_rounds(state),
            scores=_by_seat(standing.points),
            connected=_by_seat(standing.connected),
            tied=_tied(state),
            votes=_votes(state),
            eliminated=state.end.eliminated if state.end else None,
        )

    def outcome(self, state: PointingState) -> Outcome | None:
        """Winners and their prizes (R2), who goes (R3), and all between by points (R4, R8)."""
        standing, end = state.standing, state.end
        if standing is None or end is None:
            return None
        prized = standing.winners if len(standing.winners) <= state.options.token_threshold else ()
        garnets = [
            (seat in prized) + ALWAYS_POINTED * all(played.pointed[seat] is not None for played in state.rounds)
            for seat in range(state.options.seats)
        ]
        return Outcome(
            ranking=(*_groups(standing.points, end.eliminated), (end.eliminated,)),
            winners=standing.winners,
            eliminated=end.eliminated,
            scores=end.reveal.scores,
            tokens={str(seat): 1 for seat in prized},
            garnets={str(seat): gained for seat, gained in enumerate(garnets) if gained},
            reason="finished",
            detail=PointingDetail(rounds=end.reveal.rounds, connected=_by_seat(standing.connected)),
        )

    def reseat(self, action: Action, seat_of: tuple[int, ...]) -> Action:
        """Targets and votes name seats."""
        if isinstance(action, Point) and action.target is not None:
            return Point(target=seat_of[action.target])
        if isinstance(action, Vote) and action.seat is not None:
            return Vote(seat=seat_of[action.seat])
        return action


_POINT_WINDOWS = {
    seats: Window("point", tuple(Owed(seat, Point(target=None)) for seat in range(seats)))
    for seats in range(FEWEST_SEATS, MOST_SEATS + 1)
}


def _play_round(state: PointingState, pointed: Targets) -> PointingState:
    connections = connect(pointed)
    been_node = frozenset[int]().union(*(played.connections.nodes() for played in state.rounds))
    played = Played(pointed, connections, anonymous(connections), points(connections, been_node))
    after = replace(state, rounds=(*state.rounds, played))
    return replace(after, standing=_standing(after)) if len(after.rounds) == ROUNDS else after


def _standing(state: PointingState) -> Standing:
    """As after the last round; before it, with the points and connections so far."""
    total, connected = _total(state), _connected(state)
    ranks = list(zip(total, connected, strict=True))
    return Standing(
        points=total,
        connected=connected,
        winners=tuple(seat for seat, each in enumerate(total) if each == max(total)),
        last=tuple(seat for seat, rank in enumerate(ranks) if rank == min(ranks)),
    )


def _total(state: PointingState) -> tuple[int, ...]:
    """By seat: the points of the rounds so far, and, once all are played, those for all three."""
    total = [sum(played.points[seat] for played in state.rounds) for seat in range(state.options.seats)]
    if len(state.rounds) == ROUNDS:
        for seat in frozenset.intersection(*(played.connections.ends() for played in state.rounds)):
            total[seat] += ALWAYS_END
        for seat in frozenset.intersection(*(played.connections.starts() for played in state.rounds)):
            total[seat] += ALWAYS_START
    return tuple(total)


def _connected(state: PointingState) -> tuple[int, ...]:
    met: list[set[int]] = [{seat} for seat in range(state.options.seats)]
    for played in state.rounds:
        for part in played.connections.parts:
            for seat in part.members:
                met[seat].update(part.members)
    return tuple(len(seats) - 1 for seats in met)


def _tied(state: PointingState) -> tuple[int, ...]:
    """The seats that are, or were, voted on; none where nobody needs to vote."""
    return state.standing.last if state.standing and len(state.standing.last) > 1 else ()


def _votes(state: PointingState) -> dict[str, int | None]:
    """Winner to its vote, once the vote is over."""
    winners = state.standing.winners if state.standing and state.votes else ()
    return {str(seat): vote for seat, vote in zip(winners, state.votes, strict=True)}


def _voted_out(tied: tuple[int, ...], votes: tuple[int | None, ...], luck: Luck) -> int:
    """The seat with the most votes; of equal ones, or of all if nobody votes, a drawn one (R3)."""
    most = max(votes.count(seat) for seat in tied)
    equal = [seat for seat in tied if votes.count(seat) == most]
    return equal[0] if len(equal) == 1 else luck.shared().choice(equal)


def _groups(total: tuple[int, ...], eliminated: int) -> list[tuple[int, ...]]:
    """All seats but the eliminated one, which stands alone (R8), by points; those with equal points together."""
    rest = [seat for seat in range(len(total)) if seat != eliminated]
    by_points = sorted({total[seat] for seat in rest}, reverse=True)
    return [tuple(seat for seat in rest if total[seat] == each) for each in by_points]


def _end(state: PointingState, eliminated: int, told: tuple[Addressed, ...]) -> Step[PointingState]:
    reveal = Reveal(rounds=_rounds(state), scores=_by_seat(_total(state)))
    return Step(replace(state, end=End(eliminated, reveal)), (*told, Addressed(reveal)))


def _rounds(state: PointingState) -> tuple[Round, ...]:
    return tuple(
        Round(targets=_by_seat(played.pointed), points=_by_seat(played.points)) for played in state.rounds
    )


def _by_seat(values: tuple[ValueT, ...]) -> dict[str, ValueT]:
    return {str(seat): value for seat, value in enumerate(values)}
