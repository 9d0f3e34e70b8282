"""Searches the others' symbols of which all clues hold, and with which conditions paid as they did.

A set of candidates is kept for each seat. Step by step something is decided that narrows these sets, and what fits
nothing that is left of other seats goes, too. It is always what is least likely to come out by itself: one seat's
feature for a clue, the condition that won a round with the figures that ranked the seats, or the symbol of a seat
of which very few are left. Where nothing is left of a seat, another way is tried.

When all is decided, a seat's symbol does not depend on the others, but for runes that two seats share and runes
that are used elsewhere. For these, one seat's symbol is chosen anew at a time.
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
"""So many decisions lead nowhere until it is begun anew, and so often it is begun."""
WIDTH = 2
"""So many ways to decide one thing are tried before it is gone back to what was decided before."""
CHOICES = 20
"""Choices of a symbol where all else is decided."""
FEW = 50
"""So many candidates of a seat are few: if there are others, they are looked for."""
VERY_FEW = 8
"""Of so many a symbol is decided."""
EVERY, DRAWS = 300, 64
"""How likely conditions 8 and 9 pay as told is seen in all symbols that are left, if there are at most so many;
else in so many that are drawn."""
FREE = 1 / 4
"""How likely a condition is taken to win that pays as told whatever symbols there are: others are left for it."""
SYMBOL, CLUE, ROUND = range(3)
Five = tuple[int, ...]
"""By seat."""
_BIT = tuple(1 << number for number in range(len(NUMBER)))


class Payment(Struct):
    """How a condition may have paid: by seats of one rank after the other, best first."""

    condition: int
    paid: tuple[int, ...]
    weight: float
    """How likely it pays so."""


class Search:
    """One attempt: symbols, and conditions that won."""

    def __init__(  # noqa: PLR0917 - all that it goes by
        self,
        base: Searching,
        symbols: dict[int, Six],
        veils: set[tuple[int, int]],
        fixed: set[tuple[int, int]],
        rounds: Sequence[Paid],
        unknown_veils: Sequence[int],
        luck: Random,
    ) -> None:
        self.base, self.luck, self.rounds = base, luck, rounds
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
        """How many more decisions may lead nowhere, in this attempt."""

    def run(self) -> bool:
        """Whether it came to symbols of which all clues hold, with conditions that paid as told."""
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
        """Leaves out what nothing left of other seats goes with; False: nothing is left of a seat."""
        while seats:
            if not self.base.settle(self.left, seats, self._is_left):
                return False
            seats = self._settle_shared()
        return True

    def _settle_shared(self) -> set[int]:
        """Leaves out what does not share as many runes as told with a seat's only symbol."""
        changed = set()
        for seat, left in enumerate(self.left):
            sharing = left.within(self._sharing(seat, left.candidates))
            if sharing.able != left.able:
                self.left[seat] = sharing
                changed.add(seat)
        return changed

    def _sharing(self, seat: int, candidates: Candidates) -> int:
        """The candidates that share as many runes as told with seats of which one symbol is left."""
        able = candidates.pool.all
        for n in self.shared:
            seats = self.base.clues[n].seats
            if seat in seats:
                (other,) = (each for each in seats if each != seat)
                if self.left[other].number == 1:
                    left = self.left[other]
                    self.symbols[other] = left.candidates.pool.symbol(any_of(left.able, self.luck))
                    able &= self._fitting(n, self.base.clues[n], seat, candidates)
        return able

    def _is_left(self, seat: int) -> bool:
        """Whether there is a candidate: where few of a part are left, more are looked for."""
        left = self.left[seat]
        if left.number < FEW and not left.is_whole:
            left = self.base.grown(seat, left)
            left = left.within(self._able(seat, left.candidates)[0] & self._sharing(seat, left.candidates))
            if left.number < FEW:
                left = left.alone()
        self.left[seat] = self.base.smaller(seat, left)
        return left.able > 0

    def _able(self, seat: int, candidates: Candidates) -> tuple[int, list[int]]:
        """The candidates whose answers may be told, with or without veils; then by vision those that need none."""
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
        """Has one of the other seats veil, in a round in which all were asked about; False: none can have."""
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
        seat = self.luck.choices(
            [*turned], [able.bit_count() / self.left[each].number for each, able in turned.items()]
        )[0]
        self.left[seat] = self.left[seat].within(turned[seat])
        return self._settle([seat])

    def _told(self, n: int, candidates: Candidates, *, is_turned: bool) -> int:
        """The candidates whose answer to a vision is as told, turned round or not."""
        found = 0
        for value, each in candidates.values[n].items():
            if self.base.clues[n].fits((value != is_turned,)):
                found |= each
        return found

    def _decide(self, clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Decides all these, the least likely first; False: it found no way."""
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
        """The symbol of a seat of which very few are left."""
        left = self.left[seat]
        return any(
            self._goes_on(("symbol", seat), {seat: left.within(1 << number).alone()}, clues, rounds)
            for number in self.luck.sample([*numbers(left.able)], left.number)
        )

    def _goes_on(self, key: Any, left: dict[int, Left], clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """Whether all else can be decided with so much left of some seats; if not, it is as before."""
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
        """What has failed before is tried less often."""
        return 1 / (1 + self.base.failed.get(key, 0))

    def _ways(self, n: int) -> list[tuple[float, tuple[Any, ...]]] | None:
        """Features that go together, and how likely they are; None where all that is left does."""
        shares = self._shares_of(n)
        combined = self.base.combined(n, shares)
        if len(combined) == prod(map(len, shares)):
            return None
        return [(prod(map(dict.__getitem__, shares, values)), values) for values in combined]

    def _shares_of(self, n: int) -> list[dict[Any, float]]:
        return [self.left[seat].by_feature(n, self.base.features[n]) for seat in self.base.clues[n].seats]

    def _decide_clue(self, n: int, clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """One seat's feature: the rarest of those that are drawn to go together."""
        seats = self.base.clues[n].seats
        for _ in range(WIDTH):
            ways = self._ways(n)
            if ways is None:
                return self._decide(clues, rounds)
            weights = [
                weight * prod(self._favour((n, seat, value)) for seat, value in zip(seats, values, strict=True))
                for weight, values in ways
            ]
            values = self.luck.choices([each for _, each in ways], weights)[0]
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
        """Whether each round can have a condition of its own, as far as conditions are used once in a block."""
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
        """The rounds that are decided to have paid by the runes that are used elsewhere."""
        return [n for n, won in enumerate(self.won) if won in ELSEWHERE]

    def _elsewhere_used(self) -> tuple[list[Five], bool]:
        """By seat, how many of its runes others use, in symbols drawn from what is left; or in all there are."""
        is_every = prod(left.number for left in self.left) <= EVERY
        masks = []
        for left in self.left:
            able = numbers(left.able) if is_every else [any_of(left.able, self.luck) for _ in range(DRAWS)]
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
        """How likely the runes that are used elsewhere paid a round."""
        sign = 1 if condition == ELSEWHERE[0] else -1
        hits = sum(self.rounds[n].is_by(ranked(tuple([sign * each for each in figures]))) for figures in used)
        return hits / len(used) if is_every else max(hits, 1 / 4) / len(used)

    def _payments(self, n: int, elsewhere: tuple[list[Five], bool]) -> list[Payment]:
        """How a round may have been paid."""
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
        """How likely a condition pays so."""
        if condition in FLAT:
            return prod(left.by_figure(condition).get(each, 0) for left, each in zip(self.left, paid, strict=True))
        tables = self._chain(condition, paid)
        return sum(tables[-1].values()) if tables else 0

    def _decide_round(self, n: int, payments: list[Payment], clues: Sequence[int], rounds: Sequence[int]) -> bool:
        """A round's condition, and the figures that ranked the seats."""
        won = [*self.won]
        for _ in range(min(WIDTH, len(payments))):
            weights = [each.weight * self._favour(("round", n, each.condition)) for each in payments]
            payment = self.luck.choices(payments, weights)[0]
            self.won[n] = payment.condition
            if self._goes_on(("round", n, payment.condition), self._paying_so(payment), clues, rounds):
                return True
            self.won = [*won]
            payments = [each for each in payments if each is not payment]
        return False

    def _paying_so(self, payment: Payment) -> dict[int, Left]:
        """What is left with figures with which the condition pays so."""
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
                levels.append(self.luck.choices([*able], [*able.values()])[0])
            groups = _ranks(paid)
            for group, between in zip(groups, self._between(condition, groups, levels), strict=True):
                for seat in group:
                    bounds[seat] = between
        return {
            seat: left.with_figures(condition, *between)
            for seat, (left, between) in enumerate(zip(self.left, bounds, strict=True))
        }

    def _between(self, condition: int, groups: list[list[int]], levels: list[int]) -> list[tuple[float, float]]:
        """From where to where figures of these groups of seats may be, about these levels.

        Several seats of one rank have the same figure. One seat may have any between those of the next ranks.
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
        """Where to part the figures of two seats, so that most candidates are left."""
        one, other = self.left[upper].by_figure(condition), self.left[lower].by_figure(condition)
        return max(
            cuts,
            key=lambda cut: (
                sum(share for figure, share in one.items() if figure > cut)
                * sum(share for figure, share in other.items() if figure <= cut)
            ),
        )

    def _chain(self, condition: int, paid: tuple[int, ...]) -> list[dict[int, float]]:
        """By rank, the worst first: figures of its seats, and how likely they go with some of the worse ranks."""
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
        """A symbol for each seat of what is left; False: none was found with which all holds."""
        self.symbols = [left.candidates.pool.symbol(any_of(left.able, self.luck)) for left in self.left]
        truthful = [self._able(seat, left.candidates)[1] for seat, left in enumerate(self.left)]
        elsewhere = self._by_elsewhere()
        open_seats = [seat for seat, left in enumerate(self.left) if left.number > 1]
        for number in range(CHOICES if open_seats else 1):
            for seat in open_seats if not number else [self.luck.choice(open_seats)]:
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
        """Another symbol for the seat, of those with which most holds."""
        left = self.left[seat]
        best = left.able
        for n in self.luck.sample(self.shared, len(self.shared)):
            clue = self.base.clues[n]
            if seat in clue.seats:
                best = best & self._fitting(n, clue, seat, left.candidates) or best
        for n in elsewhere:
            best = self._nearest_paid(n, seat, left, best)
        for each in self.luck.sample(truthful, len(truthful)):
            best = best & each or best
        self.symbols[seat] = left.candidates.pool.symbol(any_of(best, self.luck))

    def _is_shared(self, n: int) -> bool:
        one, other = self.base.clues[n].seats
        return self.base.clues[n].fits((self.symbols[one], self.symbols[other]))

    def _nearest_paid(self, n: int, seat: int, left: Left, best: int) -> int:
        """Of these candidates those with which the runes used elsewhere pay most nearly as told."""
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
        """The set of a seat's candidates with which all holds, but for what conditions 8 and 9 look at."""
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
        """The candidates with which a clue holds, the other symbols being as they are."""
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
        """The candidates with which a condition pays as told, the other figures being as they are."""
        found = 0
        for figure, chosen in candidates.by_figure(condition).items():
            figures_[seat] = figure
            if paid.is_by(figures_ if condition in FLAT else ranked(tuple(figures_))):
                found |= chosen
        return found

    def _elsewhere(self, seat: int, pool: Pool, sign: int, every: int) -> list[tuple[tuple[float, ...], int]]:
        """How many of their runes others use: a seat's symbol changes the others' numbers, too."""
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
        """What the condition that was chosen for a round paid a seat."""
        found = all_figures(self.symbols)[self.won[n]]
        return found[seat] if self.won[n] in FLAT else ranked(found)[seat]

    def found_veils(self) -> set[tuple[int, int]]:
        """The veils with which the answers are as told, but for those that are fixed."""
        return {key for key in self.veiled if key not in self.fixed and self._is_turned(key)}

    def _is_turned(self, key: tuple[int, int]) -> bool:
        n = self.veiled[key][0]
        return not self.base.clues[n].fits((self.values[n][key[0]],))

    def agrees_with(self, veils: set[tuple[int, int]], fixed: set[tuple[int, int]]) -> bool:
        """Whether the answers are as told with these veils."""
        return all(self._is_turned(key) == (key in veils) for key in self.veiled if key in fixed)


def _ranks(paid: tuple[int, ...]) -> list[list[int]]:
    """The seats by what they are paid, the best first."""
    return [[seat for seat in range(SEATS) if paid[seat] == each] for each in sorted(set(paid), reverse=True)]
