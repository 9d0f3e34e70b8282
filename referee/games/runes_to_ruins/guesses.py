"""Guesses at symbols: how near they come, to whom they are compared, and whom they discover."""

from collections.abc import Sequence

from msgspec import Struct

from protocol.games.runes_to_ruins import PlayRound, Six
from referee.games.runes_to_ruins.state import SEATS, Near
from referee.games.runes_to_ruins.symbols import GROUPS

NOWHERE: Near = (0, 0, 0)
RIGHT: Near = (6, 0, 0)
FOR_ONE_FINDER, FOR_EACH_OF_SEVERAL = 10, 5


class Compared(Struct, frozen=True, kw_only=True):
    """What came of the guesses of a round."""

    told: tuple[tuple[Near, ...], ...]
    """By guesser: for each of its guesses, how near the closest symbol was."""
    nearest: tuple[tuple[Near, ...], ...]
    """By guessed seat, then by guesser: the best of each figure in this round's guesses."""
    finders: tuple[frozenset[int], ...]
    """By guessed seat: who guessed its symbol."""

    @property
    def discovered(self) -> tuple[int, ...]:
        """The seats discovered, ascending."""
        return tuple(seat for seat, finders in enumerate(self.finders) if finders)

    def earned(self, seat: int) -> int:
        """What the seat's guesses gain it: for each seat it found, alone or with others."""
        mine = [finders for finders in self.finders if seat in finders]
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
            (divine, mundane), (divine_there, mundane_there) = GROUPS[guessed], GROUPS[there]
            group += divine == divine_there or mundane == mundane_there
    return exact, moved, group


def compare(actions: Sequence[PlayRound], symbols: tuple[Six, ...], hidden: frozenset[int]) -> Compared:
    """Compares every guess with all other seats but those that are `hidden`: discovered before, or under Light."""
    told: list[tuple[Near, ...]] = []
    nearest = [[NOWHERE] * SEATS for _ in range(SEATS)]
    finders: list[set[int]] = [set() for _ in range(SEATS)]
    for guesser, action in enumerate(actions):
        closest: list[Near] = []
        for guess in action.guesses:
            found = {seat: near(guess, symbols[seat]) for seat in range(SEATS) if seat not in hidden | {guesser}}
            closest.append(max(found.values(), default=NOWHERE))
            for seat, each in found.items():
                nearest[seat][guesser] = best(nearest[seat][guesser], each)
                if each == RIGHT:
                    finders[seat].add(guesser)
        told.append(tuple(closest))
    return Compared(told=tuple(told), nearest=tuple(map(tuple, nearest)), finders=tuple(map(frozenset, finders)))


def best(one: Near, other: Near) -> Near:
    """The greater of each figure: they may come from different guesses."""
    return max(one[0], other[0]), max(one[1], other[1]), max(one[2], other[2])
