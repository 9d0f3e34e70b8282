"""The state of a bot's program that speaks by lines, behind the bridge that sends `hello` for it. Pure."""

from referee.match.seat_report import quoted

GAP_US = 50_000
"""Microseconds between two answers up to which they count as sent at once."""
END_US = 1_000_000
"""Microseconds before the program's end from which answers count as sent at its end."""
MANY = 2
"""Number of late answers at once that are a sign of missing flushes: a single one may have been slow."""


class LineProgram:
    """The program of a seat's bot. Nothing is noted about bots that send `hello` themselves."""

    def __init__(self) -> None:
        self.bridged = False
        """Whether the bridge has sent `hello` for it."""
        self.spoke = False
        """Whether it has sent a message itself, and so has started."""
        self.heard_by: int | None = None
        """The time until which the match waits for that message before the seat wins by others' forfeits."""
        self.printed = ""
        """The first printed line that is no message, fit to be shown."""
        self.printed_windows = 0
        """Number of windows in which it printed such lines."""
        self.answers = LateAnswers()
        self._printed_in: int | None = None
        self._waited_out = False

    @property
    def is_unheard(self) -> bool:
        """Whether it may not have started: only the bridge has sent messages."""
        return self.bridged and not (self.spoke or self._waited_out)

    def prints(self, line: bytes, windows: int) -> bool:
        """Note a line that is no message; return whether it is the first one in this window.

        `windows` is the number of windows that the seat has had.
        """
        if self._printed_in == windows:
            return False
        self._printed_in = windows
        self.printed = self.printed or quoted(line)
        self.printed_windows += 1
        return True

    def wait(self, until: int) -> None:
        """Wait for its first message until a time, if there was none and the match does not wait already."""
        if self.is_unheard and self.heard_by is None:
            self.heard_by = until

    def speaks(self) -> bool:
        """Note a message; return whether the match was waiting for it."""
        was_awaited, self.spoke, self.heard_by = self.heard_by is not None, True, None
        return was_awaited

    def pass_time(self, at: int) -> bool:
        """Stop waiting if the time is over; return whether that happened now."""
        if self.heard_by is None or at < self.heard_by:
            return False
        self.heard_by, self._waited_out = None, True
        return True


class LateAnswers:
    """Counts answers that arrived after their windows, many at once.

    That is a sign of output that a program does not flush: its library holds it until a buffer is full or the
    program exits.
    """

    def __init__(self) -> None:
        self.at_end = 0
        """Number of answers that arrived when the program exited, if none had arrived before."""
        self.at_once = 0
        """The largest number of late answers at once; 0: there were none."""
        self._any = self._in_time = False
        self._first = self._last = 0
        self._windows: set[int] = set()
        """The windows of the current group of late answers."""

    def add(self, at: int, window: int, *, too_late: bool) -> None:
        """Note an answer."""
        if not self._any:
            self._first = at
        if not too_late or at - self._last > GAP_US:
            self._windows.clear()
        if too_late:
            self._windows.add(window)
        if len(self._windows) >= MANY:
            self.at_once = max(self.at_once, len(self._windows))
        self._any, self._last = True, at
        # The answer for the open window may arrive together with many late ones.
        self._in_time = self._in_time or not (too_late or self.at_once)

    def end(self, at: int) -> None:
        """Note that the program has exited before the end of its match."""
        if self.at_once and not self._in_time and at - self._first <= END_US:
            self.at_end = self.at_once

    def after_end(self, windows: int) -> None:
        """Note the number of windows answered when the program exited after its match."""
        if windows >= MANY and not self._any:
            self.at_end = self.at_once = windows
