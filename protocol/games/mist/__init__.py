"""Words of Mist: options, actions, events and views. The rules themselves are in docs/games/mist.md."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.words import Action, Audience, Event, Options, View

Variant = Literal["heaven-and-hell", "contractual-obligation"]
# A type checker sees plain numbers and text, as in views; values are checked at run time.
if TYPE_CHECKING:
    Seat = int
else:
    Seat = Literal[0, 1]
Board = dict[str, Literal["own", "opponent", "empty", "blocked"]]
"""Visible cell to its content, in the order of rows and numbers. Cells out of vision are left out."""

WholeBoard = dict[str, Seat | Literal["empty", "blocked"]]
"""Every cell to the seat that owns its piece, `empty` or `blocked`, in the order of rows and numbers."""


class MistOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that a host may change."""

    advantage: Seat = 0
    """Seat that names the first player, and wins full ties (R6, R8)."""
    first: Seat | Literal["choose"] = "choose"
    """First player; `choose` leaves it to the seat with the advantage (R6)."""
    max_turns: Annotated[int, Meta(ge=1, le=10_000)] = 400
    """Turns after which the match ends with the current position (R9)."""


class ChooseFirst(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `first`."""

    first: Seat


class Turn(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Window `turn`: either cells for pieces, or a swap under the pie rule."""

    cells: tuple[str, ...] | UnsetType = UNSET
    swap: bool = False


class FirstChosen(Event, frozen=True, kw_only=True, tag="first_chosen"):
    """The first player."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int


class FirstMove(Event, frozen=True, kw_only=True, tag="first_move"):
    """The first turn's cells, sent to all (R3)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int
    cells: tuple[str, ...]


class Swapped(Event, frozen=True, kw_only=True, tag="swapped"):
    """Exchange of the pieces' owners (R5)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int


class Placed(Event, frozen=True, kw_only=True, tag="placed"):
    """Result of the mover's turn, sent to the mover (R10)."""

    cells: tuple[str, ...]
    destroyed: tuple[str, ...]
    visible: Board
    """The mover's new vision, with its pieces of this turn already placed."""


class OpponentPlaced(Event, frozen=True, kw_only=True, tag="opponent_placed"):
    """The watcher's observations of the mover's turn, sent to the watcher (R10)."""

    spotted: tuple[str, ...]
    destroyed: tuple[str, ...]
    visible: Board
    """The watcher's vision after the placement, just before it ends."""
    placed: tuple[str, ...] | UnsetType = UNSET
    """`heaven-and-hell` only: every cell of the placement in the watcher's vision."""


class Vision(Event, frozen=True, kw_only=True, tag="vision"):
    """The vision that the swapper received, sent to it (R5)."""

    visible: Board


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The whole board, sent to all at the end."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    board: WholeBoard
    groups: dict[str, tuple[int, ...]]
    """Seat to its groups' sizes, largest first."""
    turns: int


MistEvent = FirstChosen | FirstMove | Swapped | Placed | OpponentPlaced | Vision | Reveal


class MistView(View, frozen=True, kw_only=True):
    """Knowledge of one seat, or of a spectator (`seat` null): no more than its events contain."""

    seat: int | None
    turn: int
    """The turn being played, counting from 1; 0 while the first player is being chosen; at the end, the last."""
    mover: int | None
    """Seat whose turn it is; null before the first and after the last."""
    pieces: tuple[int, int]
    """The least and the most cells that this turn may name; (0, 0) while there is no turn to play."""
    forbidden: tuple[str, ...]
    """Cells that this turn may not name."""
    may_swap: bool
    """True if this turn may be a swap (R5)."""
    first_move: tuple[str, ...] | None
    """The cells of the first turn, once played."""
    swapped: bool
    """True if the pie rule was used."""
    visible: Board
    """The board as of the last event for this seat: its own placement, a swap or the opponent's placement.

    Empty for the seat whose vision a swap removed.
    """
    spotted: tuple[str, ...]
    """The opponent's pieces that this seat spotted in the opponent's last turn."""
    destroyed: tuple[str, ...]
    """The opponent's pieces destroyed in this seat's vision in the opponent's last turn."""
    placed: tuple[str, ...]
    """The cells that this seat named in its last turn."""
    lost: tuple[str, ...]
    """This seat's pieces that were destroyed in its last turn."""


class MistHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included, for the host. The fields of `MistView` mean the same here."""

    turn: int
    mover: int | None
    board: WholeBoard
    vision: tuple[tuple[str, ...], ...]
    """Cells that each seat sees now, from its last placement or swap until the other's placement; indexed by seat.
    """
    spotting: tuple[tuple[str, ...], ...]
    """Cells in which each seat would spot a placement; indexed by seat."""
    placed: tuple[tuple[str, ...], ...]
    """Cells that each seat named in its last turn; indexed by seat."""
    lost: tuple[tuple[str, ...], ...]
    """Cells of `placed` whose pieces were destroyed; indexed by seat."""
    groups: dict[str, tuple[int, ...]]
    """Seat to its groups' sizes, largest first."""
    first_move: tuple[str, ...] | None
    swapped: bool


class MistDetail(View, frozen=True, kw_only=True):
    """The figures behind an outcome."""

    groups: dict[str, tuple[int, ...]]
    turns: int
