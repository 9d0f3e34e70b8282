"""Mist as a person types it: `C3 D7`, `none`, `swap`, `first 0`."""

from typing import Any, cast

from arena.live.text_input import ParseError
from protocol.games.mist import MistView
from protocol.words import View


def read(window: str, text: str) -> dict[str, Any]:
    """See `registry.TextInput`."""
    words = text.replace(",", " ").split()
    if window == "first":
        if words and words[0].lower() == "first":
            words = words[1:]
        if len(words) != 1 or words[0] not in ("0", "1"):
            raise ParseError("type first 0 or first 1")
        return {"first": int(words[0])}
    lower = [word.lower() for word in words]
    if lower == ["swap"]:
        return {"swap": True}
    return {"cells": [] if lower == ["none"] else words}


def ask(window: str, view: View) -> str:
    """See `registry.TextInput`."""
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
    """See `registry.TextInput`."""
    if "first" in action:
        return f"first {action['first']}"
    return "swap" if action.get("swap") else " ".join(action["cells"]) or "none"
