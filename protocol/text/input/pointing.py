"""Pointing as a person types it: a seat's number, or `nobody`."""

from typing import Any, cast

from protocol.games.pointing import MOST_SEATS, PointingView
from protocol.text.parsing import number
from protocol.words import View

NOBODY = ("nobody", "none", "-")
EXAMPLES = {
    "point": (("4", "point at seat 4"), ("nobody", "point at nobody")),
    "vote": (("2", "seat 2 is to go"), ("nobody", "no vote")),
}
DEFAULTS = {"point": "you point at nobody", "vote": "you vote for nobody"}


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.registry.TextInput`."""
    key = "seat" if window == "vote" else "target"
    word = text.strip().lower()
    return {key: None if word in NOBODY else number(word, 0, MOST_SEATS - 1, "a seat's number, nor nobody")}


def ask(window: str, view: View) -> str:
    """See `protocol.text.registry.TextInput`."""
    seen = cast("PointingView", view)
    if window == "vote":
        return f"who is to go: {', '.join(map(str, seen.tied))}, or nobody"
    return (
        f"round {seen.round}: at whom do you point? a seat from 0 to {seen.seats - 1} but {seen.seat}, or nobody"
    )


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.registry.TextInput`."""
    (seat,) = action.values() or (None,)
    return "nobody" if seat is None else str(seat)


def words(window: str, view: View) -> tuple[str, ...]:  # noqa: ARG001 - seats are numbers
    """See `protocol.text.registry.TextInput`."""
    return ("nobody",)
