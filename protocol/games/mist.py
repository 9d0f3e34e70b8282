"""Words of Mist: options, actions, events and views. The rules themselves are in docs/games/mist.md."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from protocol.words import Action, Audience, Event, Options, View

Variant = Literal["heaven-and-hell", "contractual-obligation"]
# Views give plain numbers and text: to a type checker these are no more either. Values are checked at run time.
if TYPE_CHECKING:
    Seat = int
else:
    Seat = Literal[0, 1]
Board = dict[str, Literal["own", "opponent", "empty", "blocked"]]
"""Visible cell to what it holds, in the order of rows and numbers. Cells out of vision are left out."""

WholeBoard = dict[str, Seat | Literal["empty", "blocked"]]
"""Every cell to the seat whose piece it holds, `empty` or `blocked`, in the order of rows and numbers."""


class MistOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host may set."""

    advantage: Seat = 0
    """Who names the first player, and wins full ties (R6, R8)."""
    first: Seat | Literal["choose"] = "choose"
    """Who goes first; `choose` leaves it to the seat with the advantage (R6)."""
    max_turns: Annotated[int, Meta(ge=1, le=10_000)] = 400
    """After so many turns the match ends as it stands (R9)."""


class ChooseFirst(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `first`."""

    first: Seat


class Turn(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Window `turn`: either cells to place pieces on, or a swap under the pie rule."""

    cells: tuple[str, ...] | UnsetType = UNSET
    swap: bool = False


class FirstChosen(Event, frozen=True, kw_only=True, tag="first_chosen"):
    """Who goes first."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int


class FirstMove(Event, frozen=True, kw_only=True, tag="first_move"):
    """The first turn's cells, told to all (R3)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int
    cells: tuple[str, ...]


class Swapped(Event, frozen=True, kw_only=True, tag="swapped"):
    """The pieces on the board changed owner (R5)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int


class Placed(Event, frozen=True, kw_only=True, tag="placed"):
    """To the mover: what became of its turn (R10)."""

    cells: tuple[str, ...]
    destroyed: tuple[str, ...]
    visible: Board
    """The mover's new vision, with its pieces of this turn already placed."""


class OpponentPlaced(Event, frozen=True, kw_only=True, tag="opponent_placed"):
    """To the watcher: what it saw of the mover's turn (R10)."""

    spotted: tuple[str, ...]
    destroyed: tuple[str, ...]
    visible: Board
    """The watcher's vision after the placement, just before it ends."""
    placed: tuple[str, ...] | UnsetType = UNSET
    """`heaven-and-hell` only: every cell of the placement in the watcher's vision."""


class Vision(Event, frozen=True, kw_only=True, tag="vision"):
    """To the swapper: the vision it took over (R5)."""

    visible: Board


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The end: the whole board to all."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    board: WholeBoard
    groups: dict[str, tuple[int, ...]]
    """Seat to its groups' sizes, largest first."""
    turns: int


MistEvent = FirstChosen | FirstMove | Swapped | Placed | OpponentPlaced | Vision | Reveal


class MistView(View, frozen=True, kw_only=True):
    """What one seat, or a spectator (`seat` null), knows: no more than its events have told it."""

    seat: int | None
    turn: int
    """The turn being played, counting from 1; 0 while the first player is being chosen; at the end, the last."""
    mover: int | None
    """Whose turn it is; null before the first and after the last."""
    pieces: tuple[int, int]
    """The least and the most cells that this turn may name; (0, 0) while there is no turn to play."""
    forbidden: tuple[str, ...]
    """Cells that this turn may not name."""
    may_swap: bool
    """Whether this turn may be a swap (R5)."""
    first_move: tuple[str, ...] | None
    """The cells of the first turn, once played."""
    swapped: bool
    """Whether the pie rule was used."""
    visible: Board
    """The board as last told to this seat, by its own placement, a swap or the opponent's placement.

    Empty for the seat whose vision a swap took.
    """
    spotted: tuple[str, ...]
    """Of the opponent's last turn: its pieces that this seat spotted."""
    destroyed: tuple[str, ...]
    """Of the opponent's last turn: its pieces in this seat's vision that were destroyed."""
    placed: tuple[str, ...]
    """Of this seat's own last turn: the cells it named."""
    lost: tuple[str, ...]
    """Of this seat's own last turn: its pieces that were destroyed."""


class MistHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included: for the host's eyes. The fields of `MistView` mean the same here."""

    turn: int
    mover: int | None
    board: WholeBoard
    vision: tuple[tuple[str, ...], ...]
    """By seat: the cells it sees now, from its last placement or swap until the other has placed."""
    spotting: tuple[tuple[str, ...], ...]
    """By seat: the cells in which it would spot a placement."""
    groups: dict[str, tuple[int, ...]]
    """Seat to its groups' sizes, largest first."""
    first_move: tuple[str, ...] | None
    swapped: bool


class MistDetail(View, frozen=True, kw_only=True):
    """The figures behind an outcome."""

    groups: dict[str, tuple[int, ...]]
    turns: int
