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
from arena.schedule.contract import Cells, Complaint, Contest, Format, ScheduleSpec
from arena.schedule.pairing import Pair, matches_of, pairs_of
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
    order_text = "By the ladder's rating."

    def schedule(self, spec: ScheduleSpec) -> "Ladder":
        """See `Format`."""
        return Ladder(entrants=spec.entrants, turns=spec.rounds or 0, blocks=spec.blocks, filled=spec.filled)

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
        # Without a house nobody plays under the last number, and no label belongs to it.
        found = sorted(zip(contest.labels, self._ratings(contest), strict=False), key=lambda one: -one[1])
        return {"ladder": [{"bot": bot, "rating": rounded(rating, 1)} for bot, rating in found]}

    def _ratings(self, contest: Contest) -> list[float]:
        return final_ratings(self.schedule(contest.spec), contest.seed, contest.played)


class Ladder(Struct, frozen=True, kw_only=True):
    """So many rounds; in each, every bot plays some blocks with a neighbour in rating."""

    entrants: int
    """Those who compete; the house is numbered after them."""
    turns: int
    blocks: int
    filled: bool
    """Whether the house plays whom an odd number leaves over; if not, that one has a bye."""

    @property
    def matches(self) -> int:
        """See `Schedule`."""
        return matches_of(self.turns, self.entrants, self.blocks, filled=self.filled)

    def rounds(self, seed: int, ratings: list[float] | None = None) -> Rounds:
        """See `Schedule`. Ratings, of the house too, are kept in the list that is given."""
        ratings = first_ratings(self.entrants) if ratings is None else ratings
        byes, first = [0] * self.entrants, 0
        last: dict[int, int] = {}
        for turn in range(self.turns):
            pairs = self._pairs(Random(f"{seed}/{turn}/stir"), ratings, byes, last)
            last = {bot: other for one, two in pairs for bot, other in ((one, two), (two, one))}
            blocks = round_of(pairs, first=first, turn=turn, blocks=self.blocks, seed=seed)
            first += len(blocks)
            results = yield blocks.__iter__
            move(results, ratings)

    def _pairs(self, luck: Random, ratings: list[float], byes: list[int], last: dict[int, int]) -> list[Pair]:
        stirred = {bot: ratings[bot] + STIR * luck.random() for bot in range(self.entrants)}
        order = sorted(stirred, key=stirred.__getitem__, reverse=True)
        out = min(order, key=byes.__getitem__) if self.entrants % 2 else None
        pairs = pairs_of([bot for bot in order if bot != out], lambda one, other: last.get(one) != other)
        if out is None:
            return pairs
        byes[out] += 1
        return [*pairs, (out, self.entrants)] if self.filled else pairs


def first_ratings(entrants: int) -> list[float]:
    """What all begin with, and the house, whose rating is the last."""
    return [START] * (entrants + 1)


def move(results: Iterable[Played], ratings: list[float]) -> None:
    """Moves ratings by each match: by its points less those that the ratings foresaw (Elo 1978, 1.6)."""
    for played in results:
        one, other = played.entrants
        foreseen = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / SCALE))
        change = STEP * (points(played.outcome, 0) - foreseen)
        ratings[one] += change
        ratings[other] -= change


def final_ratings(ladder: Ladder, seed: int, results: Sequence[Played]) -> list[float]:
    """By entrant's number, the house's last, after these results."""
    ratings = first_ratings(ladder.entrants)
    next_round(ladder.rounds(seed, ratings), results)
    return ratings
