"""What a match of Pointing is made of, and what a round adds to it."""

from msgspec import Struct
from msgspec.structs import replace

from protocol.games.pointing import PointingOptions, Reveal, Section
from protocol.games.pointing_map import Connections, Targets, anonymous, connect, points

ROUNDS = 3
ALWAYS_END, ALWAYS_START = 1, -2
"""Points for having been the end, or a start, of a chain in all rounds."""


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


def play_round(
    state: PointingState, pointed: Targets, sections: tuple[Section, ...] | None = None
) -> PointingState:
    """The state after a round in which the seats pointed like that; `sections` saves drawing its map."""
    connections = connect(pointed)
    been_node: frozenset[int] = frozenset()
    for earlier in state.rounds:
        been_node |= earlier.connections.nodes()
    played = Played(pointed, connections, sections or anonymous(connections), points(connections, been_node))
    after = replace(state, rounds=(*state.rounds, played))
    return replace(after, standing=standing_of(after)) if len(after.rounds) == ROUNDS else after


def standing_of(state: PointingState) -> Standing:
    """As after the last round; before it, with the points and connections so far."""
    total, connected = total_of(state), connected_of(state)
    ranks = list(zip(total, connected, strict=True))
    most, last = max(total), min(ranks)
    return Standing(
        points=total,
        connected=connected,
        winners=tuple(seat for seat, each in enumerate(total) if each == most),
        last=tuple(seat for seat, rank in enumerate(ranks) if rank == last),
    )


def total_of(state: PointingState) -> tuple[int, ...]:
    """By seat: the points of the rounds so far, and, once all are played, those for all three."""
    if not state.rounds:
        return (0,) * state.options.seats
    total = [sum(points) for points in zip(*(played.points for played in state.rounds), strict=True)]
    if len(state.rounds) == ROUNDS:
        for seat in frozenset.intersection(*(played.connections.ends() for played in state.rounds)):
            total[seat] += ALWAYS_END
        for seat in frozenset.intersection(*(played.connections.starts() for played in state.rounds)):
            total[seat] += ALWAYS_START
    return tuple(total)


def connected_of(state: PointingState) -> tuple[int, ...]:
    """By seat: how many different others were in its sections so far."""
    met = [1 << seat for seat in range(state.options.seats)]  # As masks of seats; each has met itself.
    for played in state.rounds:
        for part in played.connections.parts:
            if len(part.members) > 1:
                members = sum([1 << seat for seat in part.members])
                for seat in part.members:
                    met[seat] |= members
    return tuple([seats.bit_count() - 1 for seats in met])
