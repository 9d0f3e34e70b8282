"""What a bot may do wrong in a match in this process. Both say which seat, and in which window."""


class IllegalActionError(ValueError):
    """An action that breaks a rule, or that its seat does not owe. `reason` is what a bot would be told."""

    def __init__(self, seat: int, window: str | None, reason: str) -> None:
        super().__init__(f"seat {seat}, {_named(window)}: {reason}")
        self.seat = seat
        self.window = window
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[int, str | None, str]]:
        """For the way back from another process."""
        return type(self), (self.seat, self.window, self.reason)


class BotError(RuntimeError):
    """A bot raised. Its own exception is the cause."""

    def __init__(self, seat: int, window: str | None, what: str) -> None:
        super().__init__(f"the bot of seat {seat} raised, {_named(window)}: {what}")
        self.seat = seat
        self.window = window
        self.what = what

    def __reduce__(self) -> tuple[type, tuple[int, str | None, str]]:
        """For the way back from another process."""
        return type(self), (self.seat, self.window, self.what)


def _named(window: str | None) -> str:
    return f"window {window!r}" if window else "outside a window"
