"""Search for symbols of the others with which all clues hold.

Each seat has a pool of candidates. Each step decides on the features of all seats for the clue that is least
likely to hold by chance, and then removes candidates that no candidates of other seats can complete. If a seat has
no candidates left, the search starts again.

When everything is decided, a seat's symbol depends on the others only through runes that two seats share. To
satisfy these, one seat's symbol at a time is replaced.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from itertools import chain, product
from math import prod
from operator import or_
from random import Random
from typing import Any

from msgspec import Struct

from protocol.games.runes_to_ruins import Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from referee.games.runes_to_ruins.clues import Clue, group_marks, group_runes
from referee.games.runes_to_ruins.guesses import NOWHERE
from referee.games.runes_to_ruins.pools import (
    EVERY_RUNE,
    NUMBER,
    POSITIONS,
    Pool,
    SymbolFacts,
    SymbolGenerator,
    any_of,
    built,
    mark,
    numbers,
)
from referee.games.runes_to_ruins.state import SEATS
from referee.games.runes_to_ruins.symbols import ORDER

ATTEMPTS = 8
"""Maximum number of starts with the same known symbols."""
CHOICES = 20
"""Maximum number of rounds of choosing symbols after everything else is decided."""
FEW = 50
"""Number of candidates below which more are searched for, if a seat's pool is incomplete."""
MOST, PART = 150_000, 10_000
"""Maximum number of candidates in a complete pool, and number of candidates drawn where there are more."""
ENOUGH = 100_000
"""Number of candidates from which on a partial pool no longer grows with each attempt."""
FURTHER_WHOLE, FURTHER = 8000, 4000
"""The values of `MOST` and `PART` for pools that replace a pool with too few candidates."""
LISTS = 200
"""Maximum number of complete pools in the cache."""
SMALLER = 8
"""A pool is replaced by a smaller one if less than 1 / `SMALLER` of it remains."""


class CandidatePool(Pool):
    """Candidates for one seat's symbol, with their features for clues."""

    def __init__(self, symbols: Sequence[bytes], clues: dict[int, Clue]) -> None:
        super().__init__(symbols)
        self._clues = clues
        self._values: dict[int, dict[Any, int]] = {}

    def values(self, n: int) -> dict[Any, int]:
        """Return the sets of candidates with each feature for clue `n`, computed on first use."""
        if n not in self._values:
            self._values[n] = self._clues[n].values(self)
        return self._values[n]

    def having(self, n: int, values: Collection[Any]) -> int:
        """Return the candidates that have one of these features for clue `n`."""
        return reduce(or_, (found for value, found in self.values(n).items() if value in values), 0)


class RemainingCandidates(Struct, frozen=True):
    """Remaining candidates for one seat's symbol."""

    pool: CandidatePool
    able: int
    """The set of remaining candidates."""
    is_whole: bool
    """True if these are all candidates that remain, False if they are a drawn part."""
    values: dict[int, frozenset[Any]] = {}
    """Remaining features, indexed by clue."""
    shares: dict[int, dict[Any, float]] = {}
    """Cache of the shares of features, indexed by clue."""

    @property
    def number(self) -> int:
        """Number of remaining candidates."""
        return self.able.bit_count()

    def within(self, able: int) -> "RemainingCandidates":
        """Return this without candidates outside `able`."""
        return RemainingCandidates(self.pool, self.able & able, self.is_whole, self.values)

    def alone(self) -> "RemainingCandidates":
        """Return the same candidates, treated as all that remain."""
        return RemainingCandidates(self.pool, self.able, True, self.values)

    def with_values(self, n: int, able: Collection[Any]) -> "RemainingCandidates":
        """Return the candidates that have one of these features for clue `n`."""
        values = {**self.values, n: frozenset(able)}
        return RemainingCandidates(self.pool, self.able & self.pool.having(n, able), self.is_whole, values)

    def of(self, pool: CandidatePool, *, is_whole: bool) -> "RemainingCandidates":
        """Return those of other candidates that have the remaining features."""
        able = pool.all
        for n, values in self.values.items():
            able &= pool.having(n, values)
        return RemainingCandidates(pool, able, is_whole, self.values)

    def by_feature(self, n: int, features: Iterable[Any]) -> dict[Any, float]:
        """Return the share of candidates with each feature for clue `n`.

        If the candidates are a drawn part, a possible feature that none of them has gets a small share.
        """
        if n not in self.shares:
            found = {}
            for value, each in self.pool.values(n).items():
                if both := each & self.able:
                    found[value] = both.bit_count() / self.number
            if not self.is_whole:
                for value in self.values.get(n, features):
                    found.setdefault(value, 1 / (2 * self.number + 1))
            self.shares[n] = found
        return self.shares[n]


class SymbolSearch:
    """A search for the others' symbols, whose attempts share what they found out."""

    def __init__(self, clues: Sequence[Clue], rng: Random) -> None:
        self.clues, self.rng = tuple(clues), rng
        self.of: list[dict[int, Clue]] = [{} for _ in range(SEATS)]
        self.features: dict[int, tuple[Any, ...]] = {}
        """Possible features, indexed by clue, without clues that a veil may invert or that need two symbols."""
        self.shared: list[int] = []
        """Clues about the runes that two symbols have in common."""
        self.veiled: dict[tuple[int, int], list[int]] = {}
        """Clues that a veil inverts, indexed by seat and round."""
        for n, clue in enumerate(self.clues):
            for seat in clue.seats:
                self.of[seat][n] = clue
            if clue.veil is not None:
                self.veiled.setdefault((clue.seats[0], clue.veil), []).append(n)
            elif clue.shared is not None:
                self.shared.append(n)
            else:
                self.features[n] = _features(clue)
        self.known: list[RemainingCandidates] = []
        """Candidates before any decision, indexed by seat."""
        self.movable: tuple[int, ...] = ()
        self.symbols: list[Any] = [None] * SEATS
        self.values: list[dict[int, Any]] = []
        """Features of `symbols`, indexed by clue, then by seat."""
        self._left: list[RemainingCandidates] = []
        self._listed: dict[Any, CandidatePool] = {}
        """Complete pools, indexed by seat and by the facts about its symbol."""
        self._combined: dict[Any, list[tuple[Any, ...]]] = {}
        self._begun: dict[tuple[tuple[int, Six], ...], list[RemainingCandidates]] = {}

    def run(self, symbols: dict[int, Six]) -> bool:
        """Search for symbols with which all clues hold; `symbols` are those that are known."""
        self.known = self._candidates(symbols)
        if not self.known:
            return False
        self.movable = tuple(seat for seat in range(SEATS) if seat not in symbols)
        self._left = [left.within(self._able(seat, left.pool)[0]) for seat, left in enumerate(self.known)]
        if not self._settle(range(SEATS)):
            return False
        start = self._left
        joint = [n for n in self.features if len(self.clues[n].seats) > 1]
        for _ in range(ATTEMPTS):
            self._left = [*start]
            if self._decide(joint) and self._choose_symbols():
                return True
        return False

    def _candidates(self, symbols: dict[int, Six]) -> list[RemainingCandidates]:
        """Return the candidates, indexed by seat, or an empty list if a seat has none."""
        key = tuple(sorted(symbols.items()))
        if key not in self._begun:
            self._begun[key] = self._new_candidates(symbols)
            return self._begun[key]
        # A pool that is only a part grows with each attempt.
        lefts = self._begun[key]
        for seat, left in enumerate(lefts):
            if not left.is_whole and left.number < ENOUGH:
                lefts[seat] = self._grown(seat, left, MOST, PART)
        return [*lefts]

    def _new_candidates(self, symbols: dict[int, Six]) -> list[RemainingCandidates]:
        lefts = []
        for seat in range(SEATS):
            known = [bytes(map(NUMBER.__getitem__, symbols[seat]))] if seat in symbols else []
            pool = CandidatePool(known, self.of[seat])
            lefts.append(RemainingCandidates(pool, pool.all, is_whole=seat in symbols))
        seats = [seat for seat in range(SEATS) if seat not in symbols]
        if not self._settle_features(lefts, range(SEATS), lambda _: True):
            return []
        while seats:
            # The seat with the fewest candidates is first, because it narrows the others most.
            facts = {seat: self._facts(seat, lefts[seat]) for seat in seats}
            seat = min(seats, key=lambda seat: SymbolGenerator(facts[seat]).estimate(self.rng))
            seats.remove(seat)
            found, is_whole = built(facts[seat], self.rng, MOST, PART)
            left = lefts[seat].of(CandidatePool(found, self.of[seat]), is_whole=is_whole)
            lefts[seat] = self._smaller(seat, left)
            if not self._settle_features(lefts, [seat], lambda _: True):
                return []
        for seat in range(SEATS):
            # Later seats may have narrowed those that had too many candidates for a complete pool.
            if not lefts[seat].is_whole:
                lefts[seat] = self._smaller(seat, self._grown(seat, lefts[seat], MOST, PART))
                if not self._settle_features(lefts, [seat], lambda _: True):
                    return []
        return [self._smaller(seat, left) for seat, left in enumerate(lefts)]

    def _smaller(self, seat: int, left: RemainingCandidates) -> RemainingCandidates:
        """Return the same candidates, in a smaller pool if only a small part of their pool remains."""
        symbols = left.pool.symbols
        if SMALLER * left.number >= len(symbols):
            return left
        pool = CandidatePool([symbols[number] for number in numbers(left.able)], self.of[seat])
        return RemainingCandidates(pool, pool.all, left.is_whole, left.values)

    def _settle(self, seats: Collection[int]) -> bool:
        """Remove candidates that no candidates of other seats can complete.

        Return False if a seat has none left.
        """
        while seats:
            if not self._settle_features(self._left, seats, self._is_left):
                return False
            changed = set()
            for seat, left in enumerate(self._left):
                sharing = left.within(self._sharing(seat, left.pool))
                if sharing.able != left.able:
                    self._left[seat] = sharing
                    changed.add(seat)
            seats = changed
        return True

    def _settle_features(
        self, lefts: list[RemainingCandidates], seats: Collection[int], is_left: Callable[[int], bool]
    ) -> bool:
        """Remove features that no remaining features of other seats can complete, until nothing changes.

        `seats` are those that have changed. `is_left` returns whether a seat has candidates; it may search for
        more. Return False if a seat has none or a clue cannot hold.
        """
        changed = set(seats)
        while changed:
            if not all(map(is_left, sorted(changed))):
                return False
            pending = self.features.keys() & set(chain.from_iterable(map(self.of.__getitem__, changed)))
            changed = set()
            for n in sorted(pending):
                of = self.clues[n].seats
                found = [lefts[seat].by_feature(n, self.features[n]) for seat in of]
                combined = self._combinations(n, found)
                for at, seat in enumerate(of):
                    able = {each[at] for each in combined}
                    if len(able) < len(found[at]):
                        lefts[seat] = lefts[seat].with_values(n, able)
                        changed.add(seat)
                if not combined:
                    return False
        return True

    def _combinations(self, n: int, shares: Sequence[dict[Any, float]]) -> list[tuple[Any, ...]]:
        """Return the combinations of features, one per seat of the clue, with which clue `n` holds."""
        key = n, tuple(map(tuple, shares))
        if key not in self._combined:
            self._combined[key] = list(filter(self.clues[n].fits, product(*shares)))
        return self._combined[key]

    def _sharing(self, seat: int, pool: CandidatePool) -> int:
        """Return the candidates that share the known number of runes with each seat that has one candidate."""
        able = pool.all
        for n in self.shared:
            seats = self.clues[n].seats
            if seat in seats:
                other = seats[1 - seats.index(seat)]
                left = self._left[other]
                if left.number == 1:
                    self.symbols[other] = left.pool.symbol(any_of(left.able, self.rng))
                    able &= self._fitting(n, seat, pool)
        return able

    def _is_left(self, seat: int) -> bool:
        """Return whether the seat has a candidate; search for more if few remain of an incomplete pool."""
        left = self._left[seat]
        if left.number < FEW and not left.is_whole:
            left = self._grown(seat, left)
            left = left.within(self._able(seat, left.pool)[0] & self._sharing(seat, left.pool))
            if left.number < FEW:
                left = left.alone()
        self._left[seat] = self._smaller(seat, left)
        return left.able > 0

    def _able(self, seat: int, pool: CandidatePool) -> tuple[int, list[int]]:
        """Return the candidates that agree with answers that veils may invert, and those that need no veil.

        The second value has one set for each round in which the seat may have veiled.
        """
        able, truthful = pool.all, []
        for key, group in self.veiled.items():
            if key[0] == seat:
                true = inverted = pool.all
                for n in group:
                    fitting = self._told(n, pool)
                    true &= fitting
                    inverted &= ~fitting
                able &= true | inverted
                truthful.append(true)
        return able, truthful

    def _told(self, n: int, pool: CandidatePool, *, is_veiled: bool = False) -> int:
        """Return the candidates that lead to the received answer of a vision, inverted if `is_veiled`."""
        return pool.having(n, [value for value in (False, True) if self.clues[n].fits((value != is_veiled,))])

    def _decide(self, clues: Sequence[int]) -> bool:
        """Decide all these clues, the least likely first; return False if a seat has no candidates left."""
        while True:
            chances = []
            for n in clues:
                shares = [self._left[seat].by_feature(n, self.features[n]) for seat in self.clues[n].seats]
                combined = self._combinations(n, shares)
                if len(combined) < prod(map(len, shares)):
                    weights = [prod(map(dict.__getitem__, shares, values)) for values in combined]
                    chances.append((sum(weights), n, combined, weights))
            if not chances:
                return True
            _, n, combined, weights = min(chances)
            clues = [open_clue for _, open_clue, _, _ in chances]
            seats = self.clues[n].seats
            for seat, value in zip(seats, self.rng.choices(combined, weights)[0], strict=True):
                self._left[seat] = self._left[seat].with_values(n, {value})
            if not self._settle(seats):
                return False

    def _choose_symbols(self) -> bool:
        """Choose a symbol for each seat from its candidates; return False if no choice satisfies everything."""
        self.symbols = [left.pool.symbol(any_of(left.able, self.rng)) for left in self._left]
        open_seats = [seat for seat, left in enumerate(self._left) if left.number > 1]
        for number in range(CHOICES if open_seats else 1):
            for seat in open_seats if not number else [self.rng.choice(open_seats)]:
                self._choose_symbol(seat)
            if len(set(self.symbols)) == SEATS and all(map(self._is_shared, self.shared)):
                self.values = []
                for clue in self.clues:
                    self.values.append({seat: clue.feature(self.symbols[seat]) for seat in clue.seats})
                return True
        return False

    def _choose_symbol(self, seat: int) -> None:
        """Replace the seat's symbol by one of those that satisfy most of the remaining conditions."""
        left = self._left[seat]
        best = left.able
        for n in self.rng.sample(self.shared, len(self.shared)):
            if seat in self.clues[n].seats:
                best = best & self._fitting(n, seat, left.pool) or best
        truthful = self._able(seat, left.pool)[1]
        for each in self.rng.sample(truthful, len(truthful)):
            best = best & each or best
        self.symbols[seat] = left.pool.symbol(any_of(best, self.rng))

    def _is_shared(self, n: int) -> bool:
        one, other = self.clues[n].seats
        return self.clues[n].fits((self.symbols[one], self.symbols[other]))

    def fitting(self, seat: int, veils: Collection[tuple[int, int]]) -> int:
        """Return a seat's candidates with which all clues hold if other symbols and the veils do not change."""
        pool, able = self.known[seat].pool, self.known[seat].able
        for n, clue in self.of[seat].items():
            if clue.veil is None:
                able &= self._fitting(n, seat, pool)
            else:
                able &= self._told(n, pool, is_veiled=(seat, clue.veil) in veils)
        return able

    def _fitting(self, n: int, seat: int, pool: CandidatePool) -> int:
        """Return the candidates with which clue `n` holds if the other symbols do not change."""
        clue = self.clues[n]
        at = clue.seats.index(seat)
        if clue.shared is not None:
            other = self.symbols[clue.seats[1 - at]]
            return pool.counted([mark(POSITIONS, (rune,)) for rune in other]).get(clue.shared, 0)
        values = [self.values[n][each] for each in clue.seats]
        found = 0
        for value, sets in pool.values(n).items():
            values[at] = value
            if clue.fits(values):
                found |= sets
        return found

    def found_veils(self) -> set[tuple[int, int]]:
        """Return the veils that the answers require, as pairs of seat and round."""
        found = set()
        for key, (n, *_) in self.veiled.items():
            if not self.clues[n].fits((self.values[n][key[0]],)):
                found.add(key)
        return found

    def _grown(
        self, seat: int, left: RemainingCandidates, most: int = FURTHER_WHOLE, part: int = FURTHER
    ) -> RemainingCandidates:
        """Search for more candidates with the remaining features.

        The result is complete if at most `most` symbols agree with the facts; otherwise it has about `part` more.
        """
        facts = self._facts(seat, left)
        key = seat, tuple(facts.allowed), facts.required, tuple(facts.counts.items()), facts.guesses, most
        if key in self._listed:
            return left.of(self._listed[key], is_whole=True)
        some = [left.pool.symbols[number] for number in numbers(left.able)]
        symbols, is_whole = built(facts, self.rng, most, part, some)
        if not is_whole:
            symbols = [*dict.fromkeys([*symbols, *some])]
        pool = CandidatePool(symbols, self.of[seat])
        if is_whole:
            if len(self._listed) == LISTS:
                self._listed.clear()
            self._listed[key] = pool
        return left.of(pool, is_whole=is_whole)

    def _facts(self, seat: int, left: RemainingCandidates) -> SymbolFacts:
        """Return the facts about a seat's symbol that follow from its remaining features."""
        facts = SymbolFacts([EVERY_RUNE] * len(POSITIONS), counts={})
        for n, clue in self.of[seat].items():
            if n not in self.features:
                continue
            values = left.values.get(n, self.features[n])
            if clue.marks:
                _note_marks(facts, clue, {int(each) for each in values})
            elif clue.guess is not None:
                guess, (exact, moved, _) = clue.guess
                if [*values] == [clue.guess[1]]:
                    facts.guesses += ((guess, exact, moved),)
                for at, rune in enumerate(guess):
                    for place in POSITIONS if not exact and not moved else (at,) if not exact else ():
                        facts.allowed[place] &= ~(1 << NUMBER[rune])
            elif clue.place is not None:
                runes = chain.from_iterable(map(group_runes, values))
                facts.allowed[clue.place.position] &= mark((0,), runes)
        # Guesses that leave fewer places for their runes are first.
        facts.guesses = tuple(sorted(facts.guesses, key=lambda each: -each[1] - each[2] / 2))
        return facts


def _features(clue: Clue) -> tuple[Any, ...]:
    """Return the features that a symbol can have for a clue."""
    if clue.marks:
        return (*range(len(clue.marks) + 1),)
    if clue.place is not None:
        return (DIVINE, MUNDANE)[ORDER[clue.place.order]]
    if clue.guess is not None:
        return tuple(dict.fromkeys((clue.guess[1], NOWHERE)))
    return True, False


def _note_marks(facts: SymbolFacts, clue: Clue, possible: set[int]) -> None:  # noqa: C901 - one case a bound
    group = group_marks().get(clue.marks)
    if group is not None and possible:
        low, high = min(possible), max(possible)
        if len(clue.marks) == 1:
            low, high = (0, 0) if not high else (low, len(POSITIONS))
        least, most = facts.counts.get(group, (0, len(POSITIONS)))
        facts.counts[group] = max(least, low), min(most, high)
    if possible == {0}:
        for each in clue.marks:
            for at in POSITIONS:
                facts.allowed[at] &= ~(each >> at * len(NAMES))
    if possible == {len(clue.marks)}:
        for each in clue.marks:
            places = [at for at in POSITIONS if each >> at * len(NAMES) & EVERY_RUNE]
            if len(places) == 1:
                facts.allowed[places[0]] &= each >> places[0] * len(NAMES)
            else:
                runes = 0
                for at in places:
                    runes |= each >> at * len(NAMES) & EVERY_RUNE
                if runes.bit_count() == 1:
                    facts.required |= runes
                    for at in set(POSITIONS) - set(places):
                        facts.allowed[at] &= ~runes
