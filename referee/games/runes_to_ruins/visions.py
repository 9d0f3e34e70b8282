"""Visions: what a seat asks about the symbols of others, and is answered."""

from collections.abc import Callable, Sequence
from itertools import compress
from random import Random
from typing import get_args

from msgspec import UNSET
from msgspec.structs import astuple

from protocol.games.runes_to_ruins import Answer, Kind, Six, VisionAnswer, Visions
from referee.games.runes_to_ruins.state import OTHERS, SEAT_KEYS
from referee.games.runes_to_ruins.symbols import GROUPS, ORDER, Tables

KINDS: tuple[Kind, ...] = get_args(Kind)
COST: dict[Kind, int] = {"assign": 1, "divine": 1, "mundane": 1, "pattern": 2, "place": 2, "except": 3}
"""What a vision costs in insight; `veil` costs more with each use, `mirror` and `window` show a rune instead."""
NO_VISIONS = Visions()
_KEYS = tuple(tuple((seat, SEAT_KEYS[seat]) for seat in others) for others in OTHERS)
"""By seat: the others, each with its key."""


def used(visions: Visions) -> tuple[Kind, ...]:
    """The kinds of vision that are used, in their order."""
    if visions is NO_VISIONS:
        return ()
    return tuple(compress(KINDS, astuple(visions)))


def cost(kinds: tuple[Kind, ...], veils: int) -> int:
    """What these kinds of vision cost a seat that has used `veil` so many times."""
    return sum([veils + 1 if kind == "veil" else COST.get(kind, 0) for kind in kinds]) if kinds else 0


def answers(
    asker: int, visions: Visions, of: Tables, veiled: frozenset[int], luck: Callable[[], Random]
) -> list[VisionAnswer]:
    """What a seat is told of its visions, in order; nothing of `veil` and `mirror`.

    About seats in `veiled`, answers of `assign`, `divine` and `mundane` are turned round (R3).
    `luck` makes the stream that some are drawn from.
    """
    if visions is NO_VISIONS:
        return []
    found: dict[Kind, Answer] = {}
    asked, symbols = OTHERS[asker], of.symbols
    if visions.assign is not UNSET:
        runes = visions.assign
        found["assign"] = {key: (runes[key] in symbols[seat]) != (seat in veiled) for seat, key in _KEYS[asker]}
    if visions.divine is not UNSET:
        found["divine"] = _with_group(visions.divine, asker, of, veiled)
    if visions.mundane is not UNSET:
        found["mundane"] = _with_group(visions.mundane, asker, of, veiled)
    if visions.pattern is not UNSET:
        pattern = visions.pattern
        found["pattern"] = pattern_counts(pattern.groups, [symbols[seat] for seat in pattern.seats])
    if visions.place is not UNSET:
        place = visions.place
        at_place = {GROUPS[symbols[seat][place.position]][ORDER[place.order]] for seat in asked}
        found["place"] = tuple(sorted(at_place))
    if visions.except_ is not UNSET:
        found["except"] = other_rune(symbols[visions.except_.seat], visions.except_.runes, luck())
    if visions.window is not UNSET:
        found["window"] = symbols[visions.window.seat][visions.window.position]
    return [VisionAnswer(kind=kind, answer=answer) for kind, answer in found.items()]


def _with_group(group: str, asker: int, of: Tables, veiled: frozenset[int]) -> dict[str, bool]:
    return {key: (group in of.groups[seat]) != (seat in veiled) for seat, key in _KEYS[asker]}


def pattern_counts(groups: tuple[str, ...], symbols: Sequence[Six]) -> tuple[int, ...]:
    """For each position, how many of the symbols have a rune of the group asked for there."""
    return tuple(
        [
            sum([group in GROUPS[rune] for rune in there])
            for group, there in zip(groups, zip(*symbols, strict=True), strict=True)
        ]
    )


def other_rune(symbol: Six, named: tuple[str, ...], luck: Random) -> str:
    """A drawn rune of the symbol that was not named."""
    return luck.choice([rune for rune in symbol if rune not in named])
