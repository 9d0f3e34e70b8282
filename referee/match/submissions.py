"""Applies bots' messages to their windows. Pure."""

import hmac
from collections.abc import Callable

from msgspec import UNSET, Raw

from protocol.messages import PROTOCOL, Accepted, Hello, NoAction, Submit
from protocol.refusals import Fault, Refusal
from protocol.words import Action
from referee.match.window import SeatWindow

HELLOS_PER_MATCH = 20
"""The most `hello`s of a bot in a match: each is answered with all events sent so far."""
WHY_NOT = {
    Refusal.LATE: "this window is over for you",
    Refusal.UNKNOWN_WINDOW: "you have been given no window of this id",
    Refusal.FINAL: "your final submission stands",
}
"""Texts for a bot whose message about a window is refused."""


def wrong_hello(hello: Hello, token: str) -> tuple[Fault, str] | None:
    """Return the fault of a `hello`, with a text for its bot; None: it is valid."""
    if not hmac.compare_digest(hello.token.encode(errors="replace"), token.encode()):
        return Fault.WRONG_TOKEN, "this is not the token of ARENA_TOKEN"
    if hello.protocol != PROTOCOL:
        return Fault.WRONG_PROTOCOL, f"protocol {hello.protocol} is not spoken here; {PROTOCOL} is"
    return None


def why_not(part: SeatWindow | None, window: int, windows: int, reading: int) -> Refusal | None:
    """Return the refusal of a change to a window's submission; None: it is allowed.

    Args:
        part: the bot's part in the open window, if it has one.
        window: the number of the window that the bot names.
        windows: the number of windows that the bot has had.
        reading: the time of the message.
    """
    if part is not None and part.number == window:
        return part.refusal(reading)
    return Refusal.LATE if 0 <= window < windows else Refusal.UNKNOWN_WINDOW


def take(part: SeatWindow, submit: Submit, read: Callable[[Raw], Action], reading: int) -> Accepted:
    """Apply a submission to a part that may be changed, and return the answer.

    Raises:
        Illegal: `read` rejects the action.
    """
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
    """Remove a part's submission, and return the answer."""
    part.undo()
    return Accepted(window=part.number, action=None)
