"""How far a regression test is, on standard error: a bar at a terminal, otherwise a line now and then."""

from collections.abc import Callable

from rich.progress import TimeElapsedColumn

from arena.quantities import counted
from arena.regression.model import BlockTally, Regression, SeatedResult, leaning
from arena.regression.usage import uses_of
from arena.schedule import Match
from arena.terminal import Screen, Words
from arena.tournament import Gauge
from referee.host import Result


class RegressionProgress(Gauge):
    """Passes what ends on to the tally, shows how far it is, and says when it is decided."""

    def __init__(
        self, console: Screen, regression: Regression, tally: BlockTally, decided: Callable[[], None]
    ) -> None:
        """`decided` is called once, with the block that decides."""
        super().__init__(console, Words("blocks"), TimeElapsedColumn())
        self._test = regression.test
        self._seatings = regression.seatings
        self._tally = tally
        self._decided = decided
        self._task = self._bar.add_task(self._found(), total=regression.limit, completed=tally.blocks)

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
        if result.outcome is None:
            raise ValueError(f"a void attempt at {match.name} was given as a result")
        before = self._tally.blocks
        uses = uses_of(result.reports, result.windows, result.conduct)
        self._tally.ended(match.block, match.seating, SeatedResult(match.entrants, result.outcome, uses))
        self._bar.update(self._task, completed=self._tally.blocks, description=self._found())
        self._say_now_and_then()
        # Blocks that were being played when it was decided may still end.
        if self._tally.decided and before < self._tally.blocks:
            self._decided()

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""
        del set_aside
        self._tally.again(match.block)
        self._tell_void(match, reason)

    def _said(self) -> str:
        matches = counted(self._tally.blocks * self._seatings, "match", ",")
        return f"{matches}: {self._found()}{self._lost_said()}"

    def _found(self) -> str:
        """The answer that the results lean to, as `head is better: 43 % of the evidence needed`."""
        answer, share = leaning(self._test, self._tally.state)
        said = [f"{answer}: {100 * share:.0f} % of the evidence needed"]
        for walk in self._tally.usage:
            blocks = f"{walk.state.within} of {counted(walk.state.blocks, 'block')}"
            said.append(f"{walk.limit.resource} within {walk.limit.most:g} times in {blocks}")
        return "; ".join(said)
