"""Random states of Pointing (worlds) that are consistent with a seat's view.

A map shows the shape of the connections, so worlds differ only in the seats at its places. During the rounds, all
consistent worlds are equally likely. During the winners' vote, the points must also lead to the known voters and
tied seats. Those worlds are drawn by a random walk, so successive ones are similar.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import exp
from random import Random

from msgspec import Struct

from protocol.codec import encode
from protocol.games.pointing import PointingOptions, PointingView, Section, Tree
from protocol.games.pointing.map import FIRST_NODE, LATER_NODE, Targets, connect, points
from referee.games.pointing.state import ALWAYS_END, ALWAYS_START, ROUNDS, PointingState, play_round

Seating = list[int]
"""Seats, indexed by place of a pattern."""
APART = 10
"""Steps of the walk from one world to the next."""
MOST_STEPS = 100_000
"""Maximum steps without a world before the walk starts again; the first one takes some thousand."""
SEEKING, WARMTH = 0.7, 0.4
"""Temperatures of the walk until it has found a world, and afterwards; higher accepts more worse steps."""
ANEW = 0.05
"""Probability that a step redraws the seating of a whole round; other steps exchange two seats."""


class RoundMap(Struct, frozen=True):
    """A round's map with numbered places. Tuples are indexed by place."""

    pointed: Targets
    """Target places, before pointers were cut."""
    scores: tuple[int, ...]
    """Points; 0 for nodes, whose points depend on the other rounds too."""
    nodes: frozenset[int]
    ends: frozenset[int]
    starts: frozenset[int]
    sections: tuple[tuple[int, ...], ...]
    """The places of each section."""


def worlds(view: PointingView, rng: Random, options: PointingOptions) -> Iterator[PointingState]:
    """See `Game.worlds`.

    Raises:
        ValueError: the match is over, so that nothing is hidden.
    """
    if view.rounds:
        raise ValueError("the match is over: nothing is hidden")
    patterns = [pattern(sections) for sections in view.maps]
    for seatings in _walk(patterns, view, rng) if len(patterns) == ROUNDS else _draws(patterns, view, rng):
        state = PointingState(options)
        for known, seating, sections in zip(patterns, seatings, view.maps, strict=True):
            state = play_round(state, _targets(known, seating), sections)
        yield state


def pattern(sections: Sequence[Section]) -> RoundMap:
    """Assign numbers to the places of a round's map and derive their targets and scores."""
    pointed: list[int | None] = []

    def grow(tree: Tree, target: int | None) -> int:
        place = len(pointed)
        pointed.append(target)
        for branch in tree:
            grow(branch, place)
        return place

    cut: dict[bytes, list[int]] = {}
    for section in sections:
        if section.kind != "loop":
            end = grow(section.shape, None)
            if section.cut:
                cut.setdefault(encode(section.shape), []).append(end)
    for section in sections:
        if section.kind == "loop":
            first = len(pointed)
            pointed += [first + (at + 1) % section.size for at in range(section.size)]
            for at, trees in enumerate(section.shape):
                for tree in trees:
                    pointed[cut[encode(tree)].pop()] = first + at
    connections = connect(tuple(pointed))
    nodes = connections.nodes()
    scores = points(connections, frozenset())
    return RoundMap(
        pointed=tuple(pointed),
        scores=tuple(0 if place in nodes else score for place, score in enumerate(scores)),
        nodes=nodes,
        ends=connections.ends(),
        starts=connections.starts(),
        sections=tuple(part.members for part in connections.parts),
    )


def _draws(patterns: list[RoundMap], view: PointingView, rng: Random) -> Iterator[list[Seating]]:
    while True:
        yield [_seated(each, view, at, rng) for at, each in enumerate(patterns)]


def _seated(known: RoundMap, view: PointingView, at: int, rng: Random) -> Seating:
    """Draw a seating of a round that agrees with the target of the view's seat, all equally likely."""
    seats = list(range(view.seats))
    if view.seat is None:
        rng.shuffle(seats)
        return seats
    target = view.targets[at]
    # Each of these places has the same number of seatings, so all are equally likely.
    own = rng.choice([place for place, other in enumerate(known.pointed) if (other is None) == (target is None)])
    fixed = {own: view.seat}
    if target is not None and (other := known.pointed[own]) is not None:
        fixed[other] = target
    rest = [seat for seat in seats if seat not in fixed.values()]
    rng.shuffle(rest)
    return [fixed[place] if place in fixed else rest.pop() for place in seats]


def _targets(known: RoundMap, seating: Seating) -> Targets:
    """Return the targets, indexed by seat."""
    place_of = {seat: place for place, seat in enumerate(seating)}
    others = (known.pointed[place_of[seat]] for seat in range(len(seating)))
    return tuple(None if other is None else seating[other] for other in others)


class Seated(Struct, frozen=True):
    """A round's seating and its results. Tuples are indexed by seat."""

    seating: Seating
    scores: tuple[int, ...]
    met: tuple[int, ...]
    """Masks of the seats of each seat's section, including the seat itself."""
    nodes: int
    ends: int
    starts: int
    """A mask of seats, like `nodes` and `ends`."""


def _brought(known: RoundMap, seating: Seating) -> Seated:
    scores, met = [0] * len(seating), [0] * len(seating)
    for section in known.sections:
        members = _mask(seating, section)
        for place in section:
            scores[seating[place]], met[seating[place]] = known.scores[place], members
    nodes, ends, starts = (_mask(seating, places) for places in (known.nodes, known.ends, known.starts))
    return Seated(seating, tuple(scores), tuple(met), nodes, ends, starts)


def _mask(seating: Seating, places: Iterable[int]) -> int:
    """Return a mask of the seats at these places."""
    return sum([1 << seating[place] for place in places])


def _walk(patterns: list[RoundMap], view: PointingView, rng: Random) -> Iterator[list[Seating]]:
    """Yield seatings of all rounds that lead to the vote in the view.

    This is a Metropolis walk over seatings that agree with the targets of the view's seat. Steps that increase the
    difference from the view's vote are rarely accepted; only seatings without a difference are yielded.
    """
    rounds: list[Seated] = []
    off, since, found = 0, MOST_STEPS, False
    while True:
        since += 1
        if since > MOST_STEPS:
            rounds = [_brought(known, _seated(known, view, at, rng)) for at, known in enumerate(patterns)]
            off, since = _off(rounds, view), 0
        if off == 0 and (since >= APART or not found):
            yield [each.seating for each in rounds]
            since, found = 0, True
        at = int(rng.random() * ROUNDS)
        moved = rounds.copy()
        moved[at] = _brought(patterns[at], _moved(patterns[at], rounds[at].seating, view, at, rng))
        after = _off(moved, view)
        if after <= off or rng.random() < exp((off - after) / (WARMTH if found else SEEKING)):
            rounds, off = moved, after


def _moved(known: RoundMap, seating: Seating, view: PointingView, at: int, rng: Random) -> Seating:
    """Return a copy of a round's seating with two seats exchanged, or draw a new seating."""
    bound = (view.seat, None if view.seat is None else view.targets[at])
    free = [place for place, seat in enumerate(seating) if seat not in bound]
    if len(free) < 2 or rng.random() < ANEW:  # noqa: PLR2004 - two are exchanged
        return _seated(known, view, at, rng)
    one, other = rng.sample(free, 2)
    changed = seating.copy()
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def _off(rounds: list[Seated], view: PointingView) -> int:
    """Return the difference between the result of these rounds and the vote in the view; 0 if they agree."""
    total, connected = _standing(rounds)
    tied = view.tied
    least, fewest = total[tied[0]], connected[tied[0]]
    off = 0
    for seat, score in enumerate(total):
        if seat in tied:
            off += 2 * abs(score - least) + (connected[seat] != fewest)
        elif score < least or (score == least and connected[seat] <= fewest):
            off += 1 + least - score
    if view.seat is not None:
        behind = max(total) - total[view.seat]
        off += behind if view.may_vote else behind == 0
    return off


def _standing(rounds: list[Seated]) -> tuple[list[int], list[int]]:
    """Return final points and the number of other seats in each seat's sections, both indexed by seat."""
    one, two, three = rounds
    total = [sum(scores) for scores in zip(one.scores, two.scores, three.scores, strict=True)]
    met = [(a | b | c).bit_count() - 1 for a, b, c in zip(one.met, two.met, three.met, strict=True)]
    always_ends, always_starts = one.ends & two.ends & three.ends, one.starts & two.starts & three.starts
    been_node = one.nodes | two.nodes | three.nodes
    for seat in range(len(total)):
        bit = 1 << seat
        if been_node & bit:
            alone = sum([bool(each.nodes & bit) for each in rounds])
            total[seat] += FIRST_NODE + LATER_NODE * (alone - 1)
        if always_ends & bit:
            total[seat] += ALWAYS_END
        if always_starts & bit:
            total[seat] += ALWAYS_START
    return total, met
