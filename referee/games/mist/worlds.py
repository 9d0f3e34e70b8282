"""Random states of Mist (worlds) that are consistent with all events of a seat.

The cells that the opponent named within the seat's vision are known; those that it named elsewhere are hidden.
They are constrained by the seat's observations of a cell before and after a turn, and by the seat's own pieces
that were spotted. The sampler finds a consistent history of hidden turns and redraws some of its turns between one
world and the next, so successive worlds are similar and distant ones are not. To draw a turn, it draws the number
of cells, each number with equal probability, then one cell after another from those that fit. Worlds are not
weighted by how likely a player is to play that way.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar, assert_never, cast

from msgspec import Struct

from protocol.games.mist import (
    Board,
    FirstChosen,
    FirstMove,
    MistEvent,
    MistOptions,
    MistView,
    OpponentPlaced,
    Placed,
    Reveal,
    Swapped,
    Vision,
)
from protocol.games.mist.board import BOARD, CENTRE, RADIUS
from protocol.words import Event
from referee.games.mist.turns import BLIND, RULE_SETS, MistState, Sight, place, sight_of, swap
from referee.rules import drawn

MOST_CELLS = 3
STEPS = 2
"""Number of redraws between one world and the next."""
LATEST = 1 / 2
"""Probability that a redraw picks one of the two latest turns, because their cells matter most."""
MOVED = 1 / 4
"""Probability that a redraw tries to move a required piece to another turn in which it may have been placed."""
TRIES, ATTEMPTS = 100, 100
"""Maximum draws of one turn, and maximum attempts at a whole history, before repairs are tried."""
MENDED, MENDS = 10, 3000
"""Maximum number of histories to repair, and maximum redraws in each, before the search fails."""
MOST_MISSED = 100_000
"""Maximum number of consecutive histories in which the match would be over, before the search fails."""
UNFIT = 1 / 2
"""Probability that a repair redraws an inconsistent turn; otherwise it redraws any hidden turn."""
ThingT = TypeVar("ThingT")


class HiddenTurn(Struct):
    """A turn of the opponent and its constraints. Sets of cells are masks."""

    seen: int
    """The cells that the opponent named within the seat's vision."""
    counts: tuple[int, ...]
    """Possible numbers of named cells."""
    lost: int
    """Cells that destroy a placement: the seat's pieces and the centre."""
    spotting: int
    """Cells that destroy a placement if the turn named more than one cell."""
    free: int
    """Other cells that the opponent may have named."""
    known: bool = False
    """True for the first turn, which is public."""
    must_spot: int = 0
    """Cells that the turn's surviving pieces must spot, according to the seat's next turn."""
    must_miss: int = 0
    """Cells that these pieces must not spot."""

    def came(self, named: int) -> int:
        """Return the surviving pieces of this turn if it named these cells."""
        stays = named & ~self.lost
        return stays & ~self.spotting if named.bit_count() > 1 else stays


class Own(Struct, frozen=True):
    """A turn of the seat itself."""

    cells: tuple[str, ...]


class PastTurn(Struct, frozen=True):
    """A turn of the match, with the seat's pieces and sight before it. `turn` is None for a swap."""

    turn: Own | HiddenTurn | None
    hidden: int
    """Number of earlier hidden turns."""
    pieces: int
    sight: Sight


class Required(Struct, frozen=True):
    """A cell where the opponent must have placed a piece in one of these hidden turns."""

    cell: int
    turns: range


class TurnHistory(Struct):
    """The turns and constraints that follow from a seat's events."""

    first: int
    moments: list[PastTurn]
    hidden: list[HiddenTurn]
    begun: int
    """Mask of the pieces that the opponent received by a swap."""
    required: list[Required]


def worlds(
    view: MistView, events: Sequence[Event], rng: Random, variant: str, options: MistOptions
) -> Iterator[MistState]:
    """See `Game.worlds`.

    Raises:
        ValueError: the view is a spectator's, the match is over, or no consistent history was found.
    """
    seat = view.seat
    if seat is None or (view.turn and view.mover is None):
        raise ValueError("worlds are drawn for a seat, while its match goes on")
    history = read(events, seat, variant, options)
    start = MistState(variant=variant, options=options, first=history.first if view.turn else None)
    walk = HistoryWalk(history, rng)
    missed = 0
    while missed < MOST_MISSED:
        for _ in range(STEPS):
            walk.step()
        world = walk.world(start, seat)
        missed += 1
        if world is not None:
            missed = 0
            yield world
    raise ValueError("no history was found that leaves the match undecided")


def read(events: Sequence[Event], seat: int, variant: str, options: MistOptions) -> TurnHistory:
    """Derive the turns and constraints from a seat's events."""
    reader = _Reader(seat, variant, 0 if options.first == "choose" else options.first)
    for event in events:
        reader.hear(event)
    return reader.history()


class _Reader:
    """Reader of a seat's events."""

    def __init__(self, seat: int, variant: str, first: int) -> None:
        self._seat = seat
        self._rules = RULE_SETS[variant]
        self._first = first
        self._named: tuple[str, ...] | None = None
        self._moments: list[PastTurn] = []
        self._hidden: list[HiddenTurn] = []
        self._begun = self._pieces = 0
        self._sight = BLIND
        self._present = 0
        """Cells that are known to hold a piece of the opponent."""
        self._absent = [0]
        """Cells without a piece of the opponent; indexed by number of hidden turns played."""
        self._required: list[Required] = []

    def hear(self, event: Event) -> None:
        match cast("MistEvent", event):
            case FirstChosen(seat=first):
                self._first = first
            case FirstMove(cells=cells):
                self._named = cells
            case Placed() as placed:
                self._placed(placed)
            case OpponentPlaced() as placed:
                self._opponent_placed(placed)
            case Swapped(seat=seat):
                self._swapped(seat)
            case Vision() | Reveal():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def history(self) -> TurnHistory:
        absent = 0
        for after in range(len(self._hidden), 0, -1):
            absent |= self._absent[after]
            turn = self._hidden[after - 1]
            turn.free &= turn.lost | ~absent
        return TurnHistory(self._first, self._moments, self._hidden, self._begun, self._required)

    def _add(self, turn: Own | HiddenTurn | None) -> None:
        self._moments.append(PastTurn(turn, len(self._hidden), self._pieces, self._sight))

    def _placed(self, event: Placed) -> None:
        self._add(Own(event.cells))
        named, destroyed = BOARD.mask(event.cells), BOARD.mask(event.destroyed)
        there = _those(event.visible, "opponent")
        if self._hidden and len(event.cells) > 1 and isinstance(self._moments[-2].turn, HiddenTurn):
            last = self._hidden[-1]
            last.must_spot = named & destroyed & ~(self._pieces | CENTRE | there)
            last.must_miss = named & ~destroyed
        self._pieces |= named & ~destroyed
        self._sight = sight_of(event.cells, destroyed)
        self._observe(there)

    def _opponent_placed(self, event: OpponentPlaced) -> None:
        vision, spotting = self._sight.vision, self._sight.spotting
        spotted, destroyed = BOARD.mask(event.spotted), BOARD.mask(event.destroyed)
        there = _those(event.visible, "opponent")
        seen = there & ~self._present | destroyed
        least, most = self._rules.least, MOST_CELLS
        if alone := spotted & ~(self._pieces | self._present):
            least, most = (2, most) if alone & destroyed else (1, 1)
        turn = HiddenTurn(
            seen=seen,
            counts=tuple(range(max(least, seen.bit_count()), most + 1)),
            lost=self._pieces | CENTRE,
            spotting=spotting,
            free=BOARD.all & ~(vision | BOARD.grow(seen) | BOARD.mask(self._rules.forbidden)),
        )
        if not self._moments:
            assert self._named is not None  # noqa: S101 - the first turn is public
            turn.seen, turn.known = BOARD.mask(self._named), True
            turn.free, there = 0, turn.came(turn.seen)
        self._add(turn)
        self._hidden.append(turn)
        self._absent.append(0)
        self._present |= there
        self._observe(there)

    def _observe(self, there: int) -> None:
        """Record that the opponent's pieces in the seat's vision are on the cells `there` and nowhere else."""
        played = len(self._hidden)
        for cell in BOARD.each(there & ~self._present):
            since = max((at for at, absent in enumerate(self._absent) if absent & cell), default=0)
            self._required.append(Required(cell, range(since, played)))
        self._present |= there
        self._absent[played] |= self._sight.vision & ~there

    def _swapped(self, seat: int) -> None:
        self._add(None)
        if seat == self._seat:
            turn = self._hidden.pop()
            self._absent = [0]
            self._pieces, self._present = turn.came(turn.seen), 0
            cells = BOARD.cells(turn.seen)
            self._sight = sight_of(cells, turn.seen & ~self._pieces)
        else:
            self._begun = self._present = self._pieces
            self._pieces, self._sight = 0, BLIND


def _those(board: Board, what: str) -> int:
    return BOARD.mask(cell for cell, holds in board.items() if holds == what)


class HistoryWalk:
    """A random walk through consistent histories of hidden turns."""

    def __init__(self, history: TurnHistory, rng: Random) -> None:
        self._history = history
        self._rng = rng
        self._open = [at for at, turn in enumerate(history.hidden) if not turn.known]
        self._bound = [at for at in self._open if history.hidden[at].must_spot or history.hidden[at].must_miss]
        self._named: list[int] = []
        """Masks of named cells, indexed by hidden turn."""
        self._came: list[int] = []
        """Masks of surviving pieces, indexed by hidden turn."""
        self._by: list[int] = []
        """The hidden turn that named each required cell; indexed like `TurnHistory.required`."""
        self.begin()

    def begin(self) -> None:
        """Find a consistent history.

        Raises:
            ValueError: none was found.
        """
        for _ in range(ATTEMPTS):
            if self._assign() and self._fill():
                return
        if any(self._mend() for _ in range(MENDED)):
            return
        raise ValueError("no history was found that fits these events")

    def step(self) -> None:
        """Redraw a hidden turn. Keep the old one if the new one is inconsistent."""
        if not self._open:
            return
        rng = self._rng
        late = self._open[-2:] if rng.random() < LATEST else self._open
        self._redraw(late[int(rng.random() * len(late))])

    def _redraw(self, at: int, unfit: int = 0) -> None:
        """Redraw this turn.

        Undo it if the history is inconsistent or, in a repair, has more than `unfit` unfit turns.
        """
        rng, by, given = self._rng, self._by, None
        if by and rng.random() < MOVED and (given := self._given_away(at)):
            other, with_it, by = given
        turn = self._draw(at, self._must(at, by))
        if turn is None:
            return
        before = self._named[at], 0 if given is None else self._named[other]
        changed = self.name(at, turn)
        if given is not None:
            changed |= self.name(other, with_it)
        if unfit:
            taken = len(self._unfit()) <= unfit
        else:
            taken = self.fits(at) and all(
                self.fits(each) for each in self._bound if self._named[each] & changed or (given and each == other)
            )
        if taken:
            self._by = by
        else:
            self.name(at, before[0])
            if given is not None:
                self.name(other, before[1])

    def _unfit(self) -> list[int]:
        return [at for at in self._bound if not self.fits(at)]

    def _mend(self) -> bool:
        """Draw turns that may be inconsistent, then redraw until all fit. Return whether that succeeded."""
        rng = self._rng
        if not self._assign():
            return False
        self._begin_with_seen()
        for at in self._open:
            turns = (self._draw(at, self._must(at, self._by)) for _ in range(TRIES))
            turn = next((turn for turn in turns if turn is not None), None)
            if turn is None:
                return False
            self.name(at, turn)
        for _ in range(MENDS):
            unfit = self._unfit()
            if not unfit:
                return True
            among = unfit if rng.random() < UNFIT else self._open
            self._redraw(among[int(rng.random() * len(among))], len(unfit))
        return False

    def name(self, at: int, named: int) -> int:
        """Set the cells that a turn named. Return the cells whose contents on the board change."""
        came = self._history.hidden[at].came(named)
        changed = self._came[at] ^ came
        self._named[at], self._came[at] = named, came
        return changed

    def world(self, start: MistState, seat: int) -> MistState | None:
        """Return the state at the end of this history; None if the match would be over."""
        history = self._history
        moments = history.moments
        own_turn = bool(moments) and isinstance(moments[-1].turn, HiddenTurn)
        since = len(moments) - (3 if own_turn else 2)
        state = start
        if since > 2:  # noqa: PLR2004 - the first turn and a swap are replayed
            moment = moments[since]
            theirs = self._pieces(moment.hidden)
            state = MistState(
                variant=start.variant,
                options=start.options,
                first=start.first,
                turns=since,
                pieces=_pair(seat, moment.pieces, theirs),
                sight=_pair(seat, moment.sight, BLIND),
                first_move=_first_move(moments),
                swapped=any(each.turn is None for each in moments),
            )
        for moment in moments[max(0, since) if since > 2 else 0 :]:  # noqa: PLR2004 - as above
            match moment.turn:
                case None:
                    state, _ = swap(state)
                case Own(cells=cells):
                    state, _ = place(state, cells)
                case HiddenTurn():
                    state, _ = place(state, BOARD.cells(self._cells_of(moment)))
                case _ as unreachable:
                    assert_never(unreachable)
            if state.reason is not None:
                return None
        return state

    def _cells_of(self, moment: PastTurn) -> int:
        # A first turn whose pieces the seat took over by a swap is no longer in the list of hidden turns.
        turn = cast("HiddenTurn", moment.turn)
        return turn.seen if turn.known else self._named[moment.hidden]

    def _pieces(self, turns: int) -> int:
        """Return the opponent's pieces after a number of hidden turns."""
        pieces = self._history.begun
        for came in self._came[:turns]:
            pieces |= came
        return pieces

    def _assign(self) -> bool:
        """Assign each required cell to a turn that may have named it. Return False if one cannot be assigned."""
        hidden, rng = self._history.hidden, self._rng
        must = [turn.seen for turn in hidden]
        required = self._history.required
        by = [0] * len(required)
        for which in sorted(range(len(required)), key=lambda at: (len(required[at].turns), rng.random())):
            cell = required[which].cell
            may = [at for at in required[which].turns if self._takes(at, must[at], cell)]
            if not may:
                return False
            by[which] = at = may[int(rng.random() * len(may))]
            must[at] |= cell
        self._by = by
        return True

    def _fill(self) -> bool:
        """Draw every hidden turn with its assigned required cells. Return whether all fit."""
        self._begin_with_seen()
        return all(self._draw_fitting(at) for at in self._open)

    def _begin_with_seen(self) -> None:
        hidden = self._history.hidden
        self._named = [turn.seen for turn in hidden]
        self._came = [turn.came(turn.seen) if turn.known else 0 for turn in hidden]

    def _draw_fitting(self, at: int) -> bool:
        must = self._must(at, self._by)
        for _ in range(TRIES):
            turn = self._draw(at, must)
            if turn is not None:
                self.name(at, turn)
                if self.fits(at):
                    return True
        return False

    def _takes(self, at: int, named: int, cell: int) -> bool:
        """Return whether the turn may have named this cell in addition to `named`."""
        turn = self._history.hidden[at]
        return bool(
            cell & turn.free and not cell & BOARD.grow(named) and named.bit_count() < (turn.counts or (0,))[-1]
        )

    def _given_away(self, at: int) -> tuple[int, int, list[int]] | None:
        """Draw another turn for a required cell of this turn.

        Return that turn, its new cells and the new `_by`.
        """
        own = [which for which, by in enumerate(self._by) if by == at]
        if not own:
            return None
        which = own[int(self._rng.random() * len(own))]
        cell, turns = self._history.required[which].cell, self._history.required[which].turns
        other = turns[int(self._rng.random() * len(turns))]
        if other == at or not self._takes(other, self._named[other], cell):
            return None
        by = self._by.copy()
        by[which] = other
        return other, self._named[other] | cell, by

    def _must(self, at: int, by: list[int]) -> int:
        """Return the cells that this turn must name."""
        must = self._history.hidden[at].seen
        for required, turn in zip(self._history.required, by, strict=True):
            if turn == at:
                must |= required.cell
        return must

    def _draw(self, at: int, must: int) -> int | None:
        """Draw a turn that names the cells `must` and random others.

        Return None if the drawn number does not fit.
        """
        turn, rng = self._history.hidden[at], self._rng
        least = must.bit_count()
        counts = [count for count in turn.counts if count >= least]
        if not counts:
            return None
        free = turn.free & ~BOARD.grow(must)
        for _ in range(counts[int(rng.random() * len(counts))] - least):
            if not free:
                return None
            cell = 1 << drawn(free, rng)
            must |= cell
            free &= ~BOARD.grow(cell)
        return must

    def fits(self, at: int) -> bool:
        """Return whether the turn spots every cell of `must_spot` and none of `must_miss`."""
        turn = self._history.hidden[at]
        if turn.known or not (turn.must_spot or turn.must_miss):
            return True
        named = self._named[at]
        stayed = turn.came(named) & ~self._pieces(at)
        spots = BOARD.ball(stayed, RADIUS[named.bit_count()])
        return not (turn.must_spot & ~spots or turn.must_miss & spots)


def _first_move(moments: list[PastTurn]) -> tuple[str, ...]:
    match moments[0].turn:
        case Own(cells=cells):
            return cells
        case HiddenTurn(seen=seen):
            return BOARD.cells(seen)
        case None:
            raise AssertionError("the first turn is no swap")
        case _ as unreachable:
            assert_never(unreachable)


def _pair(seat: int, own: ThingT, other: ThingT) -> tuple[ThingT, ThingT]:
    """Return the two values indexed by seat."""
    return (other, own) if seat else (own, other)
