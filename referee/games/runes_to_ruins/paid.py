"""Payments at the end of a round as far as a seat knows them, and payments of conditions for symbols."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from msgspec import Struct

from protocol.games.runes_to_ruins import RunesOptions, Six
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.state import OTHERS, SEATS, RunesState, Standing

UNARY = (1, 2, 3, 4, 5, 6, 7)
"""Conditions that rank figures of single symbols."""
FLAT = (13, 14)
"""Conditions that pay the number of a symbol's groups of one Order, without ranks."""
ELSEWHERE = (8, 9)
"""Conditions that rank how many of a symbol's runes other seats use, too."""


@lru_cache(maxsize=100_000)
def ranked(figures_: tuple[float, ...]) -> tuple[int, ...]:
    """Return the payments of a ranking condition for these figures (indexed by seat; higher is better)."""
    order = sorted(set(figures_), reverse=True)
    return tuple([conditions.BEST_RANK - order.index(each) for each in figures_])


def are_in_order(paid: Sequence[float], positions: dict[str, int]) -> bool:
    """Return whether the abstaining seats can have these positions.

    Among seats with equal payments, each abstaining seat is placed before or after all the others.
    """
    start = 1
    for amount in sorted(set(paid), reverse=True):
        seats = [seat for seat, each in enumerate(paid) if each == amount]
        at = sorted(positions[str(seat)] for seat in seats if str(seat) in positions)
        end = start + len(seats) - 1
        if not any(
            at == [*range(start, start + first), *range(end - len(at) + first + 1, end + 1)]
            for first in range(len(at) + 1)
        ):
            return False
        start = end + 1
    return True


class Paid(Struct, frozen=True):
    """Known facts about the payments at the end of a round."""

    targets: tuple[int, ...]
    """Payments without the round's bonus, indexed by seat; 0 if unknown."""
    positions: tuple[tuple[str, int], ...]
    """Seats that abstained, with their positions in the order of payments."""
    able: tuple[int, ...]
    """Conditions that may have won."""
    free: tuple[int, ...]
    """Conditions that may have won and whose payout does not depend on symbols."""
    seat: int = 0
    """The seat that knows these facts."""
    mine: frozenset[int] = frozenset(range(7))
    """Possible payments to that seat."""

    def is_by(self, paid: Sequence[float]) -> bool:
        """Return whether payments, indexed by seat, agree with these facts."""
        fits = all(one in (0, other) for one, other in zip(self.targets, paid, strict=True))
        return (
            fits
            and paid[self.seat] in self.mine
            and (not self.positions or are_in_order(paid, dict(self.positions)))
        )


@lru_cache(maxsize=100_000)
def figures(symbol: Six) -> tuple[int, ...]:
    """Return a symbol's figures for the conditions of `UNARY` (higher is better), then for those of `FLAT`."""
    now = conditions.Now(RunesState(options=RunesOptions(), standings=(Standing(symbol=symbol),)), ())
    found = [sign * figure(now, 0) for figure, sign in (conditions.RANKED[each] for each in UNARY)]
    return (*found, conditions.mundane_groups(now, 0), conditions.divine_groups(now, 0))


def all_figures(symbols: Sequence[Six]) -> dict[int, tuple[int, ...]]:
    """Return the figures that conditions compare (higher is better), indexed by condition, then by seat."""
    rows = [figures(symbol) for symbol in symbols]
    runes = [frozenset(symbol) for symbol in symbols]
    found = {condition: tuple([row[n] for row in rows]) for n, condition in enumerate((*UNARY, *FLAT))}
    elsewhere = [
        len(each & frozenset().union(*(runes[other] for other in OTHERS[seat]))) for seat, each in enumerate(runes)
    ]
    found[8], found[9] = tuple(elsewhere), tuple(-each for each in elsewhere)
    return found


@lru_cache(maxsize=4096)
def possible(paid: Paid, *, is_flat: bool) -> list[tuple[int, ...]]:
    """Return all payments, indexed by seat, that agree with the facts.

    With `is_flat` the condition pays a number of groups; otherwise it pays ranks.
    """
    amounts = range(1 if is_flat else conditions.BEST_RANK - SEATS + 1, conditions.BEST_RANK + 1)
    told: list[Sequence[int]] = [(each,) if each else amounts for each in paid.targets]
    told[paid.seat] = [each for each in amounts if each in paid.mine]
    return [each for each in product(*told) if (is_flat or each == ranked(each)) and paid.is_by(each)]
