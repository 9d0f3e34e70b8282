"""Mist's state, and the effects of turns.

Pieces, visions and spottings are masks of `BOARD`. The state stores each seat's latest information as it was sent:
views are built from that and from public facts, never from the opponent's pieces.
"""

from functools import lru_cache
from typing import Literal, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.games.mist import (
    Board,
    FirstMove,
    MistOptions,
    OpponentPlaced,
    Placed,
    Swapped,
    Turn,
    Vision,
    WholeBoard,
)
from protocol.games.mist.board import BOARD, CENTRE, PLAYABLE, SEEN
from referee.rules import (
    Addressed,
)

SPELLED = {spelling: name for name in BOARD.names for spelling in (name, name.lower())}
"""Canonical names of cells, indexed by every accepted spelling (R1)."""


def _sees(by_cell: dict[int, int]) -> dict[str, tuple[int, int]]:
    return {BOARD.name[bit]: (bit, seen) for bit, seen in by_cell.items()}


_SEES = tuple(map(_sees, SEEN))
"""Masks of a cell and of all cells seen from it; indexed by number of pieces placed, then by cell."""
_AROUND = {bit: BOARD.neighbours(bit) for bit in BOARD.name}
"""Masks of a cell's neighbours, indexed by the cell's mask."""


class MistRuleSet(Struct, frozen=True, kw_only=True):
    """The differences between the two variants."""

    least: int
    """The fewest cells a turn may name (R2, R3)."""
    default: Turn
    """The turn of a mover who submits nothing (R4)."""
    forbidden_first: tuple[str, ...]
    """Cells that the first turn may not name (R3)."""
    forbidden: tuple[str, ...]
    """Cells that later turns may not name (R2)."""
    pie: bool
    """True if the second turn may be a swap (R5)."""
    watches: bool
    """True if the watcher sees every placement in its vision, spotted or not (R10)."""


RULE_SETS = {
    "heaven-and-hell": MistRuleSet(
        least=0, default=Turn(cells=()), forbidden_first=("E5",), forbidden=("E5",), pie=True, watches=True
    ),
    "contractual-obligation": MistRuleSet(
        least=1,
        default=Turn(cells=("E5",)),
        forbidden_first=BOARD.cells(BOARD.neighbours(CENTRE)),
        forbidden=(),
        pie=False,
        watches=False,
    ),
}


class TurnConstraints(Struct, frozen=True, gc=False):
    """The constraints on one turn."""

    pieces: tuple[int, int]
    """Minimum and maximum number of cells."""
    forbidden: tuple[str, ...]
    may_swap: bool
    cells: dict[str, tuple[str, int, int]] = {}
    """Legal cells, indexed by every accepted spelling: canonical name, mask, mask with neighbours (R1)."""


class Sight(Struct, frozen=True, gc=False):
    """Masks of the cells that a seat sees and spots by its last placement, until the opponent has placed."""

    vision: int = 0
    spotting: int = 0


class SeatKnowledge(Struct, frozen=True, gc=False):
    """A seat's latest information, in fields of `MistView`."""

    visible: Board = {}
    spotted: tuple[str, ...] = ()
    destroyed: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


class MistState(Struct, frozen=True, kw_only=True, gc=False):
    """A match of Mist between two turns. Pairs are indexed by seat."""

    variant: str
    options: MistOptions
    first: int | None
    """The seat that goes first; None until it is chosen (R6)."""
    turns: int = 0
    pieces: tuple[int, int] = (0, 0)
    """The pieces on the board, as masks."""
    sight: tuple[Sight, Sight] = (Sight(), Sight())
    known: tuple[SeatKnowledge, SeatKnowledge] = (SeatKnowledge(), SeatKnowledge())
    without: tuple[int, int] = (0, 0)
    """A large connected set of cells without the seat's pieces; 0 if unknown: R7 is then checked in full."""
    first_move: tuple[str, ...] | None = None
    swapped: bool = False
    reason: str | None = None
    """The reason why the match ended; None during the match."""


BLIND = Sight()
NOTHING_KNOWN = SeatKnowledge()
NO_TERMS = TurnConstraints((0, 0), (), False)


def _terms(least: int, most: int, forbidden: tuple[str, ...], may_swap: bool) -> TurnConstraints:
    cells = {
        spelling: (name, BOARD.bit[name], BOARD.grow(BOARD.bit[name]))
        for spelling, name in SPELLED.items()
        if name not in forbidden
    }
    return TurnConstraints((least, most), forbidden, may_swap, cells)


_TERMS = {
    name: (
        _terms(rules.least, 2, rules.forbidden_first, False),
        _terms(rules.least, 3, rules.forbidden, rules.pie),
        _terms(rules.least, 3, rules.forbidden, False),
    )
    for name, rules in RULE_SETS.items()
}
"""Terms of the first, the second and every later turn; indexed by variant."""


def terms_of(state: MistState) -> TurnConstraints:
    """Return the constraints on the next turn."""
    return _TERMS[state.variant][state.turns if state.turns < 2 else 2]  # noqa: PLR2004, FURB136 - `min` takes longer


def mover_of(state: MistState) -> int | None:
    """Return the seat to move; None before the first turn and after the last."""
    return None if state.first is None or state.reason is not None else (state.first + state.turns) % 2


def turn_of(state: MistState) -> int:
    """Return the number of the next turn, from 1, or of the last after the end; 0 until a first seat is set."""
    return 0 if state.first is None else state.turns + (state.reason is None)


def place(state: MistState, cells: tuple[str, ...]) -> tuple[MistState, tuple[Addressed, ...]]:
    """Place pieces. Return the next state and the events for both seats (R10)."""
    assert state.first is not None  # noqa: S101 - turns follow that choice
    mover = (state.first + state.turns) % 2
    watcher = 1 - mover
    own, others, watching = state.pieces[mover], state.pieces[watcher], state.sight[watcher]
    knew, watched = state.known[mover], state.known[watcher]
    placed, vision = _placed_and_vision(cells)
    spotted = placed & watching.spotting
    destroyed = placed & (own | others | CENTRE)
    if len(cells) > 1:
        destroyed |= spotted
    stay = placed & ~destroyed
    # Each of three pieces sees only its own cell.
    alone = vision == placed
    sight = Sight(vision, vision if not destroyed else stay if alone else _spotting(stay, len(cells)))
    own |= stay
    left = _left_without(state.without[mover], stay)
    if mover:
        pieces, without, sights = (others, own), (state.without[0], left), (BLIND, sight)
    else:
        pieces, without, sights = (own, others), (left, state.without[1]), (sight, BLIND)

    lost: tuple[str, ...] = ()
    seen_lost: tuple[str, ...] = ()
    if destroyed:
        lost = BOARD.cells(destroyed)
        seen_lost = BOARD.cells(destroyed & watching.vision)
    visible = _beneath(cells, own, others) if alone else _visible(vision, vision & own, vision & others)
    seen = BOARD.cells(spotted) if spotted else ()
    arrived = stay & watching.vision
    seen_visible = _with_opponents(watched.visible, arrived) if arrived else watched.visible
    movers = SeatKnowledge(visible, knew.spotted, knew.destroyed, cells, lost)
    watchers = SeatKnowledge(seen_visible, seen, seen_lost, watched.placed, watched.lost)
    after = replace(
        state,
        turns=state.turns + 1,
        pieces=pieces,
        sight=sights,
        known=(watchers, movers) if mover else (movers, watchers),
        without=without,
        first_move=state.first_move if state.turns else cells,
        reason=_reason(state, pieces, without),
    )
    told = (
        Addressed(Placed(cells=cells, destroyed=lost, visible=visible), mover),
        Addressed(
            OpponentPlaced(
                spotted=seen,
                destroyed=seen_lost,
                visible=seen_visible,
                placed=BOARD.cells(placed & watching.vision) if RULE_SETS[state.variant].watches else UNSET,
            ),
            watcher,
        ),
    )
    return after, told if state.turns else (Addressed(FirstMove(seat=mover, cells=cells)), *told)


def swap(state: MistState) -> tuple[MistState, tuple[Addressed, ...]]:
    """Exchange the owners of pieces and of their vision by the pie rule (R5). Return the next state and events."""
    mover = cast("int", mover_of(state))
    pieces = state.pieces[1], state.pieces[0]
    sight = state.sight[1], state.sight[0]
    without = state.without[1], state.without[0]
    vision = sight[mover].vision
    visible = _visible(vision, vision & pieces[mover], vision & pieces[1 - mover])
    # The opponent loses its vision, and the contents that it saw have changed owner.
    others = replace(state.known[1 - mover], visible={})
    after = replace(
        state,
        turns=state.turns + 1,
        pieces=pieces,
        sight=sight,
        known=(others, SeatKnowledge(visible)) if mover else (SeatKnowledge(visible), others),
        without=without,
        swapped=True,
        reason=_reason(state, pieces, without),
    )
    return after, (Addressed(Swapped(seat=mover)), Addressed(Vision(visible=visible), mover))


def sight_of(cells: tuple[str, ...], destroyed: int) -> Sight:
    """Return the cells that a placement's owner sees, and those that its surviving pieces spot."""
    placed, vision = _placed_and_vision(cells)
    return Sight(vision, _spotting(placed & ~destroyed, len(cells)))


def _placed_and_vision(cells: tuple[str, ...]) -> tuple[int, int]:
    placed = vision = 0
    sees = _SEES[len(cells)]
    for name in cells:
        bit, seen = sees[name]
        placed |= bit
        vision |= seen
    return placed, vision


def _spotting(stay: int, pieces: int) -> int:
    """Return the cells seen by the surviving pieces of a placement of `pieces` pieces."""
    seen, spotting = SEEN[pieces], 0
    for bit in BOARD.each(stay):
        spotting |= seen[bit]
    return spotting


@lru_cache(maxsize=4096)
def _empty_board(vision: int) -> Board:
    """Return an empty board within the vision of one or two pieces.

    The result is cached: copy it before a change.
    """
    return {name: "blocked" if name == "E5" else "empty" for name in BOARD.cells(vision)}


def _visible(vision: int, own: int, others: int) -> Board:
    """Return the contents of the cells in a seat's vision."""
    board, at_length = _empty_board(vision).copy(), BOARD.at_length
    # `BOARD.cells` is inlined here because most of a turn's time is spent in these loops.
    while own:
        name, cell = at_length[own.bit_length()]
        board[name] = "own"
        own ^= cell
    while others:
        name, cell = at_length[others.bit_length()]
        board[name] = "opponent"
        others ^= cell
    return board


def _beneath(cells: tuple[str, ...], own: int, others: int) -> Board:
    """Return the contents of the named cells, if the seat sees only these. Not cached: there are too many sets."""
    return {name: _holds(BOARD.bit[name], own, others) for name in cells}


def _holds(cell: int, own: int, others: int) -> Literal["own", "opponent", "empty", "blocked"]:
    if cell & own:
        return "own"
    if cell & others:
        return "opponent"
    return "blocked" if cell == CENTRE else "empty"


def _with_opponents(seen: Board, arrived: int) -> Board:
    """Return a copy of the watcher's visible cells with the opponent's newly arrived pieces."""
    board = seen.copy()
    for name in BOARD.cells(arrived):
        board[name] = "opponent"
    return board


def whole_board(pieces: tuple[int, int]) -> WholeBoard:
    """Return the contents of every cell."""
    board: WholeBoard = {name: "blocked" if name == "E5" else "empty" for name in BOARD.names}
    for seat in (0, 1):
        board.update(dict.fromkeys(BOARD.cells(pieces[seat]), seat))
    return board


def groups_of(pieces: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    """Return the sizes of each seat's groups, largest first; indexed by seat."""
    return {str(seat): tuple(BOARD.sizes(mask)) for seat, mask in enumerate(pieces)}


def winner_of(sizes0: tuple[int, ...], sizes1: tuple[int, ...], advantage: int) -> int:
    """Return the seat with the better list of groups; Python compares tuples exactly as R8 does."""
    if sizes0 == sizes1:
        return advantage
    return 0 if sizes0 > sizes1 else 1


def _left_without(without: int, added: int) -> int:
    """Return a connected part of the cells `without` a seat's pieces after it has added some."""
    while added := added & without:
        _, cell = BOARD.at_length[added.bit_length()]
        without ^= cell
        around = _AROUND[cell] & without
        if not _together(around):
            without = _larger_part(without, around)
    return without


@lru_cache(maxsize=4096)
def _together(cells: int) -> bool:
    """Return whether these neighbours of a cell are connected without it."""
    return BOARD.group_to(cells, cells) == cells


def _larger_part(cells: int, around: int) -> int:
    """Return a large group of `cells`, not always the largest. Every group contains one of the cells `around`."""
    while True:
        group = BOARD.group_to(around, cells)
        around &= ~group
        if not around:
            return cells
        if 2 * group.bit_count() > cells.bit_count():
            return group
        cells ^= group


def _reason(before: MistState, pieces: tuple[int, int], without: tuple[int, int]) -> str | None:
    """Return the first reason to end the match after a turn, or None (R7, R9)."""
    # If no piece was added, R7 has the same result as a turn ago.
    if pieces != before.pieces:
        if pieces[0] | pieces[1] == PLAYABLE:
            return "full"
        advantage = before.options.advantage
        for seat in (0, 1):
            # If the opponent could form a group larger than all the seat's pieces, no full check is needed.
            if without[seat].bit_count() <= pieces[seat].bit_count() and _guaranteed(
                pieces[seat], advantage == seat
            ):
                return "decided"
    return "turn_limit" if before.turns + 1 >= before.options.max_turns else None


@lru_cache(maxsize=1024)
def _guaranteed(pieces: int, advantage: bool) -> bool:
    """Return whether a seat with these pieces would win even if the opponent got every empty cell (R7).

    Cached because each turn checks both seats, and one of them has not changed since the turn before.
    """
    others = PLAYABLE & ~pieces
    if BOARD.has_group_over(others, pieces.bit_count()):
        return False
    own, most = BOARD.sizes(pieces), BOARD.sizes(others)
    return own > most or (own == most and advantage)
