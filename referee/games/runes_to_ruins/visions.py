"""Visions: questions of a seat about the symbols of other seats, their costs and answers."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import compress, product
from random import Random
from typing import get_args

from msgspec import UNSET

from protocol.games.runes_to_ruins import Kind, Six, VisionAnswer, Visions
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE
from referee.games.runes_to_ruins.state import OTHER_KEYS, OTHERS
from referee.games.runes_to_ruins.symbols import GROUPS, ORDER, Tables
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
    return sum(veils + 1 if kind == "veil" else COST.get(kind, 0) for kind in kinds)


def answers(
    asker: int, visions: Visions, of: Tables, veiled: frozenset[int], rng: Callable[[], Random]
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


def _with_group(group: str, asker: int, of: Tables, veiled: frozenset[int]) -> dict[str, bool]:
    return {key: (group in of.groups[seat]) != (seat in veiled) for seat, key in _KEYS[asker]}


_MEMBERS: dict[str, frozenset[str]] = {
    group: frozenset(name for name, groups in GROUPS.items() if group in groups) for group in (*DIVINE, *MUNDANE)
}


def pattern_counts(groups: tuple[str, ...], symbols: Sequence[Six]) -> tuple[int, ...]:
    """Return, for each position, the number of symbols that have a rune of the requested group there."""
    members = [_MEMBERS[group] for group in groups]
    counts = [0] * len(groups)
    for symbol in symbols:
        for position, rune in enumerate(symbol):
            if rune in members[position]:
                counts[position] += 1
    return tuple(counts)


def other_rune(symbol: Six, named: tuple[str, ...], rng: Random) -> str:
    """Draw a rune of the symbol that is not in `named`."""
    return choice(rng, [rune for rune in symbol if rune not in named])
