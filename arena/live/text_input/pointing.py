"""Pointing as a person types it: a seat's number, or `nobody`."""

from typing import Any, cast

from arena.live.text_input import ParseError
from protocol.games.pointing import PointingView
from protocol.words import View

NOBODY = ("nobody", "none", "-")


def read(window: str, text: str) -> dict[str, Any]:
    """See `registry.TextInput`."""
    key = "seat" if window == "vote" else "target"
    word = text.strip().lower()
    if word in NOBODY:
        return {key: None}
    if word.isdecimal():
        return {key: int(word)}
    raise ParseError("type a seat's number, or nobody")


def ask(window: str, view: View) -> str:
    """See `registry.TextInput`."""
    seen = cast("PointingView", view)
    if window == "vote":
        return f"who is to go: {', '.join(map(str, seen.tied))}, or nobody"
    return (
        f"round {seen.round}: at whom do you point? a seat from 0 to {seen.seats - 1} but {seen.seat}, or nobody"
    )


def say(action: dict[str, Any]) -> str:
    """See `registry.TextInput`."""
    (seat,) = action.values() or (None,)
    return "nobody" if seat is None else str(seat)
