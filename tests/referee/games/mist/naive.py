"""Mist once more, as plainly as can be: sets of cell names, breadth-first distances, JSON values, nothing cached.

It shares no code with `referee.games.mist` and is written from the rule page alone, so that a mistake would have
to be made twice to go unseen. `view` makes a seat's view from the events it was told and from nothing else.
"""

from collections import deque
from typing import Any

ROWS = {"A": 5, "B": 6, "C": 7, "D": 8, "E": 9, "F": 8, "G": 7, "H": 6, "I": 5}
CELLS = [f"{row}{number}" for row, length in ROWS.items() for number in range(1, length + 1)]
ROUND_THE_CENTRE = ["D4", "D5", "E4", "E6", "F4", "F5"]

Said = tuple[int | None, dict[str, Any]]
"""Whom an event is for (None: all), and the event as JSON."""


def touching(cell: str) -> set[str]:
    """List the two beside it in its row and the two it touches in each neighbouring row."""
    row, number = cell[0], int(cell[1])
    near = {f"{row}{number - 1}", f"{row}{number + 1}"}
    for other in (chr(ord(row) - 1), chr(ord(row) + 1)):
        if other in ROWS:
            shift = 0 if ROWS[other] > ROWS[row] else -1
            near |= {f"{other}{number + shift}", f"{other}{number + shift + 1}"}
    return near & set(CELLS)


NEAR = {cell: touching(cell) for cell in CELLS}


def distances(cell: str) -> dict[str, int]:
    """Count the steps from a cell to every cell."""
    found, queue = {cell: 0}, deque([cell])
    while queue:
        here = queue.popleft()
        for there in NEAR[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


DISTANCES = {cell: distances(cell) for cell in CELLS}


def groups(cells: set[str]) -> list[int]:
    """Sizes of the connected groups, largest first."""
    left, sizes = set(cells), []
    while left:
        group, queue = set[str](), [left.pop()]
        while queue:
            here = queue.pop()
            group.add(here)
            near = NEAR[here] & left
            left -= near
            queue += near
        sizes.append(len(group))
    return sorted(sizes, reverse=True)


def better(one: list[int], other: list[int]) -> bool | None:
    """Whether a list of sizes beats another: the first difference decides, a list that ends first loses."""
    for left, right in zip(one, other, strict=False):
        if left != right:
            return left > right
    return None if len(one) == len(other) else len(one) > len(other)


class NaiveMist:
    """A match. `play` closes one window with a legal action."""

    def __init__(self, variant: str, options: dict[str, Any]) -> None:
        self.heaven = variant == "heaven-and-hell"
        self.advantage = options.get("advantage", 0)
        first = options.get("first", "choose")
        self.max_turns = options.get("max_turns", 400)
        self.mover: int | None = None if first == "choose" else first
        self.turns = 0
        self.owner: dict[str, int] = {}
        # By seat: the cells of its last turn, each with whether the piece was destroyed.
        self.last: list[dict[str, bool]] = [{}, {}]
        self.reason: str | None = None

    def window(self) -> tuple[str, int] | None:
        if self.reason:
            return None
        return ("first", self.advantage) if self.mover is None else ("turn", self.mover)

    def limits(self) -> tuple[int, int, list[str]]:
        """Return the least and most cells of the turn now due, and those it may not name."""
        first = self.turns == 0
        forbidden = ["E5"] if self.heaven else ROUND_THE_CENTRE if first else []
        return 0 if self.heaven else 1, 2 if first else 3, forbidden

    def default(self) -> dict[str, Any]:
        if self.mover is None:
            return {"first": self.advantage}
        return {"cells": [] if self.heaven else ["E5"]}

    def legal(self, action: Any) -> dict[str, Any] | None:
        """Return the canonical spelling of an action of the open window's seat; None if it is illegal."""
        if not isinstance(action, dict):
            return None
        if self.mover is None:
            right = list(action) == ["first"] and type(action["first"]) is int and action["first"] in (0, 1)
            return action if right else None
        if action.get("swap") is False:
            action = {key: value for key, value in action.items() if key != "swap"}
        if list(action) == ["swap"]:
            return action if action["swap"] is True and self.heaven and self.turns == 1 else None
        return self._legal_cells(action["cells"]) if list(action) == ["cells"] else None

    def _legal_cells(self, named: Any) -> dict[str, Any] | None:
        if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
            return None
        lower = {cell.lower(): cell for cell in CELLS}
        cells = [lower.get(name, name) for name in named]
        least, most, forbidden = self.limits()
        clash = any(b in NEAR[a] or a == b for i, a in enumerate(cells) if a in CELLS for b in cells[i + 1 :])
        unknown = any(cell not in CELLS or cell in forbidden for cell in cells)
        if unknown or clash or not least <= len(cells) <= most:
            return None
        return {"cells": sorted(cells)}

    def vision(self, seat: int, *, spotting: bool = False) -> set[str]:
        """Cells in the seat's vision, or in its spotting."""
        pieces = self.last[seat]
        radius = {0: 0, 1: 3, 2: 1, 3: 0}[len(pieces)]
        from_ = [cell for cell, destroyed in pieces.items() if not (spotting and destroyed)]
        return {cell for cell in CELLS if any(DISTANCES[piece][cell] <= radius for piece in from_)}

    def board(self, seen: set[str], seat: int) -> dict[str, str]:
        words = {}
        for cell in CELLS:
            if cell in seen:
                owner = self.owner.get(cell)
                empty = "blocked" if cell == "E5" else "empty"
                words[cell] = empty if owner is None else "own" if owner == seat else "opponent"
        return words

    def play(self, action: dict[str, Any]) -> list[Said]:
        if self.mover is None:
            self.mover = int(action["first"])
            return [(None, {"type": "first_chosen", "seat": self.mover})]
        said = self._swap(self.mover) if "swap" in action else self._place(self.mover, action["cells"])
        self.turns += 1
        self.mover = 1 - self.mover
        self.reason = self.end()
        if self.reason:
            said.append((None, self.reveal()))
        return said

    def _swap(self, mover: int) -> list[Said]:
        self.owner = {cell: 1 - seat for cell, seat in self.owner.items()}
        self.last = [self.last[1], self.last[0]]
        visible = self.board(self.vision(mover), mover)
        return [(None, {"type": "swapped", "seat": mover}), (mover, {"type": "vision", "visible": visible})]

    def _place(self, mover: int, cells: list[str]) -> list[Said]:
        watcher = 1 - mover
        seen, spotting = self.vision(watcher), self.vision(watcher, spotting=True)
        spotted = [cell for cell in cells if cell in spotting]
        destroyed = [
            cell
            for cell in cells
            if (len(cells) >= 2 and cell in spotted) or cell in self.owner or (not self.heaven and cell == "E5")
        ]
        for cell in cells:
            if cell not in destroyed:
                self.owner[cell] = mover
        self.last[mover] = {cell: cell in destroyed for cell in cells}
        to_watcher = {
            "type": "opponent_placed",
            "spotted": spotted,
            "destroyed": [cell for cell in destroyed if cell in seen],
            "visible": self.board(seen, watcher),
        }
        if self.heaven:
            to_watcher["placed"] = [cell for cell in cells if cell in seen]
        visible = self.board(self.vision(mover), mover)
        said: list[Said] = [
            (mover, {"type": "placed", "cells": cells, "destroyed": destroyed, "visible": visible}),
            (watcher, to_watcher),
        ]
        first: list[Said] = [(None, {"type": "first_move", "seat": mover, "cells": cells})]
        return said if self.turns else first + said

    def groups(self) -> list[list[int]]:
        return [groups({cell for cell, owner in self.owner.items() if owner == seat}) for seat in (0, 1)]

    def winner(self, lists: list[list[int]]) -> int:
        verdict = better(lists[0], lists[1])
        return self.advantage if verdict is None else 1 - verdict

    def empty(self) -> set[str]:
        return set(CELLS) - set(self.owner) - {"E5"}

    def guaranteed(self, seat: int) -> bool:
        """Whether the seat would win even if every empty cell went to the other."""
        lists = self.groups()
        others = {cell for cell, owner in self.owner.items() if owner != seat} | self.empty()
        lists[1 - seat] = groups(others)
        return self.winner(lists) == seat

    def end(self) -> str | None:
        if not self.empty():
            return "full"
        if self.guaranteed(0) or self.guaranteed(1):
            return "decided"
        return "turn_limit" if self.turns == self.max_turns else None

    def reveal(self) -> dict[str, Any]:
        board = {cell: self.owner.get(cell, "blocked" if cell == "E5" else "empty") for cell in CELLS}
        lists = self.groups()
        return {"type": "reveal", "board": board, "groups": {"0": lists[0], "1": lists[1]}, "turns": self.turns}

    def outcome(self) -> dict[str, Any] | None:
        if not self.reason:
            return None
        lists = self.groups()
        winner = self.winner(lists)
        return {
            "ranking": [[winner], [1 - winner]],
            "winners": [winner],
            "eliminated": 1 - winner,
            "scores": {"0": max(lists[0], default=0), "1": max(lists[1], default=0)},
            "tokens": {},
            "garnets": {},
            "reason": self.reason,
            "detail": {"groups": {"0": lists[0], "1": lists[1]}, "turns": self.turns},
        }


def view(variant: str, options: dict[str, Any], seat: int, told: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the view of a seat that was told these events, and knows variant and options."""
    match = NaiveMist(variant, options)
    known: dict[str, Any] = {"first_move": None, "swapped": False, "visible": {}}
    known |= {"spotted": [], "destroyed": [], "placed": [], "lost": []}
    over = False
    for event in told:
        match event["type"]:
            case "first_chosen":
                match.mover = event["seat"]
            case "first_move":
                known["first_move"] = event["cells"]
            case "swapped":
                known["swapped"] = True
                known["visible"] = {}
            case "vision":
                known["visible"] = event["visible"]
            case "placed":
                known |= {"visible": event["visible"], "placed": event["cells"], "lost": event["destroyed"]}
            case "opponent_placed":
                known |= {key: event[key] for key in ("visible", "spotted", "destroyed")}
            case "reveal":
                over = True
    # Every turn, whoever's it is, tells each seat one of these.
    match.turns = sum(event["type"] in ("placed", "opponent_placed", "swapped") for event in told)
    return terms(match, over=over) | {"seat": seat} | known


def terms(match: NaiveMist, *, over: bool) -> dict[str, Any]:
    """Return the public part of a view."""
    if match.mover is None or over:
        now: dict[str, Any] = {"turn": match.turns, "mover": None, "pieces": [0, 0], "forbidden": []}
        return now | {"may_swap": False}
    least, most, forbidden = match.limits()
    return {
        "turn": match.turns + 1,
        "mover": (match.mover + match.turns) % 2,
        "pieces": [least, most],
        "forbidden": forbidden,
        "may_swap": match.heaven and match.turns == 1,
    }
