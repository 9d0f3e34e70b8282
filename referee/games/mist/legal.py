"""Mist's legal actions: the check of submitted turns, and how turns are built.

A turn is built from cells in any order, then `stop`, or from `swap` alone.

All actions can be listed. Heaven-and-hell has 1,681 first turns, 27,748 second turns and 27,747 for each later
turn; contractual-obligation has 1,414 first turns, then 29,106.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import UNSET

from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD
from protocol.words import Action
from referee.games.mist.turns import SPELLED, TurnConstraints
from referee.rules import Building, Illegal, choice_mask

CELLS = len(BOARD.names)
MOST_PIECES = 3
STOP, SWAP, FIRST = CELLS, CELLS + 1, CELLS + 2
"""Choices that follow the cells, which are numbered in row order; `FIRST + seat` chooses that seat to go first."""
CHOICES = (*BOARD.names, "stop", "swap", "seat 0 goes first", "seat 1 goes first")
BITS = tuple(BOARD.name)
"""One-cell masks of the board, indexed by choice."""
NUMBER = {name: number for number, name in enumerate(BOARD.names)}


def checked_turn(terms: TurnConstraints, turn: Turn) -> Turn:
    """Return a turn in canonical spelling. Raise Illegal by R1, R2, R3 or R5."""
    if turn.cells is UNSET:
        if not turn.swap:
            raise Illegal("a turn names cells, or is a swap")
        if not terms.may_swap:
            raise Illegal("this turn may not be a swap")
        return turn
    if turn.swap:
        raise Illegal("a swap is a whole turn; it names no cells")
    least, most = terms.pieces
    if not least <= len(turn.cells) <= most:
        raise Illegal(f"{len(turn.cells)} cells; this turn names {least} to {most}")
    mask, canonical = 0, True
    for spelling in turn.cells:
        if (cell := terms.cells.get(spelling)) is None:
            raise Illegal(_why_not(spelling))
        name, bit, around = cell
        if around & mask:
            raise Illegal(f"{name} is {'named twice' if bit & mask else 'next to another cell of this turn'}")
        if bit < mask or name != spelling:
            canonical = False
        mask |= bit
    return turn if canonical else Turn(cells=BOARD.cells(mask))


def _why_not(spelling: str) -> str:
    """Return the reason to refuse a cell."""
    if spelling in SPELLED:
        return f"{SPELLED[spelling]} may not be named this turn"
    return f"{spelling[:20]!r} is no cell of this board"


def listed(view: MistView) -> Sequence[Action]:
    """Return all legal actions: the empty turn first, then by number of cells in row order; a swap last."""
    if view.turn == 0:
        return _FIRSTS
    if view.pieces[1] > MOST_PIECES:  # An invalid view could make the list too long to build.
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
    """Yield every set of `count` of these cells, no two of them adjacent, as masks."""
    if count == 0:
        yield 0
        return
    for bit in BOARD.each(free):
        # Sets that contain an earlier cell have been yielded already.
        for rest in _apart(free & ~BOARD.grow(bit) & -bit, count - 1):
            yield bit | rest


@lru_cache(maxsize=4096)
def _choices(cells: int) -> int:
    """Convert a mask of board cells, which has gaps between its rows, to a mask of choices."""
    return choice_mask(number for number, bit in enumerate(BITS) if bit & cells)
