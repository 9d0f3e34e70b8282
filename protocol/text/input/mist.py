"""Mist as a person types it: `C3 D7`, `none`, `swap`, `first 0`."""

from typing import Any, cast

from protocol.games.mist import MistView
from protocol.games.mist_board import BOARD
from protocol.text.parsing import ParseError, quoted
from protocol.words import View

EXAMPLES = {
    "first": (("first 0", "seat 0 goes first"),),
    "turn": (
        ("C3 D7", "pieces on C3 and D7"),
        ("none", "no piece, where that is allowed"),
        ("swap", "take over the other's first move, where that is allowed"),
    ),
}
DEFAULTS = {"turn": "no piece is placed"}


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.registry.TextInput`."""
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
    """See `protocol.text.registry.TextInput`."""
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
    """See `protocol.text.registry.TextInput`."""
    if "first" in action:
        return f"first {action['first']}"
    return "swap" if action.get("swap") else " ".join(action["cells"]) or "none"


def words(window: str, view: View) -> tuple[str, ...]:
    """See `protocol.text.registry.TextInput`."""
    if window == "first":
        return "first 0", "first 1"
    forbidden = cast("MistView", view).forbidden
    return "none", "swap", *(cell for cell in BOARD.names if cell not in forbidden)
