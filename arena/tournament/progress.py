"""The progress of a tournament on standard error: a bar at a terminal, otherwise a line now and then."""

from abc import ABC, abstractmethod
from time import monotonic
from types import TracebackType
from typing import Self

from rich.progress import ProgressColumn, TimeElapsedColumn, TimeRemainingColumn

from arena.quantities import pluralise
from arena.schedule import Match
from arena.terminal import Screen, progress_bar
from referee.host import Result

LINE_SECONDS = 10
"""Least seconds between two lines, if there is no terminal."""


class Gauge(ABC):
    """Shows one task's progress while its block runs."""

    def __init__(self, console: Screen, *columns: ProgressColumn) -> None:
        self._console = console
        self._last_line = monotonic()
        self._last_said = ""
        self._lost = 0
        self._bar = progress_bar(console, *columns)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()
        if not self._console.is_terminal and self._said() != self._last_said:
            self._line()

    @abstractmethod
    def _said(self) -> str:
        """Return the progress in words."""

    def _say_now_and_then(self) -> None:
        if not self._console.is_terminal and monotonic() - self._last_line >= LINE_SECONDS:
            self._line()

    def say(self, line: str) -> None:
        """Show a line beside the progress."""
        self._console.say(line)

    def _tell_void(self, match: Match, reason: str) -> None:
        self._console.say(f"block {match.block + 1}: an attempt was void; the block is played again: {reason}")

    def lost(self, match: Match, reason: str) -> None:
        """See `runner.Progress`."""
        self._lost += 1
        self._console.say(
            f"block {match.block + 1}: a referee process ended ({reason}), and one of its matches is played again"
        )

    def _lost_said(self) -> str:
        return f", {pluralise(self._lost, 'attempt')} lost with a referee process" if self._lost else ""

    def _line(self) -> None:
        self._last_line = monotonic()
        self._last_said = self._said()
        self._console.say(self._last_said)


class LiveProgress(Gauge):
    """The progress of a tournament. It observes the runner."""

    def __init__(self, console: Screen, done: int, total: int | None) -> None:
        """Begin after `done` of `total` matches; `total` is None if there is no end."""
        columns = (TimeElapsedColumn(),) if total is None else (TimeElapsedColumn(), TimeRemainingColumn())
        super().__init__(console, *columns)
        self._done, self._total, self._voids = done, total, 0
        self._task = self._bar.add_task("matches", total=total, completed=done)

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
        del match, result
        self._done += 1
        # Tie-breaks are not known in advance.
        self._total = None if self._total is None else max(self._total, self._done)
        self._bar.update(self._task, completed=self._done, total=self._total)
        self._say_now_and_then()

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""
        self._voids += 1
        self._done -= set_aside
        self._bar.update(self._task, completed=self._done)
        self._tell_void(match, reason)

    def _said(self) -> str:
        voids = f", {pluralise(self._voids, 'void attempt')}" if self._voids else ""
        done = (
            pluralise(self._done, "match")
            if self._total is None
            else f"{self._done}/{pluralise(self._total, 'match')}"
        )
        return f"{done}{voids}{self._lost_said()}"
