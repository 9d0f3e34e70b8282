"""Swiss: in each round bots meet others with about as many points, and nobody twice. Pure.

The standings are by points, then Buchholz: the points of those one has met.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from arena.schedule.columns import format_table
from arena.schedule.contract import Cells, Complaint, Contest, Format, ScheduleSpec
from arena.schedule.pairing import SEATINGS, add_points, drawn, matches_of, pairs_of
from arena.schedule.rounds import Rounds, next_round, round_of
from arena.statistics import Played, StandingsRow


class SwissFormat(Format):
    """See `Format`."""

    name = "swiss"
    uses = ("rounds", "fill")
    order_text = "By points, byes counted, then Buchholz."

    def schedule(self, spec: ScheduleSpec) -> "Swiss":
        """See `Format`."""
        turns = spec.rounds or swiss_rounds(spec.entrants)
        return Swiss(entrants=spec.entrants, turns=turns, blocks=spec.blocks, filled=spec.filled)

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

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
        """See `Format`."""
        found = {row.entrant: row for row in self._rows(contest)}

        def cells(row: StandingsRow) -> Cells:
            if row.house:
                return f"{row.points:g}", "-", row.record, "-"
            mine = found[row.entrant]
            return f"{mine.points:g}", f"{mine.buchholz:g}", row.record, str(mine.byes)

        headings = ("points", "Buchholz", "W-T-L", "house" if contest.spec.filled else "byes")
        return format_table(contest.labels, rows, headings, cells)

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        rows = [
            {"bot": contest.labels[row.entrant], "points": row.points, "buchholz": row.buchholz, "byes": row.byes}
            for row in self._rows(contest)
        ]
        return {"swiss": rows}

    def _rows(self, contest: Contest) -> "list[SwissRow]":
        return swiss_rows(self.schedule(contest.spec), contest.seed, contest.played)


def swiss_rounds(entrants: int) -> int:
    """As many rounds as leave one unbeaten, as a knock-out would have."""
    return (entrants - 1).bit_length()


class Swiss(Struct, frozen=True, kw_only=True):
    """So many rounds; in each, every bot plays some blocks with one other."""

    entrants: int
    """Those who compete; the house is numbered after them."""
    turns: int
    """How many rounds."""
    blocks: int
    """How many each pair plays when it meets."""
    filled: bool
    """Whether the house plays whom an odd number leaves over; if not, that one has a bye, which counts as won."""

    @property
    def matches(self) -> int:
        """See `Schedule`."""
        return matches_of(self.turns, self.entrants, self.blocks, filled=self.filled)

    def rounds(self, seed: int, score: "SwissScore | None" = None) -> Rounds:
        """See `Schedule`. What comes of it is kept in `score`."""
        score = score or SwissScore.of(self.entrants)
        lots = drawn(self.entrants, seed, "lot")
        first = 0
        for turn in range(self.turns):
            # Equal ones stay as lots were drawn.
            order = sorted(lots, key=score.points.__getitem__, reverse=True)
            out = self._left_over(order, score)
            pairs = pairs_of([bot for bot in order if bot != out], lambda one, other: other not in score.met[one])
            if out is not None and self.filled:
                pairs.append((out, self.entrants))
            blocks = round_of(pairs, first=first, turn=turn, blocks=self.blocks, seed=seed)
            first += len(blocks)
            results = yield blocks.__iter__
            add_points(results, score.points)
            score.add_round(pairs, out)
            if out is not None and not self.filled:
                score.points[out] += self.blocks * SEATINGS

    def _left_over(self, order: list[int], score: "SwissScore") -> int | None:
        """The bot without an opponent, if there is one: the last of those that were left over least often."""
        if len(order) % 2 == 0:
            return None
        return min(reversed(order), key=score.byes.__getitem__)


class SwissScore(Struct):
    """What a Swiss tournament has come to, by entrant's number."""

    points: list[float]
    """The last one is the house's."""
    byes: list[int]
    """How often each was left over: had a bye, or played the house."""
    met: list[list[int]]
    """As often as each met them; the house left out."""

    @classmethod
    def of(cls, entrants: int) -> "SwissScore":
        """Before the first round."""
        return cls([0.0] * (entrants + 1), [0] * entrants, [[] for _ in range(entrants)])

    def add_round(self, pairs: Sequence[tuple[int, int]], out: int | None) -> None:
        """Adds the pairs of a round, and the bot that was left over."""
        for one, other in pairs:
            if one != out:
                self.met[one].append(other)
                self.met[other].append(one)
        if out is not None:
            self.byes[out] += 1

    def buchholz(self, bot: int, *, filled: bool) -> float:
        """The points of all it has met; a bye counts like an opponent with as many points as its own."""
        unpaired = self.points[-1] if filled else self.points[bot]
        return sum(self.points[other] for other in self.met[bot]) + self.byes[bot] * unpaired


class SwissRow(Struct, frozen=True, kw_only=True):
    """One bot's part in a Swiss tournament."""

    entrant: int
    points: float
    buchholz: float
    byes: int


def swiss_rows(swiss: Swiss, seed: int, results: Sequence[Played]) -> list[SwissRow]:
    """Best first; equal ones as in the file."""
    score = SwissScore.of(swiss.entrants)
    next_round(swiss.rounds(seed, score), results)
    rows = [
        SwissRow(
            entrant=bot,
            points=score.points[bot],
            buchholz=score.buchholz(bot, filled=swiss.filled),
            byes=score.byes[bot],
        )
        for bot in range(swiss.entrants)
    ]
    return sorted(rows, key=lambda row: (-row.points, -row.buchholz, row.entrant))
