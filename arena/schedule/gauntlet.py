"""Gauntlet: the first bots of the file, the heads, play each of the others, the field. Pure."""

from collections.abc import Sequence

from arena.schedule.columns import format_table
from arena.schedule.contract import Cells, Complaint, Contest, Format
from arena.schedule.fields import Field, ScheduleSpec, fields_of
from arena.schedule.round_robin import all_meetings
from arena.schedule.rounds import Fixed
from arena.statistics import Score, StandingsRow


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

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
        """See `Format`. The heads are first, then the field with its points against each head."""
        field = fields_of(contest.spec)[-1]
        heads = field.active[: field.heads]
        headings = ("points", "W-T-L", "share", *(f"against {contest.labels[head]}" for head in heads))

        def cells(row: StandingsRow) -> Cells:
            share = "-" if row.mean is None else f"{100 * row.mean:.0f}%"
            return f"{row.points:g}", row.record, share, *(_of_all(row.against.get(head)) for head in heads)

        order = sorted(rows, key=lambda row: row.entrant not in heads)
        places = [*["head"] * len(heads), *map(str, range(1, len(rows) - len(heads) + 1))]
        return format_table(contest.labels, order, headings, cells, places)


def _pairs(field: Field) -> list[tuple[int, int]]:
    """Return the pairs of each head with each bot of the field."""
    return [(head, other) for other in field.active[field.heads :] for head in field.active[: field.heads]]


def _of_all(score: Score | None) -> str:
    """Return points and matches as text, such as `3 of 4`."""
    return "-" if score is None else f"{score.points:g} of {score.played}"
