"""What bots reckon of Hive Mind from a view: hints, hexes that hold nothing any more, purchases and guesses."""

from collections import Counter

from protocol.games.hive_board import CELLS
from protocol.games.hive_layouts import Layout, fitting, mask, mean_values
from protocol.games.hive_mind import Hint, HiveMindView, RoundResult, Wallet

SEATS = (0, 1, 2, 3, 4)


def hints(view: HiveMindView, hive: str) -> list[Hint]:
    """All that the seat was told of a Hive's values."""
    return [event for event in view.told if isinstance(event, Hint) and event.hive == hive]


def scored(view: HiveMindView, hive: str) -> int:
    """The mask of the hexes that hold nothing any more: an odd number of shapes lay over them in round 2 or 3."""
    results = [event.hives[hive] for event in view.told if isinstance(event, RoundResult) and hive in event.hives]
    return mask({cell for each in results if each.round > 1 for cell, n in each.counts.items() if n % 2})


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
