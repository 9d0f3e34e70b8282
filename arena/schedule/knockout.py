"""Knock-out: the loser of each tie is eliminated. Pure.

Bots are seeded in the order of the file, so that the first two can meet only in the final. If their number is
not a power of two, the first ones have a bye in the first round. Two bots that are level after their blocks play
single blocks until one leads.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from msgspec import Struct

from arena.quantities import Column, Table
from arena.schedule.contract import Contest, Format, Rounds, Tie, advanced, format_table, round_of
from arena.schedule.fields import Entered, FieldChange, FieldPeriod, ScheduleSpec, fields_of
from arena.schedule.pairing import SEATINGS, add_points
from arena.statistics import MEAN_POINTS, RECORD, BotColumn, CountedMatch, StandingsRow

WON = "won"
"""Text for the winner in the column of the round reached."""
ENDS = ("Final", "Semi-finals", "Quarter-finals")
"""Titles of the last rounds, the last one first."""
TIE_BREAKS = 5
"""Maximum number of tie-break blocks; after them the bot that is earlier in the file advances."""


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

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`."""
        bracket = self.bracket(contest)
        turns, rounds = rounds_reached(bracket), rounds_of_all(bracket)

        def title(turn: int) -> str:
            return WON if turn == rounds else round_title(turn, rounds).lower()

        reached: BotColumn = Column(
            "reached",
            lambda row: turns.get(row.entrant),
            title,
            meaning="The last round of the bracket that the bot reached.",
            is_text=True,
        )
        return format_table(contest.labels, rows, (reached, MEAN_POINTS, RECORD))

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        tie_json = partial(_tie_json, label=contest.labels.__getitem__)
        return {"bracket": [list(map(tie_json, ties)) for ties in self.bracket(contest)]}

    def refusal(self, event: FieldChange) -> str | None:
        """See `Format`."""
        if isinstance(event.what, Entered) and event.block:
            return "no bot can enter a knock-out that has begun; one may withdraw, and its opponent goes on"
        return None

    def bracket(self, contest: Contest) -> list[list[Tie]]:
        """See `Format`."""
        return bracket_of(contest.spec, contest.seed, contest.played)


class Knockout(Struct, frozen=True):
    """The schedule of a knock-out. If a bot withdraws, its opponent advances without a match."""

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`. Tie-breaks add to it; ties that a withdrawal decides without a match reduce it."""
        return (len(fields_of(self.spec)[0].active) - 1) * self.spec.blocks * SEATINGS

    def change_at(self, begun: int) -> int:
        """See `Schedule`. Blocks of the same round are played even after a withdrawal."""
        return begun

    def rounds(self, seed: int) -> "KnockoutRounds":
        """See `Schedule`."""
        return KnockoutRounds(self.spec, seed)


class KnockoutRounds(Rounds):
    """See `Rounds`. Tie-breaks are rounds of their own."""

    def __init__(self, spec: ScheduleSpec, seed: int) -> None:
        """Make the first round."""
        self.bracket: list[list[Tie]] = []
        """Ties of each round of the bracket so far."""
        self._spec = spec
        self._seed = seed
        self._fields = fields_of(spec)
        self._seeded = self._fields[0].active
        self._first = self._turn = self._attempt = 0
        self._open: list[Tie] = []
        order = bracket_order(len(self._seeded))
        byes = [None] * (len(order) - len(self._seeded))
        self._begin(list(map([*self._seeded, *byes].__getitem__, order)))

    def advance(self, results: Sequence[CountedMatch]) -> None:
        """See `Rounds`."""
        _decide(self._open, results, self._spec.numbers, self._seeded, self._attempt)
        self._attempt += 1
        if not self._make_blocks():
            self._begin(self._winners)

    @property
    def _winners(self) -> list[int | None]:
        return [tie.winner for tie in self.bracket[-1]]

    def _begin(self, left: list[int | None]) -> None:
        """Make the next round of the bracket in which there is something to play; `left` are its bots."""
        self.blocks = None
        while len(left) > 1:
            self.bracket.append(list(map(_tie, left[::2], left[1::2])))
            self._attempt = 0
            if self._make_blocks():
                return
            left = self._winners

    def _make_blocks(self) -> bool:
        """Make the blocks of the ties that are still open; return False if there are none."""
        ties = self.bracket[-1]
        _forfeit(ties, [field for field in self._fields if field.first <= self._first][-1])
        self._open = [tie for tie in ties if tie.winner is None]
        pairs = [(tie.one, tie.other) for tie in self._open if tie.other is not None]
        if not pairs:
            return False
        number = 1 if self._attempt else self._spec.blocks
        blocks = round_of(pairs, first=self._first, turn=self._turn, blocks=number, seed=self._seed)
        self._first, self._turn = self._first + len(blocks), self._turn + 1
        self.blocks = blocks.__iter__
        return True


def _tie(one: int | None, other: int | None) -> Tie:
    """Return a tie of the next round; a bot without an opponent has won it."""
    if one is None:
        raise ValueError("the first of two is never nobody")
    if other is None:
        return Tie(one=one, other=None, winner=one)
    return Tie(one=one, other=other, points=[0.0, 0.0], tie_breaks=[0.0, 0.0])


def _forfeit(ties: Sequence[Tie], field: FieldPeriod) -> None:
    """Decide the ties of bots that withdrew."""
    for tie in ties:
        if tie.winner is None and tie.other is not None and not {tie.one, tie.other} <= set(field.active):
            tie.winner = tie.one if tie.one in field.active else tie.other


def bracket_order(entrants: int) -> list[int]:
    """Return the seeds of the first round from top to bottom; numbers from `entrants` on are byes.

    Each doubling places below every seed its opponent: the two add up to the size less 1 (0; 0-1; 0-3, 1-2).
    """
    order = [0]
    while (size := len(order)) < entrants:
        order = list(chain.from_iterable((one, 2 * size - 1 - one) for one in order))
    return order


def _decide(
    ties: list[Tie], results: Sequence[CountedMatch], entrants: int, seeded: Sequence[int], attempt: int
) -> None:
    """Add the results to the ties; set the winner where one bot leads or the last attempt is over."""
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


def bracket_of(spec: ScheduleSpec, seed: int, results: Sequence[CountedMatch]) -> list[list[Tie]]:
    """Return the ties of each round that follow from these results."""
    return advanced(Knockout(spec).rounds(seed), results).bracket


def rounds_of_all(bracket: Sequence[Sequence[Tie]]) -> int:
    """Return the number of all rounds, including later ones."""
    rounds, ties = len(bracket), len(bracket[-1]) if bracket else 1
    while ties > 1:
        rounds, ties = rounds + 1, -(-ties // 2)
    return rounds


def round_title(turn: int, rounds: int) -> str:
    """Return the title of a round, counted from 0: `Final`, `Semi-finals`, `Round 1`."""
    left = rounds - 1 - turn
    return ENDS[left] if left < len(ENDS) else f"Round {turn + 1}"


def rounds_reached(bracket: Sequence[Sequence[Tie]]) -> dict[int, int]:
    """Return the last round that each bot reached, from 0; the winner of the final has one more."""
    reached: dict[int, int] = {}
    for turn, ties in enumerate(bracket):
        for tie in ties:
            reached[tie.one] = turn
            if tie.other is not None:
                reached[tie.other] = turn
            if tie.winner is not None:
                reached[tie.winner] = turn + 1
    return reached


def _tie_json(tie: Tie, label: Callable[[int], str]) -> dict[str, Any]:
    """Return a tie as plain data; a bye has no points."""
    if tie.other is None:
        return {"bots": [label(tie.one)], "winner": label(tie.one)}
    return {
        "bots": [label(tie.one), label(tie.other)],
        "points": tie.points,
        "tie_breaks": tie.tie_breaks if any(tie.tie_breaks) else None,
        "winner": None if tie.winner is None else label(tie.winner),
    }
