"""What a seat of Pointing must reckon with: all the ways in which the others may have pointed.

A map tells how the pointers lie, so worlds differ in who sits where in it. While rounds are played, all worlds
that fit are equally likely. While the winners vote, the points must also come out as told: who may vote, and
who is voted on. Those worlds come from a random walk, so one is like the one before.
"""

from collections.abc import Iterator, Sequence
from math import exp
from random import Random

from msgspec import Struct

from protocol.codec import encode
from protocol.games.pointing import PointingOptions, PointingView, Section, Tree
from protocol.games.pointing_map import FIRST_NODE, LATER_NODE, Targets, connect, points
from referee.games.pointing.state import ALWAYS_END, ALWAYS_START, ROUNDS, PointingState, play_round

Seating = list[int]
"""By place of a pattern: the seat that sits there."""
APART = 10
"""Steps of the walk from one world of a vote to the next."""
MOST_STEPS = 100_000
"""Steps to the first world of a vote before the walk begins anew; it takes some thousand."""
SEEKING, WARMTH = 0.7, 0.4
"""How readily the walk takes a step away from what was told, until a world is found and from then on."""
ANEW = 0.05
"""How often a step of the walk seats a whole round anew; the others swap two seats."""


class Pattern(Struct, frozen=True):
    """A round's map with numbered places. Tuples are indexed by place."""

    pointed: Targets
    """The place that it points at, before anything was cut."""
    scores: tuple[int, ...]
    """But for nodes, whose scores depend on the other rounds, too."""
    nodes: frozenset[int]
    ends: frozenset[int]
    starts: frozenset[int]
    sections: tuple[tuple[int, ...], ...]
    """The places of each section."""


def worlds(view: PointingView, luck: Random, options: PointingOptions) -> Iterator[PointingState]:
    """See `Game.worlds`.

    Raises:
        ValueError: the match is over, and nothing hidden.
    """
    if view.rounds:
        raise ValueError("the match is over: nothing is hidden")
    patterns = [pattern(sections) for sections in view.maps]
    for seatings in _walk(patterns, view, luck) if len(patterns) == ROUNDS else _draws(patterns, view, luck):
        state = PointingState(options)
        for known, seating, sections in zip(patterns, seatings, view.maps, strict=True):
            state = play_round(state, _targets(known, seating), sections)
        yield state


def pattern(sections: Sequence[Section]) -> Pattern:
    """The places of a round's map, and where each points."""
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
    return Pattern(
        pointed=tuple(pointed),
        scores=tuple(0 if place in nodes else score for place, score in enumerate(scores)),
        nodes=nodes,
        ends=connections.ends(),
        starts=connections.starts(),
        sections=tuple(part.members for part in connections.parts),
    )


def _draws(patterns: list[Pattern], view: PointingView, luck: Random) -> Iterator[list[Seating]]:
    while True:
        yield [_seated(each, view, at, luck) for at, each in enumerate(patterns)]


def _seated(known: Pattern, view: PointingView, at: int, luck: Random) -> Seating:
    """Any seating of a round in which the view's seat points where it did, each as likely."""
    seats = list(range(view.seats))
    if view.seat is None:
        luck.shuffle(seats)
        return seats
    target = view.targets[at]
    # As many seatings go with one of these places as with another.
    own = luck.choice([place for place, other in enumerate(known.pointed) if (other is None) == (target is None)])
    fixed = {own: view.seat}
    if target is not None and (other := known.pointed[own]) is not None:
        fixed[other] = target
    rest = [seat for seat in seats if seat not in fixed.values()]
    luck.shuffle(rest)
    return [fixed[place] if place in fixed else rest.pop() for place in seats]


def _targets(known: Pattern, seating: Seating) -> Targets:
    """By seat: where it points."""
    place_of = {seat: place for place, seat in enumerate(seating)}
    others = (known.pointed[place_of[seat]] for seat in range(len(seating)))
    return tuple(None if other is None else seating[other] for other in others)


class Seated(Struct, frozen=True):
    """What a round's seating brings. Tuples are indexed by seat."""

    seating: Seating
    scores: tuple[int, ...]
    met: tuple[int, ...]
    """The seats of its section, itself included, as a mask."""
    nodes: int
    ends: int
    starts: int
    """These three are masks of seats."""


def _brought(known: Pattern, seating: Seating) -> Seated:
    scores, met = [0] * len(seating), [0] * len(seating)
    for section in known.sections:
        members = 0
        for place in section:
            members |= 1 << seating[place]
        for place in section:
            scores[seating[place]], met[seating[place]] = known.scores[place], members
    nodes, ends, starts = (
        sum(1 << seating[place] for place in places) for places in (known.nodes, known.ends, known.starts)
    )
    return Seated(seating, tuple(scores), tuple(met), nodes, ends, starts)


def _walk(patterns: list[Pattern], view: PointingView, luck: Random) -> Iterator[list[Seating]]:
    """Seatings of all rounds in which the vote is as the view tells it.

    Metropolis' walk over the seatings in which the view's seat points where it did: a step away from what was told
    is taken seldom, and what is yielded fits.
    """
    rounds: list[Seated] = []
    off, since, found = 0, MOST_STEPS, False
    while True:
        since += 1
        if since > MOST_STEPS:
            rounds = [_brought(known, _seated(known, view, at, luck)) for at, known in enumerate(patterns)]
            off, since = _off(rounds, view), 0
        if off == 0 and (since >= APART or not found):
            yield [each.seating for each in rounds]
            since, found = 0, True
        at = int(luck.random() * ROUNDS)
        moved = rounds.copy()
        moved[at] = _brought(patterns[at], _moved(patterns[at], rounds[at].seating, view, at, luck))
        after = _off(moved, view)
        if after <= off or luck.random() < exp((off - after) / (WARMTH if found else SEEKING)):
            rounds, off = moved, after


def _moved(known: Pattern, seating: Seating, view: PointingView, at: int, luck: Random) -> Seating:
    """A round's seating with two seats exchanged, or anew."""
    bound = (view.seat, None if view.seat is None else view.targets[at])
    free = [place for place, seat in enumerate(seating) if seat not in bound]
    if len(free) < 2 or luck.random() < ANEW:  # noqa: PLR2004 - two are exchanged
        return _seated(known, view, at, luck)
    one, other = luck.sample(free, 2)
    changed = seating.copy()
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def _off(rounds: list[Seated], view: PointingView) -> int:
    """How far the end of these rounds is from what the view tells of it; 0: it fits."""
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
    """By seat: its points after the last round, and how many others were in its sections."""
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
