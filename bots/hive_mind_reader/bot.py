"""Plays Hive Mind by modelling what the other seats know, and so what they place.

Every seat learns how many shapes of each kind were placed and how many cover each hex. In round 1 most seats place
informative shapes, and few choices of these give the published numbers. So for each layout that fits this seat's
hints the bot works out the hints and the placements of every other seat. A layout for which they would have placed
something else in round 2 is unlikely; this is more informative than this seat's own hints. Over the layouts,
weighted by these likelihoods, the bot estimates the worth of each hex: if an even number of the others cover it,
this seat can score it; if an odd number do, they score it unless this seat makes the number even. Seats whose
first shape is not informative are assumed to place any shape.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice, permutations, product
from math import exp
from random import Random
from typing import cast

from msgspec import Struct

from bots.hive_mind.estimates import HINT_WORTH, SEATS, best_guess, bought, hints, scored
from bots.hive_mind.opponent_model import (
    HEXES,
    KNOWN_OPENINGS,
    OF_KIND,
    OPENINGS,
    left,
    looked,
    means,
    of_other_kinds,
    openings,
    second,
    third,
    told_by,
)
from bots.kit import Window, run
from protocol.games.hive_mind import (
    BUYING_ROUND,
    LAST_ROUND,
    BreakTie,
    Doubles,
    HiveMindHostView,
    HiveMindView,
    HiveRound,
    Kind,
    Round,
    RoundResult,
    Scores,
)
from protocol.games.hive_mind.board import CELLS
from protocol.games.hive_mind.layouts import SHAPES, Layout, ShapeBits, fitting
from protocol.words import Action
from referee.games import GAMES, HiveMind

RULES = cast("HiveMind", GAMES["hive-mind"])
WORLDS = 60
DRAWS = 200
"""Pairs of a layout and the others' openings that are drawn for each Hive."""
MOST_WEIGHED = 1500
"""Pairs that are weighted before the draw."""
SURE = 1.0
"""Decrease of a pair's log likelihood per shape predicted over a hex in round 2 but not seen there."""
ENVY = 0.5
"""Value in points of lowering the others' mean score by one point."""

NUMBER = {shape.cells: number for number, shape in enumerate(SHAPES)}
"""The number of each shape, by its letters."""
Opening = tuple[int | None, ...]
"""The shapes of the others in round 1, by number, in any order; None for a seat that placed nothing."""


class Front(Struct, frozen=True):
    """A seat's knowledge of a Hive before a round."""

    gone: int
    """The mask of the hexes that have scored."""
    doublers: int
    """The number of other seats that double in this round."""
    doubles: bool
    """True if this seat doubles."""
    blocks: bool


class PossibleHive(Struct, frozen=True):
    """A possible Hive."""

    layout: Layout
    placed: tuple[tuple[int, bool], ...]
    """The number of the shape that each other seat places, and whether the seat doubles."""


def decide(window: Window[HiveMindView]) -> Action | None:
    """Return the best action over the drawn possibilities."""
    view, rng = window.view, window.rng
    match window.name:
        case "scores":
            return Scores(scores=totals(window))
        case "give_token":
            default: Action = window.default
            return default
        case "break_tie":
            return BreakTie(seat=rng.choice(view.tied))
        case _:
            pass
    if view.round == 1:
        kinds = rng.choice(list(permutations(OPENINGS, len(view.hives))))
        return Round(
            place={
                hive: SHAPES[rng.choice(OPENINGS[kind])].cells
                for hive, kind in zip(view.hives, kinds, strict=True)
            }
        )
    fronts = {hive: front(view, hive) for hive in view.hives}
    drawn = {hive: list(draw(window, hive, fronts[hive])) for hive in view.hives}
    place = {hive: best(view, hive, drawn[hive], fronts[hive]).cells for hive in view.hives}
    if view.round == BUYING_ROUND:
        found = {hive: means(left(looked(hints(view, hive)))) for hive in view.hives}
        double, block = bought(view.wallet, sorted(view.hives, key=lambda hive: -sum(found[hive])))
        return Round(place=place, double=double, block=block)
    guess: dict[str, str] = {}
    for hive, those in drawn.items():
        guess[hive] = best_guess([each.layout for each in those])
    return Round(place=place, guess=guess)


def best(view: HiveMindView, hive: str, drawn: Sequence[PossibleHive], known: Front) -> ShapeBits:
    """Return the shape that is worth most; in round 2 information counts as well."""
    worths = hex_worths(drawn, known)
    found = left(looked(hints(view, hive)))
    bit = HINT_WORTH if view.round == BUYING_ROUND else 0.0
    numbers = chain.from_iterable(map(OF_KIND.__getitem__, view.unused[hive]))

    def worth(number: int) -> float:
        return sum(worths[at] for at in HEXES[number]) + bit * told_by(SHAPES[number].looks, found)

    return SHAPES[max(numbers, key=worth)]


def hex_worths(drawn: Sequence[PossibleHive], known: Front) -> list[float]:
    """Return the worth of covering each hex with a shape of this seat."""
    worths = [0.0] * len(CELLS)
    for each in drawn:
        over: list[list[bool]] = [[] for _ in CELLS]
        for number, doubles in each.placed:
            for at in HEXES[number]:
                over[at].append(doubles)
        twos, threes = each.layout
        for at, those in enumerate(over):
            if not known.gone >> at & 1:
                worths[at] += gain(1 + (twos >> at & 1) + 2 * (threes >> at & 1), those, known) / len(drawn)
    return worths


def gain(value: int, over: Sequence[bool], known: Front) -> float:
    """Return the worth of covering a hex together with these seats. `over` has True for each that doubles."""
    theirs = ENVY * value / (len(SEATS) - 1)
    if len(over) % 2:
        worth = theirs * len(over)
        if list(over) == [True]:
            worth *= 2
        return worth + (known.blocks and any(over))
    if known.doubles and not over:
        value *= 2
    return value - theirs * len(over)


def front(view: HiveMindView, hive: str) -> Front:
    """Return the seat's knowledge of a Hive before this round."""
    if view.round != LAST_ROUND:
        return Front(scored(view, hive), 0, doubles=False, blocks=False)
    told = [event for event in view.told if isinstance(event, Doubles)]
    doublers = [seat for seat in told[-1].hives.get(hive, ()) if seat != view.seat]
    own = view.submitted[-1]
    return Front(scored(view, hive), len(doublers), doubles=hive in own.double, blocks=hive in own.block)


def draw(window: Window[HiveMindView], hive: str, known: Front) -> Iterator[PossibleHive]:
    """Yield possible Hives."""
    view, rng = window.view, window.rng
    opened = opened_with(window, hive)
    layouts = fitting(hints(view, hive))
    if view.round == BUYING_ROUND:
        for _ in range(DRAWS):
            layout = rng.choice(layouts)
            placed: list[tuple[int, bool]] = []
            for each in rng.choice(opened):
                number = second(each, layout) if each in KNOWN_OPENINGS else rng.choice(after(each))
                placed.append((number, False))
            yield PossibleHive(layout, tuple(placed))
        return
    _, counts = others_part(view, hive, BUYING_ROUND)
    rng.shuffle(layouts)
    pairs = list(islice(product(layouts, opened), MOST_WEIGHED))
    weights = [likelihood(opening, layout, counts) for layout, opening in pairs]
    for layout, opening in rng.choices(pairs, weights, k=DRAWS):
        doublers = rng.sample(range(len(opening)), min(known.doublers, len(opening)))
        ends: list[tuple[int, bool]] = []
        for at, each in enumerate(opening):
            doubles = at in doublers
            ends.append((last(each, layout, known.gone, rng, doubles=doubles), doubles))
        yield PossibleHive(layout, tuple(ends))


def last(opening: int | None, layout: Layout, gone: int, rng: Random, *, doubles: bool) -> int:
    """Return a shape that a seat may place in round 3."""
    if opening is None or opening not in KNOWN_OPENINGS:
        return rng.choice(after(opening))
    return third(opening, second(opening, layout), layout, gone, doubles=doubles)


def after(opening: int | None) -> tuple[int, ...]:
    """Return the shapes of all other kinds than the opening's."""
    return of_other_kinds(() if opening is None else (SHAPES[opening].kind,))


def likelihood(opening: Opening, layout: Layout, counts: Sequence[int]) -> float:
    """Return the likelihood of a pair, from the number of shapes that covered each hex in round 2.

    It decreases for each hex that the predicted shapes cover more often than `counts` shows.
    """
    over = Counter[int]()
    for each in opening:
        if each in KNOWN_OPENINGS:
            over.update(HEXES[second(each, layout)])
    return exp(-SURE * sum(max(0, number - counts[at]) for at, number in over.items()))


def opened_with(window: Window[HiveMindView], hive: str) -> list[Opening]:
    """Return the possible openings of the others: all choices of known openings that fit, if there are any.

    Otherwise they are those of drawn worlds, with as many known openings as possible.
    """
    view = window.view
    shapes, counts = others_part(view, hive, 1)
    if found := list[Opening](openings(shapes, counts)):
        return found
    by_known: dict[int, list[Opening]] = {}
    for world in worlds(window):
        first = next(actions for actions in world.rounds if _place_on(hive, actions))
        names = [action.place.get(hive) for seat, action in enumerate(first) if seat != view.seat]
        opening = tuple(None if name is None else NUMBER[name] for name in names)
        known = sum(map(KNOWN_OPENINGS.__contains__, opening))
        by_known.setdefault(known, []).append(opening)
    return by_known[max(by_known)]


def _place_on(hive: str, actions: Sequence[Round]) -> bool:
    """Return True if these are the actions of a round in which shapes are placed on a Hive."""
    return any(hive in action.place for action in actions)


def others_part(view: HiveMindView, hive: str, number: int) -> tuple[dict[Kind, int], list[int]]:
    """Return the number of the others' shapes in a round on a Hive: per kind, and over each hex."""
    result: HiveRound = next(
        event.hives[hive]
        for event in view.told
        if isinstance(event, RoundResult) and hive in event.hives and event.hives[hive].round == number
    )
    own = next((hint for hint in hints(view, hive) if hint.round == number), None)
    shapes: dict[Kind, int] = {}
    for kind, placed in result.shapes.items():
        shapes[kind] = placed - (own is not None and kind == own.shape)
    return shapes, [result.counts[cell] - (own is not None and cell in own.cells) for cell in CELLS]


def worlds(window: Window[HiveMindView]) -> Iterator[HiveMindHostView]:
    """Yield whole matches that agree with this seat's view."""
    view = window.view
    drawn = RULES.worlds(view, (), cast("int", view.seat), window.rng, variant=window.match.variant)
    return map(RULES.host_view, islice(drawn, WORLDS))


def totals(window: Window[HiveMindView]) -> dict[str, int]:
    """Return the most frequent total of each other seat over the worlds, smoothed over neighbouring totals."""
    found: dict[str, Counter[int]] = {str(seat): Counter() for seat in SEATS if seat != window.view.seat}
    for world in worlds(window):
        for seat, seen in found.items():
            points = world.points[int(seat)]
            seen[points.hexes + points.guesses + points.blocks] += 1
    return {
        seat: max(seen, key=lambda total: seen[total - 1] + 2 * seen[total] + seen[total + 1])
        for seat, seen in found.items()
    }


if __name__ == "__main__":
    run(decide)
