"""Clues about another seat's symbol in Runes to Ruins, collected from the history of a seat's view."""

from collections.abc import Iterator
from typing import Any, assert_never

from msgspec import UNSET

from bots.runes_symbols import GROUP, NUMBER, Clue, Symbol, is_in, nearness
from protocol.games.runes_to_ruins import (
    ConditionWon,
    Discovered,
    GuessAnswer,
    Insight,
    Learned,
    LearnedAnswer,
    Mirrored,
    Played,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesView,
    SymbolSet,
    VisionAnswer,
    Visions,
)


def clues(view: RunesView, seat: int) -> list[Clue]:
    """Return all clues about a seat's symbol.

    A `veil` may have changed some of the answers; then no symbol fits all clues.
    """
    found: list[Clue] = []
    for played in view.history:
        found += _of_round(played, seat)
    return found


def _of_round(played: Played, seat: int) -> Iterator[Clue]:
    discovered = any(isinstance(event, Discovered) and seat in event.seats for event in played.told)
    for event in played.told:
        match event:
            case Revealed(seat=shown, rune=rune, position=position) if shown == seat:
                yield _at(NUMBER[rune], position)
            case VisionAnswer(kind=kind, answer=answer) if played.action and played.action.visions:
                yield from _of_vision(played.action.visions, kind, answer, seat)
            case LearnedAnswer(index=index, answer=answer) if played.action:
                yield from _of_learned(played.action.learned[index], int(answer), seat)
            case GuessAnswer(index=index, exact=exact, moved=moved, group=group) if (
                played.action and not discovered
            ):
                guess = tuple(NUMBER[rune] for rune in played.action.guesses[index])
                yield _not_nearer(guess, (exact, moved, group))
            case (
                Resubmit()
                | SymbolSet()
                | Insight()
                | ConditionWon()
                | VisionAnswer()
                | Mirrored()
                | LearnedAnswer()
                | GuessAnswer()
                | Revealed()
                | Discovered()
                | Purse()
                | Reveal()
            ):
                pass
            case _ as unreachable:
                assert_never(unreachable)


def _of_vision(visions: Visions, kind: str, answer: Any, seat: int) -> Iterator[Clue]:
    key = str(seat)
    match kind:
        case "assign" if visions.assign is not UNSET and key in visions.assign:
            yield _uses(NUMBER[visions.assign[key]], wanted=answer[key])
        case "divine" | "mundane":
            group = getattr(visions, kind)
            yield _has_group(GROUP[group], wanted=answer[key])
        case "pattern" if visions.pattern is not UNSET and visions.pattern.seats == (seat,):
            for position, (group, count) in enumerate(zip(visions.pattern.groups, answer, strict=True)):
                yield _group_at(position, GROUP[group], wanted=bool(count))
        case "place" if visions.place is not UNSET:
            yield _one_of_at(visions.place.position, frozenset(GROUP[group] for group in answer))
        case "except" if visions.except_ is not UNSET and visions.except_.seat == seat:
            yield _uses(NUMBER[answer], wanted=True)
        case "window" if visions.window is not UNSET and visions.window.seat == seat:
            yield _at(NUMBER[answer], visions.window.position)
        case _:
            pass


def _of_learned(learned: Learned, answer: int, seat: int) -> Iterator[Clue]:
    if learned.has is not UNSET and learned.has.seat == seat:
        yield _uses(NUMBER[learned.has.rune], wanted=bool(answer))
    if learned.count is not UNSET and learned.count.seat == seat:
        yield _counts(GROUP[learned.count.group], answer)


def _uses(rune: int, *, wanted: bool) -> Clue:
    return lambda symbol: int((rune in symbol) is not wanted)


def _at(rune: int, position: int | None) -> Clue:
    if position is None:
        return _uses(rune, wanted=True)
    return lambda symbol: int(symbol[position] != rune)


def _has_group(group: int, *, wanted: bool) -> Clue:
    return lambda symbol: int(any(is_in(rune, group) for rune in symbol) is not wanted)


def _group_at(position: int, group: int, *, wanted: bool) -> Clue:
    return lambda symbol: int(is_in(symbol[position], group) is not wanted)


def _one_of_at(position: int, groups: frozenset[int]) -> Clue:
    return lambda symbol: int(not any(is_in(symbol[position], group) for group in groups))


def _counts(group: int, number: int) -> Clue:
    return lambda symbol: abs(sum(is_in(rune, group) for rune in symbol) - number)


def _not_nearer(guess: Symbol, told: tuple[int, int, int]) -> Clue:
    """Return the clue of a guess: its figures are those of the closest symbol, so this symbol is not closer."""
    return lambda symbol: int(nearness(guess, symbol) > told)
