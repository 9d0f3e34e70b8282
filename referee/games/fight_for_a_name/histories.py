"""Histories of The Fight For a Name: moves of the other seats that fit what one seat knows, round by round.

The result of a round shows each seat's position and each hex's holder. It does not show how long a path was, how
many MP reinforced a hex, or where a seat went in the round in which it claimed a title. These are the values of a
`History`. The first history is found by repair: where the wrong seat would hold a hex, all amounts spent there are
redrawn together (`AmountSearch`), until every hex has the right holder. Further histories form a Markov chain: a
change of one value is kept if the history still fits.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations, pairwise
from random import Random
from typing import cast

from msgspec import Struct

from protocol.games.fight_for_a_name import Colour, Direction, FightView, Move, Pillar, Title
from protocol.games.fight_for_a_name.board import DIRECTIONS, HEXES, PILLAR_AT, START, STEPS
from referee.games.fight_for_a_name.moving import ALONE, CROWD, INCOME, MOST_GIVEN, NOT_ALONE
from referee.games.fight_for_a_name.state import FEW, NUMBER, SEAT_KEYS, SEATS

LONGER = 24
"""Exclusive upper bound of the steps by which another seat's path may exceed the shortest one."""
MENDED, RESTARTS = 1_500, 40
"""Number of repairs of one initial history, and number of initial histories that are tried."""
FILLED = 500
"""Number of amounts that one `AmountSearch` tries."""
WORSE = 1 / 16
"""Probability that a change during repair is kept although it adds up to one fault."""
BY_STRENGTH = 64
"""Difference in strength between the wrong and the right holder that counts as one further fault."""
MORE = 1 / 2
"""Probability of each further step or MP in a value that is drawn for another seat."""
Banner = tuple[Colour, Colour]
"""Colour of the body, and colour of the partings."""


class Claimed(Struct, frozen=True):
    """A possible form of a claim; `hexes` are those of the banner, the body's first."""

    title: Title
    seat: int
    hexes: tuple[int, int, int]


class Spent(Struct):
    """MP that a seat spent in one round on one hex, or on the path to a place; `amount` is drawn."""

    seat: int
    round: int
    start: str
    place: str
    amount: int = 0
    is_put: bool = False
    """True if the MP were spent by reinforcing instead of moving."""
    is_hidden: bool = False
    """True if the place is drawn too: the last move of a seat before its title."""
    is_own: bool = False

    @property
    def is_seen(self) -> bool:
        """True if another seat spent the MP at a known place, so that only the amount is drawn."""
        return not self.is_own and not self.is_hidden

    @property
    def strength(self) -> int:
        """Strength that the MP add on the hex."""
        return self.amount if self.is_put else self.amount + 1


@cache
def ends(start: str, steps: int) -> frozenset[str]:
    """Return the places where a path of exactly `steps` steps that enters no pillar can end."""
    if not steps:
        return frozenset((start,))
    return frozenset().union(
        *(ends(there, steps - 1) for there in STEPS[start].values() if there not in PILLAR_AT)
    )


@lru_cache(maxsize=4096)
def path(start: str, place: str, steps: int) -> tuple[Direction, ...]:
    """Return one path of `steps` steps; a path to a pillar is straight."""
    if place in PILLAR_AT:
        return () if start == place else straight(start, place)[steps]
    if not steps:
        return ()
    way = next(
        way for way, there in STEPS[start].items() if there not in PILLAR_AT and place in ends(there, steps - 1)
    )
    return (way, *path(STEPS[start][way], place, steps - 1))


@lru_cache(maxsize=1024)
def straight(start: str, pillar: str) -> dict[int, tuple[Direction, ...]]:
    """Return the straight paths to a pillar, by length."""
    found: dict[int, tuple[Direction, ...]] = {}
    for way in DIRECTIONS:
        at, steps = start, 0
        while way in STEPS[at] and (not steps or at not in PILLAR_AT):
            at, steps = STEPS[at][way], steps + 1
        if steps and at == pillar:
            found.setdefault(steps, (way,) * steps)
    return found


@lru_cache(maxsize=4096)
def lengths(start: str, place: str) -> tuple[int, ...]:
    """Return the possible lengths of a path, in steps, ascending."""
    if place in PILLAR_AT:
        return (0,) if start == place else tuple(sorted(straight(start, place)))
    least = next((steps for steps in range(LONGER) if place in ends(start, steps)), 0)
    return tuple(steps for steps in range(least, least + LONGER) if place in ends(start, steps))


def least(spent: Spent) -> int:
    """Return the smallest possible amount."""
    return 0 if spent.is_put else lengths(spent.start, spent.place)[0]


class History:
    """Possible actions of all seats in the completed rounds. `step` changes the history in place."""

    def __init__(self, view: FightView, may_be: Callable[[Title, Banner], bool], rng: Random) -> None:
        """Find a first history, in which claims use only banners that `may_be` allows.

        Raises:
            ValueError: no history was found that fits the view.
        """
        self.view = view
        self.may_be = may_be
        self.seat = cast("int", view.seat)
        self.rng = rng
        self.rounds = len(view.history)
        self.claim_round = {claim.seat: claim.round for claim in view.claims.values()}
        self.colour = {NUMBER[name]: colour for name, colour in view.colours.items()}
        self._read_public()
        for _ in range(RESTARTS):
            self._begin()
            if self._mend():
                break
        else:
            raise ValueError("no moves of the other seats fit what this seat was told")
        self.free = [
            spent for spent in self.spents if not spent.is_own and (spent.is_hidden or self._varies(spent))
        ]

    def _read_public(self) -> None:
        history = self.view.history
        self.positions = [dict.fromkeys(range(SEATS), START)]
        self.held: list[dict[int, int]] = []
        self.gifts: list[dict[int, int]] = []
        self.claims: list[list[tuple[Title, int]]] = []
        for result in history:
            self.positions.append({int(key): place for key, place in result.positions.items()})
            self.held.append({NUMBER[name]: seat for name, seat in result.holders.items()})
            self.gifts.append({int(key): gift for key, gift in result.gifts.items()})
            self.claims.append([(cast("Title", title), seat) for title, seat in sorted(result.claimed.items())])
        self.whitened = [frozenset(history[0].white)] if history else []
        self.whitened += [frozenset(after.white) - frozenset(before.white) for before, after in pairwise(history)]
        self._with_claims = frozenset(r for r, claims in enumerate(self.claims, 1) if claims)
        self.white_at = {number: r for r, numbers in enumerate(self.whitened, 1) for number in numbers}
        self.at_start = [Counter(positions.values())[START] for positions in self.positions]
        self.income = [[0, INCOME, *self._income(seat)] for seat in range(SEATS)]
        """MP that a seat receives before its move, indexed by seat and round.

        Seats that went to Start unseen are not counted; `left` corrects the bonus for being alone there.
        """

    def _income(self, seat: int) -> Iterator[int]:
        for r in range(1, self.rounds + 1):
            is_there = self.positions[r].get(seat) == START
            bonus = (ALONE if self.at_start[r] == 1 else NOT_ALONE) if is_there else 0
            yield INCOME + bonus + self.gifts[r - 1].get(seat, 0)

    def _begin(self) -> None:  # noqa: C901 - one loop through all that was seen
        """Set the amounts of other seats to the smallest possible ones, and draw claims and hidden places."""
        self.claimed = [self._drawn_claims(r) for r in range(1, self.rounds + 1)]
        self.spents: list[Spent] = []
        self.unseen_at_start = [0] * (self.rounds + 1)
        self.by_seat: list[list[list[Spent]]] = []
        self.by_hex: dict[int, dict[int, list[Spent]]] = {number: {} for number in self.colour}
        for seat in range(SEATS):
            self.by_seat.append([[] for _ in range(self.rounds + 1)])
            reached: set[int] = set()
            last = min(self.claim_round.get(seat, self.rounds), self.rounds)
            for r in range(1, last + 1):
                before = self.positions[r - 1][seat]
                final = len(self.positions[r - 1]) <= FEW
                if seat == self.seat:
                    self._own(r, before)
                    continue
                if final:
                    for number in sorted(reached):
                        if self.white_at.get(number, r) >= r:
                            self._add(Spent(seat, r, before, HEXES[number - 1], is_put=True))
                place = self.positions[r].get(seat)
                if place is None:
                    options = self._hidden_places(seat, r)
                    if not options:
                        raise ValueError(f"seat {seat} cannot have had the crest of its title")
                    place, steps = self.rng.choice(options)
                    self._add(Spent(seat, r, before, place, steps, is_hidden=True))
                else:
                    fitting = lengths(before, place)
                    if not fitting:
                        raise ValueError(f"seat {seat} cannot have gone from {before} to {place}")
                    self._add(Spent(seat, r, before, place, fitting[0]))
                    if place in NUMBER:
                        reached.add(NUMBER[place])
        self.rules = self._claim_rules()

    def _own(self, r: int, before: str) -> None:
        """Add the MP that the seat itself spent in the round."""
        move = self.view.moves[r - 1]
        at = before
        for way in move.path:
            at = STEPS[at][way]
        self._add(Spent(self.seat, r, before, at, len(move.path), is_own=True))
        for name, amount in move.reinforce.items():
            self._add(Spent(self.seat, r, before, name, amount, is_put=True, is_own=True))

    def _add(self, spent: Spent) -> None:
        self.spents.append(spent)
        self.unseen_at_start[spent.round] += spent.is_hidden and spent.place == START
        self.by_seat[spent.seat][spent.round].append(spent)
        if (number := NUMBER.get(spent.place)) is not None:
            self.by_hex[number].setdefault(spent.round, []).append(spent)

    def _hidden_places(self, seat: int, r: int) -> list[tuple[str, int]]:
        """Return the possible last moves of a claimer, as places and steps.

        A claimer that had visited no pillar before must have gone to one. If its banner has a hex on which
        no known move of the claimer ended, the last move must have ended there.
        """
        before = self.positions[r - 1][seat]
        visited = {self.positions[past][seat] for past in range(r)} & PILLAR_AT.keys()
        spents = chain.from_iterable(self.by_seat[seat][:r])
        most = sum(self.income[seat][: r + 1]) - sum(spent.amount for spent in spents)
        most += sum(self.spent_on(seat, number, r) for number in chain.from_iterable(self.whitened[: r - 1]))
        found: list[tuple[str, int]] = []
        for pillar in PILLAR_AT:
            if pillar not in visited:
                found += [(pillar, steps) for steps in straight(before, pillar)]
        if visited:
            found += [(before, 0)] * (before in PILLAR_AT)
            for steps in range(min(most + 1, LONGER)):
                found += [(place, steps) for place in sorted(ends(before, steps)) if place not in PILLAR_AT]
        unseen = next(self._unseen(seat, claim.hexes) for claim in self.claimed[r - 1] if claim.seat == seat)
        return [each for each in found if each[0] in unseen] if unseen else found

    def _drawn_claims(self, r: int) -> list[Claimed]:
        """Draw which of the hexes that turned white belong to each claim of the round."""
        claims = self.claims[r - 1]
        if not claims:
            return []
        fits = list(self._banners(claims, self.whitened[r - 1]))
        if not fits:
            raise ValueError(f"the claims of round {r} do not fit the hexes that turned white")
        return self.rng.choice(fits)

    def _banners(self, claims: Sequence[tuple[Title, int]], white: frozenset[int]) -> Iterator[list[Claimed]]:
        if not claims:
            if not white:
                yield []
            return
        (title, seat), rest = claims[0], claims[1:]
        for three in combinations(sorted(white), 3):
            colours = [self.colour[number] for number in three]
            for body in range(3):
                one, other = (number for n, number in enumerate(three) if n != body)
                banner = colours[body], self.colour[one]
                fits = banner[0] != banner[1] == self.colour[other] and self.may_be(title, banner)
                if fits and len(self._unseen(seat, three)) <= (seat != self.seat):
                    for more in self._banners(rest, white - set(three)):
                        yield [Claimed(title, seat, (three[body], one, other)), *more]

    def _unseen(self, seat: int, hexes: Sequence[int]) -> list[str]:
        """Return the hexes on which no known move of the claimer ended; its hidden last move may have."""
        seen = {positions.get(seat) for positions in self.positions}
        if seat == self.seat:
            seen |= {HEXES[number - 1] for number in self.view.reached}
        return [HEXES[number - 1] for number in hexes if HEXES[number - 1] not in seen]

    def _claim_rules(self) -> dict[tuple[int, int], list[tuple[frozenset[int], int, bool]]]:
        """Return the conditions of claims on the holder of a hex, by hex and round.

        A condition consists of the seats removed by earlier claims of the round, the claimer, and whether the
        claimer must hold the hex (True) or must not (False), because it would have been used instead.
        """
        rules: dict[tuple[int, int], list[tuple[frozenset[int], int, bool]]] = {}
        for r, claimed in enumerate(self.claimed, 1):
            gone: frozenset[int] = frozenset()
            white = {number for number, at in self.white_at.items() if at < r}
            for claim in claimed:
                body, one, other = claim.hexes
                for number, colour in self.colour.items():
                    lower = (colour == self.colour[body] and number < body) or (
                        colour == self.colour[one] and number < other and number != one
                    )
                    if number in claim.hexes or (lower and number not in white):
                        rules.setdefault((number, r), []).append((gone, claim.seat, number in claim.hexes))
                gone |= {claim.seat}
                white.update(claim.hexes)
        return rules

    def strengths(self, r: int) -> dict[int, dict[int, int]]:
        """Return the strength by hex and seat before the claims of a round, for hexes that are not white."""
        gone = {seat for seat, at in self.claim_round.items() if at < r}
        found: dict[int, dict[int, int]] = {}
        for number, events in self.by_hex.items():
            if self.white_at.get(number, r) < r:
                continue
            here = found.setdefault(number, {})
            for at, spents in events.items():
                for spent in spents if at <= r else ():
                    if spent.seat not in gone and (spent.amount or not spent.is_put):
                        here[spent.seat] = here.get(spent.seat, 0) + spent.strength
        return found

    def banners(self) -> dict[Title, Banner]:
        """Return the banners that the claims show, by title."""
        claims = chain.from_iterable(self.claimed)
        return {claim.title: (self.colour[claim.hexes[0]], self.colour[claim.hexes[1]]) for claim in claims}

    def _varies(self, spent: Spent) -> bool:
        return spent.is_put or len(lengths(spent.start, spent.place)) > 1

    def _faults(self, number: int) -> float:
        """Return a hex's faults: 1 per round or claim with a wrong holder, plus a share for missing strength."""
        strengths: dict[int, int] = {}
        faults = 0.0
        events = self.by_hex[number]
        white = self.white_at.get(number, self.rounds + 1)
        # A hex changes only in rounds in which a seat lands on it, reinforces it, or claims a title.
        for r in self.rounds_of(events):
            if r > white:
                break
            for spent in events.get(r, ()):
                strengths[spent.seat] = strengths.get(spent.seat, 0) + (
                    spent.amount if spent.is_put else spent.amount + 1
                )
            faults += self.faults_after(number, r, strengths)
        return faults

    def faults_after(self, number: int, r: int, strengths: dict[int, int]) -> float:
        """Return the faults of one round, as `_faults` counts them, and remove claimers from `strengths`."""
        faults = 0.0
        for gone, seat, holds in self.rules.get((number, r), ()):
            left = {each: s for each, s in strengths.items() if each not in gone} if gone else strengths
            faults += _fault(left, seat) if holds else holder(left) == seat
        for _, claimer in self.claims[r - 1]:
            strengths.pop(claimer, None)
        if number not in self.whitened[r - 1]:
            faults += _fault(strengths, self.held[r - 1].get(number))
        return faults

    def rounds_of(self, events: dict[int, list[Spent]]) -> list[int]:
        """Return the rounds in which a hex may change; `events` lists the MP spent there by round."""
        return sorted(self._with_claims.union(events))

    def mp(self, seat: int) -> int | None:
        """Return the seat's MP after the last round, or after its last move before its title.

        Return None if the seat spent more than it had.
        """
        left = 0
        for left in self.left(seat):
            if left < 0:
                return None
        return left

    def left(self, seat: int) -> Iterator[int]:
        """Yield the seat's MP after each of its moves and, if it has no title, after the last round."""
        mp = 0
        income = self.income[seat]
        for r in range(1, self.rounds + 1):
            mp += income[r]
            for spent in self.by_seat[seat][r]:
                mp -= spent.amount
            yield mp
            if seat not in self.positions[r]:
                return
            if self.unseen_at_start[r] and self.at_start[r] == 1 and self.positions[r][seat] == START:
                mp -= ALONE - NOT_ALONE
            for number in self.whitened[r - 1]:
                mp += self.spent_on(seat, number, r)
        yield mp + income[self.rounds + 1] - INCOME

    def spent_on(self, seat: int, number: int, last: int) -> int:
        """Return the MP that the seat has spent on a hex up to round `last`."""
        total = 0
        for r, spents in self.by_hex[number].items():
            if r <= last:
                total += sum(spent.amount for spent in spents if spent.seat == seat)
        return total

    def arrived(self, r: int) -> dict[int, Pillar]:
        """Return the pillar that each visiting seat reached in the round, by seat."""
        found = {}
        for seat in range(SEATS):
            for spent in self.by_seat[seat][r]:
                if spent.amount and not spent.is_put and spent.place in PILLAR_AT:
                    found[seat] = PILLAR_AT[spent.place]
        return found

    def _crowds_fit(self, r: int) -> bool:
        """Return whether the seat's own visit in the round meets a crowd exactly if it was turned away."""
        for visit in self.view.visits:
            if visit.round == r:
                return (Counter(self.arrived(r).values())[visit.pillar] > CROWD) != bool(visit.titles)
        return True

    def _draw(self, spent: Spent) -> tuple[str, int]:
        """Draw a place and an amount; larger amounts are less likely."""
        if spent.is_hidden:
            return self.rng.choice(self._hidden_places(spent.seat, spent.round))
        more = 0
        while self.rng.random() < MORE:
            more += 1
        if spent.is_put:
            return spent.place, more
        fitting = lengths(spent.start, spent.place)
        return spent.place, fitting[min(more, len(fitting) - 1)]

    def _set(self, spent: Spent, place: str, amount: int) -> None:
        if place != spent.place:
            if spent.place in NUMBER:
                self.by_hex[NUMBER[spent.place]][spent.round].remove(spent)
            self.unseen_at_start[spent.round] += (place == START) - (spent.place == START)
            spent.place = place
            if place in NUMBER:
                self.by_hex[NUMBER[place]].setdefault(spent.round, []).append(spent)
        spent.amount = amount

    def _try(self, spent: Spent, *, mending: bool = False) -> bool:
        """Redraw a value, and keep the new one if it fits and adds no faults; repair sometimes allows one more.

        Returns:
            Whether the value has changed.
        """
        was = spent.place, spent.amount
        new = self._draw(spent)
        if new == was:
            return False
        hexes = {NUMBER[place] for place in (was[0], new[0]) if place in NUMBER}
        before = sum(map(self._faults, hexes))
        self._set(spent, *new)
        seats = range(SEATS) if spent.is_hidden else (spent.seat,)
        fits = all(self.mp(seat) is not None for seat in seats) and (
            not spent.is_hidden or self._crowds_fit(spent.round)
        )
        if not fits or sum(map(self._faults, hexes)) > before + (mending and self.rng.random() < WORSE):
            self._set(spent, *was)
            return False
        return True

    def _mend(self) -> bool:
        """Redraw values until the history fits; return whether it does."""
        if any(self.mp(seat) is None for seat in range(SEATS)):
            return False
        if not all(map(self._crowds_fit, range(1, self.rounds + 1))):
            return False
        hidden = [spent for spent in self.spents if spent.is_hidden]
        for attempt in range(MENDED):
            faulty = [number for number in self.colour if self._faults(number)]
            if not faulty:
                return True
            number = self.rng.choice(faulty)
            if attempt % 4 == 1 and hidden:
                self._try(self.rng.choice(hidden), mending=True)
            elif not AmountSearch(self, number).found:
                self._save(number)
        return False

    def _save(self, number: int) -> None:
        """Reduce one amount of a seat that was on the hex to the smallest, so that it can spend more there."""
        seats = {spent.seat for spent in chain.from_iterable(self.by_hex[number].values())}
        costly = [
            spent for spent in self.spents if spent.seat in seats and spent.amount > least(spent) and spent.is_seen
        ]
        if costly:
            spent = self.rng.choice(costly)
            spent.amount = least(spent)

    def step(self, times: int) -> set[int]:
        """Redraw `times` values in turn; each new value is kept only if the history still fits.

        Returns:
            The seats whose values have changed.
        """
        chosen = self.rng.choices(self.free, k=times) if self.free else []
        return {spent.seat for spent in chosen if self._try(spent)}


class AmountSearch:
    """A search for amounts of other seats on a hex with which the right seat holds it in each round.

    The search draws amounts in the order of their rounds, and backtracks where none fits.
    """

    def __init__(self, history: History, number: int) -> None:
        self._history, self._number = history, number
        self._tries = FILLED
        events = history.by_hex[number]
        white = history.white_at.get(number, history.rounds)
        rounds = [r for r in history.rounds_of(events) if r <= white]
        self._order: list[Spent | int] = []
        values: list[Spent] = []
        for r in rounds:
            in_round = events.get(r, [])
            values += [spent for spent in in_round if spent.is_seen]
            self._order += [*in_round, r]
        before = [spent.amount for spent in values]
        for spent in values:
            spent.amount = 0
        self._may_spend: dict[tuple[int, int], int] = {}
        for seat in {spent.seat for spent in values}:
            left = [*history.left(seat)]
            for r in rounds:
                if available := left[r - 1 : white]:
                    self._may_spend[seat, r] = min(available)
        self.found = self._fill(0, {}, {})
        """True if the search succeeded; if it failed, all amounts are unchanged."""
        if not self.found:
            for spent, amount in zip(values, before, strict=True):
                spent.amount = amount

    def _fill(self, at: int, strengths: dict[int, int], paid: dict[int, int]) -> bool:
        if at == len(self._order):
            return True
        this, history = self._order[at], self._history
        if isinstance(this, int):
            after = strengths.copy()
            return not history.faults_after(self._number, this, after) and self._fill(at + 1, after, paid)
        seat = this.seat
        if not this.is_seen:
            return self._fill(at + 1, strengths | {seat: strengths.get(seat, 0) + this.strength}, paid)
        most = self._may_spend[seat, this.round] - paid.get(seat, 0)
        for amount in self._drawn(this, most):
            self._tries -= 1
            if self._tries < 0:
                return False
            this.amount = amount
            stronger = strengths | {seat: strengths.get(seat, 0) + this.strength}
            if self._fill(at + 1, stronger, paid | {seat: paid.get(seat, 0) + amount}):
                return True
        return False

    def _drawn(self, spent: Spent, most: int) -> list[int]:
        """Return the possible amounts in random order, with a preference for small ones."""
        found = range(most + 1) if spent.is_put else [n for n in lengths(spent.start, spent.place) if n <= most]
        random = self._history.rng.random
        return sorted(found, key=lambda amount: (amount + 1) * random())


def holder(strengths: dict[int, int]) -> int | None:
    """Return the holder of a hex, the seat with the highest strength that no other seat has, or None."""
    if len(strengths) < 2:  # noqa: PLR2004
        return next((seat for seat, strength in strengths.items() if strength), None)
    best, alone = 0, None
    counts: dict[int, int] = {}
    for strength in strengths.values():
        counts[strength] = counts.get(strength, 0) + 1
    for seat, strength in strengths.items():
        if strength > best and counts[strength] == 1:
            best, alone = strength, seat
    return alone


def _fault(strengths: dict[int, int], seat: int | None) -> float:
    """Return 0 if `seat` (None: no seat) holds the hex, else 1 plus a share for missing strength."""
    who = holder(strengths)
    if who == seat:
        return 0
    return 1 + abs(strengths.get(who or 0, 0) - strengths.get(seat or 0, 0)) / BY_STRENGTH


def drawn_gifts(history: History, rng: Random) -> list[dict[int, Move]]:
    """Draw the gifts of other seats with titles, by round, so that they add up to the reported ones (R5).

    Raises:
        ValueError: no gifts were found that fit.
    """
    for _ in range(RESTARTS * RESTARTS):
        found = _dealt(history, rng)
        if found is not None:
            return found
    raise ValueError("no gifts of the other seats fit what was told of them")


def _dealt(history: History, rng: Random) -> list[dict[int, Move]] | None:
    barred: dict[int, int | None] = {}
    found = []
    for r in range(1, history.rounds + 1):
        givers = [seat for seat, at in history.claim_round.items() if at < r and seat != history.seat]
        given = Counter(history.gifts[r - 1])
        if history.claim_round.get(history.seat, r) < r:
            given.subtract({int(key): amount for key, amount in history.view.moves[r - 1].give.items()})
        moves = _deal_out(given, givers, barred, rng) if given.total() else {seat: Move() for seat in givers}
        if moves is None:
            return None
        for seat, move in moves.items():
            barred[seat] = next((int(key) for key, amount in move.give.items() if amount == MOST_GIVEN), None)
        found.append(moves)
    return found


def _deal_out(
    given: Counter[int], givers: list[int], barred: dict[int, int | None], rng: Random
) -> dict[int, Move] | None:
    for _ in range(RESTARTS):
        hands: dict[int, Counter[int]] = {seat: Counter() for seat in givers}
        for to in rng.sample(list(given.elements()), given.total()):
            able = [seat for seat, hand in hands.items() if hand.total() < MOST_GIVEN and barred.get(seat) != to]
            if not able:
                break
            hands[rng.choice(able)][to] += 1
        else:
            moves = {}
            for seat, hand in hands.items():
                moves[seat] = Move(give={SEAT_KEYS[to]: hand[to] for to in sorted(hand)})
            return moves
    return None
