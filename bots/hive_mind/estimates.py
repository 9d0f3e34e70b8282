"""Estimates that bots of Hive Mind make from a view: hints, values of hexes, purchases and guesses.

`opponent_model` predicts the moves of the other seats with the same estimates.
"""

from collections import Counter
from collections.abc import Sequence

from protocol.games.hive_mind import Hint, HiveMindView, RoundResult, Wallet
from protocol.games.hive_mind.board import CELLS
from protocol.games.hive_mind.layouts import SHAPES, Layout, fitting, mask, mean_values

SEATS = (0, 1, 2, 3, 4)
HINT_WORTH = 0.05
"""Points that a bit of information is worth in round 2."""


def _share_over(at: int) -> float:
    """Return the share of all shapes that cover a hex."""
    return sum(shape.mask >> at & 1 for shape in SHAPES) / len(SHAPES)


CROWD = tuple(map(_share_over, range(len(CELLS))))
"""Probability that a shape drawn from all shapes covers a hex; indexed by hex."""
LURE = 0.35
"""Relative increase of the probability that others cover a hex, per point of its value above the mean."""


def hints(view: HiveMindView, hive: str) -> list[Hint]:
    """Return all hints that the seat has received about a Hive."""
    return [event for event in view.told if isinstance(event, Hint) and event.hive == hive]


def scored(view: HiveMindView, hive: str) -> int:
    """Return the mask of the hexes that have scored: an odd number of shapes covered them in round 2 or 3."""
    cells: set[str] = set()
    for event in view.told:
        if isinstance(event, RoundResult) and hive in event.hives and event.hives[hive].round > 1:
            cells |= {cell for cell, shapes in event.hives[hive].counts.items() if shapes % 2}
    return mask(cells)


def expected_points(means: Sequence[float], gone: int, *, doubles: bool) -> list[float]:
    """Return the expected points of covering each hex, while the four others count layouts, too.

    Args:
        means: the mean value of each hex.
        gone: the mask of the hexes that have scored.
        doubles: True if the seat doubles on this Hive.
    """
    middle = sum(means) / len(means)
    worths: list[float] = []
    for at, mean in enumerate(means):
        other = min(0.9, CROWD[at] * (1 + LURE * (mean - middle)))
        even = (1 + (1 - 2 * other) ** 4) / 2
        alone = (1 - other) ** 4 if doubles else 0.0
        worths.append(0.0 if gone >> at & 1 else mean * (even + alone))
    return worths


def bought(purse: Wallet | None, by_worth: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the Hives to double and those to block: as many Doubles as the wallet allows, then Blocks.

    `by_worth` lists the Hives in the order in which they are used.
    """
    if purse is None:
        return (), ()
    doubles, garnets = _uses(purse.free_doubles, purse.double_price, purse.garnets, len(by_worth))
    blocks, _ = _uses(purse.free_blocks, purse.block_price, garnets, len(by_worth))
    return tuple(by_worth[:doubles]), tuple(by_worth[:blocks])


def _uses(free: int, price: int | None, garnets: int, most: int) -> tuple[int, int]:
    """Return the number of uses that are affordable, at most `most`, and the garnets that remain."""
    paid = 0 if not price else garnets // price
    uses = min(most, free + paid)
    return uses, garnets - max(0, uses - free) * (price or 0)


def best_guess(left: list[Layout]) -> str:
    """Return the layout whose sets of 1s, of 2s and of 3s are together the most frequent."""
    twos = Counter(layout[0] for layout in left)
    threes = Counter(layout[1] for layout in left)
    ones = Counter(layout[0] | layout[1] for layout in left)
    two, three = max(left, key=lambda layout: twos[layout[0]] + threes[layout[1]] + ones[layout[0] | layout[1]])
    values = [1 + (two >> at & 1) + 2 * (three >> at & 1) for at in range(len(CELLS))]
    return "".join(map(str, values))


def guessed_scores(view: HiveMindView) -> dict[str, int]:
    """Return the same guess for every other seat.

    It is a quarter of the points scored on all hexes, less this seat's own.
    """
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
    """Return the number of shapes that covered a hex when it scored; 0 if it has not."""
    for event in view.told:
        if isinstance(event, RoundResult) and hive in event.hives:
            result = event.hives[hive]
            if result.round > 1 and result.counts[cell] % 2:
                return result.counts[cell]
    return 0
