"""Plays Hive Mind by counting the layouts that fit all hints, and weighing values against collisions.

A Hive can lie in 20,790 ways; each hint leaves those with the right sum. A shape is worth, hex by hex, what the
hex still holds on average times the chance that an even number of the four others lie on it (then it scores for
this seat). In round 1, which does not score, it takes the shapes that tell most: whose sums differ most over the
layouts.
"""

from collections import Counter
from itertools import permutations
from math import log2
from random import Random

from bots.kit import Window, run
from protocol.games.hive_board import CELLS
from protocol.games.hive_layouts import (
    BY_KIND,
    SHAPES,
    Layout,
    Shape,
    fitting,
    layouts,
    mask,
    mean_values,
    total,
)
from protocol.games.hive_mind import (
    BreakTie,
    Hint,
    HiveMindView,
    Kind,
    Round,
    RoundResult,
    Scores,
)
from protocol.words import Action

SEATS = (0, 1, 2, 3, 4)
BUYING_ROUND, LAST_ROUND = 2, 3
SAMPLE = 300
"""Layouts by which shapes are compared for what they tell."""
HINT_WORTH = 0.05
"""Points that a bit of knowledge is worth, in round 2."""
CROWD = {cell: sum(cell in shape.cells for shape in SHAPES) / len(SHAPES) for cell in CELLS}
"""Hex to the chance that a shape drawn from all lies on it."""
LURE = 0.35
"""How much likelier others are on a hex for each point that it holds above the mean: they count, too."""


def decide(window: Window[HiveMindView]) -> Action | None:
    """What seems best, from the view alone."""
    view, luck = window.view, window.luck
    match window.name:
        case "scores":
            return Scores(scores=guessed_scores(view))
        case "give_token":
            return None
        case "break_tie":
            return BreakTie(seat=luck.choice(view.tied))
        case _:
            pass
    left = {hive: fitting(hints(view, hive)) for hive in view.hives}
    place = opening(view, left, luck) if view.round == 1 else scoring(view, left, luck)
    double, block = bought(view, left) if view.round == BUYING_ROUND else ((), ())
    guess = {hive: best_guess(left[hive]) for hive in view.hives} if view.round == LAST_ROUND else {}
    return Round(
        place={hive: shape.cells for hive, shape in place.items()}, double=double, block=block, guess=guess
    )


def hints(view: HiveMindView, hive: str) -> list[Hint]:
    """All that the seat was told of a Hive's values."""
    return [event for event in view.told if isinstance(event, Hint) and event.hive == hive]


def scored(view: HiveMindView, hive: str) -> int:
    """The mask of the hexes that hold nothing any more: an odd number of shapes lay over them in round 2 or 3."""
    results = [event.hives[hive] for event in view.told if isinstance(event, RoundResult) and hive in event.hives]
    return mask({cell for each in results if each.round > 1 for cell, n in each.counts.items() if n % 2})


def opening(view: HiveMindView, left: dict[str, list[Layout]], luck: Random) -> dict[str, Shape]:
    """Round 1: of each kind the shape that tells most; another kind on each Hive."""
    best: dict[Kind, Shape] = {}
    sample = luck.sample(layouts(), SAMPLE)
    for kind, shapes in BY_KIND.items():
        best[kind] = max(shapes, key=lambda shape: told_by(shape, sample))
    hives = [hive for hive in view.hives if view.unused[hive]]
    kinds = luck.choice(list(permutations(best, len(hives))))
    return {hive: best[kind] for hive, kind in zip(hives, kinds, strict=True) if left[hive]}


def scoring(view: HiveMindView, left: dict[str, list[Layout]], luck: Random) -> dict[str, Shape]:
    """Rounds 2 and 3: on each Hive the shape that is worth most."""
    place: dict[str, Shape] = {}
    for hive, kinds in view.unused.items():
        worths = hex_worths(view, hive, left[hive])
        sample = luck.sample(left[hive], min(SAMPLE, len(left[hive])))
        knowledge = HINT_WORTH if view.round == BUYING_ROUND else 0.0

        def worth(
            shape: Shape, worths: list[float] = worths, sample: list[Layout] = sample, bit: float = knowledge
        ) -> float:
            hexes = sum(each for at, each in enumerate(worths) if shape.mask >> at & 1)
            return hexes + (bit * told_by(shape, sample) if bit else 0.0)

        place[hive] = max((shape for kind in kinds for shape in BY_KIND[kind]), key=worth)
    return place


def hex_worths(view: HiveMindView, hive: str, left: list[Layout]) -> list[float]:
    """By hex: the points to be expected from a shape on it."""
    gone, means = scored(view, hive), mean_values(left)
    doubled = view.round == LAST_ROUND and any(hive in action.double for action in view.submitted)
    worths: list[float] = []
    for at, mean in enumerate(means):
        if gone >> at & 1:
            worths.append(0.0)
            continue
        other = min(0.9, CROWD[CELLS[at]] * (1 + LURE * (mean - sum(means) / len(means))))
        even = (1 + (1 - 2 * other) ** 4) / 2
        alone = (1 - other) ** 4
        worths.append(mean * (even + alone if doubled else even))
    return worths


def told_by(shape: Shape, sample: list[Layout]) -> float:
    """The bits that a shape's hint tells, by the spread of its sums over layouts."""
    sums = Counter(total(layout, shape.looks) for layout in sample)
    return -sum(n / len(sample) * log2(n / len(sample)) for n in sums.values())


def bought(view: HiveMindView, left: dict[str, list[Layout]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where to double and to block: all that the wallet gives, Doubles first, where most is to be had."""
    purse = view.wallet
    if purse is None:
        return (), ()
    by_worth = sorted(view.hives, key=lambda hive: -sum(hex_worths(view, hive, left[hive])))
    doubles, garnets = _uses(purse.free_doubles, purse.double_price, purse.garnets, len(by_worth))
    blocks, _ = _uses(purse.free_blocks, purse.block_price, garnets, len(by_worth))
    return tuple(by_worth[:doubles]), tuple(by_worth[:blocks])


def _uses(free: int, price: int | None, garnets: int, most: int) -> tuple[int, int]:
    """How many one can have, and the garnets left."""
    paid = 0 if not price else garnets // price
    uses = min(most, free + paid)
    return uses, garnets - max(0, uses - free) * (price or 0)


def best_guess(left: list[Layout]) -> str:
    """The layout whose sets of 1s, of 2s and of 3s are each the likeliest, taken together."""
    twos, threes = (Counter(layout[at] for layout in left) for at in (0, 1))
    ones = Counter(layout[0] | layout[1] for layout in left)
    two, three = max(left, key=lambda layout: twos[layout[0]] + threes[layout[1]] + ones[layout[0] | layout[1]])
    return "".join("3" if three >> at & 1 else "2" if two >> at & 1 else "1" for at in range(len(CELLS)))


def guessed_scores(view: HiveMindView) -> dict[str, int]:
    """The same for every other seat: what was scored on all hexes, less this seat's own part, by four."""
    all_points = own = 0.0
    for hive in {event.hive for event in view.told if isinstance(event, Hint)}:
        means = mean_values(fitting(hints(view, hive)))
        placed = [action.place.get(hive) for action in view.submitted if hive in action.place]
        for at, cell in enumerate(CELLS):
            over = _scored_over(view, hive, cell)
            all_points += means[at] * over
            own += means[at] * (over > 0 and any(cell in (cells or "") for cells in placed[1:]))
    guess = round((all_points - own) / (len(SEATS) - 1))
    return {str(seat): guess for seat in SEATS if seat != view.seat}


def _scored_over(view: HiveMindView, hive: str, cell: str) -> int:
    """How many shapes lay over a hex when it scored; 0 where it did not."""
    for event in view.told:
        if isinstance(event, RoundResult) and hive in event.hives:
            result = event.hives[hive]
            if result.round > 1 and result.counts[cell] % 2:
                return result.counts[cell]
    return 0


if __name__ == "__main__":
    run(decide)
