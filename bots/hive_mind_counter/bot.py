"""Plays Hive Mind by counting the layouts that fit all hints, and weighing values against collisions.

A Hive has 20,790 layouts; each hint keeps those with the right sum. A shape is worth the sum over its hexes of the
mean value that remains there times the probability that an even number of the four others cover the hex (then it
scores for this seat). In round 1, which does not score, the bot places the most informative shapes: those whose
sums vary most over the layouts.
"""

from collections import Counter
from itertools import chain, permutations
from math import log2
from random import Random

from bots.hive_mind.estimates import HINT_WORTH, best_guess, bought, expected_points, guessed_scores, hints, scored
from bots.kit import Window, run
from protocol.games.hive_mind import (
    BUYING_ROUND,
    LAST_ROUND,
    BreakTie,
    HiveMindView,
    Kind,
    Round,
    Scores,
)
from protocol.games.hive_mind.layouts import (
    BY_KIND,
    Layout,
    ShapeBits,
    fitting,
    layouts,
    mean_values,
    total,
)
from protocol.words import Action

SAMPLE = 300
"""Layouts in the sample that compares how informative shapes are."""


def decide(window: Window[HiveMindView]) -> Action | None:
    """Return the best action by the view alone."""
    view, rng = window.view, window.rng
    match window.name:
        case "scores":
            return Scores(scores=guessed_scores(view))
        case "give_token":
            default: Action = window.default
            return default
        case "break_tie":
            return BreakTie(seat=rng.choice(view.tied))
        case _:
            pass
    left = {hive: fitting(hints(view, hive)) for hive in view.hives}
    place = opening(view, left, rng) if view.round == 1 else scoring(view, left, rng)
    double: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    if view.round == BUYING_ROUND:
        # Purchases go to the Hives with the most expected points.
        by_worth = sorted(view.hives, key=lambda hive: -sum(hex_worths(view, hive, left[hive])))
        double, block = bought(view.wallet, by_worth)
    guess = {hive: best_guess(left[hive]) for hive in view.hives} if view.round == LAST_ROUND else {}
    return Round(
        place={hive: shape.cells for hive, shape in place.items()}, double=double, block=block, guess=guess
    )


def opening(view: HiveMindView, left: dict[str, list[Layout]], rng: Random) -> dict[str, ShapeBits]:
    """Return the shapes for round 1: the most informative one of a different kind on each Hive."""
    best: dict[Kind, ShapeBits] = {}
    sample = rng.sample(layouts(), SAMPLE)
    for kind, shapes in BY_KIND.items():
        best[kind] = max(shapes, key=lambda shape: told_by(shape, sample))
    hives = [hive for hive in view.hives if view.unused[hive]]
    kinds = rng.choice(list(permutations(best, len(hives))))
    return {hive: best[kind] for hive, kind in zip(hives, kinds, strict=True) if left[hive]}


def scoring(view: HiveMindView, left: dict[str, list[Layout]], rng: Random) -> dict[str, ShapeBits]:
    """Return the shapes for rounds 2 and 3: the one that is worth most on each Hive."""
    place: dict[str, ShapeBits] = {}
    for hive, kinds in view.unused.items():
        worths = hex_worths(view, hive, left[hive])
        sample = rng.sample(left[hive], min(SAMPLE, len(left[hive])))
        knowledge = HINT_WORTH if view.round == BUYING_ROUND else 0.0

        def worth(
            shape: ShapeBits, worths: list[float] = worths, sample: list[Layout] = sample, bit: float = knowledge
        ) -> float:
            hexes = sum(each for at, each in enumerate(worths) if shape.mask >> at & 1)
            return hexes + (bit * told_by(shape, sample) if bit else 0.0)

        place[hive] = max(chain.from_iterable(map(BY_KIND.__getitem__, kinds)), key=worth)
    return place


def hex_worths(view: HiveMindView, hive: str, left: list[Layout]) -> list[float]:
    """Return the expected points of covering each hex."""
    doubled = view.round == LAST_ROUND and any(hive in action.double for action in view.submitted)
    return expected_points(mean_values(left), scored(view, hive), doubles=doubled)


def told_by(shape: ShapeBits, sample: list[Layout]) -> float:
    """Return the expected information of a shape's hint, in bits, from the spread of its sums over the sample."""
    sums = Counter(total(layout, shape.looks) for layout in sample)
    return -sum(n / len(sample) * log2(n / len(sample)) for n in sums.values())


if __name__ == "__main__":
    run(decide)
