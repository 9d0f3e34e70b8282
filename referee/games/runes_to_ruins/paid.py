"""What was paid at the end of a round, as a seat knows it, and what conditions would pay for some symbols."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from msgspec import Struct

from protocol.games.runes_to_ruins import RunesOptions, Six
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.state import OTHERS, SEATS, RunesState, Standing

UNARY = (1, 2, 3, 4, 5, 6, 7)
"""The conditions by ranks of figures that a symbol has by itself."""
FLAT = (13, 14)
ELSEWHERE = (8, 9)


@lru_cache(maxsize=100_000)
def ranked(figures_: tuple[float, ...]) -> tuple[int, ...]:
    """What a condition by ranks pays for these figures, more being better."""
    order = sorted(set(figures_), reverse=True)
    return tuple([conditions.BEST_RANK - order.index(each) for each in figures_])


def are_in_order(paid: Sequence[float], positions: dict[str, int]) -> bool:
    """Whether those who abstained can have had these positions: before or after all that earned the same."""
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
    """What was paid at the end of a round."""

    targets: tuple[int, ...]
    """By seat, without what is added for the round; 0: not told."""
    positions: tuple[tuple[str, int], ...]
    """Of seats that abstained: the position in the order of what was paid."""
    able: tuple[int, ...]
    """The conditions that may have won."""
    free: tuple[int, ...]
    """Of them, those that may have paid so whatever symbols there are."""
    seat: int = 0
    mine: frozenset[int] = frozenset(range(7))
    """What that seat may have been paid, if it was not told."""

    def is_by(self, paid: Sequence[float]) -> bool:
        """Whether this was paid."""
        fits = all(one in (0, other) for one, other in zip(self.targets, paid, strict=True))
        return (
            fits
            and paid[self.seat] in self.mine
            and (not self.positions or are_in_order(paid, dict(self.positions)))
        )


@lru_cache(maxsize=100_000)
def figures(symbol: Six) -> tuple[int, ...]:
    """A symbol's figures for the conditions of `UNARY`, more being better, then its groups of either Order."""
    now = conditions.Now(RunesState(options=RunesOptions(), standings=(Standing(symbol=symbol),)), ())
    found = [sign * figure(now, 0) for figure, sign in (conditions.RANKED[each] for each in UNARY)]
    return (*found, conditions.mundane_groups(now, 0), conditions.divine_groups(now, 0))


def all_figures(symbols: Sequence[Six]) -> dict[int, tuple[int, ...]]:
    """By condition, and by seat: what conditions look at, more being better."""
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
    """All that can have been paid then: by ranks, or for so many groups."""
    amounts = range(1 if is_flat else conditions.BEST_RANK - SEATS + 1, conditions.BEST_RANK + 1)
    told: list[Sequence[int]] = [(each,) if each else amounts for each in paid.targets]
    told[paid.seat] = [each for each in amounts if each in paid.mine]
    return [each for each in product(*told) if (is_flat or each == ranked(each)) and paid.is_by(each)]
