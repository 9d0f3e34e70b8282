"""A ladder: in each round bots meet others of about their own rating. Pure.

Ratings are Elo ratings, updated after each match in schedule order. They follow a bot's latest results, which
suits the choice of opponents, but have no measure of uncertainty.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from arena.columns import Column, Table, whole_number
from arena.quantities import rounded
from arena.schedule.columns import format_table
from arena.schedule.contract import Complaint, Contest, Format
from arena.schedule.fields import FieldPeriod, RoundSpan, ScheduleSpec, next_round_from
from arena.schedule.pairing import Byes, Pair, PairedRounds, matches_in, paired_parts, pairs_of
from arena.schedule.rounds import next_round
from arena.statistics import (
    PLAYED,
    POINTS,
    RATING_MEANING,
    RECORD,
    BotColumn,
    Played,
    StandingsRow,
    points,
)

START = 1500.0
STEP = 16.0
"""Elo's K: the largest change of a rating by one match."""
SCALE = 400.0
"""Rating difference at which ten wins to one are expected."""
STIR = 100.0
"""Maximum random bonus to a rating before bots are paired, so that opponents vary."""


class LadderFormat(Format):
    """See `Format`."""

    name = "ladder"
    uses = ("rounds", "fill")
    grows = "rounds"
    order_text = "By the ladder's rating."

    def schedule(self, spec: ScheduleSpec) -> "Ladder":
        """See `Format`."""
        return Ladder(spec)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        del game
        return ("rounds", "is missing: a ladder has no end of its own") if spec.rounds is None else None

    def places(self, contest: Contest) -> dict[int, float]:
        """See `Format`."""
        return {entrant: -rating for entrant, rating in enumerate(self._ratings(contest))}

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`."""
        ratings = self._ratings(contest)
        rating: BotColumn = Column(
            "rating", lambda row: ratings[row.entrant], whole_number, meaning=RATING_MEANING
        )
        return format_table(contest.labels, rows, (rating, PLAYED, POINTS, RECORD))

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        found = sorted(zip(contest.labels, self._ratings(contest), strict=True), key=lambda one: -one[1])
        return {"ladder": [{"bot": bot, "rating": rounded(rating, 1)} for bot, rating in found]}

    def _ratings(self, contest: Contest) -> list[float]:
        return final_ratings(contest.spec, contest.seed, contest.played)


class Ladder(Struct, frozen=True):
    """Rounds in which every bot plays some blocks against a neighbour in rating.

    A new version starts at its predecessor's rating. If the number of bots is odd, one of them plays the house, or
    has a bye if no house fills seats.
    """

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`."""
        return matches_in(self._parts())

    def change_at(self, begun: int) -> int:
        """See `Schedule`."""
        return next_round_from(self._parts(), begun)

    def rounds(self, seed: int) -> "LadderRounds":
        """See `Schedule`."""
        return LadderRounds(self.spec, self._parts(), seed)

    def _parts(self) -> list[RoundSpan]:
        return paired_parts(self.spec, 0)


class LadderRounds(PairedRounds):
    """See `Rounds`."""

    def __init__(self, spec: ScheduleSpec, spans: Sequence[RoundSpan], seed: int) -> None:
        """Make the first round."""
        self.ratings = first_ratings(spec)
        """Ratings by entrant, including the house."""
        self._house = spec.house
        self._byes = Byes(spec.numbers)
        self._last: dict[int, int] = {}
        super().__init__(spans, seed)

    def enter(self, field: FieldPeriod) -> None:
        """See `PairedRounds`."""
        self._byes.admit(field)
        for number, predecessor in field.entered:
            self.ratings[number] = START if predecessor is None else self.ratings[predecessor]

    def pair(self, turn: int, field: FieldPeriod) -> list[Pair]:
        """See `PairedRounds`. No two bots meet in two rounds running."""
        rng = Random(f"{self._seed}/{turn}/stir")
        stirred = {bot: self.ratings[bot] + STIR * rng.random() for bot in field.active}
        order = sorted(stirred, key=stirred.__getitem__, reverse=True)
        out = self._byes.left_over(order)
        last = self._last
        pairs = pairs_of([bot for bot in order if bot != out], lambda one, other: last.get(one) != other)
        if out is not None:
            self._byes.add(out)
            if self._house is not None:
                pairs.append((out, self._house))
        self._last = {bot: other for one, two in pairs for bot, other in ((one, two), (two, one))}
        return pairs

    def count(self, results: Sequence[Played]) -> None:
        """See `PairedRounds`."""
        move(results, self.ratings)


def first_ratings(spec: ScheduleSpec) -> list[float]:
    """Return the initial ratings by entrant, including the house."""
    return [START] * spec.numbers


def move(results: Iterable[Played], ratings: list[float]) -> None:
    """Change ratings after each match by points scored less points expected (Elo 1978, 1.6)."""
    for played in results:
        one, other = played.entrants
        foreseen = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / SCALE))
        change = STEP * (points(played.outcome, 0) - foreseen)
        ratings[one] += change
        ratings[other] -= change


def final_ratings(spec: ScheduleSpec, seed: int, results: Sequence[Played]) -> list[float]:
    """Return the ratings by entrant after these results."""
    rounds = Ladder(spec).rounds(seed)
    next_round(rounds, results)
    return rounds.ratings
