"""A ladder: in each round bots meet others of about their own rating. Pure.

Ratings are Elo's, moved after each match in schedule order: good for finding opponents, as they follow a bot's
latest results; how sure they are, they do not say.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from arena.quantities import rounded
from arena.schedule.columns import format_table
from arena.schedule.contract import Cells, Complaint, Contest, Format
from arena.schedule.fields import Part, ScheduleSpec, next_round_from
from arena.schedule.pairing import Byes, Pair, matches_in, paired_parts, pairs_of
from arena.schedule.rounds import Rounds, next_round, round_of
from arena.statistics import Played, StandingsRow, points

START = 1500.0
STEP = 16.0
"""Elo's K: the most that one match moves a rating."""
SCALE = 400.0
"""So many points more are ten wins to one."""
STIR = 100.0
"""By up to so many points ratings are stirred before bots are paired, so that not the same ones meet for ever."""


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

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
        """See `Format`."""
        ratings = self._ratings(contest)

        def cells(row: StandingsRow) -> Cells:
            return f"{ratings[row.entrant]:z.0f}", str(row.played), f"{row.points:g}", row.record

        return format_table(contest.labels, rows, ("rating", "played", "points", "W-T-L"), cells)

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        found = sorted(zip(contest.labels, self._ratings(contest), strict=True), key=lambda one: -one[1])
        return {"ladder": [{"bot": bot, "rating": rounded(rating, 1)} for bot, rating in found]}

    def _ratings(self, contest: Contest) -> list[float]:
        return final_ratings(contest.spec, contest.seed, contest.played)


class Ladder(Struct, frozen=True):
    """Rounds in each of which every bot plays some blocks with a neighbour in rating.

    A new version begins at its predecessor's rating. Where an odd number leaves one over, the house plays it if it
    fills seats; if not, that one has a bye.
    """

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`."""
        return matches_in(self._parts())

    def change_at(self, begun: int) -> int:
        """See `Schedule`."""
        return next_round_from(self._parts(), begun)

    def rounds(self, seed: int, ratings: list[float] | None = None) -> Rounds:
        """See `Schedule`. Ratings, of the house too, are kept in the list that is given."""
        ratings = first_ratings(self.spec) if ratings is None else ratings
        byes, first = Byes(self.spec.numbers), 0
        last: dict[int, int] = {}
        for part in self._parts():
            byes.admit(part.field)
            for number, predecessor in part.field.came:
                ratings[number] = START if predecessor is None else ratings[predecessor]
            for turn in range(part.turn, part.turn + part.rounds):
                luck = Random(f"{seed}/{turn}/stir")
                pairs = self._pairs(part.field.active, luck, ratings, byes, last)
                last = {bot: other for one, two in pairs for bot, other in ((one, two), (two, one))}
                blocks = round_of(pairs, first=first, turn=turn, blocks=part.field.blocks, seed=seed)
                first += len(blocks)
                results = yield blocks.__iter__
                move(results, ratings)

    def _parts(self) -> list[Part]:
        return paired_parts(self.spec, 0)

    def _pairs(
        self, bots: Sequence[int], luck: Random, ratings: list[float], byes: Byes, last: dict[int, int]
    ) -> list[Pair]:
        stirred = {bot: ratings[bot] + STIR * luck.random() for bot in bots}
        order = sorted(stirred, key=stirred.__getitem__, reverse=True)
        out = byes.left_over(order)
        pairs = pairs_of([bot for bot in order if bot != out], lambda one, other: last.get(one) != other)
        if out is None:
            return pairs
        byes.add(out)
        return pairs if self.spec.house is None else [*pairs, (out, self.spec.house)]


def first_ratings(spec: ScheduleSpec) -> list[float]:
    """What all begin with, and the house; by entrant's number."""
    return [START] * spec.numbers


def move(results: Iterable[Played], ratings: list[float]) -> None:
    """Moves ratings by each match: by its points less those that the ratings foresaw (Elo 1978, 1.6)."""
    for played in results:
        one, other = played.entrants
        foreseen = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / SCALE))
        change = STEP * (points(played.outcome, 0) - foreseen)
        ratings[one] += change
        ratings[other] -= change


def final_ratings(spec: ScheduleSpec, seed: int, results: Sequence[Played]) -> list[float]:
    """By entrant's number, after these results."""
    ratings = first_ratings(spec)
    next_round(Ladder(spec).rounds(seed, ratings), results)
    return ratings
