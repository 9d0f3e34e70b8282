"""Remaining candidates for each seat's symbol, and their reduction by clues about several seats."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import product
from random import Random
from typing import Any

from msgspec import Struct

from protocol.games.runes_to_ruins import Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from referee.games.runes_to_ruins.candidates import Candidates, group_marks
from referee.games.runes_to_ruins.clues import Clue, group_runes
from referee.games.runes_to_ruins.guesses import NOWHERE
from referee.games.runes_to_ruins.pools import (
    EVERY_RUNE,
    NUMBER,
    POSITIONS,
    Builder,
    Facts,
    Pool,
    built,
)
from referee.games.runes_to_ruins.state import SEATS
from referee.games.runes_to_ruins.symbols import ORDER

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


class Left(Struct, frozen=True):
    """Remaining candidates for one seat's symbol."""

    candidates: Candidates
    able: int
    """The set of remaining candidates."""
    is_whole: bool
    """True if these are all candidates that remain, False if they are a drawn part."""
    values: dict[int, frozenset[Any]] = {}
    """Remaining features, indexed by clue."""
    figures: tuple[tuple[int, float, float], ...] = ()
    """Conditions, each with the lowest and highest figure that remains."""
    shares: dict[tuple[str, int], dict[Any, float]] = {}
    """Cache of the shares of features and figures."""

    @property
    def number(self) -> int:
        """Number of remaining candidates."""
        return self.able.bit_count()

    def within(self, able: int) -> "Left":
        """Return this without candidates outside `able`."""
        return Left(self.candidates, self.able & able, self.is_whole, self.values, self.figures)

    def alone(self) -> "Left":
        """Return the same candidates, treated as all that remain."""
        return Left(self.candidates, self.able, True, self.values, self.figures)

    def with_values(self, n: int, able: Collection[Any]) -> "Left":
        """Return the candidates that have one of these features for clue `n`."""
        chosen = _either(found for value, found in self.candidates.values[n].items() if value in able)
        values = {**self.values, n: frozenset(able)}
        return Left(self.candidates, self.able & chosen, self.is_whole, values, self.figures)

    def with_figures(self, condition: int, low: float, high: float) -> "Left":
        """Return the candidates whose figure for a condition is at least `low` and at most `high`."""
        able = self.able & self.candidates.between(condition, low, high)
        return Left(self.candidates, able, self.is_whole, self.values, (*self.figures, (condition, low, high)))

    def of(self, candidates: Candidates, *, is_whole: bool) -> "Left":
        """Return those of other candidates that have the remaining features and figures."""
        able = candidates.pool.all
        for n, values in self.values.items():
            able &= _either(found for value, found in candidates.values[n].items() if value in values)
        for condition, low, high in self.figures:
            able &= candidates.between(condition, low, high)
        return Left(candidates, able, is_whole, self.values, self.figures)

    def by_feature(self, n: int, features: Iterable[Any]) -> dict[Any, float]:
        """Return the share of candidates with each feature for clue `n`.

        If the candidates are a drawn part, a possible feature that none of them has gets a small share.
        """
        if ("clue", n) not in self.shares:
            found = self._shared(self.candidates.values[n])
            if not self.is_whole:
                for value in self.values.get(n, features):
                    found.setdefault(value, 1 / (2 * self.number + 1))
            self.shares["clue", n] = found
        return self.shares["clue", n]

    def by_figure(self, condition: int) -> dict[int, float]:
        """Return the share of candidates with each figure for a condition; higher figures are better."""
        if ("condition", condition) not in self.shares:
            self.shares["condition", condition] = self._shared(self.candidates.by_figure(condition))
        return self.shares["condition", condition]

    def _shared(self, sets: dict[Any, int]) -> dict[Any, float]:
        number = self.number
        return {value: both.bit_count() / number for value, each in sets.items() if (both := each & self.able)}


def _either(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


class Searching:
    """Facts and candidates that all attempts of a search share."""

    def __init__(self, clues: Sequence[Clue], rng: Random) -> None:
        self.clues, self.rng = tuple(clues), rng
        self.of = {
            seat: {n: clue for n, clue in enumerate(self.clues) if seat in clue.seats} for seat in range(SEATS)
        }
        self.features = {n: _features(clue) for n, clue in enumerate(clues) if _is_certain(clue)}
        """Possible features, indexed by clue, without clues that a veil may invert or that need two symbols."""
        self.failed: dict[Any, int] = {}
        """Number of failures after each decision."""
        self._listed: dict[Any, Candidates] = {}
        """Complete pools, indexed by seat and by the facts about its symbol."""
        self._combined: dict[Any, list[tuple[Any, ...]]] = {}
        self._known: dict[tuple[tuple[int, Six], ...], list[Left]] = {}

    def known(self, known: dict[int, Six]) -> list[Left]:
        """Return the remaining candidates, indexed by seat, if the symbols of some seats are known.

        Return an empty list if no candidates remain for a seat.
        """
        key = tuple(sorted(known.items()))
        if key not in self._known:
            self._known[key] = self._new(known)
            return self._known[key]
        # A pool that is only a part grows with each attempt.
        lefts = self._known[key]
        for seat, left in enumerate(lefts):
            if not left.is_whole and left.number < ENOUGH:
                lefts[seat] = self.grown(seat, left, MOST, PART)
        return [*lefts]

    def _new(self, known: dict[int, Six]) -> list[Left]:
        lefts = []
        for seat in range(SEATS):
            pool = Pool([bytes(map(NUMBER.__getitem__, known[seat]))] if seat in known else [])
            lefts.append(Left(Candidates(pool, self.of[seat]), pool.all, is_whole=seat in known))
        seats = [seat for seat in range(SEATS) if seat not in known]
        if not self.settle(lefts, range(SEATS), lambda _: True):
            return []
        while seats:
            # The seat with the fewest candidates is first, because it narrows the others most.
            facts = {seat: self._facts(seat, lefts[seat]) for seat in seats}
            seat = min(seats, key=lambda seat: Builder(facts[seat]).estimate(self.rng))
            seats.remove(seat)
            symbols, is_whole = built(facts[seat], self.rng, MOST, PART)
            lefts[seat] = self.smaller(
                seat, lefts[seat].of(Candidates(Pool(symbols), self.of[seat]), is_whole=is_whole)
            )
            if not self.settle(lefts, [seat], lambda _: True):
                return []
        for seat in range(SEATS):
            # Later seats may have narrowed those that had too many candidates for a complete pool.
            if not lefts[seat].is_whole:
                lefts[seat] = self.smaller(seat, self.grown(seat, lefts[seat], MOST, PART))
                if not self.settle(lefts, [seat], lambda _: True):
                    return []
        return [self.smaller(seat, left) for seat, left in enumerate(lefts)]

    def smaller(self, seat: int, left: Left) -> Left:
        """Return the same candidates, in a smaller pool if only a small part of their pool remains."""
        if SMALLER * left.number >= len(left.candidates.pool.symbols):
            return left
        pool = left.candidates.pool.only(left.able)
        return Left(Candidates(pool, self.of[seat]), pool.all, left.is_whole, left.values, left.figures)

    def settle(self, lefts: list[Left], seats: Collection[int], is_left: Callable[[int], bool]) -> bool:
        """Remove features that no remaining features of other seats can complete, until nothing changes.

        `seats` are those that have changed. `is_left` returns whether a seat has candidates; it may search for
        more. Return False if a seat has none or a clue cannot hold.
        """
        changed = set(seats)
        while changed:
            if not all(map(is_left, sorted(changed))):
                return False
            pending = sorted({n for seat in changed for n in self.of[seat] if n in self.features})
            changed = set()
            for n in pending:
                of = self.clues[n].seats
                found = [lefts[seat].by_feature(n, self.features[n]) for seat in of]
                combined = self.combined(n, found)
                for at, seat in enumerate(of):
                    able = {each[at] for each in combined}
                    if len(able) < len(found[at]):
                        lefts[seat] = lefts[seat].with_values(n, able)
                        changed.add(seat)
                if not combined:
                    return False
        return True

    def combined(self, n: int, shares: Sequence[dict[Any, float]]) -> list[tuple[Any, ...]]:
        """Return the combinations of features, one per seat of the clue, with which clue `n` holds."""
        key = n, tuple(map(tuple, shares))
        if key not in self._combined:
            self._combined[key] = [each for each in product(*shares) if self.clues[n].fits(each)]
        return self._combined[key]

    def grown(self, seat: int, left: Left, most: int = FURTHER_WHOLE, part: int = FURTHER) -> Left:
        """Search for more candidates with the remaining features and figures.

        The result is complete if at most `most` symbols agree with the facts; otherwise it has about `part` more.
        """
        facts = self._facts(seat, left)
        key = seat, tuple(facts.allowed), facts.required, tuple(facts.counts.items()), facts.guesses, most
        if key in self._listed:
            return left.of(self._listed[key], is_whole=True)
        some = left.candidates.pool.only(left.able).symbols
        symbols, is_whole = built(facts, self.rng, most, part, some)
        if not is_whole:
            symbols = [*dict.fromkeys([*symbols, *some])]
        candidates = Candidates(Pool(symbols), self.of[seat])
        if is_whole:
            if len(self._listed) == LISTS:
                self._listed.clear()
            self._listed[key] = candidates
        return left.of(candidates, is_whole=is_whole)

    def _facts(self, seat: int, left: Left) -> Facts:
        """Return the facts about a seat's symbol that follow from its remaining features."""
        facts = Facts([EVERY_RUNE] * len(POSITIONS), counts={})
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
                able = sum(1 << NUMBER[rune] for group in values for rune in group_runes(group))
                facts.allowed[clue.place.position] &= able
        # Guesses that leave fewer places for their runes are first.
        facts.guesses = tuple(sorted(facts.guesses, key=lambda each: -each[1] - each[2] / 2))
        return facts


def _is_certain(clue: Clue) -> bool:
    return clue.veil is None and clue.shared is None


def _features(clue: Clue) -> tuple[Any, ...]:
    """Return the features that a symbol can have for a clue."""
    if clue.marks:
        return (*range(len(clue.marks) + 1),)
    if clue.place is not None:
        return (DIVINE, MUNDANE)[ORDER[clue.place.order]]
    if clue.guess is not None:
        return tuple(dict.fromkeys((clue.guess[1], NOWHERE)))
    return True, False


def _note_marks(facts: Facts, clue: Clue, possible: set[int]) -> None:  # noqa: C901 - one case a bound
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
