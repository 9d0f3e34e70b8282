"""Visions: what a seat asks about the symbols of others, and is answered."""

from random import Random
from typing import get_args

from msgspec import UNSET

from protocol.games.runes_to_ruins import Answer, Kind, Six, VisionAnswer, Visions
from referee.games.runes_to_ruins.state import OTHERS
from referee.games.runes_to_ruins.symbols import GROUPS, ORDER, runes_of

KINDS: tuple[Kind, ...] = get_args(Kind)
COST: dict[Kind, int] = {"assign": 1, "divine": 1, "mundane": 1, "pattern": 2, "place": 2, "except": 3}
"""What a vision costs in insight; `veil` costs more with each use, `mirror` and `window` show a rune instead."""
NO_VISIONS = Visions()


def used(visions: Visions) -> tuple[Kind, ...]:
    """The kinds of vision that are used, in their order."""
    if visions is NO_VISIONS:
        return ()
    return tuple(kind for kind, field in _FIELD if getattr(visions, field))


_FIELD = tuple((kind, "except_" if kind == "except" else kind) for kind in KINDS)


def cost(visions: Visions, veils: int) -> int:
    """What these visions cost a seat that has used `veil` so many times."""
    return sum(veils + 1 if kind == "veil" else COST.get(kind, 0) for kind in used(visions))


def answers(
    asker: int, visions: Visions, symbols: tuple[Six, ...], veiled: frozenset[int], luck: Random
) -> list[VisionAnswer]:
    """What a seat is told of its visions, in order; nothing of `veil` and `mirror`.

    About seats in `veiled`, answers of `assign`, `divine` and `mundane` are turned round (R3).
    """
    found: dict[Kind, Answer] = {}
    asked = OTHERS[asker]
    if visions.assign is not UNSET:
        runes = {int(seat): rune for seat, rune in visions.assign.items()}
        found["assign"] = {str(seat): (runes[seat] in symbols[seat]) != (seat in veiled) for seat in asked}
    if visions.divine is not UNSET:
        found["divine"] = _with_group(visions.divine, asked, symbols, veiled)
    if visions.mundane is not UNSET:
        found["mundane"] = _with_group(visions.mundane, asked, symbols, veiled)
    if visions.pattern is not UNSET:
        pattern = visions.pattern
        found["pattern"] = pattern_counts(pattern.groups, [symbols[seat] for seat in pattern.seats])
    if visions.place is not UNSET:
        place = visions.place
        at_place = {GROUPS[symbols[seat][place.position]][ORDER[place.order]] for seat in asked}
        found["place"] = tuple(sorted(at_place))
    if visions.except_ is not UNSET:
        found["except"] = other_rune(symbols[visions.except_.seat], visions.except_.runes, luck)
    if visions.window is not UNSET:
        found["window"] = symbols[visions.window.seat][visions.window.position]
    return [VisionAnswer(kind=kind, answer=answer) for kind, answer in found.items()]


def _with_group(
    group: str, asked: tuple[int, ...], symbols: tuple[Six, ...], veiled: frozenset[int]
) -> dict[str, bool]:
    return {str(seat): bool(runes_of(symbols[seat], group)) != (seat in veiled) for seat in asked}


def pattern_counts(groups: tuple[str, ...], symbols: list[Six]) -> tuple[int, ...]:
    """For each position, how many of the symbols have a rune of the group asked for there."""
    return tuple(
        sum(group in GROUPS[symbol[position]] for symbol in symbols) for position, group in enumerate(groups)
    )


def other_rune(symbol: Six, named: tuple[str, ...], luck: Random) -> str:
    """A drawn rune of the symbol that was not named."""
    return luck.choice([rune for rune in symbol if rune not in named])
