"""The rules of Mist, both variants. Numbers like R5 are the rulings in docs/games/mist.md.

Pieces, visions and spottings are masks of `BOARD`. What a seat was last told is kept in the state as it was told:
a view is made of that and of public facts, never of where the other's pieces are.
"""

from functools import lru_cache
from typing import TypeVar, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.games.mist import (
    Board,
    ChooseFirst,
    FirstChosen,
    FirstMove,
    MistDetail,
    MistHostView,
    MistOptions,
    MistView,
    OpponentPlaced,
    Placed,
    Reveal,
    Swapped,
    Turn,
    Vision,
    WholeBoard,
)
from protocol.games.mist_board import BOARD, CENTRE, PLAYABLE, SEEN
from protocol.words import Action, Options, Outcome, Setup
from referee.rules import (
    MINUTE_MS,
    Addressed,
    Announced,
    Game,
    Illegal,
    Luck,
    Owed,
    Step,
    Taken,
    TimeTerms,
    Variant,
    Window,
)

SPELLED = {spelling: name for name in BOARD.names for spelling in (name, name.lower())}
"""Every accepted spelling of a cell to its canonical one (R1)."""

PairT = TypeVar("PairT")


class RuleSet(Struct, frozen=True, kw_only=True):
    """What the two variants do differently."""

    least: int
    """The fewest cells a turn may name (R2, R3)."""
    default: Turn
    """The turn of a mover who submits nothing (R4)."""
    forbidden_first: tuple[str, ...]
    """Cells that the first turn may not name (R3)."""
    forbidden: tuple[str, ...]
    """Cells that later turns may not name (R2)."""
    pie: bool
    """Whether the second turn may be a swap (R5)."""
    watches: bool
    """Whether the watcher sees every placement in its vision, spotted or not (R10)."""


RULE_SETS = {
    "heaven-and-hell": RuleSet(
        least=0, default=Turn(cells=()), forbidden_first=("E5",), forbidden=("E5",), pie=True, watches=True
    ),
    "contractual-obligation": RuleSet(
        least=1,
        default=Turn(cells=("E5",)),
        forbidden_first=BOARD.cells(BOARD.neighbours(CENTRE)),
        forbidden=(),
        pie=False,
        watches=False,
    ),
}


class Terms(Struct, frozen=True):
    """What one turn may be."""

    least: int
    most: int
    forbidden: tuple[str, ...]
    may_swap: bool


class Sight(Struct, frozen=True):
    """What a seat's last placement lets it see and spot, as masks. It lasts until the other has placed."""

    vision: int = 0
    spotting: int = 0


class Known(Struct, frozen=True, kw_only=True):
    """What a seat was last told; the fields are those of `MistView`."""

    visible: Board = {}
    spotted: tuple[str, ...] = ()
    destroyed: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


class MistState(Struct, frozen=True, kw_only=True):
    """A match of Mist between two turns. Pairs are indexed by seat."""

    variant: str
    options: MistOptions
    first: int | None
    """Who goes first; None while that is being chosen (R6)."""
    turns: int = 0
    pieces: tuple[int, int] = (0, 0)
    """The pieces on the board, as masks."""
    sight: tuple[Sight, Sight] = (Sight(), Sight())
    known: tuple[Known, Known] = (Known(), Known())
    first_move: tuple[str, ...] | None = None
    swapped: bool = False
    reason: str | None = None
    """Why the match is over; None while it is not."""


class Mist(Game[MistState]):
    """Two seats, a board of 61 hexes under fog; the largest connected group wins."""

    name = "mist"
    variants = (
        # The source gives the seat with the advantage 24 hours to name who goes first, for people who meet online.
        # Programs get what any other decision gets: a minute.
        Variant("contractual-obligation", TimeTerms({"first": MINUTE_MS, "turn": MINUTE_MS})),
        Variant("heaven-and-hell", TimeTerms({"first": MINUTE_MS, "turn": MINUTE_MS}, reserve_ms=5 * MINUTE_MS)),
    )
    actions = {"first": ChooseFirst, "turn": Turn}  # noqa: RUF012 - a ClassVar of the contract
    announced = {"first": Announced.SEATS, "turn": Announced.SEATS}  # noqa: RUF012 - a ClassVar of the contract
    events = (FirstChosen, FirstMove, Swapped, Placed, OpponentPlaced, Vision, Reveal)
    options = MistOptions
    view_type = MistView

    def seats(self, options: Options) -> int:
        """Two."""
        return 2

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[MistState]:
        """An empty board. Nothing is told, not even a first player set by option (R6)."""
        given = cast("MistOptions", options)
        first = None if given.first == "choose" else given.first
        return Step(MistState(variant=variant, options=given, first=first))

    def window(self, state: MistState) -> Window | None:
        """`first` for the seat with the advantage, then `turn` for the mover, by turns (R6)."""
        if state.reason is not None:
            return None
        if state.first is None:
            return _FIRST_WINDOWS[state.options.advantage]
        return _TURN_WINDOWS[state.variant, (state.first + state.turns) % 2]

    def check(self, state: MistState, seat: int, action: Action) -> Action:
        """See `Game.check`. Every reason is about the action and public rules only (R1-R3, R5)."""
        return _checked_turn(_terms(state), action) if isinstance(action, Turn) else action

    def close(self, state: MistState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[MistState]:
        """Plays what the open window's seat is taken to have submitted."""
        action = next(seat.action for seat in taken if seat is not None)
        if isinstance(action, ChooseFirst):
            return Step(replace(state, first=action.first), (Addressed(FirstChosen(seat=action.first)),))
        turn = cast("Turn", action)
        after, told = _swap(state) if turn.swap else _place(state, cast("tuple[str, ...]", turn.cells))
        if after.reason is None:
            return Step(after, told)
        reveal = Reveal(board=_whole_board(after.pieces), groups=_groups(after.pieces), turns=after.turns)
        return Step(after, (*told, Addressed(reveal)))

    def view(self, state: MistState, seat: int | None) -> MistView:
        """What the seat was last told, and public facts."""
        known = _NOTHING_KNOWN if seat is None else state.known[seat]
        mover = _mover(state)
        turn = _NO_TERMS if mover is None else _terms(state)
        return MistView(
            seat=seat,
            turn=_turn(state),
            mover=mover,
            pieces=(turn.least, turn.most),
            forbidden=turn.forbidden,
            may_swap=turn.may_swap,
            first_move=state.first_move,
            swapped=state.swapped,
            visible=known.visible,
            spotted=known.spotted,
            destroyed=known.destroyed,
            placed=known.placed,
            lost=known.lost,
        )

    def host_view(self, state: MistState) -> MistHostView:
        """The whole board, and what each seat sees and spots."""
        return MistHostView(
            turn=_turn(state),
            mover=_mover(state),
            board=_whole_board(state.pieces),
            vision=tuple(BOARD.cells(sight.vision) for sight in state.sight),
            spotting=tuple(BOARD.cells(sight.spotting) for sight in state.sight),
            groups=_groups(state.pieces),
            first_move=state.first_move,
            swapped=state.swapped,
        )

    def outcome(self, state: MistState) -> Outcome | None:
        """By the lists of group sizes (R8), once the match is over."""
        if state.reason is None:
            return None
        groups = _groups(state.pieces)
        winner = _winner(groups["0"], groups["1"], state.options.advantage)
        return Outcome(
            ranking=((winner,), (1 - winner,)),
            winners=(winner,),
            eliminated=1 - winner,
            scores={seat: sizes[0] if sizes else 0 for seat, sizes in groups.items()},
            reason=state.reason,
            detail=MistDetail(groups=groups, turns=state.turns),
        )


_FIRST_WINDOWS = tuple(Window("first", (Owed(seat, ChooseFirst(first=seat)),)) for seat in (0, 1))
_TURN_WINDOWS = {
    (name, seat): Window("turn", (Owed(seat, rules.default),))
    for name, rules in RULE_SETS.items()
    for seat in (0, 1)
}
_BLIND = Sight()
_NOTHING_KNOWN = Known()
_NO_TERMS = Terms(0, 0, (), False)
_TERMS = {
    name: (
        Terms(rules.least, 2, rules.forbidden_first, False),
        Terms(rules.least, 3, rules.forbidden, rules.pie),
        Terms(rules.least, 3, rules.forbidden, False),
    )
    for name, rules in RULE_SETS.items()
}
"""By variant: the terms of the first, the second and every later turn."""


def _terms(state: MistState) -> Terms:
    return _TERMS[state.variant][min(state.turns, 2)]


def _mover(state: MistState) -> int | None:
    return None if state.first is None or state.reason is not None else (state.first + state.turns) % 2


def _turn(state: MistState) -> int:
    return 0 if state.first is None else state.turns + (state.reason is None)


def _checked_turn(terms: Terms, turn: Turn) -> Turn:
    """The canonical spelling of a turn. Raises Illegal by R1, R2, R3 or R5."""
    if turn.cells is UNSET:
        if not turn.swap:
            raise Illegal("a turn names cells, or is a swap")
        if not terms.may_swap:
            raise Illegal("this turn may not be a swap")
        return turn
    if turn.swap:
        raise Illegal("a swap is a whole turn; it names no cells")
    if not terms.least <= len(turn.cells) <= terms.most:
        raise Illegal(f"{len(turn.cells)} cells; this turn names {terms.least} to {terms.most}")
    return Turn(cells=_checked_cells(terms, turn.cells))


def _checked_cells(terms: Terms, spellings: tuple[str, ...]) -> tuple[str, ...]:
    mask = 0
    for spelling in spellings:
        name = SPELLED.get(spelling)
        if name is None:
            raise Illegal(f"{spelling[:20]!r} is no cell of this board")
        if name in terms.forbidden:
            raise Illegal(f"{name} may not be named this turn")
        bit = BOARD.bit[name]
        if bit & mask:
            raise Illegal(f"{name} is named twice")
        if BOARD.grow(bit) & mask:
            raise Illegal(f"{name} is next to another cell of this turn")
        mask |= bit
    return BOARD.cells(mask)


def _place(state: MistState, cells: tuple[str, ...]) -> tuple[MistState, tuple[Addressed, ...]]:
    """A turn of placing: what becomes of the pieces, and what both seats are told (R10)."""
    rules = RULE_SETS[state.variant]
    mover = cast("int", _mover(state))
    watcher = 1 - mover
    watching = state.sight[watcher]
    placed = BOARD.mask(cells)
    spotted = placed & watching.spotting
    destroyed = placed & (state.pieces[0] | state.pieces[1] | CENTRE)
    if len(cells) > 1:
        destroyed |= spotted
    pieces = _by_seat(mover, state.pieces[mover] | placed & ~destroyed, state.pieces[watcher])
    sight = _sight(cells, destroyed)

    to_mover = Placed(cells=cells, destroyed=BOARD.cells(destroyed), visible=_visible(sight.vision, pieces, mover))
    to_watcher = OpponentPlaced(
        spotted=BOARD.cells(spotted),
        destroyed=BOARD.cells(destroyed & watching.vision),
        visible=_with_opponents(state.known[watcher].visible, placed & ~destroyed & watching.vision),
        placed=BOARD.cells(placed & watching.vision) if rules.watches else UNSET,
    )
    after = replace(
        state,
        turns=state.turns + 1,
        pieces=pieces,
        sight=_by_seat(mover, sight, _BLIND),
        known=_knowing(state, mover, to_mover, to_watcher),
        first_move=state.first_move if state.turns else cells,
        reason=_reason(state, pieces),
    )
    told = (Addressed(to_mover, mover), Addressed(to_watcher, watcher))
    return after, told if state.turns else (Addressed(FirstMove(seat=mover, cells=cells)), *told)


def _knowing(state: MistState, mover: int, to_mover: Placed, to_watcher: OpponentPlaced) -> tuple[Known, Known]:
    """What both seats were last told, once these have been."""
    movers = replace(state.known[mover], visible=to_mover.visible, placed=to_mover.cells, lost=to_mover.destroyed)
    watchers = replace(
        state.known[1 - mover],
        visible=to_watcher.visible,
        spotted=to_watcher.spotted,
        destroyed=to_watcher.destroyed,
    )
    return _by_seat(mover, movers, watchers)


def _swap(state: MistState) -> tuple[MistState, tuple[Addressed, ...]]:
    """The pie rule: pieces and the vision that came with them change owner (R5)."""
    mover = cast("int", _mover(state))
    pieces = state.pieces[1], state.pieces[0]
    sight = state.sight[1], state.sight[0]
    visible = _visible(sight[mover].vision, pieces, mover)
    after = replace(
        state,
        turns=state.turns + 1,
        pieces=pieces,
        sight=sight,
        # The other's vision is gone, and what stands there is no longer as it was told.
        known=_by_seat(mover, Known(visible=visible), replace(state.known[1 - mover], visible={})),
        swapped=True,
        reason=_reason(state, pieces),
    )
    return after, (Addressed(Swapped(seat=mover)), Addressed(Vision(visible=visible), mover))


def _by_seat(mover: int, movers: PairT, watchers: PairT) -> tuple[PairT, PairT]:
    return (watchers, movers) if mover else (movers, watchers)


def _sight(cells: tuple[str, ...], destroyed: int) -> Sight:
    """What a placement lets its owner see, and what of that its surviving pieces spot."""
    seen = SEEN[len(cells)]
    vision = spotting = 0
    for name in cells:
        bit = BOARD.bit[name]
        vision |= seen[bit]
        if not bit & destroyed:
            spotting |= seen[bit]
    return Sight(vision, spotting)


@lru_cache(maxsize=4096)
def _empty_board(vision: int) -> Board:
    """What an empty board looks like in that vision. Shared: copy it."""
    return {name: "blocked" if name == "E5" else "empty" for name in BOARD.cells(vision)}


def _visible(vision: int, pieces: tuple[int, int], seat: int) -> Board:
    board = _empty_board(vision).copy()
    for name in BOARD.cells(vision & pieces[seat]):
        board[name] = "own"
    for name in BOARD.cells(vision & pieces[1 - seat]):
        board[name] = "opponent"
    return board


def _with_opponents(seen: Board, arrived: int) -> Board:
    """What the watcher was told of its vision on its own turn, with what has just arrived there."""
    return {**seen, **dict.fromkeys(BOARD.cells(arrived), "opponent")} if arrived else seen


def _whole_board(pieces: tuple[int, int]) -> WholeBoard:
    board: WholeBoard = {name: "blocked" if name == "E5" else "empty" for name in BOARD.names}
    for seat in (0, 1):
        board.update(dict.fromkeys(BOARD.cells(pieces[seat]), seat))
    return board


def _groups(pieces: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    return {str(seat): tuple(BOARD.sizes(mask)) for seat, mask in enumerate(pieces)}


def _winner(sizes0: tuple[int, ...], sizes1: tuple[int, ...], advantage: int) -> int:
    """Who has the better list of groups; Python compares tuples just as R8 does."""
    if sizes0 == sizes1:
        return advantage
    return 0 if sizes0 > sizes1 else 1


def _reason(before: MistState, pieces: tuple[int, int]) -> str | None:
    """Why the match ends after a turn that leaves these pieces, or None; the first reason counts (R7, R9)."""
    # Where no piece stayed, R7 says what it said a turn ago.
    over = _full_or_decided(pieces, before.options.advantage) if pieces != before.pieces else None
    return over or ("turn_limit" if before.turns + 1 >= before.options.max_turns else None)


def _full_or_decided(pieces: tuple[int, int], advantage: int) -> str | None:
    """Whether no further turn can matter (R7)."""
    if pieces[0] | pieces[1] == PLAYABLE:
        return "full"
    return "decided" if _guaranteed(pieces, 0, advantage) or _guaranteed(pieces, 1, advantage) else None


def _guaranteed(pieces: tuple[int, int], seat: int, advantage: int) -> bool:
    """Whether the seat would win even if every empty cell went to the other (R7)."""
    others = PLAYABLE & ~pieces[seat]
    if BOARD.has_group_over(others, pieces[seat].bit_count()):
        return False
    own, most = BOARD.sizes(pieces[seat]), BOARD.sizes(others)
    return own > most or (own == most and seat == advantage)
