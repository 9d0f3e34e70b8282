"""Searches the others' symbols of which all clues hold, and with which conditions paid as they did.

One seat's symbol is chosen anew at a time, the others' being as they are: of all candidates in its pool one that
breaks least. Which condition won a round is chosen beside that.
"""

# mypy: disable-error-code="misc"
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import Any

from msgspec import Struct

from protocol.games.runes import DIVINE, MUNDANE, NAMES
from protocol.games.runes_to_ruins import RunesOptions, Six
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.clues import Clue, group_runes
from referee.games.runes_to_ruins.guesses import NOWHERE
from referee.games.runes_to_ruins.pools import (
    EVERY_RUNE,
    NUMBER,
    POSITIONS,
    Builder,
    Facts,
    Pool,
    any_of,
    built,
    count,
    drawn,
    mark,
    neighbours,
    numbers,
)
from referee.games.runes_to_ruins.state import OTHERS, SEATS, Near, RunesState, Standing
from referee.games.runes_to_ruins.symbols import ORDER, SIDES, TOUCHED

MOST, PART, FURTHER = 300_000, 400, 100
"""A pool holds all candidates if there are at most so many; else so many, and so many further ones an attempt."""
GROWN = 10
"""So many candidates whose like are looked at, too, where there are too many to know them all."""
STEPS = 400
"""Choices of a symbol until a search is given up."""
PAID = 2
"""What it is worth that a round is paid as told, beside each two seats that are paid in the right order."""
FORGETS = 60
"""After so many choices, what was broken before weighs half as much."""
UNARY = (1, 2, 3, 4, 5, 6, 7)
"""The conditions by ranks of figures that a symbol has by itself."""
FLAT = (13, 14)
ELSEWHERE = (8, 9)
LESS, SAME, MORE = 1, 2, 4


def compare_(one: float, other: float) -> int:
    """LESS, SAME or MORE."""
    return MORE if one > other else SAME if one == other else LESS


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

    def relations(self) -> list[list[int]]:
        """By seat and seat: whether the one may have been paid less (1), the same (2) or more (4), as a sum."""
        positions = {int(key): position for key, position in self.positions}
        told = sorted((seat for seat in range(SEATS) if self.targets[seat]), key=lambda seat: -self.targets[seat])
        free = [position for position in range(1, SEATS + 1) if position not in positions.values()]
        if len(positions) + len(told) == SEATS:
            positions |= dict(zip(told, free, strict=True))
        found = [[LESS | SAME | MORE] * SEATS for _ in range(SEATS)]
        for one in range(SEATS):
            for other in range(SEATS):
                if self.targets[one] and self.targets[other]:
                    found[one][other] = compare_(self.targets[one], self.targets[other])
                elif one in positions and other in positions:
                    found[one][other] = SAME | (MORE if positions[one] < positions[other] else LESS)
        return found


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


class Sliced:
    """A number for each symbol of a pool, bit by bit."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.slices: list[int] = []

    def add(self, chosen: int, weight: int = 1) -> None:
        """Adds a weight to the numbers of these symbols."""
        for bit in range(weight.bit_length()):
            if weight >> bit & 1:
                self._carry(chosen, bit)

    def _carry(self, chosen: int, bit: int) -> None:
        slices = self.slices
        while chosen:
            while len(slices) <= bit:
                slices.append(0)
            was = slices[bit]
            slices[bit] = was ^ chosen
            chosen &= was
            bit += 1

    def compared(self, number: int) -> tuple[int, int, int]:
        """The symbols whose number is less, the same, and more."""
        less, same = 0, self.every
        if number < 0:
            return 0, 0, self.every
        if number >> len(self.slices):
            return self.every, 0, 0
        for bit in range(len(self.slices) - 1, -1, -1):
            found = self.slices[bit]
            if number >> bit & 1:
                less |= same & ~found
                same &= found
            else:
                same &= ~found
        return less, same, self.every & ~less & ~same

    def most(self, chosen: int) -> int:
        """Of these symbols, those with the greatest number."""
        for found in reversed(self.slices):
            chosen = chosen & found or chosen
        return chosen


class Candidates:
    """A pool, with what clues and conditions look at."""

    def __init__(self, pool: Pool, clues: dict[int, Clue], *, is_whole: bool = False) -> None:
        self.pool = pool
        self.is_whole = is_whole
        """Whether nothing else can be the seat's symbol."""
        self.values = {n: clue.values(pool) for n, clue in clues.items() if clue.shared is None}
        self._figures: dict[int, Sliced] = {}
        self._compared: dict[tuple[int, int], tuple[int, int, int]] = {}

    def compared(self, condition: int, number: int) -> tuple[int, int, int]:
        """The symbols that a condition ranks below one of that figure, like it, and above; more is better."""
        key = condition, number
        if key not in self._compared:
            sign = conditions.RANKED[condition][1] if condition in conditions.RANKED else 1
            below, same, above = self.figure(condition).compared(sign * number)
            self._compared[key] = (below, same, above) if sign == 1 else (above, same, below)
        return self._compared[key]

    def figure(self, condition: int) -> Sliced:
        """What a condition looks at; of 2 and 4, what 1 and 3 do."""
        condition = {2: 1, 4: 3}.get(condition, condition)
        if condition not in self._figures:
            self._figures[condition] = _FIGURES[condition](self.pool)
        return self._figures[condition]


def _weighed(pool: Pool, weight: Callable[[Any], int]) -> Sliced:
    total = Sliced(pool.all)
    for position in POSITIONS:
        for bit in range(4):
            runes = [rune for rune in NAMES if weight(rune) >> bit & 1]
            total.add(pool.marked(mark((position,), runes)), 1 << bit)
    return total


@cache
def _touching() -> list[list[tuple[int, int]]]:
    """By two positions side by side: marks of runes in the one, and of those in the other that join with them."""
    found = []
    for one, other in SIDES:
        alike: dict[int, list[str]] = {}
        for rune in NAMES:
            touching = mark((other,), [each for each in NAMES if TOUCHED[other][each] & TOUCHED[one][rune]])
            alike.setdefault(touching, []).append(rune)
        found.append([(mark((one,), runes), touching) for touching, runes in alike.items()])
    return found


def _joined(pool: Pool) -> Sliced:
    total = Sliced(pool.all)
    for side in _touching():
        found = 0
        for runes, touching in side:
            found |= pool.marked(runes) & pool.marked(touching)
        total.add(found)
    return total


@cache
def _in_group(group: str) -> tuple[int, ...]:
    """A mark a position: the group's runes there."""
    return tuple(mark((at,), group_runes(group)) for at in POSITIONS)


def _group_counts(pool: Pool) -> dict[str, dict[int, int]]:
    return {group: pool.counted(_in_group(group)) for group in (*DIVINE, *MUNDANE)}


def _numbered(every: int, sets: dict[int, int]) -> Sliced:
    total = Sliced(every)
    for number, found in sets.items():
        total.add(found, number)
    return total


def _largest(pool: Pool) -> Sliced:
    left, sets = pool.all, {}
    counts = _group_counts(pool)
    for number in range(6, 0, -1):
        found = 0
        for each in counts.values():
            found |= each.get(number, 0)
        sets[number] = found & left
        left &= ~found
    return _numbered(pool.all, sets)


def _connected(pool: Pool) -> Sliced:
    counts = _group_counts(pool)
    sets = []
    for at in POSITIONS:
        found = 0
        for group, each in counts.items():
            single = each.get(1, 0)
            found |= pool.marked(_in_group(group)[at]) & ~single
        sets.append(found)
    return _numbered(pool.all, count(sets, pool.all))


def _different(pool: Pool, groups: Sequence[str]) -> Sliced:
    return _numbered(pool.all, pool.counted([mark(POSITIONS, group_runes(group)) for group in groups]))


_FIGURES: dict[int, Callable[[Pool], Sliced]] = {
    1: lambda pool: _weighed(pool, conditions.SEGMENTS.__getitem__),
    3: lambda pool: _weighed(pool, conditions.LINES.__getitem__),
    5: _joined,
    6: _largest,
    7: _connected,
    13: lambda pool: _different(pool, MUNDANE),
    14: lambda pool: _different(pool, DIVINE),
}


@cache
def _group_marks() -> dict[tuple[int, ...], str]:
    """The marks that count a group's runes, and those that say whether there is one, to the group."""
    every = (*DIVINE, *MUNDANE)
    found: dict[tuple[int, ...], str] = {}
    for group in every:
        found[_in_group(group)] = group
        found[mark(POSITIONS, group_runes(group)),] = group
    return found


@cache
def _uses(rune: str) -> int:
    return mark(POSITIONS, (rune,))


def facts_of(seat: int, clues: dict[int, Clue], known: dict[int, Six], whole: dict[int, "Candidates"]) -> Facts:
    """What clues say of one seat's symbol for certain; `whole`: all candidates of some others."""
    facts = Facts([EVERY_RUNE] * len(POSITIONS), counts={})
    for n, clue in clues.items():
        if clue.veil is not None:
            continue
        if clue.marks:
            _note_marks(facts, clue, _possible(n, clue, seat, known, whole))
        elif clue.guess is not None:
            guess, (exact, moved, _) = clue.guess
            for at, rune in enumerate(guess):
                for place in POSITIONS if not exact and not moved else (at,) if not exact else ():
                    facts.allowed[place] &= ~(1 << NUMBER[rune])
        elif clue.place is not None:
            groups = {group for group in (*DIVINE, *MUNDANE) if clue.fits([group]) or _may_be_of(clue, group)}
            able = sum(1 << NUMBER[rune] for group in groups for rune in group_runes(group))
            facts.allowed[clue.place.position] &= able
    return facts


def _may_be_of(clue: Clue, group: str) -> bool:
    """Whether one of several may be of that group."""
    groups = (DIVINE, MUNDANE)[ORDER[clue.place.order]] if clue.place else ()
    return group in groups and any(
        clue.fits((group, *rest)) for rest in product(groups, repeat=len(clue.seats) - 1)
    )


def _possible(n: int, clue: Clue, seat: int, known: dict[int, Six], whole: dict[int, "Candidates"]) -> set[int]:
    """The features that the seat's symbol may have."""
    every: list[Sequence[int]] = [
        (int(clue.feature(known[each])),)
        if each in known
        else list(whole[each].values[n])
        if each in whole
        else range(len(clue.marks) + 1)
        for each in clue.seats
    ]
    at = clue.seats.index(seat)
    return {found[at] for found in product(*every) if clue.fits(found)}


def _note_marks(facts: Facts, clue: Clue, possible: set[int]) -> None:  # noqa: C901 - one case a bound
    group = _group_marks().get(clue.marks)
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


class Searching:
    """What a search keeps from one attempt to the next: facts and candidates."""

    def __init__(self, clues: Sequence[Clue], luck: Random) -> None:
        self.clues, self.luck = tuple(clues), luck
        self.of = {
            seat: {n: clue for n, clue in enumerate(self.clues) if seat in clue.seats} for seat in range(SEATS)
        }
        self._known: dict[tuple[tuple[int, Six], ...], tuple[dict[int, Facts], dict[int, Candidates]]] = {}

    def known(self, known: dict[int, Six]) -> tuple[dict[int, Facts], dict[int, Candidates]]:
        """Facts and candidates by seat, where these symbols are known."""
        key = tuple(sorted(known.items()))
        if key not in self._known:
            self._known[key] = self._new(known)
            return self._known[key]
        facts, found = self._known[key]
        for seat, candidates in found.items():
            # Where there are too many, more are drawn for each attempt.
            if not candidates.is_whole:
                more = drawn(Builder(facts[seat]), self.luck, FURTHER, 10 * FURTHER)
                found[seat] = self._part(seat, facts[seat], [*candidates.pool.symbols, *self._able(seat, more)])
        return facts, dict(found)

    def _new(self, known: dict[int, Six]) -> tuple[dict[int, Facts], dict[int, Candidates]]:
        facts: dict[int, Facts] = {}
        found: dict[int, Candidates] = {}
        left = [seat for seat in range(SEATS) if seat not in known]
        while left:
            # The seat of which most is known comes first: it tells more of the others.
            whole = {seat: each for seat, each in found.items() if each.is_whole}
            facts |= {seat: facts_of(seat, self.of[seat], known, whole) for seat in left}
            seat = min(left, key=lambda seat: Builder(facts[seat]).estimate(self.luck))
            left.remove(seat)
            found[seat] = self._candidates(seat, facts[seat])
        return facts, found

    def _candidates(self, seat: int, facts: Facts) -> Candidates:
        symbols, is_whole = built(facts, self.luck, MOST, PART)
        able = self._able(seat, symbols)
        if is_whole:
            return Candidates(Pool(able), self.of[seat], is_whole=True)
        return self._part(seat, facts, able or symbols)

    def _part(self, seat: int, facts: Facts, symbols: Sequence[bytes]) -> Candidates:
        """Some candidates: those that guesses were as near as told, and symbols like others, join these."""
        found = dict.fromkeys(symbols)
        for clue in self.of[seat].values():
            if clue.guess is not None and clue.guess[1] != NOWHERE:
                found.update(dict.fromkeys(self._able(seat, self._near(facts, *clue.guess))))
        for near in self.luck.choices(list(found), k=GROWN) if found else ():
            found.update(dict.fromkeys(self._able(seat, neighbours(near, facts))))
        return Candidates(Pool(list(found)), self.of[seat])

    def _near(self, facts: Facts, guess: Six, told: Near) -> list[bytes]:
        """Some symbols with as many runes of a guess in place, and elsewhere, as were told of the closest."""
        exact, moved, _ = told
        found: list[bytes] = []
        for _ in range(GROWN):
            places = self.luck.sample(POSITIONS, exact + moved)
            allowed = list(facts.allowed)
            left = list(POSITIONS)
            for at in places[:exact]:
                allowed[at] &= 1 << NUMBER[guess[at]]
                left.remove(at)
            for at in places[exact:]:
                able = [other for other in left if other != at and allowed[other] >> NUMBER[guess[at]] & 1]
                if not able:
                    break
                there = self.luck.choice(able)
                allowed[there] = 1 << NUMBER[guess[at]]
                left.remove(there)
            else:
                if all(allowed):
                    found += drawn(
                        Builder(Facts(allowed, facts.required, facts.counts)), self.luck, GROWN, 2 * GROWN
                    )
        return found

    def _able(self, seat: int, symbols: Sequence[bytes]) -> list[bytes]:
        """Those of which all holds that is told of one seat's symbol alone."""
        pool = Pool(symbols)
        left = pool.all
        for clue in self.of[seat].values():
            if clue.veil is None and (len(clue.seats) == 1 or clue.guess is not None):
                fitting = 0
                for value, found in clue.values(pool).items():
                    if (value <= clue.guess[1]) if clue.guess is not None else clue.fits((value,)):
                        fitting |= found
                left &= fitting
        return [symbols[number] for number in numbers(left)]


class Search:
    """One attempt: symbols, and conditions that won."""

    def __init__(  # noqa: PLR0917 - all that it goes by
        self,
        base: Searching,
        symbols: dict[int, Six],
        veils: set[tuple[int, int]],
        fixed: set[tuple[int, int]],
        rounds: Sequence[Paid],
        luck: Random,
    ) -> None:
        self.base, self.luck = base, luck
        self.won: list[int] = []
        self.take(rounds, veils, fixed)
        self.facts, self.candidates = base.known(symbols)
        self.movable = tuple(self.candidates)
        self.impossible = any(not each.pool.symbols for each in self.candidates.values())
        self.symbols: list[Six] = []
        if not self.impossible:
            for seat in range(SEATS):
                pool = self.candidates[seat].pool if seat not in symbols else None
                drawn = pool.symbol(luck.randrange(len(pool.symbols))) if pool is not None else symbols[seat]
                self.symbols.append(drawn)
        self.values: list[dict[int, Any]] = []
        self.weights = [1] * len(base.clues)
        self.veiled: dict[tuple[int, int], list[int]] = {}
        for n, clue in enumerate(base.clues):
            if clue.veil is not None:
                self.veiled.setdefault((clue.seats[0], clue.veil), []).append(n)

    def take(self, rounds: Sequence[Paid], veils: set[tuple[int, int]], fixed: set[tuple[int, int]]) -> None:
        """Other payments and veils, for the symbols that there are: conditions that can still have won stay."""
        self.rounds, self.veils, self.fixed = rounds, veils, fixed
        self.relations = [paid.relations() for paid in rounds]
        self.weights_of_rounds = [1] * len(rounds)
        self._cached: dict[tuple[int, bool, tuple[float, ...]], int] = {}
        before = self.won or [0] * len(rounds)
        self.won = [
            won if won in paid.able else self.luck.choice(paid.able) if paid.able else 0
            for won, paid in zip(before, rounds, strict=True)
        ]

    def run(self) -> bool:
        """Whether it came to symbols of which all clues hold, with conditions that paid as told."""
        if self.impossible or not all(paid.able for paid in self.rounds):
            return False
        self.values = [{each: clue.feature(self.symbols[each]) for each in clue.seats} for clue in self.base.clues]
        self._note_figures()
        if not all(self._able(seat, each)[0] for seat, each in self.candidates.items() if each.is_whole):
            return False
        for step in range(STEPS):
            broken = [n for n in range(len(self.base.clues)) if not self._holds(n)]
            self._choose_conditions()
            unpaid = [n for n in range(len(self.rounds)) if self._missed(n, self.won[n])]
            if not broken and not unpaid:
                return True
            for n in broken:
                self.weights[n] += 1
            for n in unpaid:
                self.weights_of_rounds[n] += 1
            if step % FORGETS == FORGETS - 1:
                self.weights = [(each + 1) // 2 for each in self.weights]
                self.weights_of_rounds = [(each + 1) // 2 for each in self.weights_of_rounds]
            seats = [seat for n in broken for seat in self.base.clues[n].seats if seat in self.candidates]
            self._choose(self.luck.choice(seats if seats and step % 2 else self.movable))
        return False

    def _note_figures(self) -> None:
        self.figures = all_figures(self.symbols)

    def _holds(self, n: int) -> bool:
        clue, values = self.base.clues[n], self.values[n]
        if clue.veil is None:
            return clue.fits([values[each] for each in clue.seats])
        key = clue.seats[0], clue.veil
        if key in self.fixed:
            return clue.fits((values[key[0]] != (key in self.veils),))
        group = self.veiled[key]
        return (
            n != group[0] or len({self.base.clues[each].fits((self.values[each][key[0]],)) for each in group}) == 1
        )

    def _choose(self, seat: int) -> None:
        """Another symbol for the seat: one that breaks least."""
        candidates = self.candidates[seat]
        symbol = self.symbols[seat]
        numbered = bytes(map(NUMBER.__getitem__, symbol))
        if not candidates.is_whole and self.luck.random() < 1 / 2:
            pool = Pool(neighbours(numbered, self.facts[seat]))
            candidates = Candidates(pool, self.base.of[seat])
        pool = candidates.pool
        able, truthful = self._able(seat, candidates)
        best = self._scored(seat, candidates).most(able or pool.all)
        for each in self.luck.sample(truthful, len(truthful)):
            best = best & each or best
        chosen = any_of(best, self.luck)
        new = pool.symbol(chosen)
        self.symbols[seat] = new
        for n, clue in self.base.of[seat].items():
            self.values[n][seat] = clue.feature(new)
        self._note_figures()

    def fitting(self, seat: int) -> int:
        """The set of a seat's candidates with which all holds, but for what conditions 8 and 9 look at."""
        candidates = self.candidates[seat]
        self._note_figures()
        self.won = [0 if won in ELSEWHERE else won for won in self.won]
        able, _ = self._able(seat, candidates)
        return self._scored(seat, candidates).most(able)

    def _able(self, seat: int, candidates: Candidates) -> tuple[int, list[int]]:
        """The candidates whose answers may be told, with or without veils; then by vision those that need none."""
        able, truthful = candidates.pool.all, []
        for key, group in self.veiled.items():
            if key[0] != seat:
                continue
            true = neither = candidates.pool.all
            for n in group:
                fitting = self._fitting(n, self.base.clues[n], seat, candidates)
                true &= fitting
                neither &= ~fitting
            if key in self.fixed:
                able &= true
            else:
                able &= true | neither
                truthful.append(true)
        return able, truthful

    def _scored(self, seat: int, candidates: Candidates) -> Sliced:
        """What holds with each candidate, by weight, but for its answers to visions."""
        score = Sliced(candidates.pool.all)
        for n, clue in self.base.of[seat].items():
            if clue.veil is None:
                score.add(self._fitting(n, clue, seat, candidates), self.weights[n])
        self._score_payments(seat, candidates, score)
        return score

    def _fitting(self, n: int, clue: Clue, seat: int, candidates: Candidates) -> int:
        """The candidates with which a clue holds, the other symbols being as they are."""
        if clue.shared is not None:
            (other,) = (each for each in clue.seats if each != seat)
            return candidates.pool.counted([_uses(rune) for rune in self.symbols[other]]).get(clue.shared, 0)
        values = [self.values[n][each] for each in clue.seats]
        at = clue.seats.index(seat)
        is_veiled = clue.veil is not None and (seat, clue.veil) in self.fixed & self.veils
        found = 0
        for value, sets in candidates.values[n].items():
            values[at] = value != is_veiled if clue.veil is not None else value
            if clue.fits(values):
                found |= sets
        return found

    def _score_payments(self, seat: int, candidates: Candidates, score: Sliced) -> None:
        classes: dict[int, list[tuple[tuple[float, ...], int]]] = {}
        for n, paid in enumerate(self.rounds):
            condition = self.won[n]
            if condition in paid.free or not condition:
                continue
            if condition not in classes:
                classes[condition] = self._classes(condition, seat, candidates)
            by_missed: dict[int, int] = {}
            for found, chosen in classes[condition]:
                missed = self._missed_by(n, condition, found)
                by_missed[missed] = by_missed.get(missed, 0) | chosen
            most = max(by_missed)
            for missed, chosen in by_missed.items():
                worth = most - missed + (0 if missed else PAID)
                if worth:
                    score.add(chosen, worth * self.weights_of_rounds[n])

    def _classes(self, condition: int, seat: int, candidates: Candidates) -> list[tuple[tuple[float, ...], int]]:
        """What a condition looks at, by seat, if the seat had one of these candidates."""
        figures_: list[float] = [*self.figures[condition]]
        if condition in ELSEWHERE:
            sign = 1 if condition == ELSEWHERE[0] else -1
            return self._elsewhere(seat, candidates.pool, sign)
        found: list[tuple[tuple[float, ...], int]] = []
        if condition in FLAT:
            for groups in range(len(POSITIONS) + 1):
                figures_[seat] = groups
                found.append((tuple(figures_), candidates.compared(condition, groups)[1]))
            return [each for each in found if each[1]]
        left = candidates.pool.all
        for number in sorted({self.figures[condition][other] for other in OTHERS[seat]}):
            below, same, above = candidates.compared(condition, number)
            for figure, chosen in ((number - 1 / 2, left & below), (number, same)):
                if chosen:
                    figures_[seat] = figure
                    found.append((tuple(figures_), chosen))
            left = above
        if left:
            figures_[seat] = number + 1 / 2
            found.append((tuple(figures_), left))
        return found

    def _elsewhere(self, seat: int, pool: Pool, sign: int) -> list[tuple[tuple[float, ...], int]]:
        """How many of their runes others use: a seat's symbol changes the others' numbers, too."""
        classes: list[tuple[tuple[float, ...], int]] = [((), pool.all)]
        for each in range(SEATS):
            runes = set(self.symbols[each])
            rest = {rune for other in OTHERS[each] if other != seat for rune in self.symbols[other]}
            counts = pool.counted([_uses(rune) for rune in (rest if each == seat else runes - rest)])
            more = 0 if each == seat else len(runes & rest)
            classes = [
                ((*figures_, sign * (number + more)), both)
                for figures_, chosen in classes
                for number, found in counts.items()
                if (both := chosen & found)
            ]
        return classes

    def _missed(self, n: int, condition: int) -> int:
        """How many relations between seats a condition would have paid otherwise."""
        return 0 if condition in self.rounds[n].free else self._missed_by(n, condition, self.figures[condition])

    def _missed_by(self, n: int, condition: int, found: tuple[float, ...]) -> int:
        is_flat = condition in FLAT
        key = n, is_flat, found if is_flat else ranked(found)
        if key not in self._cached:
            self._cached[key] = self._otherwise(*key)
        return self._cached[key]

    def _otherwise(self, n: int, is_flat: bool, found: tuple[float, ...]) -> int:
        paid = self.rounds[n]
        missed = sum(
            not compare_(found[one], found[other]) & self.relations[n][one][other]
            for one in range(SEATS)
            for other in range(one)
        )
        if is_flat:
            missed += sum(one not in (0, other) for one, other in zip(paid.targets, found, strict=True))
        return missed or not paid.is_by(found if is_flat else ranked(found))

    def _choose_conditions(self) -> None:
        """Makes rounds that are not paid for change their conditions, where that helps."""
        luck = self.luck
        for n in luck.sample(range(len(self.rounds)), len(self.rounds)):
            now = self._missed(n, self.won[n])
            first = n - n % conditions.REFRESHED_AT
            block = {
                self.won[each]: each
                for each in range(first, min(first + conditions.REFRESHED_AT, len(self.rounds)))
                if each != n
            }
            taken_twice = self.won[n] in block
            if not now and not taken_twice:
                continue
            best, change = now + (100 if taken_twice else 0), None
            for condition in luck.sample(self.rounds[n].able, len(self.rounds[n].able)):
                other = block.get(condition)
                worse = self._missed(n, condition)
                if other is not None:
                    if self.won[n] not in self.rounds[other].able:
                        continue
                    worse += self._missed(other, self.won[n]) - self._missed(other, condition)
                if worse < best or (worse == best and luck.random() < 1 / 4):
                    best, change = worse, (condition, other)
            if change is not None:
                condition, other = change
                if other is not None:
                    self.won[other] = self.won[n]
                self.won[n] = condition

    def paid_to(self, seat: int, n: int) -> int:
        """What the condition that was chosen for a round paid a seat."""
        found = self.figures[self.won[n]]
        return found[seat] if self.won[n] in FLAT else ranked(found)[seat]

    def found_veils(self) -> set[tuple[int, int]]:
        """The veils with which the answers are as told, but for those that are fixed."""
        return {
            key
            for key, (n, *_) in self.veiled.items()
            if key not in self.fixed and not self.base.clues[n].fits((self.values[n][key[0]],))
        }
