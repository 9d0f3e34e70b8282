"""What bots reckon of Hive Mind from a view: hints, what hexes are worth, purchases and guesses.

`hive_others` reckons the others' moves by the same numbers: it takes them to count as this does.
"""

from collections import Counter
from collections.abc import Sequence

from protocol.games.hive_board import CELLS
from protocol.games.hive_layouts import SHAPES, Layout, fitting, mask, mean_values
from protocol.games.hive_mind import Hint, HiveMindView, RoundResult, Wallet

SEATS = (0, 1, 2, 3, 4)
HINT_WORTH = 0.05
"""Points that a bit of knowledge is worth, in round 2."""
CROWD = tuple(sum(shape.mask >> at & 1 for shape in SHAPES) / len(SHAPES) for at in range(len(CELLS)))
"""By hex: the chance that a shape drawn from all lies on it."""
LURE = 0.35
"""How much likelier others are on a hex for each point that it holds above the mean: they count, too."""


def hints(view: HiveMindView, hive: str) -> list[Hint]:
    """All that the seat was told of a Hive's values."""
    return [event for event in view.told if isinstance(event, Hint) and event.hive == hive]


def scored(view: HiveMindView, hive: str) -> int:
    """The mask of the hexes that hold nothing any more: an odd number of shapes lay over them in round 2 or 3."""
    results = [event.hives[hive] for event in view.told if isinstance(event, RoundResult) and hive in event.hives]
    return mask({cell for each in results if each.round > 1 for cell, n in each.counts.items() if n % 2})


def expected_points(means: Sequence[float], gone: int, *, doubles: bool) -> list[float]:
    """By hex: the points to be expected from a shape on it, while four others count, too.

    Args:
        means: by hex, its value on average.
        gone: the mask of the hexes that hold nothing any more.
        doubles: whether the seat doubles on this Hive.
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
    """All the Doubles that a wallet gives, then all Blocks: on the first of these Hives."""
    if purse is None:
        return (), ()
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
    """One guess for all other seats: what was scored on all hexes, less this seat's own part, divided by four."""
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
