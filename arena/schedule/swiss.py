"""Swiss: in each round bots meet new opponents with about as many points. Pure.

Bots are ranked by points, then by Buchholz: the sum of their opponents' points.
"""

from collections.abc import Sequence
from itertools import starmap
from typing import Any

from msgspec import Struct

from arena.quantities import Column, Table, plain
from arena.schedule.contract import Complaint, Contest, Format, advanced, format_table
from arena.schedule.fields import FieldPeriod, RoundSpan, ScheduleSpec
from arena.schedule.pairing import (
    SEATINGS,
    Byes,
    Pair,
    PairedRounds,
    PairedSchedule,
    add_points,
    drawn,
    pairs_of,
)
from arena.statistics import POINTS, RECORD, CountedMatch, StandingsRow


class SwissFormat(Format):
    """See `Format`."""

    name = "swiss"
    uses = ("rounds", "fill")
    grows = "rounds"
    order_text = "By points, byes counted, then Buchholz."

    def schedule(self, spec: ScheduleSpec) -> "Swiss":
        """See `Format`."""
        return Swiss(spec)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        del game
        most = spec.entrants - 1 if spec.entrants % 2 == 0 else spec.entrants
        if (spec.rounds or 0) > most:
            return "rounds", f"{spec.rounds} are too many; {spec.entrants} bots have all met after {most}"
        return None

    def places(self, contest: Contest) -> dict[int, float]:
        """See `Format`."""
        return {row.entrant: float(place) for place, row in enumerate(self._rows(contest))}

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`. The house has no Buchholz and no byes."""
        swiss = {row.entrant: row for row in self._rows(contest)}

        def points(row: StandingsRow) -> float:
            return row.points if row.house else swiss[row.entrant].points

        def buchholz(row: StandingsRow) -> float | None:
            return None if row.house else swiss[row.entrant].buchholz

        def byes(row: StandingsRow) -> int | None:
            return None if row.house else swiss[row.entrant].byes

        without = Column("byes", byes, meaning="Rounds without an opponent.")
        if contest.spec.filled:
            without = Column("house", byes, meaning="Rounds against the house bot.")
        columns = (
            Column("points", points, plain, meaning=POINTS.meaning),
            Column("Buchholz", buchholz, plain, meaning="The sum of the points of the bot's opponents."),
            RECORD,
            without,
        )
        return format_table(contest.labels, rows, columns)

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        rows = []
        for row in self._rows(contest):
            bot = contest.labels[row.entrant]
            rows.append({"bot": bot, "points": row.points, "buchholz": row.buchholz, "byes": row.byes})
        return {"swiss": rows}

    def _rows(self, contest: Contest) -> "list[SwissRow]":
        return swiss_rows(contest.spec, contest.seed, contest.played)


class Swiss(PairedSchedule, frozen=True):
    """Rounds in which every bot plays some blocks against one other.

    A bot that enters later starts with no points and no earlier opponents. If the number of bots is odd, one of
    them plays the house, or has a bye, which counts as won, if no house fills seats.
    """

    @property
    def turns(self) -> int:
        """See `PairedSchedule`: as many as a knock-out has, after which at most one bot is unbeaten."""
        return (self.spec.entrants - 1).bit_length()

    def rounds(self, seed: int) -> "SwissRounds":
        """See `Schedule`."""
        return SwissRounds(self.spec, self.spans, seed)


class SwissRounds(PairedRounds):
    """See `Rounds`."""

    def __init__(self, spec: ScheduleSpec, spans: Sequence[RoundSpan], seed: int) -> None:
        """Make the first round."""
        self.score = SwissScore.of(spec.numbers)
        self._house = spec.house
        self._lots: list[int] = []
        self._pairs: list[Pair] = []
        self._out: int | None = None
        self._points_of_bye = 0
        super().__init__(spans, seed)

    def enter(self, field: FieldPeriod) -> None:
        """See `PairedRounds`."""
        self.score.byes.admit(field)
        self._lots = drawn(field.active, self._seed, "lot")
        self._points_of_bye = field.blocks * SEATINGS

    def pair(self, turn: int, field: FieldPeriod) -> list[Pair]:
        """See `PairedRounds`."""
        del turn, field
        # The sort is stable, so that bots of equal points remain in the order of their lots.
        order = sorted(self._lots, key=self.score.points.__getitem__, reverse=True)
        self._out, self._pairs = _paired(order, self.score)
        if self._out is not None and self._house is not None:
            self._pairs.append((self._out, self._house))
        return self._pairs

    def count(self, results: Sequence[CountedMatch]) -> None:
        """See `PairedRounds`."""
        add_points(results, self.score.points)
        self.score.add_round(self._pairs, self._out)
        if self._out is not None and self._house is None:
            self.score.points[self._out] += self._points_of_bye


def _paired(order: Sequence[int], score: "SwissScore") -> tuple[int | None, list[Pair]]:
    """Pair the bots of a round; return the bot that is left over, or None, and the pairs.

    The candidates are the bots that were left over least often, the last in the order first. The first candidate
    whose absence lets all others meet new opponents is left over; if there is none, the first candidate.
    """

    def may_meet(one: int, other: int) -> bool:
        return other not in score.met[one]

    candidates: list[int | None] = [*score.byes.candidates(order[::-1])] or [None]
    found = []
    for out in candidates:
        pairs = pairs_of([bot for bot in order if bot != out], may_meet)
        if all(starmap(may_meet, pairs)):
            return out, pairs
        found.append((out, pairs))
    return found[0]


class SwissScore(Struct):
    """Score of a Swiss tournament. Lists are indexed by entrant."""

    points: list[float]
    byes: Byes
    """Counts of the rounds in which a bot had a bye or played the house."""
    met: list[list[int]]
    """Opponents of each bot, once per meeting, without the house."""

    @classmethod
    def of(cls, entrants: int) -> "SwissScore":
        """Return the score before the first round; `entrants` includes the house."""
        return cls([0.0] * entrants, Byes(entrants), [[] for _ in range(entrants)])

    def add_round(self, pairs: Sequence[tuple[int, int]], out: int | None) -> None:
        """Record the pairs of a round and the bot that is left over."""
        for one, other in pairs:
            if one != out:
                self.met[one].append(other)
                self.met[other].append(one)
        if out is not None:
            self.byes.add(out)

    def buchholz(self, bot: int, house: int | None) -> float:
        """Return the sum of the opponents' points. A bye counts as an opponent with the bot's own points."""
        unpaired = self.points[bot if house is None else house]
        return sum(map(self.points.__getitem__, self.met[bot])) + self.byes.counts[bot] * unpaired


class SwissRow(Struct, frozen=True):
    """One bot's row in the table of a Swiss tournament."""

    entrant: int
    points: float
    buchholz: float
    byes: int


def swiss_rows(spec: ScheduleSpec, seed: int, results: Sequence[CountedMatch]) -> list[SwissRow]:
    """Return the rows without the house, best first, then in the order of the file."""
    score = advanced(Swiss(spec).rounds(seed), results).score
    rows = []
    for bot in range(spec.numbers):
        if bot != spec.house:
            buchholz = score.buchholz(bot, spec.house)
            rows.append(SwissRow(bot, score.points[bot], buchholz, score.byes.counts[bot]))
    return sorted(rows, key=lambda row: (-row.points, -row.buchholz, row.entrant))
