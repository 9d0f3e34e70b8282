"""How far a tournament is, on standard error: a bar at a terminal, otherwise a line now and then."""

from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from arena.schedule import Match
from referee.plan import Result

LINE_SECONDS = 10
"""At least so long from one line to the next, where there is no terminal."""


class LiveProgress:
    """Shows progress while its block runs. `ended` and `void` are told by the runner."""

    def __init__(self, console: Console, done: int, total: int) -> None:
        self._console = console
        self._done, self._total, self._voids = done, total, 0
        self._last_line = monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("matches", total=total, completed=done)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
        if not self._console.is_terminal:
            self._line()

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
        del match, result
        self._done += 1
        self._bar.update(self._task, completed=self._done)
        if not self._console.is_terminal and monotonic() - self._last_line >= LINE_SECONDS:
            self._line()

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""
        self._voids += 1
        self._done -= set_aside
        self._bar.update(self._task, completed=self._done)
        self._bar.console.print(
            f"block {match.block + 1}: an attempt is void, and its block played again: {reason}",
            markup=False,
            soft_wrap=True,
        )

    def _line(self) -> None:
        self._last_line = monotonic()
        self._console.print(f"{self._done}/{self._total} matches, {self._voids} void attempts", highlight=False)
