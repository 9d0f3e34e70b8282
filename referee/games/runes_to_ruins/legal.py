"""Legal actions of Runes to Ruins, built choice by choice from what a seat sees. None are listed.

`symbol`: a rune for each position, 0 first. The masks hold only runes with which some legal symbol goes on. A view
does not say which symbols have become invalid (nobody is told): one of them can be built, and is rejected then.

`round`: parts in any order, then `stop`. No mask holds a part that is forbidden or costs too much. The parts:

- `vote`: a condition gets one vote more; `more votes`, `told`, `abstain`, `light`: no more choices.
- `dark`: a seat.
- `see`: a kind of vision, then what it needs: `assign` a rune for each other seat, `divine` and `mundane` a group,
  `pattern` six groups, how many seats, and these, `place` an Order and a position, `except` a seat, how many
  runes, and these, `mirror` a rune and a seat, `window` a position and a seat.
- `believe`: a kind of learned insight, then what it needs: `rune` a rune, `count` a seat, a group and a number,
  `has` a seat and a rune, `line` a rune and a row or column, `shared` two seats, `most` how many runes, and these.
- `guess`: six runes, position 0 first.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import chain, compress
from operator import or_
from typing import Any, cast

from msgspec import UNSET

from protocol.games.runes_to_ruins import (
    ChooseSymbol,
    Count,
    Except,
    Has,
    Kind,
    Learned,
    LearnedKind,
    Line,
    Mirror,
    Order,
    Pattern,
    Place,
    PlayRound,
    RunesView,
    Six,
    Through,
    Visions,
)
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from protocol.words import Action
from referee.games.runes_to_ruins.checking import (
    LEARNED_A_ROUND,
    MOST_EXCEPTED,
    MOST_NAMED,
    MOST_OF_A_KIND,
    ONE_VOTE,
    VOTES_WITH_MORE,
)
from referee.games.runes_to_ruins.conditions import CONDITIONS
from referee.games.runes_to_ruins.state import OTHERS, SEATS
from referee.games.runes_to_ruins.symbols import COLUMNS, GROUPS, MOST_ALIKE, TOUCHED, fault
from referee.games.runes_to_ruins.visions import COST, KINDS, LEARNED_KINDS, NO_VISIONS, kinds, used
from referee.rules import Building, choice_mask

POSITIONS = range(6)
ROWS = range(2)
ORDERS: tuple[Order, ...] = ("divine", "mundane")
PARTS = ("stop", "vote", "more votes", "told", "abstain", "light", "dark", "see", "believe", "guess")
STOP, VOTE, MORE_VOTES, TOLD, ABSTAIN, LIGHT, DARK, SEE, BELIEVE, GUESS = range(len(PARTS))
KIND = len(PARTS)
LEARNED_KIND = KIND + len(KINDS)
CONDITION = LEARNED_KIND + len(LEARNED_KINDS)
RUNE = CONDITION + len(CONDITIONS)
GROUP = RUNE + len(NAMES)
SEAT = GROUP + len(DIVINE) + len(MUNDANE)
POSITION = SEAT + SEATS
ORDER = POSITION + len(POSITIONS)
ROW = ORDER + len(ORDERS)
COLUMN = ROW + len(ROWS)
NUMBER = COLUMN + COLUMNS
"""Number of the first choice of each kind."""
CHOICES = (
    *PARTS,
    *(f"see: {kind}" for kind in KINDS),
    *(f"believe: {kind}" for kind in LEARNED_KINDS),
    *(f"condition {condition}" for condition in CONDITIONS),
    *NAMES,
    *DIVINE,
    *MUNDANE,
    *(f"seat {seat}" for seat in range(SEATS)),
    *(f"position {position}" for position in POSITIONS),
    *ORDERS,
    *(f"row {row}" for row in ROWS),
    *(f"column {column}" for column in range(COLUMNS)),
    *(f"number {number}" for number in range(7)),
)
ALL_RUNES = ((1 << len(NAMES)) - 1) << RUNE
GROUP_NAMES = (*DIVINE, *MUNDANE)
NUMBER_OF: dict[str, int] = {name: number for number, name in enumerate((*NAMES, *GROUP_NAMES), RUNE)}
"""The choice that names each rune and each group."""


def build(view: RunesView, seat: int) -> Building:
    """See `Game.build`."""
    return _symbol() if view.round == 1 else _round(view, seat)


def spell(action: Action) -> Sequence[int]:
    """See `Game.spell`."""
    if isinstance(action, ChooseSymbol):
        return list(map(NUMBER_OF.__getitem__, action.symbol))
    return [*_spelled_round(cast("PlayRound", action)), STOP]


def _symbol() -> Building:
    taken: tuple[int, ...] = ()
    while len(taken) < len(POSITIONS):
        taken += ((yield _goes_on(taken) << RUNE) - RUNE,)
    return ChooseSymbol(symbol=_six(taken))


def _six(runes: Iterable[int]) -> Six:
    return cast("Six", tuple(map(NAMES.__getitem__, runes)))


@lru_cache(maxsize=4096)
def _goes_on(taken: tuple[int, ...]) -> int:
    """Return the mask of runes that may come next in a symbol with this beginning."""
    return choice_mask(rune for rune in range(len(NAMES)) if rune not in taken and _is_begun((*taken, rune)))


def _is_begun(runes: tuple[int, ...]) -> bool:
    """Return whether a legal symbol begins with these runes, found by trying."""
    if len(runes) == len(POSITIONS):
        return fault(_six(runes)) is None
    groups = [GROUPS[NAMES[rune]] for rune in runes]
    divine, mundane = zip(*groups, strict=True)
    for unlike, other in ((divine, mundane), (mundane, divine)):
        if len(set(unlike)) == len(unlike) and max(map(other.count, other)) <= MOST_ALIKE:
            break
    else:
        return False
    if _is_cut_off(runes):
        return False
    # Runes that have no group in common with those before are tried first: they fit soonest.
    present = set(divine + mundane)
    rest = [rune for rune in range(len(NAMES)) if rune not in runes]
    rest.sort(key=lambda rune: not present.isdisjoint(GROUPS[NAMES[rune]]))
    return any(_is_begun((*runes, rune)) for rune in rest)


def _is_cut_off(runes: tuple[int, ...]) -> bool:
    """Return whether the runes so far cannot hang together any more, with any others after them."""
    free = reduce(or_, map(_reach, POSITIONS[len(runes) :]))
    parts: list[int] = []
    for position, rune in enumerate(runes):
        joined, apart = TOUCHED[position][NAMES[rune]], []
        for part in parts:
            if part & TOUCHED[position][NAMES[rune]]:
                joined |= part
            else:
                apart.append(part)
        parts = [*apart, joined]
    return not all(map(free.__and__, parts))


@lru_cache(maxsize=6)
def _reach(position: int) -> int:
    """All points that some rune touches there."""
    return reduce(or_, TOUCHED[position].values())


class ActionDraft:
    """A round's action under construction."""

    def __init__(self, view: RunesView, seat: int) -> None:
        self.view = view
        self.seat = seat
        self.symbol = view.symbol or ()
        self.left = view.insight or 0
        self.guess_cost = view.guess_cost or 1
        self.votes: dict[int, int] = {}
        self.flags: set[int] = set()
        self.dark: Any = UNSET
        self.visions: dict[str, Any] = {}
        self.learned: list[Learned] = []
        self.guesses: list[Six] = []

    def mask(self) -> int:
        """Return the parts that may come next."""
        view, flags, left = self.view, self.flags, self.left
        votes = VOTES_WITH_MORE if MORE_VOTES in flags else ONE_VOTE
        may = {
            STOP: True,
            VOTE: ABSTAIN not in flags and sum(self.votes.values()) < votes,
            MORE_VOTES: not flags & {ABSTAIN, MORE_VOTES} and left > 0,
            TOLD: TOLD not in flags and left > 0,
            ABSTAIN: view.may_abstain and not flags & {ABSTAIN, MORE_VOTES} and not self.votes,
            LIGHT: view.may_light and LIGHT not in flags,
            DARK: "dark" in view.artefacts and self.dark is UNSET,
            SEE: bool(self.kinds()),
            BELIEVE: bool(self.learned_kinds()),
            GUESS: not self.guesses or left >= self.guess_cost,
        }
        return choice_mask(compress(may, may.values()))

    def kinds(self) -> int:
        """Return the mask of kinds of vision that may be used."""
        mask = 0
        for number, kind in enumerate(KINDS):
            cost = self.view.veil_cost or 1 if kind == "veil" else COST.get(kind, 0)
            if kind not in self.visions and cost <= self.left and (kind != "window" or self.view.may_window):
                mask |= 1 << number
        return mask << KIND

    def learned_kinds(self) -> int:
        """Return the mask of kinds of learned insight that may be used."""
        if len(self.learned) == LEARNED_A_ROUND * self.view.round:
            return 0
        used_kinds = Counter(chain.from_iterable(map(kinds, self.learned)))
        mask = 0
        for number, kind in enumerate(LEARNED_KINDS, LEARNED_KIND):
            if used_kinds[kind] < MOST_OF_A_KIND:
                mask |= 1 << number
        return mask

    def action(self) -> PlayRound:
        """Return the action in its canonical spelling."""
        visions = {"except_" if kind == "except" else kind: each for kind, each in self.visions.items()}
        return PlayRound(
            votes={str(condition): number for condition, number in sorted(self.votes.items())} or UNSET,
            more_votes=MORE_VOTES in self.flags,
            told=TOLD in self.flags,
            abstain=ABSTAIN in self.flags,
            visions=Visions(**visions) if visions else UNSET,
            learned=tuple(self.learned),
            guesses=tuple(self.guesses),
            light=LIGHT in self.flags,
            dark=self.dark,
        )


Part = Generator[int, int, Any]
"""Yields masks, is sent choices, and returns a part of an action."""


def _round(view: RunesView, seat: int) -> Building:
    plan = ActionDraft(view, seat)
    while (part := (yield plan.mask())) != STOP:
        match part:
            case _ if part == VOTE:
                condition = CONDITIONS[(yield ((1 << len(CONDITIONS)) - 1) << CONDITION) - CONDITION]
                plan.votes[condition] = plan.votes.get(condition, 0) + 1
            case _ if part == DARK:
                plan.dark = yield from _seat(range(SEATS))
            case _ if part == SEE:
                kind = KINDS[(yield plan.kinds()) - KIND]
                plan.left -= view.veil_cost or 1 if kind == "veil" else COST.get(kind, 0)
                plan.visions[kind] = yield from VISION[kind](plan)
            case _ if part == BELIEVE:
                learned = LEARNED_KINDS[(yield plan.learned_kinds()) - LEARNED_KIND]
                plan.learned.append(Learned(**{learned: (yield from BELIEF[learned](OTHERS[seat]))}))
            case _ if part == GUESS:
                if plan.guesses:
                    plan.left -= plan.guess_cost
                    plan.guess_cost += 1
                plan.guesses.append((yield from _different_runes(len(POSITIONS))))
            case _:
                plan.flags.add(part)
                plan.left -= part in (MORE_VOTES, TOLD)
    return plan.action()


def _seat(seats: Iterable[int]) -> Part:
    return (yield choice_mask(seats, SEAT)) - SEAT


def _rune() -> Part:
    return NAMES[(yield ALL_RUNES) - RUNE]


def _group(first: int = 0, count: int = len(GROUP_NAMES)) -> Part:
    return GROUP_NAMES[(yield ((1 << count) - 1) << GROUP + first) - GROUP]


def _position() -> Part:
    return (yield ((1 << len(POSITIONS)) - 1) << POSITION) - POSITION


def _number(least: int, most: int) -> Part:
    return (yield choice_mask(range(least, most + 1), NUMBER)) - NUMBER


def _different_runes(count: int) -> Part:
    runes = []
    mask = ALL_RUNES
    for _ in range(count):
        choice = yield mask
        mask &= ~(1 << choice)
        runes.append(NAMES[choice - RUNE])
    return tuple(runes)


def _different_seats(others: Sequence[int], count: int) -> Part:
    seats: list[int] = []
    for _ in range(count):
        seats.append((yield from _seat(set(others).difference(seats))))
    return tuple(sorted(seats))


def _assign(plan: ActionDraft) -> Part:
    others = OTHERS[plan.seat]
    return dict(zip(map(str, others), (yield from _different_runes(len(others))), strict=True))


def _veil(_: ActionDraft) -> Part:
    yield from ()
    return True


def _pattern(plan: ActionDraft) -> Part:
    groups: list[Any] = []
    while len(groups) < len(POSITIONS):
        groups += ((yield from _group()),)
    count = yield from _number(1, SEATS - 1)
    return Pattern(groups=tuple(groups), seats=(yield from _different_seats(OTHERS[plan.seat], count)))


def _place(_: ActionDraft) -> Part:
    order = ORDERS[(yield choice_mask(range(len(ORDERS)), ORDER)) - ORDER]
    return Place(order=order, position=(yield from _position()))


def _except(plan: ActionDraft) -> Part:
    seat = yield from _seat(OTHERS[plan.seat])
    count = yield from _number(0, MOST_EXCEPTED)
    return Except(seat=seat, runes=tuple(sorted((yield from _different_runes(count)))))


def _mirror(plan: ActionDraft) -> Part:
    rune = NAMES[(yield choice_mask(map(NUMBER_OF.__getitem__, plan.symbol))) - RUNE]
    return Mirror(rune=rune, seat=(yield from _seat(OTHERS[plan.seat])))


def _window(plan: ActionDraft) -> Part:
    position = yield from _position()
    return Through(position=position, seat=(yield from _seat(OTHERS[plan.seat])))


VISION: dict[Kind, Callable[[ActionDraft], Part]] = {
    "assign": _assign,
    "divine": lambda _: _group(0, len(DIVINE)),
    "mundane": lambda _: _group(len(DIVINE), len(MUNDANE)),
    "veil": _veil,
    "pattern": _pattern,
    "place": _place,
    "except": _except,
    "mirror": _mirror,
    "window": _window,
}


def _count(others: Sequence[int]) -> Part:
    seat = yield from _seat(others)
    group = yield from _group()
    return Count(seat=seat, group=group, number=(yield from _number(0, len(POSITIONS))))


def _has(others: Sequence[int]) -> Part:
    seat = yield from _seat(others)
    return Has(seat=seat, rune=(yield from _rune()))


def _line(_: Sequence[int]) -> Part:
    rune = yield from _rune()
    choice = yield choice_mask(range(len(ROWS) + COLUMNS), ROW)
    where: Any = {"row": choice - ROW} if choice < COLUMN else {"column": choice - COLUMN}
    return Line(rune=rune, **where)


def _most(_: Sequence[int]) -> Part:
    count = yield from _number(1, MOST_NAMED)
    return tuple(sorted((yield from _different_runes(count))))


BELIEF: dict[LearnedKind, Callable[[Sequence[int]], Part]] = {
    "rune": lambda _: _rune(),
    "count": _count,
    "has": _has,
    "line": _line,
    "shared": lambda others: _different_seats(others, 2),
    "most": _most,
}


def _spelled_round(action: PlayRound) -> Iterator[int]:
    flags = {
        MORE_VOTES: action.more_votes,
        TOLD: action.told,
        ABSTAIN: action.abstain,
        LIGHT: action.light,
    }
    yield from compress(flags, flags.values())
    for condition, number in (action.votes or {}).items():
        yield from (VOTE, CONDITION + CONDITIONS.index(int(condition))) * number
    if action.dark is not UNSET:
        yield from (DARK, SEAT + action.dark)
    visions = NO_VISIONS if action.visions is UNSET else action.visions
    for kind in used(visions):
        yield from (SEE, KIND + KINDS.index(kind))
        yield from _spelled(getattr(visions, "except_" if kind == "except" else kind))
    for learned in action.learned:
        (believed,) = kinds(learned)
        yield from (BELIEVE, LEARNED_KIND + LEARNED_KINDS.index(believed))
        part = getattr(learned, believed)
        if believed == "most":
            yield NUMBER + len(part)
        yield from _spelled(part)
    for guess in action.guesses:
        yield from (GUESS, *map(NUMBER_OF.__getitem__, guess))


def _spelled(part: Any) -> Iterator[int]:  # noqa: C901 - one case for each form
    """Make the choices that a vision or a learned insight needs."""
    match part:
        case Pattern():
            yield from map(NUMBER_OF.__getitem__, part.groups)
            yield NUMBER + len(part.seats)
            yield from map(SEAT.__add__, part.seats)
        case Place():
            yield from (ORDER + ORDERS.index(part.order), POSITION + part.position)
        case Except():
            yield from (SEAT + part.seat, NUMBER + len(part.runes), *map(NUMBER_OF.__getitem__, part.runes))
        case Mirror():
            yield from (NUMBER_OF[part.rune], SEAT + part.seat)
        case Through():
            yield from (POSITION + part.position, SEAT + part.seat)
        case Count():
            yield from (SEAT + part.seat, NUMBER_OF[part.group], NUMBER + part.number)
        case Has():
            yield from (SEAT + part.seat, NUMBER_OF[part.rune])
        case Line():
            yield NUMBER_OF[part.rune]
            yield ROW + part.row if part.row is not UNSET else COLUMN + cast("int", part.column)
        case dict():
            yield from map(NUMBER_OF.__getitem__, part.values())
        case str():
            yield NUMBER_OF[part]
        case tuple():
            yield from (SEAT + each if isinstance(each, int) else NUMBER_OF[each] for each in part)
        case _:
            pass  # A flag, such as `veil`: that it is there says all.
