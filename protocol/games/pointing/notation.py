"""Pointing as a person types it: a seat's number, or `nobody`."""

from typing import Any, cast

from protocol.games.pointing import MOST_SEATS, PointingView
from protocol.text import Example, Terms, number
from protocol.words import View

NOBODY = ("nobody", "none", "-")
DEFAULTS = {"point": "you point at nobody", "vote": "you vote for nobody"}


def forms(terms: Terms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    return {
        "point": (("SEAT", f"point at that seat, any but your own, {terms.seat}"), ("nobody", "point at nobody")),
        "vote": (("SEAT", "this one of the tied seats is to go"), ("nobody", "no vote")),
    }


def examples(window: str, view: View) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    seen = cast("PointingView", view)
    if window == "vote":
        return (str(seen.tied[0]), f"seat {seen.tied[0]} is to go"), ("nobody", "no vote")
    further = 1 + seen.round % (seen.seats - 1)
    other = ((seen.seat or 0) + further) % seen.seats
    return (str(other), f"point at seat {other}"), ("nobody", "point at nobody")


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    key = "seat" if window == "vote" else "target"
    word = text.strip().lower()
    return {key: None if word in NOBODY else number(word, 0, MOST_SEATS - 1, "a seat's number, nor nobody")}


def ask(window: str, view: View) -> str:
    """See `protocol.text.GameText`."""
    seen = cast("PointingView", view)
    if window == "vote":
        return f"who is to go: {', '.join(map(str, seen.tied))}, or nobody"
    return (
        f"round {seen.round}: at whom do you point? a seat from 0 to {seen.seats - 1} but {seen.seat}, or nobody"
    )


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    (seat,) = action.values() or (None,)
    return "nobody" if seat is None else str(seat)


def words(window: str, view: View) -> tuple[str, ...]:  # noqa: ARG001 - seats are numbers
    """See `protocol.text.GameText`."""
    return ("nobody",)
