"""Mist's legal actions. A turn is built of cells in any order, then `stop`; or of `swap` alone.

All are listed. In heaven-and-hell the first turn may be one of 1,681, the second of 27,748, a later one of 27,747;
in contractual-obligation 1,414, then 29,106.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist_board import BOARD
from protocol.words import Action
from referee.rules import Building

CELLS = len(BOARD.names)
MOST_PIECES = 3
STOP, SWAP, FIRST = CELLS, CELLS + 1, CELLS + 2
"""Choices after the cells, which are numbered in row order; `FIRST` and the next name who goes first."""
CHOICES = (*BOARD.names, "stop", "swap", "seat 0 goes first", "seat 1 goes first")
BITS = tuple(BOARD.name)
"""One-cell masks of the board, by choice."""
NUMBER = {name: number for number, name in enumerate(BOARD.names)}


def listed(view: MistView) -> Sequence[Action]:
    """Every legal action: the empty turn first, then by number of cells in row order; a swap last."""
    if view.turn == 0:
        return _FIRSTS
    if view.pieces[1] > MOST_PIECES:  # Those of a view that no match gives could not be counted.
        raise ValueError(f"pieces: {view.pieces[1]}; a turn names {MOST_PIECES} cells at most")
    return _turns(*view.pieces, view.forbidden, view.may_swap)


def build(view: MistView) -> Building:
    """See `Game.build`."""
    if view.turn == 0:
        return ChooseFirst(first=(yield 0b11 << FIRST) - FIRST)
    least, most = view.pieces
    free = BOARD.all & ~BOARD.mask(view.forbidden)
    turn = 0
    for count in range(most):
        stop = (count >= least) << STOP
        choice = yield _choices(free) | stop | (view.may_swap and count == 0) << SWAP
        if choice == SWAP:
            return Turn(swap=True)
        if choice == STOP:
            break
        turn |= BITS[choice]
        free &= ~BOARD.grow(BITS[choice])
    return Turn(cells=BOARD.cells(turn))


def spell(view: MistView, action: Action) -> Sequence[int]:
    """See `Game.spell`."""
    if isinstance(action, ChooseFirst):
        return (FIRST + action.first,)
    assert isinstance(action, Turn)  # noqa: S101 - there are no other actions
    if action.swap:
        return (SWAP,)
    cells = [NUMBER[name] for name in action.cells or ()]
    return cells if len(cells) == view.pieces[1] else [*cells, STOP]


_FIRSTS = (ChooseFirst(first=0), ChooseFirst(first=1))


@lru_cache(maxsize=8)
def _turns(least: int, most: int, forbidden: tuple[str, ...], may_swap: bool) -> tuple[Turn, ...]:
    free = BOARD.all & ~BOARD.mask(forbidden)
    turns = [Turn(cells=BOARD.cells(mask)) for count in range(least, most + 1) for mask in _apart(free, count)]
    return (*turns, Turn(swap=True)) if may_swap else tuple(turns)


def _apart(free: int, count: int) -> Iterator[int]:
    """Every way to take so many of these cells, no two of which touch, as masks."""
    if count == 0:
        yield 0
        return
    for bit in BOARD.each(free):
        # Cells before this one were taken first in earlier ways.
        for rest in _apart(free & ~BOARD.grow(bit) & -bit, count - 1):
            yield bit | rest


@lru_cache(maxsize=4096)
def _choices(cells: int) -> int:
    """The mask of choices for a mask of the board's cells, which has gaps between its rows."""
    return sum(1 << number for number, bit in enumerate(BITS) if bit & cells)
