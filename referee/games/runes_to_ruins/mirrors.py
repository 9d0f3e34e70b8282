"""The vision `mirror`: answers the questions of another seat about that seat itself (R3, R6)."""

from collections.abc import Callable, Iterator
from random import Random

from msgspec import UNSET

from protocol.games.runes_to_ruins import (
    Answer,
    Kind,
    Learned,
    LearnedKind,
    Mirrored,
    PlayRound,
    Six,
    Visions,
)
from referee.games.runes_to_ruins.learned import kinds
from referee.games.runes_to_ruins.symbols import GROUPS, ORDER, runes_of, shared_runes, stands_on
from referee.games.runes_to_ruins.visions import NO_VISIONS, other_rune, pattern_counts


def reflected(
    by: int, of: int, asked: PlayRound, symbols: tuple[Six, ...], rng: Callable[[], Random]
) -> list[Mirrored]:
    """Return the answers about seat `of` to those of its questions that name or cover seat `by`.

    `veil` does not invert them. Visions are in their fixed order; learned insights follow in submitted order.
    """
    visions = NO_VISIONS if asked.visions is UNSET else asked.visions
    answers: list[tuple[Kind | LearnedKind, Answer]] = [*_visions(visions, by, symbols[of], rng)]
    for learned in asked.learned:
        (kind,) = kinds(learned)
        answer = _learned(learned, by, symbols[of], symbols[by])
        if answer is not None:
            answers.append((kind, answer))
    return [Mirrored(of=of, kind=kind, answer=answer) for kind, answer in answers]


def _visions(visions: Visions, by: int, symbol: Six, rng: Callable[[], Random]) -> Iterator[tuple[Kind, Answer]]:
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


def _learned(learned: Learned, by: int, symbol: Six, own: Six) -> int | bool | None:
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
