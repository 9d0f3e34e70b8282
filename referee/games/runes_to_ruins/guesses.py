"""Guesses at symbols: how near they come, to whom they are compared, and whom they discover."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from protocol.games.runes_to_ruins import PlayRound, Six
from referee.games.runes_to_ruins.state import OTHERS, SEATS, Near
from referee.games.runes_to_ruins.symbols import ALIKE, Tables, place_mask, rune_mask

NOWHERE: Near = (0, 0, 0)
RIGHT: Near = (6, 0, 0)
FOR_ONE_FINDER, FOR_EACH_OF_SEVERAL = 10, 5


class Compared(Struct, frozen=True, kw_only=True, gc=False):
    """What came of the guesses of a round."""

    told: tuple[tuple[Near, ...], ...]
    """By guesser: for each of its guesses, how near the closest symbol was."""
    nearest: tuple[dict[int, Near], ...]
    """By guessed seat, then by guesser: the best of each figure in this round's guesses."""
    finders: dict[int, set[int]]
    """Discovered seat to who guessed its symbol, ascending."""

    def earned(self, seat: int) -> int:
        """What the seat's guesses gain it: for each seat it found, alone or with others."""
        if not self.finders:
            return 0
        mine = [finders for finders in self.finders.values() if seat in finders]
        return sum(FOR_ONE_FINDER if len(finders) == 1 else FOR_EACH_OF_SEVERAL for finders in mine)


def near(guess: Six, symbol: Six) -> Near:
    """How near a guess comes: right runes in place, right runes elsewhere, others that share a group in place."""
    exact = moved = group = 0
    for guessed, there in zip(guess, symbol, strict=True):
        if guessed == there:
            exact += 1
        elif guessed in symbol:
            moved += 1
        else:
            group += there in ALIKE[guessed]
    return exact, moved, group


_NOTHING = Compared(told=((),) * SEATS, nearest=({},) * SEATS, finders={})


def compare(actions: Sequence[PlayRound], of: Tables, hidden: Collection[int]) -> Compared:
    """Compares every guess with all other seats but those that are `hidden`: discovered before, or under Light."""
    if not any(action.guesses for action in actions):
        return _NOTHING
    told: list[tuple[Near, ...]] = []
    nearest: tuple[dict[int, Near], ...] = tuple([{} for _ in range(SEATS)])
    finders: dict[int, set[int]] = {}
    for guesser, action in enumerate(actions):
        if not action.guesses:
            told.append(())
            continue
        others = [(seat, *of.places[seat]) for seat in OTHERS[guesser] if seat not in hidden]
        closest: list[Near] = []
        for guess in action.guesses:
            guessed, named, closest_yet = place_mask(guess), rune_mask(guess), NOWHERE
            for seat, right, alike, runes in others:
                exact = (guessed & right).bit_count()
                each = exact, (named & runes).bit_count() - exact, (guessed & alike).bit_count()
                closest_yet = max(closest_yet, each)
                came = nearest[seat]
                came[guesser] = best(came[guesser], each) if guesser in came else each
                if each == RIGHT:
                    finders.setdefault(seat, set()).add(guesser)
            closest.append(closest_yet)
        told.append(tuple(closest))
    return Compared(told=tuple(told), nearest=nearest, finders=dict(sorted(finders.items())))


def best(one: Near, other: Near) -> Near:
    """The greater of each figure: they may come from different guesses."""
    a, b, c = one
    x, y, z = other
    return one if a >= x and b >= y and c >= z else (max(a, x), max(b, y), max(c, z))
