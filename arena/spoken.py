"""What a person types in a game's own words, and what is asked of them. Any game can be played in JSON as well."""

from collections.abc import Callable
from typing import Any, cast

import msgspec
from msgspec import Struct

from protocol.codec import decode_json
from protocol.games.mist import MistView
from protocol.words import View


class Unclear(Exception):  # noqa: N818 - an answer to a person, not an error of ours
    """What was typed is no action. The text says what would be."""


class Spoken(Struct, frozen=True):
    """How one game is spoken."""

    read: Callable[[str, str], dict[str, Any]]
    """(window's name, what was typed) to an action; raises Unclear. Whether it is legal is for the referee."""
    ask: Callable[[str, View], str]
    """(window's name, view) to what may be typed."""


def read(game: str, window: str, text: str) -> Any:
    """The action that was typed: in the game's words, or as a JSON object.

    Raises:
        Unclear: it is neither.
    """
    if text.startswith("{") or game not in SPOKEN:
        try:
            return decode_json(text.encode(errors="replace"))
        except msgspec.MsgspecError as error:
            raise Unclear(f"that is no JSON: {error}") from None
    return SPOKEN[game].read(window, text)


def ask(game: str, window: str, view: View) -> str:
    """What may be typed in this window."""
    return SPOKEN[game].ask(window, view) if game in SPOKEN else "type the action as JSON"


def _read_mist(window: str, text: str) -> dict[str, Any]:
    words = text.replace(",", " ").split()
    if window == "first":
        if words and words[0].lower() == "first":
            words = words[1:]
        if len(words) != 1 or words[0] not in ("0", "1"):
            raise Unclear("type first 0 or first 1")
        return {"first": int(words[0])}
    lower = [word.lower() for word in words]
    if lower == ["swap"]:
        return {"swap": True}
    return {"cells": [] if lower == ["none"] else words}


def _ask_mist(window: str, view: View) -> str:
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


SPOKEN = {"mist": Spoken(_read_mist, _ask_mist)}
