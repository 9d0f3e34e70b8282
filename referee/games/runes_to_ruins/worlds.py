"""Worlds of Runes to Ruins: states of the match that agree with everything that one seat knows.

- The search (`search`) finds symbols of the others with which all clues (`clues`) hold: answers to the seat's
  questions and guesses, revealed runes, and payments. It can fail in the middle of a match; this raises an error.
- If all candidates of all seats are known, one seat's symbol at a time is drawn uniformly from those that fit.
  Otherwise symbols come from a random walk over those that fit, so successive worlds are similar.
- A frame is drawn from time to time. It has the condition that won each vote, the kinds of vision that the others
  used (consistent with how often the seat was the only one to use a kind), the veils, and the finders of symbols.
  Within a frame the others do only what was observed of them, and all vote for the condition that won.
- The spending of the others is hidden, so their purses are not computed move by move: their insight and received
  mantra are drawn so that conditions make the observed payments. The others never use Light.

In round 1 the others submit drawn symbols, and two seats submit the same one in each attempt that failed.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Any, assert_never, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Count,
    Discovered,
    Except,
    GuessAnswer,
    Has,
    Insight,
    Kind,
    Learned,
    LearnedAnswer,
    Line,
    Mirror,
    Mirrored,
    Pattern,
    Place,
    Played,
    PlayRound,
    Purse,
    Revealed,
    RunesOptions,
    RunesView,
    Six,
    Through,
    Visions,
)
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.checking import bought_guesses, cost
from referee.games.runes_to_ruins.clues import clues
from referee.games.runes_to_ruins.guesses import (
    FOR_EACH_OF_SEVERAL,
    FOR_ONE_FINDER,
    NOWHERE,
    RIGHT,
    best,
    near,
)
from referee.games.runes_to_ruins.narrowing import Searching
from referee.games.runes_to_ruins.paid import FLAT, Paid, all_figures, are_in_order, possible, ranked
from referee.games.runes_to_ruins.pools import any_of
from referee.games.runes_to_ruins.rounds import darken, settle
from referee.games.runes_to_ruins.search import Search
from referee.games.runes_to_ruins.state import FIRST_INSIGHT, OTHERS, SEATS, Near, RunesState, Standing
from referee.games.runes_to_ruins.symbols import GROUPS, ORDER, draw_symbol, fault, runes_of, stands_on, tables
from referee.games.runes_to_ruins.visions import COST, KINDS, NO_VISIONS, answers, learn, reflected, used

APART = 30
"""Number of steps of a walk between two worlds."""
SAME_SEAT = 20
"""Number of successive worlds in which the same seat's symbol is drawn, if all candidates are known.

It is also the maximum number of draws for one world.
"""
ANEW, REFRAMED = 10_000, 100
"""Number of worlds per walk, and per frame."""
FRAMES = 40
"""Maximum number of attempts to draw a frame for the first symbols of a walk."""
FRAMED = 8
"""Maximum number of explanations of the seat's purse that are tried with the symbols that the search found."""
TRIES = 200
"""Number of walks that may fail to start in succession before an error is raised."""
WAYS = 200
"""Maximum number of attempts to draw an explanation of the seat's purse."""
VEILED = 1 / 8
"""Assumed probability that another seat veils in a round in which that matters."""
BY_SYMBOLS = tuple(condition for condition in conditions.CONDITIONS if condition not in (10, 11, 12))
"""Conditions whose payments follow from symbols or, for condition 15, from public events."""
ABOUT_ALL: tuple[Kind, ...] = ("assign", "divine", "mundane", "place")
"""Visions that ask about all other seats."""
ABOUT_SOME: tuple[Kind, ...] = ("pattern", "except")
"""Visions that ask about the seats that they name."""
FLAT_FOR_ALL = 15
"""The condition that pays each seat by whether it was discovered, whatever its symbol and actions."""
LEAST_INSIGHT, LEAST_RECEIVED, FEWEST_VISIONS = 10, 11, 12
"""The conditions that rank hidden figures which do not depend on symbols."""
Five = tuple[int, ...]
"""Numbers, indexed by seat."""


class Past(Struct, frozen=True, kw_only=True):
    """A finished round as the seat knows it."""

    round: int
    action: PlayRound
    told: tuple[Any, ...]
    insight: Insight
    purse: Purse
    won: int | None
    """The condition that won, or None if the seat does not know it."""
    public: Played
    """The round with the events that all seats received, and no action."""
    shown: tuple[Revealed, ...]
    discovered: tuple[int, ...]
    mirrored: tuple[Mirrored, ...]
    kinds: frozenset[Kind]
    """Kinds of the seat's own visions."""
    ways: tuple[tuple[int, int, int, int], ...]
    """Possible explanations of the seat's purse after the round.

    Each has the insight before the round, the number of vision kinds that only this seat used, the insight gained
    by guesses, and the mantra received.
    """
    undiscovered: Five
    """Payments of condition 15, indexed by seat."""

    @property
    def mirrors(self) -> int | None:
        """The seat whose questions the mirror showed, or None."""
        visions = self.action.visions
        return None if visions is UNSET or visions.mirror is UNSET else visions.mirror.seat

    @property
    def added(self) -> int:
        """The round's bonus for every seat."""
        return (self.round - 1) // 3


class Frame(Struct, kw_only=True):
    """The part of a world that does not change with each step of a walk, apart from veils that are not fixed."""

    won: dict[int, int] = {}
    """Conditions that won, indexed by round."""
    kinds: dict[tuple[int, int], set[Kind]] = {}
    """Kinds of vision used, without veils; indexed by round and seat."""
    veils: set[tuple[int, int]] = set()
    """Pairs of seat and round in which the seat veiled."""
    fixed: set[tuple[int, int]] = set()
    """Pairs of seat and round for which the walk may neither add nor remove a veil."""
    paid: dict[int, Five] = {}
    """Payments of conditions that do not depend on symbols, indexed by round, then by seat."""
    purses: dict[tuple[int, int], tuple[int, int]] = {}
    """Insight and mantra received after the round was settled, indexed by round and seat."""
    votes: dict[tuple[int, int], tuple[int, bool]] = {}
    """Number of votes for the winning condition, and whether votes were bought; indexed by round and seat."""
    finders: dict[tuple[int, int], int] = {}
    """Another seat that found the symbol, indexed by round and discovered seat."""
    parts: dict[tuple[int, int], Visions] = {}
    """Visions of the others without those that a mirror showed to the seat; indexed by round and seat."""
    insight: dict[int, int] = {}
    """Present insight of the others, indexed by seat."""
    played: dict[tuple[int, int], Played] = {}
    """Rounds of the others that are the same in all worlds of the frame, indexed by round and seat."""


def worlds(view: RunesView, seat: int, rng: Random, options: RunesOptions) -> Iterator[RunesState]:
    """See `Game.worlds`.

    Raises:
        ValueError: the match is over, so that nothing is hidden; or no world was found that agrees with the view.
    """
    options = replace(options, rounds=view.rounds)
    if view.symbol is None:
        while True:
            yield _opening(view, seat, rng, options)
    past = _past(view, seat, options)
    found = tuple(clues(view, seat))
    base = Searching(found, rng)
    fails = 0
    while True:
        walk = Walk(view, seat, rng, past, base)
        if not walk.begin():
            fails += 1
            if fails > TRIES:
                raise ValueError("no world was found that fits what this seat was told")
            continue
        fails = 0
        for number in range(ANEW):
            if walk.drawing is None:
                walk.step(APART)
            else:
                walk.draw(anew=number % SAME_SEAT == 0)
            if number % REFRAMED == REFRAMED - 1:
                walk.reframe()
            yield _state(view, seat, rng, options, walk)


def _opening(view: RunesView, seat: int, rng: Random, options: RunesOptions) -> RunesState:
    submitted, invalid = _submitted(view, seat, rng, [])
    return RunesState(
        options=options,
        attempt=view.attempt,
        invalid=invalid,
        standings=tuple(Standing(submitted=each) for each in submitted),
    )


def _submitted(
    view: RunesView, seat: int, rng: Random, symbols: Sequence[Six]
) -> tuple[list[tuple[Six, ...]], tuple[Six, ...]]:
    """Return the symbols that each seat submitted in round 1, and those that became invalid."""
    submitted: list[tuple[Six, ...]] = [()] * SEATS
    invalid: set[Six] = set()
    for attempt, own in enumerate(view.submitted):
        is_last = bool(symbols) and attempt == len(view.submitted) - 1
        if is_last:
            drawn = list(symbols)
            drawn[seat] = own
            if own != symbols[seat]:
                drawn[rng.choice(OTHERS[seat])] = own
                invalid.add(own)
        else:
            drawn = [draw_symbol(rng) for _ in range(SEATS)]
            drawn[seat] = own
            again = own in view.submitted[attempt + 1 :] or own == view.symbol
            one, other = rng.sample(OTHERS[seat] if again else range(SEATS), 2)
            one, other = (other, one) if other == seat else (one, other)
            drawn[other] = drawn[one]
            invalid.add(drawn[one])
        submitted = [(*before, symbol) for before, symbol in zip(submitted, drawn, strict=True)]
    return submitted, tuple(sorted(invalid))


def _past(view: RunesView, seat: int, options: RunesOptions) -> list[Past]:
    """Return the finished rounds.

    Raises:
        ValueError: the match is over, or the seat's purse cannot be explained.
    """
    found: list[Past] = []
    own = Standing()
    before = {FIRST_INSIGHT}
    mantra = 0
    dark = sum("dark" in has for key, has in options.artefacts.items() if key != str(seat))
    for played in view.history:
        action, told = played.action or PlayRound(), played.told
        insight = next((each for each in told if isinstance(each, Insight)), None)
        if insight is None:
            raise ValueError("the match is over: nothing is hidden")
        purse = next(each for each in told if isinstance(each, Purse))
        visions = NO_VISIONS if action.visions is UNSET else action.visions
        right = {
            action.guesses[each.index] for each in told if isinstance(each, GuessAnswer) and each.exact == RIGHT[0]
        }
        brought = sum(each.mantra for each in told if isinstance(each, LearnedAnswer))
        spent = cost(own, action, used(visions))
        kinds: frozenset[Kind] = frozenset(used(visions))
        mine = action.dark is not UNSET and action.dark == seat
        ways = tuple(
            (insight_before, alone, gained, darken(mantra + brought, times + mine) - mantra)
            for insight_before in sorted(before)
            for alone in range(len(kinds) + 1)
            for gained in {
                FOR_ONE_FINDER * (len(right) - shared) + FOR_EACH_OF_SEVERAL * shared
                for shared in range(len(right) + 1)
            }
            for times in range(dark + 1)
            if settle(
                insight_before - spent + alone + gained,
                darken(mantra + brought, times + mine),
            )
            == (purse.insight, purse.mantra)
        )
        if not ways:
            raise ValueError(f"round {played.round}: the purse cannot have come about")
        past = Past(
            round=played.round,
            action=action,
            told=told,
            insight=insight,
            purse=purse,
            won=next((each.condition for each in told if isinstance(each, ConditionWon)), None),
            public=Played(
                round=played.round,
                action=None,
                told=tuple(each for each in told if isinstance(each, (Revealed, Discovered, Insight))),
            ),
            shown=tuple(each for each in told if isinstance(each, Revealed) and each.seat != seat),
            discovered=next((each.seats for each in told if isinstance(each, Discovered)), ()),
            mirrored=tuple(each for each in told if isinstance(each, Mirrored)),
            kinds=kinds,
            ways=ways,
            undiscovered=tuple(
                2 if view.discovered.get(str(each), view.rounds + 1) <= played.round else 4
                for each in range(SEATS)
            ),
        )
        found.append(past)
        earned = insight.earned.get(str(seat))
        before = {purse.insight + (past.added + rank if earned is None else earned) for rank in range(1, 7)}
        if played.round == view.round - 1:
            before &= {cast("int", view.insight)}
        own = replace(
            own, veils=own.veils + visions.veil, bought=own.bought + bought_guesses(action), insight=purse.insight
        )
        mantra = purse.mantra
    return found


class Walk:
    """A random walk over the others' symbols, in one frame at a time."""

    def __init__(self, view: RunesView, seat: int, rng: Random, past: list[Past], base: Searching) -> None:
        self.view, self.seat, self.rng, self.past, self.base = view, seat, rng, past, base
        self.clues = found = base.clues
        self.others = OTHERS[seat]
        self.of: dict[int, list[int]] = {
            other: [n for n, clue in enumerate(found) if other in clue.seats] for other in self.others
        }
        self.veilable = sorted({(clue.seats[0], clue.veil) for clue in found if clue.veil is not None})
        self.movable = self.others
        self.frame = Frame()
        self.drawing: Search | None = None
        """The search whose candidates symbols are drawn from, or None if not all candidates are known."""
        self.fitting = 0
        """Candidates that fit for the seat whose symbol is drawn, if the other symbols do not change."""
        self.votes: dict[tuple[int, int, tuple[int, ...]], dict[int, tuple[int, bool]] | None] = {}

    def begin(self) -> bool:
        """Find symbols with which all clues hold, and a frame for them; return False if that fails."""
        if not self._choose_some_ways({}):
            return False
        known = {self.seat: cast("Six", self.view.symbol), **self._right_guesses()}
        self.movable = tuple(other for other in self.others if other not in known) or self.others
        search = Search(
            self.base,
            known,
            self.frame.veils,
            self.frame.fixed,
            self._paid_rounds(as_far_as_known=True),
            self._unknown_veils(),
            self.rng,
        )
        return search.run() and any(self._framed(search) for _ in range(FRAMED))

    def _framed(self, search: Search) -> bool:
        """Draw an explanation of the seat's purse that agrees with these symbols' payments, and a frame for it."""
        if not self._choose_some_ways({past.round: self._paid_in(search, n) for n, past in enumerate(self.past)}):
            return False
        if not search.agrees_with(self.frame.veils, self.frame.fixed):
            return False
        self.symbols, self.values = search.symbols, search.values
        self.frame.veils |= {veil for veil in search.found_veils() if veil not in self.frame.fixed}
        if all(each.is_whole for each in search.known):
            self.drawing = search
            search.rounds = self._paid_rounds()
        return self._veil_one(search) and any(self.reframe() for _ in range(FRAMES))

    def _paid_in(self, search: Search, n: int) -> int:
        """Return a payment to the seat that agrees with the condition that the search chose for round `n`."""
        past, won = self.past[n], search.won[n]
        if won in BY_SYMBOLS and won != FLAT_FOR_ALL:
            return search.paid_to(self.seat, n)
        able = [
            own
            for own in self._own_payments(n)
            if (self._may_be_for_all(past, own) if won == FLAT_FOR_ALL else won in self._by_purses(past, own))
        ]
        return self.rng.choice(able or self._own_payments(n))

    def _choose_some_ways(self, paid: dict[int, int]) -> bool:
        for _ in range(WAYS):
            self.frame = Frame()
            if self._choose_ways(paid):
                return True
        return False

    def _unknown_veils(self) -> list[int]:
        """Return rounds in which some other seat veiled, too, and the seat's visions were about all others."""
        return [
            past.round
            for past in self.past
            if "veil" in past.kinds - self.alone[past.round]
            and all((other, past.round) in self.veilable for other in self.others)
        ]

    def _veil_one(self, search: Search) -> bool:
        """Add veils of other seats for rounds in which the seat was not alone with its veil, and fix them.

        Return False if no other seat can have veiled.
        """
        for past in self.past:
            r = past.round
            if "veil" in past.kinds - self.alone[r]:
                if not any((other, r) in self.frame.veils for other in self.others):
                    able = [other for other in self.others if (other, r) not in search.veiled]
                    if not able:
                        return False
                    self.frame.veils.add((self.rng.choice(able), r))
                self.frame.fixed |= {(other, r) for other in self.others}
        return True

    def _paid_rounds(self, *, as_far_as_known: bool = False) -> list[Paid]:
        """Return facts about the payments for the search.

        The payment to the seat itself is the drawn one or, with `as_far_as_known`, any possible one.
        """
        rounds: list[Paid] = []
        for n, (past, target) in enumerate(zip(self.past, self.targets, strict=True)):
            mine = self._own_payments(n) if as_far_as_known else [self.own_pay[past.round]]
            free = sorted({each for own in mine for each in self._by_purses(past, own)})
            told = tuple(0 if each == self.seat else one for each, one in enumerate(target))
            if any(self._may_be_for_all(past, own) for own in mine):
                free.append(FLAT_FOR_ALL)
            able = [*BY_SYMBOLS[:-1], *free]
            if past.won is not None:
                able = [past.won] if past.won in able else []
            positions = tuple(past.insight.positions.items())
            rounds.append(Paid(told, positions, tuple(able), tuple(free), self.seat, frozenset(mine)))
        return rounds

    def _right_guesses(self) -> dict[int, Six]:
        """Assign each symbol that the seat guessed right to a seat that was discovered in that round."""
        known: dict[int, Six] = {}
        for past in self.past:
            for symbol in sorted(self._right(past)):
                if symbol not in known.values():
                    able = [each for each in past.discovered if each != self.seat and each not in known]
                    able = [each for each in able if self._agrees(each, symbol)] or able
                    if able:
                        known[self.rng.choice(able)] = symbol
        return known

    def _agrees(self, other: int, symbol: Six) -> bool:
        """Return whether the clues about only this seat hold with the symbol.

        Clues that a veil may invert are ignored.
        """
        return all(
            clue.fits((clue.feature(symbol),))
            for clue in self.clues
            if clue.seats == (other,) and clue.veil is None
        )

    def reframe(self) -> bool:
        """Draw another frame for these symbols; if that fails, keep the present one and return False."""
        was = self.frame
        self.frame = Frame(veils=set(was.veils), fixed=set(was.fixed))
        if not self._pay() and self._use_kinds() and self._fill_purses() and self._find_finders():
            self._fix_votes()
            return True
        self.frame = was
        return False

    def _own_payments(self, n: int) -> list[int]:
        """Return the possible payments to the seat in the finished round with index `n`, without the bonus."""
        past = self.past[n]
        if n + 1 < len(self.past):
            befores = sorted({way[0] for way in self.past[n + 1].ways})
        else:
            befores = [cast("int", self.view.insight)]
        return [before - past.purse.insight - past.added for before in befores]

    def _choose_ways(self, paid: dict[int, int]) -> bool:
        """Draw an explanation of the seat's purse and the kinds of vision that only this seat used.

        `paid` has fixed payments to the seat, indexed by round. Return False if no explanation fits.
        """
        self.own_pay: dict[int, int] = {}
        self.alone: dict[int, frozenset[Kind]] = {past.round: frozenset() for past in self.past}
        self.shared: dict[int, int] = {}
        self.received: dict[int, int] = {past.round: 0 for past in self.past}
        frame, rng = self.frame, self.rng
        for n, past in enumerate(self.past):
            able = self._own_payments(n)
            self.own_pay[past.round] = (
                paid.get(past.round) or rng.choices(able, [self._likely(past, each) for each in able])[0]
            )
        self.targets = [
            tuple(
                self.own_pay[past.round]
                if each == self.seat
                else past.insight.earned.get(str(each), past.added) - past.added
                for each in range(SEATS)
            )
            for past in self.past
        ]
        before, total = FIRST_INSIGHT, 0
        for past in self.past:
            ways = [way for way in past.ways if way[0] == before]
            if not ways:
                return False
            _, alone, gained, received = rng.choice(ways)
            total += received
            self.received[past.round] = total
            right = len(self._right(past))
            self.shared[past.round] = (FOR_ONE_FINDER * right - gained) // FOR_EACH_OF_SEVERAL
            before = past.purse.insight + past.added + self.own_pay[past.round]
            public: set[Kind] = {"mirror" if each.position is None else "window" for each in past.shown}
            public |= {each.kind for each in past.mirrored if each.kind in KINDS}
            sure = past.kinds & {"mirror", "window"} - public
            free = sorted(past.kinds - public - sure)
            if not len(sure) <= alone <= len(sure) + len(free):
                return False
            self.alone[past.round] = sure | frozenset(rng.sample(free, alone - len(sure)))
            if "veil" in self.alone[past.round]:
                frame.fixed |= {(other, past.round) for other in self.others}
        return True

    def _likely(self, past: Past, paid: int) -> float:
        """Return a weight for a possible payment to the seat in a round in which it abstained."""
        if self._ranked(past, paid):
            return 1
        return 1 / 4 if self._may_be_for_all(past, paid) else 1 / 16

    def _may_be_for_all(self, past: Past, paid: int) -> bool:
        """Return whether condition 15 may have won with this payment to the seat."""
        told = {int(key): earned - past.added for key, earned in past.insight.earned.items()}
        return (
            paid == past.undiscovered[self.seat]
            and all(each == past.undiscovered[seat] for seat, each in told.items() if seat != self.seat)
            and are_in_order(past.undiscovered, past.insight.positions)
        )

    def _right(self, past: Past) -> set[Six]:
        return {
            past.action.guesses[each.index]
            for each in past.told
            if isinstance(each, GuessAnswer) and each.exact == RIGHT[0]
        }

    def _fits(self, number: int) -> bool:
        clue, values = self.clues[number], self.values[number]
        if clue.veil is not None:
            other = clue.seats[0]
            return clue.fits((values[other] != ((other, clue.veil) in self.frame.veils),))
        return clue.fits([values[each] for each in clue.seats])

    def _toggle_veil(self) -> None:
        veil = self.rng.choice(self.veilable)
        if veil in self.frame.fixed:
            return
        self.frame.veils ^= {veil}
        likely = VEILED / (1 - VEILED) if veil in self.frame.veils else (1 - VEILED) / VEILED
        concerned = [n for n in self.of[veil[0]] if self.clues[n].veil == veil[1]]
        if not all(map(self._fits, concerned)) or self.rng.random() > likely:
            self.frame.veils ^= {veil}

    def _other_symbol(self, other: int) -> Six | None:
        """Draw a variation of the seat's symbol or, rarely, any symbol; return None if it is illegal or in use."""
        rng = self.rng
        dice = rng.random()
        if dice < 1 / 128:
            symbol: Any = draw_symbol(rng)
        else:
            runes: list[Any] = list(self.symbols[other])
            one = int(rng.random() * 6)
            two = (one + 1 + int(rng.random() * 5)) % 6
            if dice < 1 / 4:
                runes[one], runes[two] = runes[two], runes[one]
            else:
                # Most symbols stay legal if a rune keeps its group of one Order or swaps it with another.
                order = int(rng.random() * 2)
                ones, twos = list(GROUPS[runes[one]]), list(GROUPS[runes[two]])
                if dice < 5 / 8:
                    ones[1 - order] = rng.choice(_ORDERS[1 - order])
                else:
                    ones[order], twos[order] = twos[order], ones[order]
                    if dice < 7 / 8:
                        ones[1 - order] = rng.choice(_ORDERS[1 - order])
                        twos[1 - order] = rng.choice(_ORDERS[1 - order])
                    runes[two] = _OF_GROUPS[tuple(twos)]
                runes[one] = _OF_GROUPS[tuple(ones)]
            symbol = tuple(runes)
            if not _is_legal(symbol):
                return None
        return None if symbol in self.symbols else symbol

    def _pay(self) -> int:
        """Choose a condition for each round that explains its payment; return the number of rounds without one."""
        paid = self._payments()
        able: list[list[int]] = []
        for past in self.past:
            fitting = [each for each in BY_SYMBOLS if self._is_paid(past, self._would_pay(past, each, paid))]
            fitting += self._by_purses(past, self.own_pay[past.round])
            able.append([each for each in fitting if past.won in (None, each)])
        found = self._matched(able)
        self.frame.won = dict(zip((past.round for past in self.past), found, strict=False))
        return len(self.past) - len(found)

    def _by_purses(self, past: Past, paid_to_it: int) -> list[int]:
        """Return the conditions among 10, 11 and 12 that may have made this payment to the seat.

        Conditions 10 and 11 need distinct figures from 0 to the seat's own for the better ranks.
        """
        own = {LEAST_INSIGHT: past.purse.insight, LEAST_RECEIVED: self.received[past.round]}
        if not (payments := self._ranked(past, paid_to_it)):
            return []
        able = [each for each, mine in own.items() if conditions.BEST_RANK - paid_to_it <= mine]
        veiling = [other for other in self.others if self._may_veil(past, other)]
        is_able = self._paid_by_visions(past, payments, self._seen_kinds(past), veiling) is not None
        return [*able, FEWEST_VISIONS] if is_able else able

    def _matched(self, able: list[list[int]]) -> list[int]:
        """Assign a winning condition to each round from its list in `able`, up to the first round without one."""
        found: list[int] = []
        taken: tuple[int, ...] = ()
        for first in range(0, len(able), conditions.REFRESHED_AT):
            block = able[first : first + conditions.REFRESHED_AT]
            by_round: dict[int, int] = {}
            holder: dict[int, int] = {}

            def assign(n: int, seen: set[int]) -> bool:
                for each in self.rng.sample(block[n], len(block[n])):  # noqa: B023 - used in this block only
                    if each not in seen:
                        seen.add(each)
                        if each not in holder or assign(holder[each], seen):  # noqa: B023 - as above
                            holder[each], by_round[n] = n, each  # noqa: B023 - as above
                            return True
                return False

            for n in range(len(block)):
                if not assign(n, set()):
                    return found
            for n in range(len(block)):
                if self._votes(self.past[first + n], by_round[n], taken) is None:
                    return found
                found.append(by_round[n])
                taken = conditions.now_used(taken, by_round[n])
        return found

    @staticmethod
    def _would_pay(past: Past, condition: int, paid: dict[int, Five]) -> Five:
        return past.undiscovered if condition == FLAT_FOR_ALL else paid[condition]

    def _payments(self) -> dict[int, Five]:
        """Return the payments for these symbols without the bonus, indexed by condition, then by seat."""
        return {
            condition: found if condition in FLAT else ranked(found)
            for condition, found in all_figures(self.symbols).items()
        }

    def _is_paid(self, past: Past, paid: Five) -> bool:
        told = past.insight
        return (
            paid[self.seat] == self.own_pay[past.round]
            and all(paid[int(key)] + past.added == earned for key, earned in told.earned.items())
            and (not told.positions or are_in_order(paid, told.positions))
        )

    def _ranked(self, past: Past, paid_to_it: int) -> list[Five]:
        """Return all payments by ranks that agree with this payment to the seat and with the announced ones."""
        told = past.insight
        known = {int(key): earned - past.added for key, earned in told.earned.items()}
        targets = tuple(0 if seat == self.seat else known.get(seat, 0) for seat in range(SEATS))
        mine = frozenset({paid_to_it})
        return possible(Paid(targets, tuple(told.positions.items()), (), (), self.seat, mine), is_flat=False)

    def _votes(self, past: Past, condition: int, taken: tuple[int, ...]) -> dict[int, tuple[int, bool]] | None:
        """Return the others' votes with which the condition wins, or None if it cannot win."""
        key = past.round, condition, taken
        if key not in self.votes:
            self.votes[key] = None if condition in taken else self._new_votes(past, condition, taken)
        return self.votes[key]

    def _new_votes(self, past: Past, condition: int, taken: tuple[int, ...]) -> dict[int, tuple[int, bool]] | None:
        voters = [other for other in self.others if str(other) not in past.insight.positions]
        votes = dict.fromkeys(voters, (1, False))
        for buyer in (None, *voters):
            if buyer is not None:
                votes[buyer] = (4, True)
            cast_: dict[str, int] = {str(condition): sum(number for number, _ in votes.values())}
            others = PlayRound(votes={key: number for key, number in cast_.items() if number} or UNSET)
            if conditions.winner([past.action, others], taken) == condition:
                return votes
        return None

    def _fix_votes(self) -> None:
        taken: tuple[int, ...] = ()
        for past in self.past:
            won = self.frame.won[past.round]
            for other, votes in (self._votes(past, won, taken) or {}).items():
                self.frame.votes[past.round, other] = votes
            taken = conditions.now_used(taken, won)

    def _use_kinds(self) -> bool:
        """Draw the visions that the others used.

        Return False if they contradict the seat's being the only one to use a kind, or the payments for visions.
        """
        frame, rng = self.frame, self.rng
        for past in self.past:
            r = past.round
            kinds = self._seen_kinds(past)
            for kind in sorted(past.kinds - self.alone[r] - {"veil"}):
                if not any(kind in each for each in kinds.values()):
                    kinds[rng.choice([other for other in self.others if kind in self._unseen(past, other)])].add(
                        kind
                    )
            if any(kind in each for kind in self.alone[r] for each in kinds.values()):
                return False
            if frame.won[r] == FEWEST_VISIONS and not self._count_visions(past, kinds):
                return False
            for other in self.others:
                frame.kinds[r, other] = kinds[other]
                frame.parts[r, other] = self._part(past, other)
        return True

    def _seen_kinds(self, past: Past) -> dict[int, set[Kind]]:
        """Return the kinds of vision that the seat saw others use."""
        kinds: dict[int, set[Kind]] = {other: set() for other in self.others}
        for each in past.shown:
            kinds[each.seat].add("mirror" if each.position is None else "window")
        for mirrored in past.mirrored:
            if mirrored.kind in KINDS:
                kinds[mirrored.of].add(mirrored.kind)
        return kinds

    def _unseen(self, past: Past, other: int) -> list[Kind]:
        """Return the kinds of vision that another seat may have used unseen.

        If the seat mirrored it, its questions about all other seats would have been shown.
        """
        hidden: tuple[Kind, ...] = ABOUT_SOME if past.mirrors == other else ABOUT_ALL + ABOUT_SOME
        return [kind for kind in hidden if kind not in self.alone[past.round]]

    def _may_veil(self, past: Past, other: int) -> bool:
        """Return whether a veil of another seat may be added in a round without contradicting anything known."""
        key = other, past.round
        return "veil" not in self.alone[past.round] and key not in self.frame.fixed | self.frame.veils

    def _paid_by_visions(
        self, past: Past, payments: list[Five], kinds: dict[int, set[Kind]], veiling: Collection[int]
    ) -> tuple[Five, dict[int, int]] | None:
        """Return payments of condition 12 and the number of visions that each of the others used, or None.

        `kinds` has the kinds that each seat used at least; `veiling` has the seats for which a veil may be added.
        """
        least = {other: len(each) + ((other, past.round) in self.frame.veils) for other, each in kinds.items()}
        most = {
            other: least[other] + (other in veiling) + len(set(self._unseen(past, other)) - each)
            for other, each in kinds.items()
        }
        for paid in self.rng.sample(payments, len(payments)):
            levels = _levels(paid, self.seat, len(past.kinds), least, most)
            if levels is not None:
                return paid, levels
        return None

    def _count_visions(self, past: Past, kinds: dict[int, set[Kind]]) -> bool:
        """Add visions of the others so that condition 12 makes the observed payments; return False if none fit."""
        rng, r = self.rng, past.round
        veiling = [
            other for other in self.others if self._may_veil(past, other) and (other, r) not in self.veilable
        ]
        found = self._paid_by_visions(past, self._ranked(past, self.own_pay[r]), kinds, veiling)
        if found is None:
            return False
        self.frame.paid[r], levels = found
        for other in self.others:
            more = [kind for kind in self._unseen(past, other) if kind not in kinds[other]]
            more += ["veil"] * (other in veiling)
            chosen = set(rng.sample(more, levels[other] - len(kinds[other]) - ((other, r) in self.frame.veils)))
            kinds[other] |= chosen - {"veil"}
            self.frame.veils |= {(other, r)} if "veil" in chosen else set()
        self.frame.fixed |= {(other, r) for other in self.others}
        return True

    def _fill_purses(self) -> bool:
        """Draw the others' insight and received mantra so that conditions make the observed payments.

        Return False if that is impossible.
        """
        frame, rng = self.frame, self.rng
        insight = dict.fromkeys(self.others, FIRST_INSIGHT)
        received = dict.fromkeys(self.others, 0)
        paid_by_symbols = self._payments()
        for past in self.past:
            r, won = past.round, frame.won[past.round]
            for other in self.others:
                spent = sum(COST.get(kind, 0) for kind in frame.kinds[r, other]) + rng.choice((0, 1, 1, 2, 3, 4))
                insight[other] = max(0, insight[other] - spent)
            if won in (LEAST_INSIGHT, LEAST_RECEIVED):
                payments = self._ranked(past, self.own_pay[r])
                for paid in rng.sample(payments, len(payments)):
                    least = dict.fromkeys(self.others, 0) if won == LEAST_INSIGHT else received
                    mine = past.purse.insight if won == LEAST_INSIGHT else self.received[r]
                    levels = _levels(paid, self.seat, mine, least, dict.fromkeys(self.others, mine + SEATS))
                    if levels is not None:
                        frame.paid[r] = paid
                        (insight if won == LEAST_INSIGHT else received).update(levels)
                        break
                else:
                    return False
            for other in self.others:
                frame.purses[r, other] = insight[other], received[other]
                pays = frame.paid[r] if r in frame.paid else self._would_pay(past, won, paid_by_symbols)
                insight[other] += pays[other] + past.added
        frame.insight = insight
        return True

    def _find_finders(self) -> bool:
        frame, rng = self.frame, self.rng
        for past in self.past:
            right = self._right(past)
            mine = [each for each in past.discovered if self.symbols[each] in right]
            shared = set(rng.sample(mine, self.shared[past.round])) if len(mine) == len(right) else None
            if shared is None:
                return False
            for each in past.discovered:
                if each not in mine or each in shared:
                    frame.finders[past.round, each] = rng.choice([o for o in self.others if o != each])
        return True

    def _part(self, past: Past, other: int) -> Visions:  # noqa: C901 - one case a kind
        """Draw the visions of another seat, without those that a mirror showed to this seat."""
        rng = self.rng
        parts: dict[str, Any] = {}
        told = {each.kind for each in past.mirrored if each.of == other}
        # If the seat mirrored the other, its mirror would have shown a question about the seat.
        named = [each for each in OTHERS[other] if other != past.mirrors or each != self.seat]
        for each in past.shown:
            if each.seat == other and each.position is None:
                parts["mirror"] = Mirror(rune=each.rune, seat=rng.choice(OTHERS[other]))
            elif each.seat == other:
                parts["window"] = Through(position=cast("int", each.position), seat=rng.choice(OTHERS[other]))
        for kind in sorted(self.frame.kinds[past.round, other] - told - parts.keys()):
            name = "except_" if kind == "except" else kind
            match kind:
                case "assign":
                    parts[name] = dict(zip(map(str, OTHERS[other]), rng.sample(NAMES, 4), strict=True))
                case "divine":
                    parts[name] = rng.choice(DIVINE)
                case "mundane":
                    parts[name] = rng.choice(MUNDANE)
                case "pattern":
                    groups = tuple(rng.choices((*DIVINE, *MUNDANE), k=6))
                    parts[name] = Pattern(groups=groups, seats=(rng.choice(named),))
                case "place":
                    parts[name] = Place(order=rng.choice(("divine", "mundane")), position=rng.randrange(6))
                case "except":
                    parts[name] = Except(seat=rng.choice(named), runes=())
                case "veil" | "mirror" | "window":
                    pass
                case _ as unreachable:
                    assert_never(unreachable)
        return Visions(**parts)

    def draw(self, *, anew: bool) -> None:
        """Draw a seat's symbol uniformly from all that fit; with `anew`, draw the seat first."""
        search, rng = cast("Search", self.drawing), self.rng
        if anew and search.movable:
            self.at = rng.choice(search.movable)
            search.symbols, search.values = self.symbols, self.values
            search.veils, search.fixed = self.frame.veils, set(search.veiled)
            search.won = [self.frame.won[past.round] for past in self.past]
            self.fitting = search.fitting(self.at)
            self.checked: dict[Six, bool] = {}
        if not self.fitting:
            return
        pool = search.known[self.at].candidates.pool
        for _ in range(SAME_SEAT):
            symbol = pool.symbol(any_of(self.fitting, rng))
            was, self.symbols[self.at] = self.symbols[self.at], symbol
            if symbol not in self.checked:
                self.checked[symbol] = len(set(self.symbols)) == SEATS and self._still_pays()
            if self.checked[symbol]:
                for n in self.of[self.at]:
                    self.values[n][self.at] = self.clues[n].feature(symbol)
                return
            self.symbols[self.at] = was

    def step(self, times: int) -> None:
        """Take `times` steps of the walk."""
        if not self.clues and not self.past:
            for other in self.others:
                self.symbols[other] = draw_symbol(self.rng)
            return
        for _ in range(times):
            if self.veilable and self.rng.random() < 1 / 16:
                self._toggle_veil()
            other = self.rng.choice(self.movable)
            symbol = self._other_symbol(other)
            if symbol is not None:
                self._move(other, symbol)

    def _move(self, other: int, symbol: Six) -> None:
        """Replace the seat's symbol if all clues hold and all payments stay the same with the new one."""
        before: list[tuple[int, Any]] = []
        for n in self.of[other]:
            values = self.values[n]
            before.append((n, values[other]))
            values[other] = self.clues[n].feature(symbol)
            if not self._fits(n):
                break
        else:
            was, self.symbols[other] = self.symbols[other], symbol
            if self._still_pays():
                return
            self.symbols[other] = was
        for n, value in before:
            self.values[n][other] = value

    def _still_pays(self) -> bool:
        by_symbols = [past for past in self.past if self.frame.won[past.round] in BY_SYMBOLS]
        if not by_symbols:
            return True
        paid = self._payments()
        return all(
            self._is_paid(past, self._would_pay(past, self.frame.won[past.round], paid)) for past in by_symbols
        )


@lru_cache(maxsize=100_000)
def _is_legal(symbol: Six) -> bool:
    divine, mundane = zip(*map(GROUPS.__getitem__, symbol), strict=True)
    # The check that fails most often is first, for speed.
    return (len(set(divine)) == len(symbol) or len(set(mundane)) == len(symbol)) and fault(symbol) is None


_ORDERS = (DIVINE, MUNDANE)
_OF_GROUPS: dict[Any, Any] = {groups: rune for rune, groups in GROUPS.items()}


def _levels(
    paid: Five, seat: int, mine: int, least: dict[int, int], most: dict[int, int]
) -> dict[int, int] | None:
    """Return figures of the other seats (lower is better) with which these payments are made, or None.

    `mine` is the figure of `seat`; `least` and `most` bound the figures of the others.
    """
    found: dict[int, int] = {}
    value = mine
    for rank in range(paid[seat] + 1, conditions.BEST_RANK + 1):
        value = min(value - 1, *(most[other] for other in most if paid[other] == rank))
        found[rank] = value
    value = mine
    for rank in range(paid[seat] - 1, 0, -1):
        value = max(value + 1, *(least[other] for other in least if paid[other] == rank), 0)
        found[rank] = value
    found[paid[seat]] = mine
    levels = {other: found[paid[other]] for other in least}
    fits = all(max(0, least[other]) <= level <= most[other] for other, level in levels.items())
    return levels if fits else None


def _state(view: RunesView, seat: int, rng: Random, options: RunesOptions, walk: Walk) -> RunesState:
    """Return the world at the present position of a walk."""
    frame, symbols = walk.frame, tuple(walk.symbols)
    submitted, invalid = _submitted(view, seat, rng, symbols)
    history: dict[int, list[Played]] = {other: [] for other in walk.others}
    guessed: dict[int, tuple[Six, ...]] = dict.fromkeys(walk.others, ())
    public: list[Played] = []
    for past in walk.past:
        public.append(past.public)
        actions = {other: _action(walk, past, other, rng) for other in walk.others}
        actions[seat] = past.action
        veiled = frozenset(each for each, action in actions.items() if action.visions and action.visions.veil)
        for other in walk.others:
            history[other].append(_played(walk, past, other, actions, veiled, rng))
            guessed[other] += actions[other].guesses
    taken: tuple[int, ...] = ()
    for past in walk.past:
        taken = conditions.now_used(taken, frame.won[past.round])
    own = _own_standing(view, seat, walk)
    standings = [
        own
        if each == seat
        else Standing(
            insight=frame.insight[each] if walk.past else FIRST_INSIGHT,
            received=frame.purses[walk.past[-1].round, each][1] if walk.past else 0,
            veils=sum(other == each for other, _ in frame.veils),
            windowed=any(
                shown.seat == each and shown.position is not None for p in walk.past for shown in p.shown
            ),
            abstained=bool(walk.past) and str(each) in walk.past[-1].insight.positions,
            discovered=view.discovered.get(str(each)),
            guesses=guessed[each],
            history=tuple(history[each]),
        )
        for each in range(SEATS)
    ]
    nearest = _nearest(walk)
    return RunesState(
        options=options,
        round=view.round,
        attempt=view.attempt,
        invalid=invalid,
        standings=tuple(
            replace(standing, symbol=symbols[each], submitted=submitted[each], nearest=nearest[each])
            for each, standing in enumerate(standings)
        ),
        conditions=tuple(frame.won[past.round] for past in walk.past),
        used=taken,
        history=tuple(public),
    )


def _own_standing(view: RunesView, seat: int, walk: Walk) -> Standing:
    """Return the seat's own standing, from its view."""
    last = walk.past[-1].action if walk.past else PlayRound()
    return Standing(
        insight=cast("int", view.insight),
        mantra=cast("int", view.mantra),
        received=walk.received[walk.past[-1].round] if walk.past else 0,
        veils=cast("int", view.veil_cost) - 1,
        bought=cast("int", view.guess_cost) - 1,
        windowed=any(past.action.visions and past.action.visions.window for past in walk.past),
        abstained=last.abstain,
        lit=last.light,
        discovered=view.discovered.get(str(seat)),
        guesses=tuple(guess for past in walk.past for guess in past.action.guesses),
        history=view.history,
    )


def _action(walk: Walk, past: Past, other: int, rng: Random) -> PlayRound:
    """Return the action of another seat in a round."""
    frame, r = walk.frame, past.round
    visions = frame.parts[r, other]
    if (other, r) in frame.veils:
        visions = replace(visions, veil=True)
    learned: list[Learned] = []
    for mirrored in past.mirrored:
        if mirrored.of == other:
            question = _question(mirrored, walk, rng)
            if mirrored.kind in KINDS:
                name = "except_" if mirrored.kind == "except" else mirrored.kind
                visions = replace(visions, **{name: question})
            else:
                learned.append(Learned(**{mirrored.kind: question}))
    found = tuple(walk.symbols[each] for each in past.discovered if frame.finders.get((r, each)) == other)
    number, more = frame.votes.get((r, other), (0, False))
    return PlayRound(
        votes={str(frame.won[r]): number} if number else UNSET,
        more_votes=more,
        abstain=str(other) in past.insight.positions,
        visions=UNSET if visions == NO_VISIONS else visions,
        learned=tuple(learned),
        guesses=found,
    )


def _question(mirrored: Mirrored, walk: Walk, rng: Random) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case a kind
    """Draw a question of another seat that has the answer which a mirror showed to this seat."""
    seat, answer = walk.seat, cast("Any", mirrored.answer)
    symbol = walk.symbols[mirrored.of]
    absent = [rune for rune in NAMES if rune not in symbol]
    rune = rng.choice(symbol) if answer else rng.choice(absent)
    match mirrored.kind:
        case "assign":
            rest = rng.sample([each for each in NAMES if each != rune], len(OTHERS) - 2)
            others = [each for each in OTHERS[mirrored.of] if each != seat]
            runes = {seat: rune, **dict(zip(others, rest, strict=True))}
            return {str(each): runes[each] for each in sorted(runes)}
        case "divine" | "mundane":
            groups = DIVINE if mirrored.kind == "divine" else MUNDANE
            return rng.choice([group for group in groups if (runes_of(symbol, group) > 0) == answer])
        case "pattern":
            every = (*DIVINE, *MUNDANE)
            return Pattern(
                groups=tuple(
                    rng.choice([group for group in every if (group in GROUPS[there]) == there_is])
                    for there, there_is in zip(symbol, answer, strict=True)
                ),
                seats=(seat,),
            )
        case "place":
            order: Any = "divine" if answer[0] in DIVINE else "mundane"
            return Place(
                order=order,
                position=rng.choice(
                    [n for n, there in enumerate(symbol) if GROUPS[there][ORDER[order]] == answer[0]]
                ),
            )
        case "except":
            return Except(seat=seat, runes=())
        case "rune":
            return rune
        case "count":
            every = (*DIVINE, *MUNDANE)
            group = rng.choice([group for group in every if runes_of(symbol, group) == answer])
            return Count(seat=seat, group=group, number=rng.randrange(7))
        case "has":
            return Has(seat=seat, rune=rune)
        case "line":
            lines = [Line(rune=each, row=row) for each in (symbol if answer else (rune,)) for row in (0, 1)]
            return rng.choice([line for line in lines if stands_on(symbol, line) == bool(answer)])
        case "shared":
            third = rng.choice([each for each in OTHERS[mirrored.of] if each != seat])
            return min(seat, third), max(seat, third)
        case "most":
            most = answer or 0
            more = rng.randint(most == 0, 6 - most)
            return tuple(sorted((*rng.sample(symbol, most), *rng.sample(absent, more))))
        case "veil" | "mirror" | "window":
            raise AssertionError("it has no answer that a mirror could show")
        case _ as unreachable:
            assert_never(unreachable)


def _played(  # noqa: PLR0917 - everything that makes up a round
    walk: Walk, past: Past, other: int, actions: dict[int, PlayRound], veiled: frozenset[int], rng: Random
) -> Played:
    """Return a round as another seat saw it."""
    frame, r = walk.frame, past.round
    key = r, other
    if key in frame.played:
        return frame.played[key]
    symbols, action = tuple(walk.symbols), actions[other]
    visions = NO_VISIONS if action.visions is UNSET else action.visions
    told: list[Any] = [each for each in past.public.told if isinstance(each, Revealed)]
    if visions != NO_VISIONS:
        told += answers(other, visions, tables(symbols), veiled, lambda: rng)
    for index, learned in enumerate(action.learned):
        answer, mantra = learn(learned, other, tables(symbols))
        told.append(LearnedAnswer(index=index, answer=answer, mantra=mantra))
    if visions.mirror is not UNSET:
        of = visions.mirror.seat
        told += reflected(other, of, actions[of], symbols, lambda: rng)
    exact, moved, group = RIGHT
    told += [GuessAnswer(index=n, exact=exact, moved=moved, group=group) for n in range(len(action.guesses))]
    told += [each for each in past.public.told if isinstance(each, Discovered)]
    told += (Purse(insight=frame.purses[key][0], mantra=0), past.insight)
    played = Played(round=r, action=action, told=tuple(told))
    if visions == NO_VISIONS and not action.guesses and not action.learned and (other, r) not in walk.veilable:
        frame.played[key] = played
    return played


_near = lru_cache(maxsize=100_000)(near)


def _nearest(walk: Walk) -> list[tuple[Near, ...]]:
    """Return the best of each figure in compared guesses, indexed by seat, then by guesser."""
    found = [[NOWHERE] * SEATS for _ in range(SEATS)]
    for past in walk.past:
        gone = {int(key) for key, at in walk.view.discovered.items() if at < past.round}
        for guess in past.action.guesses:
            for other in walk.others:
                if other not in gone:
                    found[other][walk.seat] = best(found[other][walk.seat], _near(guess, walk.symbols[other]))
        for each in past.discovered:
            finder = walk.frame.finders.get((past.round, each))
            if finder is not None:
                found[each][finder] = best(found[each][finder], RIGHT)
    return [tuple(each) for each in found]
