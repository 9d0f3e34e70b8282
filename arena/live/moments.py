"""Remarks on the steps of a match: those of the game's commentary, and the faults of bots.

A game's commentary may come from another package, and a transcript from elsewhere may hold positions that no
commentary foresaw. So an error costs the remarks on its step, and texts and their number are limited.
"""

from collections.abc import Sequence

from protocol.games import GameLoadError
from protocol.refusals import Conduct
from protocol.text import COMMENTARIES, Commentary, Remark, Scene, remarks_on
from protocol.words import View
from referee.display_text import cut, printable
from referee.rules import Addressed

MOST_REMARKS = 40
"""Most remarks on one step."""
TEXT = 300
"""Longest remark, in characters."""
TOP_WEIGHT = 3
MOST_SCORE = 2**53
"""Largest score, as JSON for browsers holds it."""
CONDUCTS = {
    Conduct.CRASHED: "crashes",
    Conduct.DISCONNECTED: "leaves the match",
    Conduct.MISBEHAVED: "is disconnected for its messages",
    Conduct.NEVER_STARTED: "never starts",
}
"""Verb phrases that follow a bot's name, by its conduct."""


def numbered_names(names: Sequence[str]) -> list[str]:
    """Return the names with a number after each that an earlier seat has: `anna`, `anna 2`.

    A seat without a name is called `seat 0`. No two names in the result are alike.
    """
    found: list[str] = []
    for seat, name in enumerate(names):
        plain = name or f"seat {seat}"
        distinct, number = plain, 1
        while distinct in found or (number > 1 and distinct in names):
            number += 1
            distinct = f"{plain} {number}"
        found.append(distinct)
    return found


def commentary_of(game: str) -> Commentary | None:
    """Return a game's commentary; None if it has none, or one that cannot be loaded."""
    try:
        return COMMENTARIES.get(game)
    except GameLoadError:
        return None


class Commentator:
    """The remarks on a match and the scores, step by step, from what the host sees."""

    def __init__(self, game: str, names: Sequence[str]) -> None:
        """Comment on a game of seats with these names, no two alike."""
        self._names = names
        self._commentary = commentary_of(game)
        self._before: View | None = None

    def comment(self, view: View, told: Sequence[Addressed]) -> tuple[list[Remark], list[int]]:
        """Return the remarks on the next step, and the score after it by seat.

        Both are empty for a game without commentary, or if its commentary raises an error.

        Args:
            view: the host's view after the step.
            told: the events of the step.
        """
        before, self._before = self._before, view
        if self._commentary is None:
            return [], []
        scene = Scene(
            before=before, after=view, told=[(each.event, each.seat) for each in told], names=self._names
        )
        try:
            remarks = [self._bounded(each) for each in remarks_on(self._commentary, scene)[:MOST_REMARKS]]
            scores = [int(score) for score in self._commentary.scores(view)]
        except Exception:  # noqa: BLE001 - the game may be of another package, and the position from anywhere
            return [], []
        if len(scores) != len(self._names) or max(map(abs, scores)) > MOST_SCORE:
            scores = []
        return remarks, scores

    def _bounded(self, remark: Remark) -> Remark:
        seats = tuple(seat for seat in remark.seats if 0 <= seat < len(self._names))
        weight = min(max(remark.weight, 0), TOP_WEIGHT)
        return Remark(cut(printable(remark.text), TEXT), seats, weight)  # type: ignore[arg-type] # it is 0 to 3
