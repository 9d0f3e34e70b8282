"""How far a regression test is, on standard error: a bar at a terminal, otherwise a line now and then."""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.progress import LINE_SECONDS
from arena.regression import Reckoning, Regression, Sat, evidence
from arena.schedule import Match
from referee.plan import Result


class RegressionProgress:
    """Passes what ends on to the reckoning, shows how far it is, and says when it is decided."""

    def __init__(
        self, console: Console, regression: Regression, reckoning: Reckoning, decided: Callable[[], None]
    ) -> None:
        """`decided` is called once, with the block that decides."""
        self._console = console
        self._test = regression.test
        self._reckoning = reckoning
        self._decided = decided
        self._last_line = monotonic()
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("blocks"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(self._text(), total=regression.limit)

    def __enter__(self) -> Self:
        self._bar.start()
        self._show()
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
        if result.outcome is None:
            raise ValueError(f"a void attempt at {match.name} was given as a result")
        before = self._reckoning.state.blocks
        self._reckoning.ended(match.block, match.seating, Sat(match.entrants, result.outcome))
        self._show()
        # Blocks that were being played when it was decided may still end.
        if self._reckoning.decided and before < self._reckoning.state.blocks:
            self._decided()

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""
        del set_aside
        self._reckoning.again(match.block)
        self._bar.console.print(
            f"block {match.block + 1}: an attempt is void, and the block played again: {reason}",
            markup=False,
            soft_wrap=True,
        )

    def _show(self) -> None:
        self._bar.update(self._task, completed=self._reckoning.state.blocks, description=self._text())
        if not self._console.is_terminal and monotonic() - self._last_line >= LINE_SECONDS:
            self._line()

    def _line(self) -> None:
        self._last_line = monotonic()
        blocks = self._reckoning.state.blocks
        self._console.print(f"{blocks} block{'s' * (blocks != 1)}, {self._text()}", highlight=False, markup=False)

    def _text(self) -> str:
        return evidence(self._test, self._reckoning.state)
