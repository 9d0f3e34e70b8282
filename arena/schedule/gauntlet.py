"""Gauntlet: the first bots of the file, the heads, play each of the others, the field. Pure."""

from collections.abc import Sequence

from arena.columns import Column, Table, percent
from arena.schedule.columns import format_table
from arena.schedule.contract import Complaint, Contest, Format
from arena.schedule.fields import FieldPeriod, ScheduleSpec, fields_of
from arena.schedule.round_robin import all_meetings
from arena.schedule.rounds import Fixed
from arena.statistics import POINTS, RECORD, BotColumn, Score, StandingsRow

SHARE: BotColumn = Column(
    "share",
    lambda row: row.mean,
    percent,
    meaning="Points, of those that the bot would have if it had won all its matches.",
)


class GauntletFormat(Format):
    """See `Format`."""

    name = "gauntlet"
    uses = ("heads",)

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        return all_meetings(spec, _pairs)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        del game
        if (spec.heads or 1) >= spec.entrants:
            return "heads", f"{spec.heads} are too many; of {spec.entrants} bots at least one is the field"
        return None

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`. The heads are first, then the field with its points against each head."""
        field = fields_of(contest.spec)[-1]
        heads = field.active[: field.heads]
        against = [_against(head, contest.labels[head]) for head in heads]
        order = sorted(rows, key=lambda row: row.entrant not in heads)
        places = [*["head"] * len(heads), *map(str, range(1, len(rows) - len(heads) + 1))]
        return format_table(contest.labels, order, (POINTS, RECORD, SHARE, *against), places)


def _pairs(field: FieldPeriod) -> list[tuple[int, int]]:
    """Return the pairs of each head with each bot of the field."""
    return [(head, other) for other in field.active[field.heads :] for head in field.active[: field.heads]]


def _against(head: int, label: str) -> BotColumn:
    """Return the column of the scores against one head."""
    return Column(
        f"against {label}",
        lambda row: row.against.get(head),
        _of_all,
        meaning="Points in matches with this bot, and of how many matches.",
    )


def _of_all(score: Score) -> str:
    """Return points and matches as text, such as `3 of 4`."""
    return f"{score.points:g} of {score.played}"
