"""Mist's board: as seen by one seat or a spectator, and whole, for the host or after the reveal."""

from collections.abc import Iterable, Sequence
from typing import assert_never, cast

from msgspec import UNSET

from protocol.games.mist import (
    FirstChosen,
    FirstMove,
    MistEvent,
    MistHostView,
    MistView,
    OpponentPlaced,
    Placed,
    Reveal,
    Swapped,
    Vision,
)
from protocol.games.mist.board import PLACES
from protocol.text import Picture, Tile, honeycomb, viewpoint

LABELS = {PLACES[f"{row}1"][1]: row for row in "ABCDEFGHI"}
PIECE = ("O", "X")
"""Signs of pieces, indexed by seat; the same for every viewpoint."""
COLOUR = ("bold white on blue", "bold white on red")
SEEN, UNSEEN, BLOCKED = "on grey35", "bright_black", "bright_black"
REMEMBERED = ("blue", "red")
CENTRE = "E5"
"""The cell where no piece ever remains."""
LEGEND = "O seat 0, X seat 1, . empty;"
HOST_LEGEND = f"{LEGEND}\no x: in the vision of seat 0, of seat 1"
SEAT_LEGEND = f"{LEGEND} o x remembered;\n+ placed, ! spotted, * destroyed"


def board(
    view: MistView | MistHostView, events: Sequence[MistEvent], *, plain: bool, told: Sequence[MistEvent] = ()
) -> Picture:
    """Draw the board under its heading. After the reveal it is whole for every viewpoint."""
    for event in events:
        if isinstance(event, Reveal):
            tiles = {cell: _whole(cell, held, " ") for cell, held in event.board.items()}
            return _drawn(f"the end, after {event.turns} turns", tiles, plain, LEGEND.rstrip(";"))
    if isinstance(view, MistHostView):
        return _host_board(view, plain)
    return _seat_board(view, told or events, plain)


def words(event: MistEvent) -> str:  # noqa: PLR0911 - one line for each kind of event
    """Return a short text for an event, addressed to its seat."""
    match event:
        case FirstChosen(seat=seat):
            return f"seat {seat} goes first"
        case FirstMove(seat=seat, cells=cells):
            return f"seat {seat} opens the match with {_list(cells)}"
        case Swapped(seat=seat):
            return f"seat {seat} swaps: the pieces on the board change owner"
        case Placed(cells=cells, destroyed=destroyed):
            placed = f"you placed {_list(cells)}"
            return f"{placed}; destroyed: {_list(destroyed)}" if destroyed else placed
        case OpponentPlaced() as seen:
            return _seen(seen)
        case Vision():
            return "you have the vision that came with the pieces"
        case Reveal(groups=groups):
            return "; ".join(f"groups of seat {seat}: {_list(map(str, sizes))}" for seat, sizes in groups.items())
        case _ as unreachable:
            assert_never(unreachable)


def _seen(event: OpponentPlaced) -> str:
    """Return a text for the watcher's observations of the other's turn."""
    placed = () if event.placed is UNSET else event.placed
    named = {*placed, *event.spotted}
    others = [cell for cell, held in event.visible.items() if held == "opponent" and cell not in named]
    parts = [
        ("you saw it place", placed),
        ("you spotted", event.spotted),
        ("destroyed:", event.destroyed),
        (f"you see its piece{'s' if len(others) > 1 else ''} on", others),
    ]
    text = "; ".join(f"{what} {_listed(cells)}" for what, cells in parts if cells)
    return f"the opponent moved; {text or 'you see none of its pieces'}"


def _seat_board(view: MistView, told: Sequence[MistEvent], plain: bool) -> Picture:
    """Draw the latest vision of a seat or a spectator, and remembered pieces."""
    tiles = {cell: Tile(f" {cell[1]}{_mark(view, cell)}", UNSEEN) for cell in PLACES}
    for cell, owner in _remembered(view, told).items():
        tiles[cell] = Tile(f"{PIECE[owner].lower()}{cell[1]}{_mark(view, cell)}", REMEMBERED[owner])
    for cell, held in view.visible.items():
        tiles[cell] = _whole(cell, _owner(view, held), _mark(view, cell))
    eyes = viewpoint(view.seat)
    if view.seat is not None:
        eyes += f", {PIECE[view.seat]}"
    return _drawn(f"{_heading(view)} ({eyes})", tiles, plain, SEAT_LEGEND)


def _remembered(view: MistView, told: Sequence[MistEvent]) -> dict[str, int]:
    """Return cell to owner for each piece known from events. A piece that is not destroyed at once remains."""
    pieces: dict[str, int] = {}
    for event in told:
        match event:
            case FirstMove(seat=seat, cells=cells):
                pieces |= {cell: seat for cell in cells if cell != CENTRE}
            case Swapped():
                pieces = {cell: 1 - owner for cell, owner in pieces.items()}
            case Placed(cells=cells, destroyed=destroyed):
                pieces |= {cell: view.seat or 0 for cell in cells if cell not in destroyed}
            case FirstChosen() | OpponentPlaced() | Vision() | Reveal():
                pass
            case _ as unreachable:
                assert_never(unreachable)
        for cell, held in getattr(event, "visible", {}).items():
            if held in ("own", "opponent"):
                pieces[cell] = cast("int", _owner(view, held))
    return {cell: owner for cell, owner in pieces.items() if cell in PLACES}


def _host_board(view: MistHostView, plain: bool) -> Picture:
    """Draw the whole board, with both seats' vision."""
    marks: dict[str, str] = {}
    for mark, cells in zip("ox", view.vision, strict=True):
        marks |= dict.fromkeys(cells, mark)
    tiles = {cell: _whole(cell, held, marks.get(cell, " ")) for cell, held in view.board.items()}
    return _drawn(f"{_heading(view)} (as the host)", tiles, plain, HOST_LEGEND)


def _owner(view: MistView, held: str) -> int | str:
    """Replace `own` and `opponent` by the seats."""
    seat = view.seat or 0
    return {"own": seat, "opponent": 1 - seat}.get(held, held)


def _mark(view: MistView, cell: str) -> str:
    """Return the sign for the events at a cell in the last two turns."""
    if cell in view.lost or cell in view.destroyed:
        return "*"
    if cell in view.spotted:
        return "!"
    public = view.first_move if view.seat is None and view.first_move else ()
    return "+" if cell in view.placed or cell in public else " "


def _whole(cell: str, held: int | str, mark: str) -> Tile:
    """Return the tile of a cell with known content."""
    if isinstance(held, int):
        return Tile(f"{PIECE[held]}{cell[1]}{mark}", COLOUR[held])
    return Tile(f"##{mark}", BLOCKED) if held == "blocked" else Tile(f".{cell[1]}{mark}", SEEN)


def _heading(view: MistView | MistHostView) -> str:
    """Return a text with the turn and the seat to move."""
    if view.mover is None:
        return "before the first turn" if view.turn == 0 else f"after turn {view.turn}"
    return f"turn {view.turn}, seat {view.mover} to move"


def _drawn(heading: str, tiles: dict[str, Tile], plain: bool, legend: str) -> Picture:
    return Picture.assemble(
        (heading + "\n", "bold"), honeycomb(PLACES, tiles, LABELS, plain=plain), (legend, "bright_black")
    )


def _listed(cells: Sequence[str]) -> str:
    """Return cells as in a sentence: `C3`, `C3 and D4`, `C3, D4 and E6`."""
    *most, last = cells
    return f"{', '.join(most)} and {last}" if most else last


def _list(cells: Iterable[str]) -> str:
    return " ".join(cells) or "nothing"
