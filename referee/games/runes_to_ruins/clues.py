"""A seat's knowledge of the others' symbols as clues: a feature of each symbol, and a test of these features.

A feature depends on one symbol only, so that after a change only the features of the changed symbol are computed.
"""

# mypy: disable-error-code="misc"
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import or_
from typing import Any, assert_never

from msgspec import UNSET, Struct

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Count,
    Discovered,
    GuessAnswer,
    Has,
    Insight,
    Learned,
    LearnedAnswer,
    Line,
    Mirrored,
    Place,
    Played,
    PlayRound,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesView,
    Six,
    SymbolSet,
    VisionAnswer,
    Visions,
)
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE
from referee.games.runes_to_ruins.guesses import NOWHERE, RIGHT, near
from referee.games.runes_to_ruins.pools import POSITIONS, Pool, count, mark
from referee.games.runes_to_ruins.state import OTHERS, Near
from referee.games.runes_to_ruins.symbols import ALIKE, COLUMNS, GROUPS, ORDER, runes_of, shared_runes, stands_on
from referee.games.runes_to_ruins.visions import NO_VISIONS

VEILED = ("assign", "divine", "mundane")
"""Visions whose answers a veil inverts."""


class Clue(Struct, frozen=True):
    """One answer to the seat, or one rune revealed to it, as a condition on symbols."""

    seats: tuple[int, ...]
    """The seats whose symbols the answer is about."""
    feature: Callable[[Six], Any]
    """Function that returns a symbol's feature."""
    fits: Callable[[Sequence[Any]], bool]
    """Function that returns whether features, in the order of `seats`, lead to the answer."""
    veil: int | None = None
    """The round in which a veil of the seat inverts the answer, or None if no veil can."""
    marks: tuple[int, ...] = ()
    """Masks of cells (see `pools.mark`); if any, the feature is the number of them that the symbol fills."""
    place: Place | None = None
    """Place whose group is the feature, if any."""
    guess: tuple[Six, Near] | None = None
    """A guess and its answer for the nearest symbol; the feature is the guess's nearness to this symbol."""

    shared: int | None = None
    """Number of runes that the symbols of two seats have in common; the feature is the symbol itself."""

    def values(self, pool: Pool) -> dict[Any, int]:
        """Return the set of a pool's symbols with each feature.

        For a guess, all symbols that it is nearer to than the answer share a value, and so do all that it is less
        near to.
        """
        if self.marks:
            return pool.counted(self.marks)
        if self.place is not None:
            order, at = ORDER[self.place.order], self.place.position
            groups = {names[order] for names in GROUPS.values()}
            return {group: found for group in groups if (found := pool.marked(mark((at,), group_runes(group))))}
        if self.guess is not None:
            return _nearness(*self.guess, pool)
        others: dict[Any, int] = {}
        for number in range(len(pool.symbols)):
            value = self.feature(pool.symbol(number))
            others[value] = others.get(value, 0) | 1 << number
        return others


def _nearness(guess: Six, told: Near, pool: Pool) -> dict[Any, int]:
    """Return the symbols to which the guess is as near as its answer, nearer, and less near."""
    there = [pool.marked(mark((at,), (rune,))) for at, rune in enumerate(guess)]
    inside = [pool.marked(mark(POSITIONS, (rune,))) for rune in guess]
    alike = [pool.marked(mark((at,), ALIKE[rune])) & ~inside[at] for at, rune in enumerate(guess)]
    moved = [found & ~there[at] for at, found in enumerate(inside)]
    equal = pool.all
    nearer = 0
    for figure, sets in zip(told, (there, moved, alike), strict=True):
        counts = count(sets, pool.all)
        nearer |= equal & _either(found for number, found in counts.items() if number > figure)
        equal &= counts.get(figure, 0)
    values = {told: equal, NEARER: nearer, NOWHERE: pool.all & ~equal & ~nearer}
    if told == NOWHERE:
        values = {NOWHERE: equal, NEARER: nearer}
    return {near_: found for near_, found in values.items() if found}


def _either(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


NEARER: Near = (7, 0, 0)
"""Value for symbols that are nearer than a guess's answer; no guess has these figures."""


@cache
def group_runes(group: str) -> tuple[str, ...]:
    """Return the runes of a group of either Order."""
    return tuple(rune for rune, groups in GROUPS.items() if group in groups)


@cache
def group_marks() -> dict[tuple[int, ...], str]:
    """Map marks to groups: those that count a group's runes, and those that detect any of its runes."""
    found: dict[tuple[int, ...], str] = {}
    for group in (*DIVINE, *MUNDANE):
        runes = group_runes(group)
        found[tuple(mark((at,), runes) for at in POSITIONS)] = group
        found[mark(POSITIONS, runes),] = group
    return found


def _use(rune: str) -> tuple[int, ...]:
    return (mark(POSITIONS, (rune,)),)


def _use_group(group: str) -> tuple[int, ...]:
    return (mark(POSITIONS, group_runes(group)),)


def clues(view: RunesView, seat: int) -> Iterator[Clue]:
    """Iterate over all clues of a seat."""
    for played in view.history:
        action = played.action or PlayRound()
        yield from _visions(played, seat, NO_VISIONS if action.visions is UNSET else action.visions)
        hidden = {int(key) for key, at in view.discovered.items() if at < played.round}
        compared = tuple(other for other in OTHERS[seat] if other not in hidden)
        for event in played.told:
            match event:
                case LearnedAnswer(index=index, answer=answer):
                    yield _learned(action.learned[index], answer, seat)
                case GuessAnswer(index=index, exact=exact, moved=moved, group=group) if compared:
                    yield Clue(
                        compared,
                        lambda symbol, guess=action.guesses[index]: near(guess, symbol),
                        lambda found, told=(exact, moved, group): max(found) == told,
                        guess=(action.guesses[index], (exact, moved, group)),
                    )
                    if exact == RIGHT[0]:
                        yield Clue(
                            tuple(other for other in compared if view.discovered.get(str(other)) == played.round),
                            lambda symbol, guess=action.guesses[index]: near(guess, symbol)[0],
                            lambda found: RIGHT[0] in found,
                            marks=tuple(mark((at,), (rune,)) for at, rune in enumerate(action.guesses[index])),
                        )
                case Mirrored():
                    yield from _mirrored(event, view.symbol or ())
                case Revealed(seat=other, rune=rune, position=position) if other != seat:
                    yield Clue(
                        (other,),
                        lambda symbol, rune=rune, position=position: (
                            rune in symbol if position is None else symbol[position] == rune
                        ),
                        all,
                        marks=(mark(POSITIONS if position is None else (position,), (rune,)),),
                    )
                case (
                    Resubmit()
                    | SymbolSet()
                    | Insight()
                    | ConditionWon()
                    | VisionAnswer()
                    | GuessAnswer()
                    | Revealed()
                    | Discovered()
                    | Purse()
                    | Reveal()
                ):
                    pass
                case _ as unreachable:
                    assert_never(unreachable)


def _equal(told: Any) -> Callable[[Sequence[Any]], bool]:
    return lambda found: found[0] == told


def _visions(played: Played, seat: int, visions: Visions) -> Iterator[Clue]:  # noqa: C901, PLR0912 - one case a kind
    for event in played.told:
        if not isinstance(event, VisionAnswer):
            continue
        answer: Any = event.answer
        match event.kind:
            case "assign" if visions.assign is not UNSET:
                for key, rune in visions.assign.items():
                    yield Clue(
                        (int(key),),
                        lambda symbol, rune=rune: rune in symbol,
                        _equal(answer[key]),
                        played.round,
                        _use(rune),
                    )
            case "divine" | "mundane":
                group = getattr(visions, event.kind)
                for other in OTHERS[seat]:
                    yield Clue(
                        (other,),
                        lambda symbol, group=group: runes_of(symbol, group) > 0,
                        _equal(answer[str(other)]),
                        played.round,
                        _use_group(group),
                    )
            case "pattern" if visions.pattern is not UNSET:
                pattern = visions.pattern
                for position, group in enumerate(pattern.groups):
                    yield Clue(
                        pattern.seats,
                        lambda symbol, group=group, position=position: group in GROUPS[symbol[position]],
                        lambda found, told=answer[position]: sum(found) == told,
                        marks=(mark((position,), group_runes(group)),),
                    )
            case "place" if visions.place is not UNSET:
                place = visions.place
                yield Clue(
                    OTHERS[seat],
                    lambda symbol, place=place: GROUPS[symbol[place.position]][ORDER[place.order]],
                    lambda found, told=set(answer): set(found) == told,
                    place=place,
                )
            case "except" if visions.except_ is not UNSET:
                yield Clue(
                    (visions.except_.seat,), lambda symbol, rune=answer: rune in symbol, all, marks=_use(answer)
                )
            case "window" if visions.window is not UNSET:
                through = visions.window
                yield Clue(
                    (through.seat,),
                    lambda symbol, at=through.position, rune=answer: symbol[at] == rune,
                    all,
                    marks=(mark((through.position,), (answer,)),),
                )
            case "assign" | "veil" | "pattern" | "place" | "except" | "mirror" | "window":
                pass
            case _ as unreachable:
                assert_never(unreachable)


def _learned(learned: Learned, answer: int | bool, seat: int) -> Clue:
    others = OTHERS[seat]
    match learned:
        case Learned(rune=str(rune)):
            return Clue(
                others,
                lambda symbol: rune in symbol,
                lambda found: sum(found) == answer,
                marks=_use(rune),
            )
        case Learned(count=Count(seat=other, group=group)):
            return Clue(
                (other,),
                lambda symbol: runes_of(symbol, group),
                _equal(answer),
                marks=tuple(mark((at,), group_runes(group)) for at in POSITIONS),
            )
        case Learned(has=Has(seat=other, rune=rune)):
            return Clue((other,), lambda symbol: rune in symbol, _equal(answer), marks=_use(rune))
        case Learned(line=Line() as line):
            return Clue(
                others,
                lambda symbol: stands_on(symbol, line),
                lambda found: sum(found) == answer,
                marks=(mark([at for at in POSITIONS if _is_on(at, line)], (line.rune,)),),
            )
        case Learned(shared=(int(one), int(other))):
            return Clue(
                (one, other),
                lambda symbol: symbol,
                lambda found: shared_runes(*found) == answer,
                shared=int(answer),
            )
        case _:
            runes = learned.most or ()
            return Clue(
                others,
                lambda symbol: sum(rune in symbol for rune in runes),
                lambda found: max(found) == answer,
                marks=tuple(_use(rune)[0] for rune in runes),
            )


def _is_on(position: int, line: Line) -> bool:
    row, column = divmod(position, COLUMNS)
    return line.row == row or line.column == column


def _mirrored(event: Mirrored, own: Six) -> Iterator[Clue]:
    """Yield a clue from an answer that a mirror showed, where there is one.

    The question of seat `of` is unknown, but some question must have this answer.
    """
    told: Any = event.answer
    feature: Callable[[Six], Any] | None = None
    marks: tuple[int, ...] = ()
    match event.kind:
        case "except":
            feature = lambda symbol: told in symbol  # noqa: E731 - one of several
            marks = _use(told)
        case "shared":
            feature = lambda symbol: shared_runes(symbol, own) == told  # noqa: E731 - as above
        case "place":
            feature = lambda symbol: runes_of(symbol, told[0]) > 0  # noqa: E731 - as above
            marks = _use_group(told[0])
        case "divine" | "mundane" as order:
            feature = lambda symbol: (  # noqa: E731 - as above
                told or len({GROUPS[rune][ORDER[order]] for rune in symbol}) < len(symbol)
            )
        case "count":
            feature = lambda symbol: any(  # noqa: E731 - as above
                runes_of(symbol, group) == told for group in (*DIVINE, *MUNDANE)
            )
        case "assign" | "veil" | "pattern" | "mirror" | "window" | "rune" | "has" | "line" | "most":
            pass
        case _ as unreachable:
            assert_never(unreachable)
    if feature is not None:
        yield Clue((event.of,), feature, all, marks=marks)
