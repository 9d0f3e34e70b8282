"""Questions of a seat about the symbols of other seats: visions and learned insights.

Each vision has a cost in insight; learned insights add mantra, and count other seats only (R1). The vision
`mirror` answers the questions of another seat about that seat itself (R3, R6).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import compress, product
from random import Random
from typing import get_args

from msgspec import UNSET
from msgspec.structs import astuple

from protocol.games.runes_to_ruins import (
    Answer,
    Kind,
    Learned,
    LearnedAnswer,
    LearnedKind,
    Mirrored,
    PlayRound,
    Six,
    VisionAnswer,
    Visions,
)
from referee.games.runes_to_ruins.state import OTHER_KEYS, OTHERS
from referee.games.runes_to_ruins.symbols import (
    GROUPS,
    MEMBERS,
    ORDER,
    SymbolIndex,
    runes_of,
    shared_runes,
    stands_on,
)
from referee.rules import choice

KINDS: tuple[Kind, ...] = get_args(Kind)
COST: dict[Kind, int] = {"assign": 1, "divine": 1, "mundane": 1, "pattern": 2, "place": 2, "except": 3}
"""Cost in insight, by kind; `veil` costs more with each use, `mirror` and `window` reveal a rune instead."""
NO_VISIONS = Visions()
_KEYS = tuple(tuple(zip(*both, strict=True)) for both in zip(OTHERS, OTHER_KEYS, strict=True))
"""Pairs of each other seat and its JSON key, indexed by seat."""


_USED = tuple(tuple(compress(KINDS, flags)) for flags in product((False, True), repeat=len(KINDS)))
"""Kinds used, indexed by a bit mask in which the first kind has the highest bit."""


def used(visions: Visions) -> tuple[Kind, ...]:  # noqa: C901 - one case a kind
    """Return the kinds of vision used, in their fixed order."""
    if visions is NO_VISIONS:
        return ()
    number = 0
    if visions.assign is not UNSET:
        number = 256
    if visions.divine is not UNSET:
        number |= 128
    if visions.mundane is not UNSET:
        number |= 64
    if visions.veil:
        number |= 32
    if visions.pattern is not UNSET:
        number |= 16
    if visions.place is not UNSET:
        number |= 8
    if visions.except_ is not UNSET:
        number |= 4
    if visions.mirror is not UNSET:
        number |= 2
    if visions.window is not UNSET:
        number |= 1
    return _USED[number]


@lru_cache(maxsize=4096)
def cost(kinds: tuple[Kind, ...], veils: int) -> int:
    """Return the cost of these kinds of vision for a seat that has used `veil` `veils` times."""
    price = sum([COST.get(kind, 0) for kind in kinds])
    return price + veils + 1 if "veil" in kinds else price


def answers(
    asker: int, visions: Visions, of: SymbolIndex, veiled: frozenset[int], rng: Callable[[], Random]
) -> list[VisionAnswer]:
    """Return the answers to the visions of a seat, in order; `veil` and `mirror` have none here.

    Answers of `assign`, `divine` and `mundane` about seats in `veiled` are inverted (R3).
    `rng` creates the random stream, which only `except` needs.
    """
    told: list[VisionAnswer] = []
    if visions is NO_VISIONS:
        return told
    symbols = of.symbols
    if (runes := visions.assign) is not UNSET:
        holds = {key: (runes[key] in symbols[seat]) != (seat in veiled) for seat, key in _KEYS[asker]}
        told.append(VisionAnswer(kind="assign", answer=holds))
    if visions.divine is not UNSET:
        told.append(VisionAnswer(kind="divine", answer=_with_group(visions.divine, asker, of, veiled)))
    if visions.mundane is not UNSET:
        told.append(VisionAnswer(kind="mundane", answer=_with_group(visions.mundane, asker, of, veiled)))
    if (pattern := visions.pattern) is not UNSET:
        counts = pattern_counts(pattern.groups, [symbols[seat] for seat in pattern.seats])
        told.append(VisionAnswer(kind="pattern", answer=counts))
    if (place := visions.place) is not UNSET:
        position, order = place.position, ORDER[place.order]
        at_place = {GROUPS[symbols[seat][position]][order] for seat in OTHERS[asker]}
        told.append(VisionAnswer(kind="place", answer=tuple(sorted(at_place))))
    if (except_ := visions.except_) is not UNSET:
        told.append(VisionAnswer(kind="except", answer=other_rune(symbols[except_.seat], except_.runes, rng())))
    if (window := visions.window) is not UNSET:
        told.append(VisionAnswer(kind="window", answer=symbols[window.seat][window.position]))
    return told


def _with_group(group: str, asker: int, of: SymbolIndex, veiled: frozenset[int]) -> dict[str, bool]:
    return {key: (group in of.groups[seat]) != (seat in veiled) for seat, key in _KEYS[asker]}


def pattern_counts(groups: tuple[str, ...], symbols: Sequence[Six]) -> tuple[int, ...]:
    """Return, for each position, the number of symbols that have a rune of the requested group there."""
    members = list(map(MEMBERS.__getitem__, groups))
    counts = [0] * len(groups)
    for symbol in symbols:
        for position, rune in enumerate(symbol):
            if rune in members[position]:
                counts[position] += 1
    return tuple(counts)


def other_rune(symbol: Six, named: tuple[str, ...], rng: Random) -> str:
    """Draw a rune of the symbol that is not in `named`."""
    return choice(rng, [rune for rune in symbol if rune not in named])


FOR_RUNE, FOR_COUNT, FOR_HAS, FOR_LINE, FOR_SHARED, FOR_MOST = 2, 3, 4, 5, 6, 3
LEARNED_KINDS: tuple[LearnedKind, ...] = ("rune", "count", "has", "line", "shared", "most")


def kinds(learned: Learned) -> list[LearnedKind]:
    """Return the kinds whose keys are present; a legal action has exactly one."""
    return [kind for kind, named in zip(LEARNED_KINDS, astuple(learned), strict=True) if named is not UNSET]


def learn_all(learned: Sequence[Learned], asker: int, of: SymbolIndex) -> tuple[list[LearnedAnswer], int]:
    """Return the answers and the total mantra that they add."""
    told, brought = [], 0
    for index, each in enumerate(learned):
        answer, mantra = learn(each, asker, of)
        told.append(LearnedAnswer(index=index, answer=answer, mantra=mantra))
        brought += mantra
    return told, brought


def learn(learned: Learned, asker: int, of: SymbolIndex) -> tuple[int | bool, int]:
    """Return the answer and the mantra that it adds."""
    if (rune := learned.rune) is not UNSET:
        users = of.users(rune, asker)
        return users, FOR_RUNE * users
    if (count := learned.count) is not UNSET:
        used = of.groups[count.seat].get(count.group, 0)
        return used, FOR_COUNT * abs(used - count.number)
    if (named := learned.has) is not UNSET:
        has = named.rune in of.runes[named.seat]
        return has, 0 if has else FOR_HAS
    if (line := learned.line) is not UNSET:
        there = of.users_on(line, asker)
        return there, 0 if there else FOR_LINE
    if learned.shared is not UNSET:
        one, other = learned.shared
        common = len(of.runes[one] & of.runes[other])
        return common, 0 if common else FOR_SHARED
    runes = learned.most or ()
    most = of.most(runes, asker)
    return most, FOR_MOST * (len(runes) - most)


def reflected(
    by: int, of: int, asked: PlayRound, symbols: tuple[Six, ...], rng: Callable[[], Random]
) -> list[Mirrored]:
    """Return the answers about seat `of` to those of its questions that name or cover seat `by`.

    `veil` does not invert them. Visions are in their fixed order; learned insights follow in submitted order.
    """
    visions = NO_VISIONS if asked.visions is UNSET else asked.visions
    answers: list[tuple[Kind | LearnedKind, Answer]] = [*_mirrored_visions(visions, by, symbols[of], rng)]
    for learned in asked.learned:
        (kind,) = kinds(learned)
        answer = _mirrored_learned(learned, by, symbols[of], symbols[by])
        if answer is not None:
            answers.append((kind, answer))
    return [Mirrored(of=of, kind=kind, answer=answer) for kind, answer in answers]


def _mirrored_visions(
    visions: Visions, by: int, symbol: Six, rng: Callable[[], Random]
) -> Iterator[tuple[Kind, Answer]]:
    """Yield answers about `symbol`, that of the asker; `window` and `mirror` are not mirrored (R3)."""
    if visions.assign is not UNSET:
        yield "assign", next(rune for seat, rune in visions.assign.items() if seat == str(by)) in symbol
    if visions.divine is not UNSET:
        yield "divine", bool(runes_of(symbol, visions.divine))
    if visions.mundane is not UNSET:
        yield "mundane", bool(runes_of(symbol, visions.mundane))
    if visions.pattern is not UNSET and by in visions.pattern.seats:
        yield "pattern", pattern_counts(visions.pattern.groups, [symbol])
    if visions.place is not UNSET:
        yield "place", (GROUPS[symbol[visions.place.position]][ORDER[visions.place.order]],)
    if visions.except_ is not UNSET and visions.except_.seat == by:
        yield "except", other_rune(symbol, visions.except_.runes, rng())


def _mirrored_learned(learned: Learned, by: int, symbol: Six, own: Six) -> int | bool | None:
    """Return the answer about the asker's `symbol`, or None if the question does not concern seat `by`."""
    if (rune := learned.rune) is not UNSET:
        return int(rune in symbol)
    if (count := learned.count) is not UNSET:
        return runes_of(symbol, count.group) if count.seat == by else None
    if (has := learned.has) is not UNSET:
        return has.rune in symbol if has.seat == by else None
    if (line := learned.line) is not UNSET:
        return int(stands_on(symbol, line))
    if (seats := learned.shared) is not UNSET:
        return shared_runes(symbol, own) if by in seats else None
    return sum([rune in symbol for rune in learned.most or ()])
