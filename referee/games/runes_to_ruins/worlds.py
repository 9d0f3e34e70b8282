"""Worlds of Runes to Ruins: states of the match that agree with the answers that one seat knows.

- The search (`search`) finds symbols of the others with which all clues (`clues`) hold: answers to the seat's
  questions and guesses, what its mirrors showed, revealed runes and discoveries. If it fails, it raises an error.
- If all candidates of all seats are known, one seat's symbol at a time is drawn uniformly from those that fit.
  Otherwise symbols come from a random walk over those that fit, so successive worlds are similar.
- A frame is drawn from time to time. It has the condition that won each vote, the purses of the others, and the
  finders of symbols. Within a frame the others do only what was observed of them, and all vote for the condition
  that won. They never use Light.
- Payments are left out. The symbols of a world need not earn what the rounds paid, and what the seat gained for
  kinds of vision that only it used says nothing about the visions of the others. Purses of the others follow the
  announced payments, less a drawn spending.

In round 1 the others submit drawn symbols, and two seats submit the same one in each attempt that failed.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from random import Random
from typing import Any, Literal, assert_never, cast

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
from referee.games.runes_to_ruins.clues import clues
from referee.games.runes_to_ruins.guesses import NOWHERE, RIGHT, best, near
from referee.games.runes_to_ruins.pools import any_of
from referee.games.runes_to_ruins.search import SymbolSearch
from referee.games.runes_to_ruins.state import FIRST_INSIGHT, OTHERS, SEATS, Near, RunesSeatState, RunesState
from referee.games.runes_to_ruins.symbols import GROUPS, ORDER, draw_symbol, fault, runes_of, stands_on, tables
from referee.games.runes_to_ruins.visions import KINDS, NO_VISIONS, answers, learn, reflected

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
TRIES = 200
"""Number of walks that may fail to start in succession before an error is raised."""
VEILED = 1 / 8
"""Assumed probability that another seat veils in a round in which that matters."""
SPENDING = (0, 1, 1, 2, 3, 4)
"""Insight that another seat is assumed to spend in a round; each is equally likely."""


class Past(Struct, frozen=True, kw_only=True):
    """A finished round as the seat knows it."""

    action: PlayRound
    public: Played
    """The round with the events that all seats received, and no action."""
    insight: Insight
    won: int | None
    """The condition that won, or None if the seat does not know it."""
    shown: tuple[Revealed, ...]
    mirrored: tuple[Mirrored, ...]
    discovered: tuple[int, ...]
    right: tuple[Six, ...]
    """The seat's guesses that were symbols."""

    @property
    def round(self) -> int:
        """Number of the round."""
        return self.public.round


class FixedPart(Struct, kw_only=True):
    """The part of a world that does not change with each step of a walk, apart from veils."""

    won: list[int] = []
    """Condition that won each round."""
    votes: list[dict[int, tuple[int, bool]]] = []
    """Number of votes for the winning condition, and whether votes were bought; indexed by round, then by seat."""
    finders: dict[tuple[int, int], int] = {}
    """Another seat that found the symbol, indexed by round and discovered seat."""
    parts: dict[tuple[int, int], Visions] = {}
    """Visions of the others without those that a mirror showed to the seat; indexed by round and seat."""
    purses: dict[tuple[int, int], int] = {}
    """Insight of the others after the round was settled, indexed by round and seat."""
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
    past = [_past(played, seat) for played in view.history]
    search = SymbolSearch(tuple(clues(view, seat)), rng)
    fails = 0
    while True:
        walk = SymbolWalk(view, seat, rng, past, search)
        if not walk.begin():
            fails += 1
            if fails > TRIES:
                raise ValueError("no world was found that fits what this seat was told")
            continue
        fails = 0
        for number in range(ANEW):
            if walk.is_drawing:
                walk.draw(anew=number % SAME_SEAT == 0)
            else:
                walk.step(APART)
            if number % REFRAMED == REFRAMED - 1:
                walk.reframe()
            yield _state(view, seat, rng, options, walk)


def _opening(view: RunesView, seat: int, rng: Random, options: RunesOptions) -> RunesState:
    submitted, invalid = _submitted(view, seat, rng, [])
    return RunesState(
        options=options,
        attempt=view.attempt,
        invalid=invalid,
        standings=tuple(RunesSeatState(submitted=each) for each in submitted),
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


def _past(played: Played, seat: int) -> Past:
    """Return a finished round.

    Raises:
        ValueError: the match is over.
    """
    action, told = played.action or PlayRound(), played.told
    insight, won = None, None
    discovered: tuple[int, ...] = ()
    shown, mirrored, right, public = [], [], [], []
    for event in told:
        if isinstance(event, Revealed | Discovered | Insight):
            public.append(event)
        if isinstance(event, Insight):
            insight = event
        elif isinstance(event, ConditionWon):
            won = event.condition
        elif isinstance(event, Discovered):
            discovered = event.seats
        elif isinstance(event, Revealed) and event.seat != seat:
            shown.append(event)
        elif isinstance(event, Mirrored):
            mirrored.append(event)
        elif isinstance(event, GuessAnswer) and event.exact == RIGHT[0]:
            right.append(action.guesses[event.index])
    if insight is None:
        raise ValueError("the match is over: nothing is hidden")
    return Past(
        action=action,
        public=Played(round=played.round, action=None, told=tuple(public)),
        insight=insight,
        won=won,
        shown=tuple(shown),
        mirrored=tuple(mirrored),
        discovered=discovered,
        right=tuple(dict.fromkeys(right)),
    )


class SymbolWalk:
    """A random walk over the others' symbols, in one frame at a time."""

    def __init__(self, view: RunesView, seat: int, rng: Random, past: list[Past], search: SymbolSearch) -> None:
        self.view, self.seat, self.rng, self.past, self.search = view, seat, rng, past, search
        self.clues = search.clues
        self.others = self.movable = OTHERS[seat]
        self.veilable = sorted(search.veiled)
        self.veils: set[tuple[int, int]] = set()
        """Pairs of seat and round in which the seat veiled."""
        self.frame = FixedPart()
        self.symbols: list[Six] = []
        self.values: list[dict[int, Any]] = []
        """Features of the symbols, indexed by clue, then by seat."""
        self.is_drawing = False
        """True if symbols are drawn from candidates, because all of them are known."""
        self.fitting = 0
        """Candidates that fit for the seat whose symbol is drawn, if the other symbols do not change."""

    def begin(self) -> bool:
        """Find symbols with which all clues hold, and a frame for them; return False if that fails."""
        search, own = self.search, cast("Six", self.view.symbol)
        if self.clues:
            known = {self.seat: own, **self._right_guesses()}
            self.movable = tuple(other for other in self.others if other not in known) or self.others
            if not search.run(known):
                return False
            self.symbols, self.values = search.symbols, search.values
            self.veils = search.found_veils()
            self.is_drawing = all(left.is_whole for left in search.known)
        else:
            self.symbols = [own] * SEATS
        return any(self.reframe() for _ in range(FRAMES))

    def _right_guesses(self) -> dict[int, Six]:
        """Assign each symbol that the seat guessed right to a seat that was discovered in that round."""
        known: dict[int, Six] = {}
        for past in self.past:
            for symbol in sorted(past.right):
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
        frame, rng = FixedPart(), self.rng
        insight = dict.fromkeys(self.others, FIRST_INSIGHT)
        taken: tuple[int, ...] = ()
        for n, past in enumerate(self.past):
            r = past.round
            votes = self._votes(n, taken)
            if votes is None:
                return False
            won, by_seat = votes
            frame.won.append(won)
            frame.votes.append(by_seat)
            taken = conditions.now_used(taken, won)
            for each in past.discovered:
                if self.symbols[each] not in past.right:
                    frame.finders[r, each] = rng.choice([other for other in self.others if other != each])
            for other in self.others:
                frame.parts[r, other] = self._part(past, other)
                frame.purses[r, other] = max(0, insight[other] - rng.choice(SPENDING))
                insight[other] = frame.purses[r, other] + _earned(past.insight, other)
        frame.insight = insight
        self.frame = frame
        return True

    def _votes(self, n: int, taken: tuple[int, ...]) -> tuple[int, dict[int, tuple[int, bool]]] | None:
        """Draw the condition that won a round, with the others' votes for it; return None if none can have won."""
        past = self.past[n]
        able = (
            self.rng.sample(conditions.CONDITIONS, len(conditions.CONDITIONS)) if past.won is None else [past.won]
        )
        # A condition that is known to win a later round of the block did not win this one.
        block_end = n - n % conditions.REFRESHED_AT + conditions.REFRESHED_AT
        later = {each.won for each in self.past[n + 1 : block_end]}
        for condition in able:
            if condition not in taken and condition not in later:
                votes = self._new_votes(past, condition, taken)
                if votes is not None:
                    return condition, votes
        return None

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

    def _part(self, past: Past, other: int) -> Visions:
        """Draw the visions for which another seat revealed runes."""
        parts: dict[str, Any] = {}
        for each in past.shown:
            if each.seat == other:
                of = self.rng.choice(OTHERS[other])
                if each.position is None:
                    parts["mirror"] = Mirror(rune=each.rune, seat=of)
                else:
                    parts["window"] = Through(position=each.position, seat=of)
        return Visions(**parts)

    def draw(self, *, anew: bool) -> None:
        """Draw a seat's symbol uniformly from all that fit; with `anew`, draw the seat first."""
        search = self.search
        if anew and search.movable:
            self.at = self.rng.choice(search.movable)
            self.fitting = search.fitting(self.at, self.veils)
        if not self.fitting:
            return
        pool = search.known[self.at].pool
        for _ in range(SAME_SEAT):
            symbol = pool.symbol(any_of(self.fitting, self.rng))
            if symbol == self.symbols[self.at] or symbol not in self.symbols:
                self.symbols[self.at] = symbol
                for n, clue in search.of[self.at].items():
                    self.values[n][self.at] = clue.feature(symbol)
                return

    def step(self, times: int) -> None:
        """Take `times` steps of the walk."""
        if not self.clues:
            for other in self.others:
                self.symbols[other] = draw_symbol(self.rng, without=self.symbols)
            return
        for _ in range(times):
            if self.veilable and self.rng.random() < 1 / 16:
                self._toggle_veil()
            other = self.rng.choice(self.movable)
            symbol = self._other_symbol(other)
            if symbol is not None:
                self._move(other, symbol)

    def _move(self, other: int, symbol: Six) -> None:
        """Replace the seat's symbol if all clues hold with the new one."""
        before: list[tuple[int, Any]] = []
        for n, clue in self.search.of[other].items():
            values = self.values[n]
            before.append((n, values[other]))
            values[other] = clue.feature(symbol)
            if not self._fits(n):
                for at, value in before:
                    self.values[at][other] = value
                return
        self.symbols[other] = symbol

    def _fits(self, number: int) -> bool:
        clue, values = self.clues[number], self.values[number]
        if clue.veil is not None:
            other = clue.seats[0]
            return clue.fits((values[other] != ((other, clue.veil) in self.veils),))
        return clue.fits([values[each] for each in clue.seats])

    def _toggle_veil(self) -> None:
        veil = self.rng.choice(self.veilable)
        self.veils ^= {veil}
        likely = VEILED / (1 - VEILED) if veil in self.veils else (1 - VEILED) / VEILED
        if not all(map(self._fits, self.search.veiled[veil])) or self.rng.random() > likely:
            self.veils ^= {veil}

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


@lru_cache(maxsize=100_000)
def _is_legal(symbol: Six) -> bool:
    divine, mundane = zip(*map(GROUPS.__getitem__, symbol), strict=True)
    # The check that fails most often is first, for speed.
    return (len(set(divine)) == len(symbol) or len(set(mundane)) == len(symbol)) and fault(symbol) is None


_ORDERS = (DIVINE, MUNDANE)
_OF_GROUPS: dict[Any, Any] = {groups: rune for rune, groups in GROUPS.items()}


def _earned(insight: Insight, seat: int) -> int:
    """Return what a round paid to the seat; a seat that abstained is taken to have earned by its position."""
    if str(seat) in insight.earned:
        return insight.earned[str(seat)]
    return conditions.BEST_RANK + 1 - insight.positions[str(seat)] + (insight.round - 2) // 3


def _state(view: RunesView, seat: int, rng: Random, options: RunesOptions, walk: SymbolWalk) -> RunesState:
    """Return the world at the present position of a walk."""
    frame, symbols = walk.frame, tuple(walk.symbols)
    submitted, invalid = _submitted(view, seat, rng, symbols)
    history: dict[int, list[Played]] = {other: [] for other in walk.others}
    guessed: dict[int, tuple[Six, ...]] = dict.fromkeys(walk.others, ())
    windowed: set[int] = set()
    taken: tuple[int, ...] = ()
    for n, past in enumerate(walk.past):
        actions = {other: _action(walk, n, other, rng) for other in walk.others}
        actions[seat] = past.action
        veiled = frozenset(each for each, action in actions.items() if action.visions and action.visions.veil)
        for other in walk.others:
            history[other].append(_played(walk, past, other, actions, veiled, rng))
            guessed[other] += actions[other].guesses
        windowed.update(shown.seat for shown in past.shown if shown.position is not None)
        taken = conditions.now_used(taken, frame.won[n])
    nearest = _nearest(walk)
    standings = [_own_standing(view, seat, walk)] * SEATS
    for other in walk.others:
        standings[other] = RunesSeatState(
            insight=frame.insight[other],
            veils=[by for by, _ in walk.veils].count(other),
            windowed=other in windowed,
            abstained=bool(walk.past) and str(other) in walk.past[-1].insight.positions,
            discovered=view.discovered.get(str(other)),
            guesses=guessed[other],
            history=tuple(history[other]),
        )
    for each, standing in enumerate(standings):
        standings[each] = replace(standing, symbol=symbols[each], submitted=submitted[each], nearest=nearest[each])
    return RunesState(
        options=options,
        round=view.round,
        attempt=view.attempt,
        invalid=invalid,
        standings=tuple(standings),
        conditions=tuple(frame.won),
        used=taken,
        history=tuple(past.public for past in walk.past),
    )


def _own_standing(view: RunesView, seat: int, walk: SymbolWalk) -> RunesSeatState:
    """Return the seat's own standing, from its view."""
    last = walk.past[-1].action if walk.past else PlayRound()
    brought = 0
    guesses: list[Six] = []
    for played, past in zip(view.history, walk.past, strict=True):
        brought += sum(each.mantra for each in played.told if isinstance(each, LearnedAnswer))
        guesses += past.action.guesses
    return RunesSeatState(
        insight=cast("int", view.insight),
        mantra=cast("int", view.mantra),
        received=brought,
        veils=cast("int", view.veil_cost) - 1,
        bought=cast("int", view.guess_cost) - 1,
        windowed=any(past.action.visions and past.action.visions.window for past in walk.past),
        abstained=last.abstain,
        lit=last.light,
        discovered=view.discovered.get(str(seat)),
        guesses=tuple(guesses),
        history=view.history,
    )


def _action(walk: SymbolWalk, n: int, other: int, rng: Random) -> PlayRound:
    """Return the action of another seat in the finished round with index `n`."""
    frame, past = walk.frame, walk.past[n]
    r = past.round
    visions = frame.parts[r, other]
    if (other, r) in walk.veils:
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
    number, more = frame.votes[n].get(other, (0, False))
    return PlayRound(
        votes={str(frame.won[n]): number} if number else UNSET,
        more_votes=more,
        abstain=str(other) in past.insight.positions,
        visions=UNSET if visions == NO_VISIONS else visions,
        learned=tuple(learned),
        guesses=found,
    )


def _question(mirrored: Mirrored, walk: SymbolWalk, rng: Random) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case a kind
    """Draw a question of another seat that has the answer which a mirror showed to this seat."""
    seat, answer = walk.seat, cast("Any", mirrored.answer)
    symbol = walk.symbols[mirrored.of]
    absent = [rune for rune in NAMES if rune not in symbol]
    every = (*DIVINE, *MUNDANE)
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
            found: list[Any] = []
            for there, is_right in zip(symbol, answer, strict=True):
                found.append(rng.choice([group for group in every if (group in GROUPS[there]) == is_right]))
            return Pattern(groups=tuple(found), seats=(seat,))
        case "place":
            order: Any = "divine" if answer[0] in DIVINE else "mundane"
            able = [n for n, there in enumerate(symbol) if GROUPS[there][ORDER[order]] == answer[0]]
            return Place(order=order, position=rng.choice(able))
        case "except":
            return Except(seat=seat, runes=())
        case "rune":
            return rune
        case "count":
            group = rng.choice([group for group in every if runes_of(symbol, group) == answer])
            return Count(seat=seat, group=group, number=rng.randrange(7))
        case "has":
            return Has(seat=seat, rune=rune)
        case "line":
            rows: tuple[Literal[0, 1], ...] = (0, 1)
            lines = [Line(rune=each, row=row) for each, row in product(symbol if answer else (rune,), rows)]
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
    walk: SymbolWalk, past: Past, other: int, actions: dict[int, PlayRound], veiled: frozenset[int], rng: Random
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
    told += (Purse(insight=frame.purses[key], mantra=0), past.insight)
    played = Played(round=r, action=action, told=tuple(told))
    if visions == NO_VISIONS and not action.guesses and not action.learned and (other, r) not in walk.veilable:
        frame.played[key] = played
    return played


_near = lru_cache(maxsize=100_000)(near)


def _nearest(walk: SymbolWalk) -> list[tuple[Near, ...]]:
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
