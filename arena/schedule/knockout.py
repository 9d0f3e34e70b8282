"""Knock-out: who loses is out. Pure.

The bracket is the usual one: bots are seeded in the order of the file, the first two can meet in the final only,
and where their number is no power of two the first ones have no opponent in the first round. Two who are level
after their blocks play single blocks until one leads.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from arena.schedule.changes import Entered, Event
from arena.schedule.columns import format_table, mean_text
from arena.schedule.contract import Cells, Contest, Format, Tie
from arena.schedule.fields import Field, ScheduleSpec, fields_of
from arena.schedule.pairing import SEATINGS, add_points
from arena.schedule.rounds import Rounds, next_round, round_of
from arena.statistics import Played, StandingsRow

WON = "won"
"""Stands where the others have the round that they reached."""
ENDS = ("Final", "Semi-finals", "Quarter-finals")
"""The last rounds, the last one first."""
TIE_BREAKS = 5
"""How many single blocks two who are level play at most; then the one that is earlier in the file goes on."""


class KnockoutFormat(Format):
    """See `Format`."""

    name = "knockout"
    grows = None
    ranks_withdrawn = True
    order_text = "By the round that was reached, then mean points."

    def schedule(self, spec: ScheduleSpec) -> "Knockout":
        """See `Format`."""
        return Knockout(spec)

    def places(self, contest: Contest) -> dict[int, float]:
        """See `Format`."""
        return {entrant: -float(turn) for entrant, turn in rounds_reached(self.bracket(contest)).items()}

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
        """See `Format`."""
        bracket = self.bracket(contest)
        reached, rounds = rounds_reached(bracket), rounds_of_all(bracket)

        def cells(row: StandingsRow) -> Cells:
            turn = reached.get(row.entrant)
            name = "-" if turn is None else WON if turn == rounds else round_title(turn, rounds).lower()
            return name, mean_text(row), row.record

        return format_table(contest.labels, rows, ("reached", "mean points", "W-T-L"), cells)

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        label = contest.labels.__getitem__
        return {"bracket": [[_tie_json(tie, label) for tie in ties] for ties in self.bracket(contest)]}

    def refusal(self, event: Event) -> str | None:
        """See `Format`."""
        if isinstance(event.what, Entered) and event.block:
            return "no bot can enter a knock-out that has begun; one may withdraw, and its opponent goes on"
        return None

    def bracket(self, contest: Contest) -> list[list[Tie]]:
        """See `Format`."""
        return bracket_of(contest.spec, contest.seed, contest.played)


class Knockout(Struct, frozen=True):
    """Two play some blocks, and one goes on. If a bot has withdrawn, its opponent goes on without a match."""

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`. Tie-breaks come on top; what a bot that withdrew does not play comes off."""
        return (len(fields_of(self.spec)[0].active) - 1) * self.spec.blocks * SEATINGS

    def change_at(self, begun: int) -> int:
        """See `Schedule`. Matches of the same round are played all the same."""
        return begun

    def rounds(self, seed: int, bracket: list[list[Tie]] | None = None) -> Rounds:
        """See `Schedule`. The ties of each round, from the first, are kept in the list that is given."""
        bracket = [] if bracket is None else bracket
        fields = fields_of(self.spec)
        seeded = fields[0].active
        left = [seeded[place] if place < len(seeded) else None for place in bracket_order(len(seeded))]
        first = turn = 0
        while len(left) > 1:
            ties = [_tie(one, other) for one, other in zip(left[::2], left[1::2], strict=True)]
            bracket.append(ties)
            for attempt in range(1 + TIE_BREAKS):
                _forfeit(ties, [field for field in fields if field.first <= first][-1])
                open_ties = [tie for tie in ties if tie.winner is None]
                pairs = [(tie.one, tie.other) for tie in open_ties if tie.other is not None]
                if not pairs:
                    break
                number = 1 if attempt else self.spec.blocks
                blocks = round_of(pairs, first=first, turn=turn, blocks=number, seed=seed)
                first, turn = first + len(blocks), turn + 1
                results = yield blocks.__iter__
                _decide(open_ties, results, self.spec.numbers, seeded, attempt)
            left = [tie.winner for tie in ties]


def _tie(one: int | None, other: int | None) -> Tie:
    """A tie of the next round; who has no opponent has won it."""
    if one is None:
        raise ValueError("the first of two is never nobody")
    if other is None:
        return Tie(one=one, other=None, winner=one)
    return Tie(one=one, other=other, points=[0.0, 0.0], tie_breaks=[0.0, 0.0])


def _forfeit(ties: Sequence[Tie], field: Field) -> None:
    """Decides the ties of those that have withdrawn."""
    for tie in ties:
        if tie.winner is None and tie.other is not None and not {tie.one, tie.other} <= set(field.active):
            tie.winner = tie.one if tie.one in field.active else tie.other


def bracket_order(entrants: int) -> list[int]:
    """Who stands where in the first round, from top to bottom; numbers from `entrants` on are nobody.

    Doubling keeps each one's place and sets below it the one with which it adds up to all: 0; 0-1; 0-3, 1-2.
    """
    order = [0]
    while (size := len(order)) < entrants:
        order = [number for one in order for number in (one, 2 * size - 1 - one)]
    return order


def _decide(
    ties: list[Tie], results: Sequence[Played], entrants: int, seeded: Sequence[int], attempt: int
) -> None:
    """Adds what was played, and says who goes on where one leads or no more is played."""
    points = [0.0] * entrants
    add_points(results, points)
    for tie in ties:
        if tie.other is None:
            continue
        counted = tie.tie_breaks if attempt else tie.points
        counted[0] += points[tie.one]
        counted[1] += points[tie.other]
        if counted[0] != counted[1]:
            tie.winner = tie.one if counted[0] > counted[1] else tie.other
        elif attempt == TIE_BREAKS:
            tie.winner = min(tie.one, tie.other, key=seeded.index)


def bracket_of(spec: ScheduleSpec, seed: int, results: Sequence[Played]) -> list[list[Tie]]:
    """The ties of each round that these results lead to."""
    bracket: list[list[Tie]] = []
    next_round(Knockout(spec).rounds(seed, bracket), results)
    return bracket


def rounds_of_all(bracket: Sequence[Sequence[Tie]]) -> int:
    """Return how many rounds there are, those to come among them."""
    rounds, ties = len(bracket), len(bracket[-1]) if bracket else 1
    while ties > 1:
        rounds, ties = rounds + 1, -(-ties // 2)
    return rounds


def round_title(turn: int, rounds: int) -> str:
    """Return what a round, counted from 0, is called: `Final`, `Semi-finals`, `Round 1`."""
    left = rounds - 1 - turn
    return ENDS[left] if left < len(ENDS) else f"Round {turn + 1}"


def rounds_reached(bracket: Sequence[Sequence[Tie]]) -> dict[int, int]:
    """The last round that each bot came to, from 0; who won the final has come one further."""
    reached: dict[int, int] = {}
    for turn, ties in enumerate(bracket):
        for tie in ties:
            reached |= {bot: turn for bot in (tie.one, tie.other) if bot is not None}
            if tie.winner is not None:
                reached[tie.winner] = turn + 1
    return reached


def _tie_json(tie: Tie, label: Callable[[int], str]) -> dict[str, Any]:
    """A tie without an opponent has no points."""
    if tie.other is None:
        return {"bots": [label(tie.one)], "winner": label(tie.one)}
    return {
        "bots": [label(tie.one), label(tie.other)],
        "points": tie.points,
        "tie_breaks": tie.tie_breaks if any(tie.tie_breaks) else None,
        "winner": None if tie.winner is None else label(tie.winner),
    }
