"""Mist as a person types it: `C3 D7`, `none`, `swap`, `first 0`."""

from typing import Any, cast

from protocol.games.mist import MistView
from protocol.games.mist.board import BOARD, CENTRE
from protocol.text import Example, ParseError, Terms, quoted
from protocol.words import View

HEAVEN = "heaven-and-hell"
STRIDE = 17
"""Cells between the examples of one turn and of the next."""


def forms(terms: Terms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    turn: tuple[Example, ...] = (
        ("CELL", "one piece: a letter A to I and a number"),
        ("CELL CELL", "two pieces"),
        ("CELL CELL CELL", "three pieces, but not on the first turn of the match"),
    )
    if terms.variant == HEAVEN:
        turn += (
            ("none", "no piece"),
            ("swap", "take over the other's first move; on the second turn of the match"),
        )
    chooses = terms.options.get("first", "choose") == "choose" and terms.options.get("advantage", 0) == terms.seat
    first: dict[str, tuple[Example, ...]] = {"first": (("first SEAT", "that seat goes first, 0 or 1"),)}
    return (first if chooses else {}) | {"turn": turn}


def examples(window: str, view: View) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    seen = cast("MistView", view)
    if window == "first":
        return ("first 0", "seat 0 goes first"), ("first 1", "seat 1 goes first")
    least, most = seen.pieces
    start = STRIDE * seen.turn % len(BOARD.names)
    free = BOARD.all & ~BOARD.mask(seen.forbidden) & ~CENTRE
    free &= ~BOARD.mask(cell for cell, held in seen.visible.items() if held != "empty")
    cells: list[str] = []
    for cell in (*BOARD.names[start:], *BOARD.names[:start]):
        if BOARD.bit[cell] & free and len(cells) < most:
            cells.append(cell)
            free &= ~BOARD.grow(BOARD.bit[cell])
    shown = [(" ".join(cells[:n]), f"{n} piece{'s' if n > 1 else ''}") for n in range(1, len(cells) + 1)]
    if least == 0:
        shown.append(("none", "no piece"))
    if seen.may_swap:
        shown.append(("swap", "take over the other's first move"))
    return tuple(shown)


def if_nothing(window: str, action: dict[str, Any] | None) -> str:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "you go first"
    if action and action.get("cells"):
        return f"you place one piece on {' '.join(action['cells'])}, which is destroyed"
    return "you place no piece"


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    words = text.replace(",", " ").lower().split()
    if window == "first":
        if words and words[0] == "first":
            words = words[1:]
        if len(words) != 1 or words[0] not in ("0", "1"):
            raise ParseError("type first 0 or first 1")
        return {"first": int(words[0])}
    if words == ["swap"]:
        return {"swap": True}
    return {"cells": [] if words == ["none"] else list(map(_cell, words))}


def _cell(word: str) -> str:
    cell = word.upper()
    if cell in BOARD.bit:
        return cell
    row = [each for each in BOARD.names if each[0] == cell[0]]
    there = f"row {cell[0]} is {row[0]} to {row[-1]}" if row else "rows are A to I, from A1 to A5 and E1 to E9"
    raise ParseError(f"{quoted(cell)} is no cell: {there}")


def ask(window: str, view: View) -> str:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "who goes first: first 0 or first 1"
    seen = cast("MistView", view)
    least, most = seen.pieces
    parts = [f"{least} to {most} cells that do not touch"]
    if seen.forbidden:
        parts.append(f"not {' '.join(seen.forbidden)}")
    if least == 0:
        parts.append("or none")
    if seen.may_swap:
        parts.append("or swap")
    return ", ".join(parts)


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "first" in action:
        return f"first {action['first']}"
    return "swap" if action.get("swap") else " ".join(action["cells"]) or "none"


def words(window: str, view: View) -> tuple[str, ...]:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "first 0", "first 1"
    forbidden = cast("MistView", view).forbidden
    return "none", "swap", *(cell for cell in BOARD.names if cell not in forbidden)
