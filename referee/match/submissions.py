"""What a bot's messages do. Pure."""

import hmac
from collections.abc import Callable

from msgspec import UNSET, Raw

from protocol.messages import PROTOCOL, Accepted, Hello, NoAction, Submit
from protocol.refusals import Fault, Refusal
from protocol.words import Action
from referee.match.window import SeatWindow

HELLOS_PER_MATCH = 20
"""A bot that says `hello` oftener than this over a match misbehaves: each is answered with all it was told."""
WHY_NOT = {
    Refusal.LATE: "this window is over for you",
    Refusal.UNKNOWN_WINDOW: "you have been given no window of this id",
    Refusal.FINAL: "your final submission stands",
}
"""What a bot is told of a message about a window that it may not change."""


def wrong_hello(hello: Hello, token: str) -> tuple[Fault, str] | None:
    """What is wrong with a `hello`, with a text for its bot; None: nothing."""
    if not hmac.compare_digest(hello.token.encode(errors="replace"), token.encode()):
        return Fault.WRONG_TOKEN, "this is not the token of ARENA_TOKEN"
    if hello.protocol != PROTOCOL:
        return Fault.WRONG_PROTOCOL, f"protocol {hello.protocol} is not spoken here; {PROTOCOL} is"
    return None


def why_not(part: SeatWindow | None, window: int, windows: int, reading: int) -> Refusal | None:
    """Why the submission to a window may not be changed now; None: it may.

    `part` is the bot's in the open window, `windows` counts those it was given, `reading` the message's.
    """
    if part is not None and part.number == window:
        return part.refusal(reading)
    return Refusal.LATE if 0 <= window < windows else Refusal.UNKNOWN_WINDOW


def take(part: SeatWindow, submit: Submit, read: Callable[[Raw], Action], reading: int) -> Accepted:
    """Applies a submission to a part that it may change; returns the answer. Raises Illegal as `read`."""
    if bytes(submit.action) == b"null":
        accepted = undo(part)
        if submit.final is True:
            part.forgo(reading)
            part.no_action = _no_action(submit)
        return accepted
    action = read(submit.action)
    part.submit(action, final=submit.final is not False, reading=reading)
    part.no_action = _no_action(submit)
    return Accepted(window=part.number, action=action)


def _no_action(submit: Submit) -> NoAction | None:
    return None if submit.because is UNSET else submit.because


def undo(part: SeatWindow) -> Accepted:
    """Back to the default; the answer to that."""
    part.undo()
    return Accepted(window=part.number, action=None)
