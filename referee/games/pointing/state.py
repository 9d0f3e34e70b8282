"""Pointing's state, and the effects of a round."""

from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from protocol.games.pointing import PointingOptions, Reveal, Section
from protocol.games.pointing.map import Connections, Targets, anonymous, connect, points
from referee.rules import choice_mask

ROUNDS = 3
ALWAYS_END, ALWAYS_START = 1, -2
"""Points for a seat that was the end, or a start, of a chain in all rounds."""


class FinishedRound(Struct, frozen=True):
    """A finished round. Tuples are indexed by seat, except `sections`."""

    pointed: Targets
    """Targets as submitted, before pointers were cut."""
    connections: Connections
    sections: tuple[Section, ...]
    """The map, as all seats received it."""
    points: tuple[int, ...]


class PointsSoFar(Struct, frozen=True):
    """Points and connections after the last round, indexed by seat, and the seats that they decide on."""

    points: tuple[int, ...]
    """Total points, including those for the same role in all three rounds."""
    connected: tuple[int, ...]
    """Number of different other seats in each seat's sections (R3)."""
    winners: tuple[int, ...]
    last: tuple[int, ...]
    """The seats with the fewest connections among those with the fewest points (R3)."""


class End(Struct, frozen=True):
    """The end of a match: the eliminated seat and the reveal."""

    eliminated: int
    reveal: Reveal


class PointingState(Struct, frozen=True):
    """A match between two windows."""

    options: PointingOptions
    rounds: tuple[FinishedRound, ...] = ()
    standing: PointsSoFar | None = None
    """None until all rounds are played."""
    votes: tuple[int | None, ...] = ()
    """Votes in the order of `PointsSoFar.winners`; empty until the vote is over."""
    end: End | None = None
    """None until the match is over."""


def play_round(
    state: PointingState, pointed: Targets, sections: tuple[Section, ...] | None = None
) -> PointingState:
    """Return the state after a round with these targets. `sections` is the round's map if it is already known."""
    connections = connect(pointed)
    been_node: frozenset[int] = frozenset()
    for earlier in state.rounds:
        been_node |= earlier.connections.nodes()
    played = FinishedRound(
        pointed, connections, sections or anonymous(connections), points(connections, been_node)
    )
    after = replace(state, rounds=(*state.rounds, played))
    return replace(after, standing=standing_of(after)) if len(after.rounds) == ROUNDS else after


def standing_of(state: PointingState) -> PointsSoFar:
    """Compute the standing from the rounds so far."""
    total, connected = total_of(state), connected_of(state)
    ranks = list(zip(total, connected, strict=True))
    most, last = max(total), min(ranks)
    return PointsSoFar(
        points=total,
        connected=connected,
        winners=tuple(seat for seat, each in enumerate(total) if each == most),
        last=tuple(seat for seat, rank in enumerate(ranks) if rank == last),
    )


def total_of(state: PointingState) -> tuple[int, ...]:
    """Return points so far, indexed by seat; after the last round with those for the same role in all rounds."""
    if not state.rounds:
        return (0,) * state.options.seats
    total = list(map(sum, zip(*map(attrgetter("points"), state.rounds), strict=True)))
    if len(state.rounds) == ROUNDS:
        connections = list(map(attrgetter("connections"), state.rounds))
        for seat in frozenset.intersection(*map(Connections.ends, connections)):
            total[seat] += ALWAYS_END
        for seat in frozenset.intersection(*map(Connections.starts, connections)):
            total[seat] += ALWAYS_START
    return tuple(total)


def connected_of(state: PointingState) -> tuple[int, ...]:
    """Return the number of different other seats in each seat's sections so far, indexed by seat."""
    met = [1 << seat for seat in range(state.options.seats)]  # Masks of seats; each includes the seat itself.
    for played in state.rounds:
        for part in played.connections.parts:
            if len(part.members) > 1:
                members = choice_mask(part.members)
                for seat in part.members:
                    met[seat] |= members
    return tuple([seats.bit_count() - 1 for seats in met])
