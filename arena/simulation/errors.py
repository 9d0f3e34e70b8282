"""Errors of a bot in a match in this process. Both name the seat and the window."""


class IllegalActionError(ValueError):
    """An action breaks a rule, or its seat does not owe one. `reason` is the text that a bot would receive."""

    def __init__(self, seat: int, window: str | None, reason: str) -> None:
        super().__init__(f"seat {seat}, {_named(window)}: {reason}")
        self.seat = seat
        self.window = window
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[int, str | None, str]]:
        """Support pickling, to return the error from another process."""
        return type(self), (self.seat, self.window, self.reason)


class BotError(RuntimeError):
    """A bot raised an exception, which is the cause of this one."""

    def __init__(self, seat: int, window: str | None, what: str) -> None:
        super().__init__(f"the bot of seat {seat} raised, {_named(window)}: {what}")
        self.seat = seat
        self.window = window
        self.what = what

    def __reduce__(self) -> tuple[type, tuple[int, str | None, str]]:
        """Support pickling, to return the error from another process."""
        return type(self), (self.seat, self.window, self.what)


def _named(window: str | None) -> str:
    return f"window {window!r}" if window else "outside a window"
