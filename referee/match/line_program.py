"""What is known of a bot's program that speaks by lines, behind the bridge that says `hello` for it. Pure."""

from referee.match.seat_report import quoted

GAP_US = 50_000
"""Answers that follow one another by no more than this came at once."""
END_US = 1_000_000
"""Answers that came no longer than this before the program's end came at its end."""
MANY = 2
"""So many windows answered at once, or more, and too late: one alone may have been slow."""


class LineProgram:
    """One seat's; of a bot that says `hello` itself nothing is noted."""

    def __init__(self) -> None:
        self.bridged = False
        """Whether the bridge has said `hello` for it."""
        self.spoke = False
        """Whether it has sent a message itself: then it has started."""
        self.heard_by: int | None = None
        """The moment until which the match waits for that message before its seat wins by others' forfeits."""
        self.printed = ""
        """The first line that it printed and that is no message, to be shown."""
        self.printed_windows = 0
        """In how many windows it printed such lines."""
        self.answers = LateAnswers()
        self._printed_in: int | None = None
        self._waited_out = False

    @property
    def is_unheard(self) -> bool:
        """Whether nothing is known of it but that the bridge has started it."""
        return self.bridged and not (self.spoke or self._waited_out)

    def prints(self, line: bytes, windows: int) -> bool:
        """Take note of a line that is no message; return whether it is the first one in this window.

        `windows`: how many the seat has been given.
        """
        if self._printed_in == windows:
            return False
        self._printed_in = windows
        self.printed = self.printed or quoted(line)
        self.printed_windows += 1
        return True

    def wait(self, until: int) -> None:
        """Wait for its first message, if nothing was heard of it, and it is not waited for already."""
        if self.is_unheard and self.heard_by is None:
            self.heard_by = until

    def speaks(self) -> bool:
        """Take note of a message; return whether it was waited for."""
        was_awaited, self.spoke, self.heard_by = self.heard_by is not None, True, None
        return was_awaited

    def pass_time(self, at: int) -> bool:
        """Return whether it was waited for in vain, and still runs: it is waited for no more."""
        if self.heard_by is None or at < self.heard_by:
            return False
        self.heard_by, self._waited_out = None, True
        return True


class LateAnswers:
    """Answers that came when their windows were over, many at once.

    That is how output looks that a program does not flush: its library keeps it until a buffer is full or the
    program ends.
    """

    def __init__(self) -> None:
        self.at_end = 0
        """Answers that came when the program ended, if none had come before."""
        self.at_once = 0
        """The most that came at once, each too late; 0: they never did."""
        self._any = self._in_time = False
        self._first = self._last = 0
        self._windows: set[int] = set()
        """Those answered at once, up to now."""

    def add(self, at: int, window: int, *, too_late: bool) -> None:
        """Take note of an answer."""
        if not self._any:
            self._first = at
        if not too_late or at - self._last > GAP_US:
            self._windows.clear()
        if too_late:
            self._windows.add(window)
        if len(self._windows) >= MANY:
            self.at_once = max(self.at_once, len(self._windows))
        self._any, self._last = True, at
        # With many for windows that are over, the one for the open window may come.
        self._in_time = self._in_time or not (too_late or self.at_once)

    def end(self, at: int) -> None:
        """Take note that the program has ended before its match."""
        if self.at_once and not self._in_time and at - self._first <= END_US:
            self.at_end = self.at_once

    def after_end(self, windows: int) -> None:
        """Take note of answers to so many windows that came when the program ended after its match."""
        if windows >= MANY and not self._any:
            self.at_end = self.at_once = windows
