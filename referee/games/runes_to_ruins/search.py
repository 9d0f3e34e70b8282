"""Search for symbols of the others with which all clues hold and conditions make the observed payments.

Each seat has a set of candidates. Each step decides one thing that narrows these sets, and then removes candidates
that no candidates of other seats can complete. The search first decides what is least likely to be fulfilled by
chance: one seat's feature for a clue, the condition that won a round with the figures that ranked the seats, or
the symbol of a seat with very few candidates. If a seat has no candidates left, another choice is tried.

When everything is decided, a seat's symbol depends on the others only through runes that two seats share and runes
that are used elsewhere. To satisfy these, one seat's symbol at a time is replaced.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise, product
from math import inf, prod
from random import Random
from typing import Any

from msgspec import Struct

from protocol.games.runes_to_ruins import Six
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.candidates import Candidates, uses
from referee.games.runes_to_ruins.clues import Clue
from referee.games.runes_to_ruins.narrowing import Left, Searching
from referee.games.runes_to_ruins.paid import ELSEWHERE, FLAT, Paid, all_figures, possible, ranked
from referee.games.runes_to_ruins.pools import NUMBER, Pool, any_of, numbers
from referee.games.runes_to_ruins.state import OTHERS, SEATS

MISSES, ATTEMPTS = 8, 3
"""Failed decisions before the search starts again, and maximum number of starts."""
WIDTH = 2
"""Number of choices tried for one decision before the search backtracks to the decision before it."""
CHOICES = 20
"""Maximum number of rounds of choosing symbols after everything else is decided."""
FEW = 50
"""Number of candidates below which more are searched for, if a seat's pool is incomplete."""
VERY_FEW = 8
"""Maximum number of a seat's candidates with which the search decides on its symbol."""
EVERY, DRAWS = 300, 64
"""Constants for the probability that condition 8 or 9 makes the observed payments.

It is computed from all combinations of candidates if there are at most `EVERY`, otherwise from `DRAWS` drawn ones.
"""
FREE = 1 / 4
"""Assumed probability of winning for a condition whose payout does not depend on symbols."""
SYMBOL, CLUE, ROUND = range(3)
"""Kinds of decision."""
Five = tuple[int, ...]
"""Numbers, indexed by seat."""
_BIT = tuple(1 << number for number in range(len(NUMBER)))


class Payment(Struct):
    """A possible payment of a round by a condition."""

    condition: int
    paid: tuple[int, ...]
    """Payments, indexed by seat; empty if they do not narrow the candidates of single seats."""
    weight: float
    """Estimated probability of these payments."""


class Search:
    """One attempt to find the others' symbols and the conditions that won."""

    def __init__(  # noqa: PLR0917 - everything that the search depends on
        self,
        base: Searching,
        symbols: dict[int, Six],
        veils: set[tuple[int, int]],
        fixed: set[tuple[int, int]],
        rounds: Sequence[Paid],
        unknown_veils: Sequence[int],
        rng: Random,
    ) -> None:
        self.base, self.rng, self.rounds = base, rng, rounds
        self.veils, self.fixed, self.unknown_veils = veils, fixed, unknown_veils
        self.known = base.known(symbols)
        self.movable = tuple(seat for seat in range(SEATS) if seat not in symbols)
        self.veiled: dict[tuple[int, int], list[int]] = {}
        for n, clue in enumerate(base.clues):
            if clue.veil is not None:
                self.veiled.setdefault((clue.seats[0], clue.veil), []).append(n)
        self.won = [0] * len(rounds)
        self.symbols: list[Any] = [None] * SEATS
        self.shared = [n for n, clue in enumerate(base.clues) if clue.shared is not None]
        self.values: list[dict[int, Any]] = []
        self.misses = 0
        """Number of further decisions that may fail before the search starts again."""

    def run(self) -> bool:
        """Search for symbols and winning conditions; return whether some agree with all clues and payments."""
        if not self.known or not all(paid.able for paid in self.rounds):
            return False
        self.left = [left.within(self._able(seat, left.candidates)[0]) for seat, left in enumerate(self.known)]
        if not self._settle(range(SEATS)) or not all(map(self._veil_one, self.unknown_veils)):
            return False
        start = self.left
        joint = [n for n in self.base.features if len(self.base.clues[n].seats) > 1]
        for _ in range(ATTEMPTS):
            self.left, self.misses, self.won = [*start], MISSES, [0] * len(self.rounds)
            if self._decide(joint, range(len(self.rounds))):
                return True
        return False

    def _settle(self, seats: Collection[int]) -> bool:
        """Remove candidates that no candidates of other seats can complete.

        Return False if a seat has none left.
        """
        while seats:
            if not self.base.settle(self.left, seats, self._is_left):
                return False
            seats = self._settle_shared()
        return True

    def _settle_shared(self) -> set[int]:
        """Remove candidates that share a wrong number of runes with a seat's only candidate.

        Return the seats that changed.
        """
        changed = set()
        for seat, left in enumerate(self.left):
            sharing = left.within(self._sharing(seat, left.candidates))
            if sharing.able != left.able:
                self.left[seat] = sharing
                changed.add(seat)
        return changed

    def _sharing(self, seat: int, candidates: Candidates) -> int:
        """Return the candidates that share the known number of runes with each seat that has one candidate."""
        able = candidates.pool.all
        for n in self.shared:
            seats = self.base.clues[n].seats
            if seat in seats:
                (other,) = (each for each in seats if each != seat)
                if self.left[other].number == 1:
                    left = self.left[other]
                    self.symbols[other] = left.candidates.pool.symbol(any_of(left.able, self.rng))
                    able &= self._fitting(n, self.base.clues[n], seat, candidates)
        return able

    def _is_left(self, seat: int) -> bool:
        """Return whether the seat has a candidate; search for more if few remain of an incomplete pool."""
        left = self.left[seat]
        if left.number < FEW and not left.is_whole:
            left = self.base.grown(seat, left)
            left = left.within(self._able(seat, left.candidates)[0] & self._sharing(seat, left.candidates))
            if left.number < FEW:
                left = left.alone()
        self.left[seat] = self.base.smaller(seat, left)
        return left.able > 0

    def _able(self, seat: int, candidates: Candidates) -> tuple[int, list[int]]:
        """Return the candidates that agree with answers that veils may invert, and those that need no veil.

        The second value has one set for each round in which it is open whether the seat veiled.
        """
        able, truthful = candidates.pool.all, []
        for key, group in self.veiled.items():
            if key[0] != seat:
                continue
            true = neither = candidates.pool.all
            for n in group:
                fitting = self._told(n, candidates, is_turned=key in self.fixed & self.veils)
                true &= fitting
                neither &= ~fitting
            if key in self.fixed:
                able &= true
            else:
                able &= true | neither
                truthful.append(true)
        return able, truthful

    def _veil_one(self, round_: int) -> bool:
        """Choose a seat that veiled in a round in which a vision was about all others.

        Return False if no seat can have veiled.
        """
        turned = {}
        for seat, left in enumerate(self.left):
            if group := self.veiled.get((seat, round_)):
                able = left.able
                for n in group:
                    able &= self._told(n, left.candidates, is_turned=True)
                if able:
                    turned[seat] = able
        if not turned:
            return False
        seat = self.rng.choices(
            [*turned], [able.bit_count() / self.left[each].number for each, able in turned.items()]
        )[0]
        self.left[seat] = self.left[seat].within(turned[seat])
        return self._settle([seat])

    def _told(self, n: int, candidates: Candidates, *, is_turned: bool) -> int:
        """Return the candidates that lead to the received answer of a vision, inverted if `is_turned`."""
        found = 0
        for value, each in candidates.values[n].items():
            if self.base.clues[n].fits((value != is_turned,)):
                found |= each
        return found

    def _decide(self, clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Decide all these clues and rounds, the least likely first; return False if that fails."""
        elsewhere = self._elsewhere_used()
        if not all(self._chance_elsewhere(n, self.won[n], *elsewhere) for n in self._by_elsewhere()):
            return False
        ways = {n: found for n in clues if (found := self._ways(n)) is not None}
        payments = {n: self._payments(n, elsewhere) for n in rounds}
        if not self._can_all_be_paid(payments):
            return False
        seats = [seat for seat, left in enumerate(self.left) if 1 < left.number <= VERY_FEW]
        chances = [(1 / self.left[seat].number, SYMBOL, seat) for seat in seats]
        chances += [(sum(weight for weight, _ in found), CLUE, n) for n, found in ways.items()]
        chances += [(sum(each.weight for each in found), ROUND, n) for n, found in payments.items()]
        if not chances:
            return self._choose_symbols()
        _, kind, n = min(chances)
        if kind == ROUND:
            return self._decide_round(n, payments.pop(n), [*ways], [*payments])
        if kind == CLUE:
            return self._decide_clue(n, [*ways], rounds)
        return self._decide_symbol(n, [*ways], rounds)

    def _decide_symbol(self, seat: int, clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Decide on the symbol of a seat that has very few candidates."""
        left = self.left[seat]
        return any(
            self._goes_on(("symbol", seat), {seat: left.within(1 << number).alone()}, clues, rounds)
            for number in self.rng.sample([*numbers(left.able)], left.number)
        )

    def _goes_on(self, key: Any, left: dict[int, Left], clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Replace the candidates of some seats and decide everything else.

        If that fails, restore the candidates, count the failure and return False.
        """
        if self.misses <= 0:
            return False
        before, won = [*self.left], [*self.won]
        for seat, each in left.items():
            self.left[seat] = each
        if self._settle(left) and self._decide(clues, rounds):
            return True
        self.left, self.won = before, won
        self.misses -= 1
        self.base.failed[key] = self.base.failed.get(key, 0) + 1
        return False

    def _favour(self, key: Any) -> float:
        """Return a factor that makes decisions less likely the more often they failed."""
        return 1 / (1 + self.base.failed.get(key, 0))

    def _ways(self, n: int) -> list[tuple[float, tuple[Any, ...]]] | None:
        """Return combinations of features with which clue `n` holds, with their weights.

        Return None if it holds with every remaining combination.
        """
        shares = self._shares_of(n)
        combined = self.base.combined(n, shares)
        if len(combined) == prod(map(len, shares)):
            return None
        return [(prod(map(dict.__getitem__, shares, values)), values) for values in combined]

    def _shares_of(self, n: int) -> list[dict[Any, float]]:
        return [self.left[seat].by_feature(n, self.base.features[n]) for seat in self.base.clues[n].seats]

    def _decide_clue(self, n: int, clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Draw a combination of features for clue `n` and decide on its rarest feature."""
        seats = self.base.clues[n].seats
        for _ in range(WIDTH):
            ways = self._ways(n)
            if ways is None:
                return self._decide(clues, rounds)
            weights = [
                weight * prod(self._favour((n, seat, value)) for seat, value in zip(seats, values, strict=True))
                for weight, values in ways
            ]
            values = self.rng.choices([each for _, each in ways], weights)[0]
            shares = self._shares_of(n)
            _, at = min((shares[at][value], at) for at, value in enumerate(values) if len(shares[at]) > 1)
            seat, value = seats[at], values[at]
            left = self.left[seat]
            if self._goes_on((n, seat, value), {seat: left.with_values(n, {value})}, clues, rounds):
                return True
            self.left[seat] = left.with_values(n, shares[at].keys() - {value})
            if not self._settle([seat]):
                return False
        return False

    @staticmethod
    def _can_all_be_paid(payments: dict[int, list[Payment]]) -> bool:
        """Return whether each round can have a condition that no other round of its block has."""
        able = {n: list(dict.fromkeys(each.condition for each in found)) for n, found in payments.items()}
        holder: dict[tuple[int, int], int] = {}

        def hold(n: int, seen: set[tuple[int, int]]) -> bool:
            for condition in able[n]:
                key = n // conditions.REFRESHED_AT, condition
                if key not in seen:
                    seen.add(key)
                    if key not in holder or hold(holder[key], seen):
                        holder[key] = n
                        return True
            return False

        return all(hold(n, set()) for n in payments)

    def _by_elsewhere(self) -> list[int]:
        """Return the rounds that were decided to be paid by condition 8 or 9."""
        return [n for n, won in enumerate(self.won) if won in ELSEWHERE]

    def _elsewhere_used(self) -> tuple[list[Five], bool]:
        """Return the numbers of runes that others use, too, indexed by seat, for combinations of candidates.

        The second value is True if these are all combinations, and False if they were drawn.
        """
        is_every = prod(left.number for left in self.left) <= EVERY
        masks = []
        for left in self.left:
            able = numbers(left.able) if is_every else [any_of(left.able, self.rng) for _ in range(DRAWS)]
            symbols = left.candidates.pool.symbols
            masks.append([sum(map(_BIT.__getitem__, symbols[number])) for number in able])
        found = []
        for each in product(*masks) if is_every else zip(*masks, strict=True):
            once = twice = 0
            for mask in each:
                twice |= once & mask
                once |= mask
            found.append(tuple([(mask & twice).bit_count() for mask in each]))
        return found, is_every

    def _chance_elsewhere(self, n: int, condition: int, used: list[Five], is_every: bool) -> float:
        """Estimate the probability that condition 8 or 9 makes the observed payments in round `n`."""
        sign = 1 if condition == ELSEWHERE[0] else -1
        hits = sum(self.rounds[n].is_by(ranked(tuple([sign * each for each in figures]))) for figures in used)
        return hits / len(used) if is_every else max(hits, 1 / 4) / len(used)

    def _payments(self, n: int, elsewhere: tuple[list[Five], bool]) -> list[Payment]:
        """Return the possible payments of round `n`."""
        paid = self.rounds[n]
        first = n - n % conditions.REFRESHED_AT
        taken = self.won[first : first + conditions.REFRESHED_AT]
        found = []
        for condition in paid.able:
            if condition in taken:
                continue
            if condition in paid.free:
                found.append(Payment(condition, (), FREE))
            elif condition in ELSEWHERE:
                if possible(paid, is_flat=False) and (weight := self._chance_elsewhere(n, condition, *elsewhere)):
                    found.append(Payment(condition, (), weight))
            else:
                for each in possible(paid, is_flat=condition in FLAT):
                    weight = self._weight(condition, each)
                    if weight:
                        found.append(Payment(condition, each, weight))
        return found

    def _weight(self, condition: int, paid: tuple[int, ...]) -> float:
        """Return the estimated probability that a condition pays this."""
        if condition in FLAT:
            return prod(left.by_figure(condition).get(each, 0) for left, each in zip(self.left, paid, strict=True))
        tables = self._chain(condition, paid)
        return sum(tables[-1].values()) if tables else 0

    def _decide_round(self, n: int, payments: list[Payment], clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Decide on the condition of round `n` and on the figures that rank the seats."""
        won = [*self.won]
        for _ in range(min(WIDTH, len(payments))):
            weights = [each.weight * self._favour(("round", n, each.condition)) for each in payments]
            payment = self.rng.choices(payments, weights)[0]
            self.won[n] = payment.condition
            if self._goes_on(("round", n, payment.condition), self._paying_so(payment), clues, rounds):
                return True
            self.won = [*won]
            payments = [each for each in payments if each is not payment]
        return False

    def _paying_so(self, payment: Payment) -> dict[int, Left]:
        """Return the candidates that remain with this payment, indexed by seat; empty if all remain."""
        condition, paid = payment.condition, payment.paid
        if not paid:
            return {}
        if condition in FLAT:
            bounds: list[tuple[float, float]] = [(each, each) for each in paid]
        else:
            bounds = [(0, 0)] * SEATS
            levels: list[int] = []
            for table in self._chain(condition, paid)[::-1]:
                able = {figure: weight for figure, weight in table.items() if not levels or figure < levels[-1]}
                levels.append(self.rng.choices([*able], [*able.values()])[0])
            groups = _ranks(paid)
            for group, between in zip(groups, self._between(condition, groups, levels), strict=True):
                for seat in group:
                    bounds[seat] = between
        return {
            seat: left.with_figures(condition, *between)
            for seat, (left, between) in enumerate(zip(self.left, bounds, strict=True))
        }

    def _between(self, condition: int, groups: list[list[int]], levels: list[int]) -> list[tuple[float, float]]:
        """Return the lowest and highest figure for each group of seats with one rank, near the drawn levels.

        Several seats of one rank have the same figure. A single seat may have any figure between those of the
        adjacent ranks.
        """
        low = [levels[at] if len(group) > 1 else -inf for at, group in enumerate(groups)]
        high = [levels[at] if len(group) > 1 else inf for at, group in enumerate(groups)]
        for at, (upper, lower) in enumerate(pairwise(groups)):
            cut = levels[at] - 1 if len(upper) > 1 else levels[at + 1]
            if len(upper) == len(lower) == 1:
                cut = self._cut(condition, upper[0], lower[0], range(levels[at + 1], levels[at]))
            low[at], high[at + 1] = max(low[at], cut + 1), min(high[at + 1], cut)
        return [*zip(low, high, strict=True)]

    def _cut(self, condition: int, upper: int, lower: int, cuts: range) -> int:
        """Return the cut between the figures of two seats that leaves the most combinations of candidates."""
        one, other = self.left[upper].by_figure(condition), self.left[lower].by_figure(condition)
        return max(
            cuts,
            key=lambda cut: (
                sum(share for figure, share in one.items() if figure > cut)
                * sum(share for figure, share in other.items() if figure <= cut)
            ),
        )

    def _chain(self, condition: int, paid: tuple[int, ...]) -> list[dict[int, float]]:
        """Return a table per rank, the worst first: figures of its seats with their weights.

        A weight includes the probability that the worse ranks have lower figures. Return an empty list if the
        condition cannot pay this.
        """
        tables: list[dict[int, float]] = []
        for first, *others in _ranks(paid)[::-1]:
            table: dict[int, float] = {}
            for figure, share in self.left[first].by_figure(condition).items():
                weight = share * prod(self.left[seat].by_figure(condition).get(figure, 0) for seat in others)
                if tables and weight:
                    weight *= sum(below for lower, below in tables[-1].items() if lower < figure)
                if weight:
                    table[figure] = weight
            if not table:
                return []
            tables.append(table)
        return tables

    def _choose_symbols(self) -> bool:
        """Choose a symbol for each seat from its candidates; return False if no choice satisfies everything."""
        self.symbols = [left.candidates.pool.symbol(any_of(left.able, self.rng)) for left in self.left]
        truthful = [self._able(seat, left.candidates)[1] for seat, left in enumerate(self.left)]
        elsewhere = self._by_elsewhere()
        open_seats = [seat for seat, left in enumerate(self.left) if left.number > 1]
        for number in range(CHOICES if open_seats else 1):
            for seat in open_seats if not number else [self.rng.choice(open_seats)]:
                self._choose_symbol(seat, elsewhere, truthful[seat])
            if (
                len(set(self.symbols)) == SEATS
                and all(map(self._is_shared, self.shared))
                and self._is_paid(elsewhere)
            ):
                self.values = [
                    {each: clue.feature(self.symbols[each]) for each in clue.seats} for clue in self.base.clues
                ]
                return True
        return False

    def _choose_symbol(self, seat: int, elsewhere: Sequence[int], truthful: Sequence[int]) -> None:
        """Replace the seat's symbol by one of those that satisfy most of the remaining conditions."""
        left = self.left[seat]
        best = left.able
        for n in self.rng.sample(self.shared, len(self.shared)):
            clue = self.base.clues[n]
            if seat in clue.seats:
                best = best & self._fitting(n, clue, seat, left.candidates) or best
        for n in elsewhere:
            best = self._nearest_paid(n, seat, left, best)
        for each in self.rng.sample(truthful, len(truthful)):
            best = best & each or best
        self.symbols[seat] = left.candidates.pool.symbol(any_of(best, self.rng))

    def _is_shared(self, n: int) -> bool:
        one, other = self.base.clues[n].seats
        return self.base.clues[n].fits((self.symbols[one], self.symbols[other]))

    def _nearest_paid(self, n: int, seat: int, left: Left, best: int) -> int:
        """Return those of the candidates `best` with which round `n` pays nearest to the observed payments.

        Condition 8 or 9 won the round.
        """
        sign = 1 if self.won[n] == ELSEWHERE[0] else -1
        paid = self.rounds[n]
        by_missed: dict[int, int] = {}
        for figures_, chosen in self._elsewhere(seat, left.candidates.pool, sign, best):
            found = ranked(figures_)
            missed = min(
                sum(abs(one - other) for one, other in zip(found, each, strict=True))
                for each in possible(paid, is_flat=False)
            )
            by_missed[missed] = by_missed.get(missed, 0) | chosen
        return by_missed[min(by_missed)]

    def _is_paid(self, rounds: Sequence[int]) -> bool:
        figures_ = all_figures(self.symbols)
        return all(self.rounds[n].is_by(ranked(figures_[self.won[n]])) for n in rounds)

    def fitting(self, seat: int) -> int:
        """Return the set of a seat's candidates with which everything holds.

        Payments by conditions 8 and 9 are not checked.
        """
        candidates, able = self.known[seat].candidates, self.known[seat].able
        able &= self._able(seat, candidates)[0]
        for n, clue in self.base.of[seat].items():
            if clue.veil is None:
                able &= self._fitting(n, clue, seat, candidates)
        figures_ = all_figures(self.symbols)
        for condition, paid in zip(self.won, self.rounds, strict=True):
            if condition in figures_ and condition not in ELSEWHERE:
                able &= self._paying(condition, paid, seat, candidates, [*figures_[condition]])
        return able

    def _fitting(self, n: int, clue: Clue, seat: int, candidates: Candidates) -> int:
        """Return the candidates with which a clue holds if the other symbols do not change."""
        if clue.shared is not None:
            (other,) = (each for each in clue.seats if each != seat)
            return candidates.pool.counted([uses(rune) for rune in self.symbols[other]]).get(clue.shared, 0)
        values = [self.values[n][each] for each in clue.seats]
        at = clue.seats.index(seat)
        found = 0
        for value, sets in candidates.values[n].items():
            values[at] = value
            if clue.fits(values):
                found |= sets
        return found

    @staticmethod
    def _paying(condition: int, paid: Paid, seat: int, candidates: Candidates, figures_: list[int]) -> int:
        """Return the candidates with which a condition makes the observed payments.

        `figures_` has the figures of all seats; those of the other seats do not change.
        """
        found = 0
        for figure, chosen in candidates.by_figure(condition).items():
            figures_[seat] = figure
            if paid.is_by(figures_ if condition in FLAT else ranked(tuple(figures_))):
                found |= chosen
        return found

    def _elsewhere(self, seat: int, pool: Pool, sign: int, every: int) -> list[tuple[tuple[float, ...], int]]:
        """Split a seat's candidates by the numbers of runes that others use, too, for all seats.

        Return the numbers times `sign`, indexed by seat, each with its set of candidates.
        """
        classes: list[tuple[tuple[float, ...], int]] = [((), every)]
        for each in range(SEATS):
            runes = set(self.symbols[each])
            rest = {rune for other in OTHERS[each] if other != seat for rune in self.symbols[other]}
            counts = pool.counted([uses(rune) for rune in sorted(rest if each == seat else runes - rest)])
            more = 0 if each == seat else len(runes & rest)
            classes = [
                ((*figures_, sign * (number + more)), both)
                for figures_, chosen in classes
                for number, found in counts.items()
                if (both := chosen & found)
            ]
        return classes

    def paid_to(self, seat: int, n: int) -> int:
        """Return the payment to a seat by the condition chosen for round `n`."""
        found = all_figures(self.symbols)[self.won[n]]
        return found[seat] if self.won[n] in FLAT else ranked(found)[seat]

    def found_veils(self) -> set[tuple[int, int]]:
        """Return the veils that the answers require, without those that are fixed."""
        return {key for key in self.veiled if key not in self.fixed and self._is_turned(key)}

    def _is_turned(self, key: tuple[int, int]) -> bool:
        n = self.veiled[key][0]
        return not self.base.clues[n].fits((self.values[n][key[0]],))

    def agrees_with(self, veils: set[tuple[int, int]], fixed: set[tuple[int, int]]) -> bool:
        """Return whether the answers agree with the fixed veils."""
        return all(self._is_turned(key) == (key in veils) for key in self.veiled if key in fixed)


def _ranks(paid: tuple[int, ...]) -> list[list[int]]:
    """Group seats by their payment, the best first."""
    return [[seat for seat in range(SEATS) if paid[seat] == each] for each in sorted(set(paid), reverse=True)]
