"""Ladders, on which bots meet others of about their own rating: in rounds, or without an end. Pure.

In a ladder with rounds, ratings are Elo ratings, updated after each match in schedule order. They follow a bot's
latest results, which suits the choice of opponents, but have no measure of uncertainty. A ladder without an end
plays the most informative matches for as long as there is time: `EndlessLadderState` makes its blocks, wave after
wave.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from random import Random
from typing import Any

from msgspec import Struct

from arena.quantities import Column, Table, pluralise, rounded, whole_number
from arena.schedule.contract import Complaint, Contest, Format, Rounds, advanced, at_once, format_table
from arena.schedule.fields import Extended, FieldChange, FieldPeriod, RoundSpan, ScheduleSpec
from arena.schedule.pairing import Byes, Pair, PairedRounds, PairedSchedule, pairs_of
from arena.schedule.waves import EndlessLadderState
from arena.statistics import (
    PLAYED,
    POINTS,
    RATING_MEANING,
    RECORD,
    BotColumn,
    CountedMatch,
    RunningRating,
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
        if spec.rounds is None:
            return "rounds", "is missing: a ladder has no end of its own"
        return None

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


class Ladder(PairedSchedule, frozen=True):
    """Rounds in which every bot plays some blocks against a neighbour in rating.

    A new version starts at its predecessor's rating. If the number of bots is odd, one of them plays the house, or
    has a bye if no house fills seats.
    """

    def rounds(self, seed: int) -> "LadderRounds":
        """See `Schedule`."""
        return LadderRounds(self.spec, self.spans, seed)


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
            if predecessor is not None:
                self.ratings[number] = self.ratings[predecessor]

    def pair(self, turn: int, field: FieldPeriod) -> list[Pair]:
        """See `PairedRounds`. No two bots meet in two rounds running."""
        rng = Random(f"{self._seed}/{turn}/stir")
        stirred = {bot: self.ratings[bot] + STIR * rng.random() for bot in field.active}
        order = sorted(stirred, key=stirred.__getitem__, reverse=True)
        out = self._byes.left_over(order)
        last = self._last
        if out is not None:
            order.remove(out)
            self._byes.add(out)
        pairs = pairs_of(order, lambda one, other: last.get(one) != other)
        if out is not None and self._house is not None:
            pairs.append((out, self._house))
        self._last = dict(pairs) | {other: one for one, other in pairs}
        return pairs

    def count(self, results: Sequence[CountedMatch]) -> None:
        """See `PairedRounds`."""
        move(results, self.ratings)


def first_ratings(spec: ScheduleSpec) -> list[float]:
    """Return the initial ratings by entrant, including the house."""
    return [START] * spec.numbers


def move(results: Iterable[CountedMatch], ratings: list[float]) -> None:
    """Change ratings after each match by points scored less points expected (Elo 1978, 1.6)."""
    for played in results:
        one, other = played.entrants
        foreseen = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / SCALE))
        change = STEP * (points(played.outcome, 0) - foreseen)
        ratings[one] += change
        ratings[other] -= change


def final_ratings(spec: ScheduleSpec, seed: int, results: Sequence[CountedMatch]) -> list[float]:
    """Return the ratings by entrant after these results."""
    return advanced(Ladder(spec).rounds(seed), results).ratings


class EndlessFormat(Format):
    """See `Format`. Accepts any number of seats."""

    name = "ladder"
    uses = ("fill",)
    grows = None
    order_text = "By the ladder's rating."

    def schedule(self, spec: ScheduleSpec) -> "EndlessLadder":
        """See `Format`."""
        return EndlessLadder(spec)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        for field in ("rounds", "heads"):
            if getattr(spec, field) is not None:
                return field, "is not for a ladder without an end"
        if spec.blocks != 1:
            return "blocks", "is not for a ladder without an end, which chooses each block by itself"
        if (spec.rotations or 0) > spec.seats:
            return "rotations", f"{spec.rotations} are too many; {game} has {spec.seats} seats"
        if not spec.filled and spec.entrants < spec.seats:
            few = f"{pluralise(spec.entrants, 'bot')} cannot fill {spec.seats} seats"
            return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
        return None

    def refusal(self, event: FieldChange) -> str | None:
        """See `Format`."""
        return "a ladder without an end cannot be extended" if isinstance(event.what, Extended) else None

    def places(self, contest: Contest) -> dict[int, float]:
        """See `Format`."""
        return {entrant: -each.rating for entrant, each in enumerate(_running(contest))}

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`."""
        ratings = _running(contest)
        rating: BotColumn = Column(
            "rating", lambda row: ratings[row.entrant].rating, whole_number, meaning=RATING_MEANING
        )
        error: BotColumn = Column("±", lambda row: ratings[row.entrant].error, whole_number)
        return format_table(contest.labels, rows, (rating, error, PLAYED, POINTS, RECORD))

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        return {"ladder": ladder_json(contest.labels, _running(contest))}


def ladder_json(labels: Sequence[str], ratings: Sequence[RunningRating]) -> list[dict[str, Any]]:
    """Return a ladder's ratings as plain data, best first."""
    found = []
    for bot, each in sorted(zip(labels, ratings, strict=True), key=lambda one: -one[1].rating):
        rating, error = rounded(each.rating, 1), rounded(each.error, 1)
        found.append({"bot": bot, "rating": rating, "error": error, "blocks": each.blocks})
    return found


def _running(contest: Contest) -> tuple[RunningRating, ...]:
    """Return the ratings by entrant, computed from all results if the contest does not have them."""
    if contest.running:
        return contest.running
    waves = EndlessLadderState(contest.spec, contest.seed)
    played, block = contest.played, attrgetter("block")

    def between(first: int, end: int) -> list[CountedMatch]:
        return played[bisect_left(played, first, key=block) : bisect_left(played, end, key=block)]

    waves.replay(between)
    return waves.ratings()


class EndlessLadder(Struct, frozen=True):
    """See `Schedule`."""

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`: 0, because the number is unknown."""
        return 0

    def change_at(self, begun: int) -> int:
        """See `Schedule`."""
        return at_once(begun)

    def rounds(self, seed: int) -> "EndlessRounds":
        """See `Schedule`. The rounds end when no bot needs more matches."""
        return EndlessRounds(EndlessLadderState(self.spec, seed))


class EndlessRounds(Rounds):
    """See `Rounds`. Each wave is a round."""

    def __init__(self, waves: EndlessLadderState) -> None:
        """Make the first round."""
        self._waves = waves
        self._begin()

    def advance(self, results: Sequence[CountedMatch]) -> None:
        """See `Rounds`."""
        self._waves.hear(results)
        self._begin()

    def _begin(self) -> None:
        # All results of a wave are present before the next one is made, so `next` has an answer.
        wave = self._waves.next()
        self.blocks = wave.__iter__ if wave else None
