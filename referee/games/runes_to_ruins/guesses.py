"""Guesses of symbols: how near they are, which seats they are compared with, and which they discover."""

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from struct import Struct as Layout

from msgspec import Struct

from protocol.games.runes_to_ruins import GuessAnswer, PlayRound, Six
from referee.games.runes_to_ruins.state import OTHERS, SEATS, Near, RunesState
from referee.games.runes_to_ruins.symbols import ALIKE, SymbolIndex

NOWHERE: Near = (0, 0, 0)
RIGHT: Near = (6, 0, 0)
FOR_ONE_FINDER, FOR_EACH_OF_SEVERAL = 10, 5


class GuessResults(Struct, frozen=True, kw_only=True, gc=False):
    """The results of the guesses of a round."""

    told: list[list[GuessAnswer]]
    """Figures of the symbol closest to each guess; indexed by guesser, then by guess."""
    nearest: list[tuple[Near, ...]]
    """Maximum of each figure over all guesses so far; indexed by guessed seat, then by guesser."""
    finders: dict[int, set[int]]
    """Seats that guessed a symbol, by discovered seat in ascending order."""

    def earned(self, seat: int) -> int:
        """Return the insight that the seat gains for the seats that it found, alone or with others."""
        if not self.finders:
            return 0
        earned = 0
        for finders in self.finders.values():
            if seat in finders:
                earned += FOR_ONE_FINDER if len(finders) == 1 else FOR_EACH_OF_SEVERAL
        return earned


def near(guess: Six, symbol: Six) -> Near:
    """Return the number of right runes in place, right runes elsewhere, and others that share a group in place."""
    exact = moved = group = 0
    for guessed, there in zip(guess, symbol, strict=True):
        if guessed == there:
            exact += 1
        elif guessed in symbol:
            moved += 1
        else:
            group += there in ALIKE[guessed]
    return exact, moved, group


_FIGURE, _FIELD, _SLOT = 4, 12, 64
"""Bits of a figure, of a seat's three figures (`exact` is the highest, so fields order as `Near` does), and of all
seats' fields for one rune."""
_WHOLE = (1 << _FIELD) - 1
_FOUND = 6 << 2 * _FIGURE
_NEAR: tuple[Near, ...] = tuple(
    (field >> 2 * _FIGURE, field >> _FIGURE & 15, field & 15) for field in range(_FOUND + 1)
)
"""Figures, indexed by the value of a seat's field."""
_HERE = {name: 1 << number * _SLOT for number, name in enumerate(ALIKE)}
_ALIKE_HERE = {name: sum(map(_HERE.__getitem__, others)) for name, others in ALIKE.items()}
_SLOTS = Layout(f"<{len(_HERE)}Q")


@lru_cache(maxsize=64)
def _figures(symbols: tuple[Six, ...]) -> tuple[dict[str, int], ...]:
    """Return, for each position, what a rune guessed there adds to the fields of all seats.

    The sum of six such numbers holds the figures of a guess. Long integers compute all runes of a position
    at once.
    """
    exact: list[int] = []
    alike: list[int] = []
    for there in zip(*symbols, strict=True):
        right = group = shift = 0
        for rune in there:
            right += _HERE[rune] << shift
            group += _ALIKE_HERE[rune] << shift
            shift += _FIELD
        exact.append(right)
        alike.append(group)
    anywhere = sum(exact)
    figures: list[dict[str, int]] = []
    for right, group in zip(exact, alike, strict=True):
        row = (right << 2 * _FIGURE) + (anywhere - right << _FIGURE) + (group & ~anywhere)
        figures.append(dict(zip(_HERE, _SLOTS.unpack(row.to_bytes(_SLOTS.size, "little")), strict=True)))
    return tuple(figures)


def compare(state: RunesState, actions: Sequence[PlayRound], of: SymbolIndex) -> GuessResults:
    """Compare each guess with all other seats that are neither discovered earlier nor protected by Light."""
    kept = list(map(attrgetter("nearest"), state.standings))
    told: list[list[GuessAnswer]] = [[] for _ in range(SEATS)]
    if not any(map(attrgetter("guesses"), actions)):
        return GuessResults(told=told, nearest=kept, finders={})
    figures = _figures(of.symbols)
    nearest = [*map(list, kept)]
    finders: dict[int, set[int]] = {}
    open_ = [
        standing.discovered is None and not action.light
        for standing, action in zip(state.standings, actions, strict=True)
    ]
    for guesser, action in enumerate(actions):
        if not action.guesses:
            continue
        others = [(seat, seat * _FIELD, nearest[seat]) for seat in OTHERS[guesser] if open_[seat]]
        for index, guess in enumerate(action.guesses):
            first, second, third, fourth, fifth, sixth = map(dict.__getitem__, figures, guess)
            fields, most = first + second + third + fourth + fifth + sixth, 0
            for seat, shift, came in others:
                field = fields >> shift & _WHOLE
                if field > most:
                    most = field
                    if field == _FOUND:
                        finders.setdefault(seat, set()).add(guesser)
                exact, moved, group = _NEAR[field]
                a, b, c = came[guesser]
                if exact > a or moved > b or group > c:
                    # This is `best` inlined; nothing is done if no figure is greater.
                    came[guesser] = max(a, exact), max(b, moved), max(c, group)
            exact, moved, group = _NEAR[most]
            told[guesser].append(GuessAnswer(index=index, exact=exact, moved=moved, group=group))
    return GuessResults(told=told, nearest=[*map(tuple, nearest)], finders=dict(sorted(finders.items())))


def best(one: Near, other: Near) -> Near:
    """Return the maximum of each figure; the maxima may belong to different guesses."""
    a, b, c = one
    x, y, z = other
    return one if a >= x and b >= y and c >= z else (max(a, x), max(b, y), max(c, z))
