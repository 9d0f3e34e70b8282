"""Gauntlet: the first bots of the file, the heads, play each of the others, the field. Pure."""

from collections.abc import Iterator, Sequence
from functools import partial

from arena.schedule.blocks import SWAPPED, Block
from arena.schedule.columns import format_table
from arena.schedule.contract import Cells, Complaint, Contest, Format, ScheduleSpec
from arena.schedule.rounds import Fixed
from arena.statistics import Score, StandingsRow


class GauntletFormat(Format):
    """See `Format`."""

    name = "gauntlet"
    uses = ("heads",)

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        heads = spec.heads or 1
        matches = spec.blocks * len(SWAPPED) * heads * (spec.entrants - heads)
        return Fixed(partial(gauntlet, heads, spec.entrants, spec.blocks), matches)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        del game
        if (spec.heads or 1) >= spec.entrants:
            return "heads", f"{spec.heads} are too many; of {spec.entrants} bots at least one is the field"
        return None

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
        """The heads first, each with its points; then the field, with its points against each head."""
        heads = contest.spec.heads or 1
        headings = ("points", "W-T-L", "share", *(f"against {name}" for name in contest.labels[:heads]))

        def cells(row: StandingsRow) -> Cells:
            share = "-" if row.mean is None else f"{100 * row.mean:.0f}%"
            return f"{row.points:g}", row.record, share, *(_of_all(row.against.get(head)) for head in range(heads))

        order = sorted(rows, key=lambda row: row.entrant >= heads)
        places = [*["head"] * heads, *map(str, range(1, len(rows) - heads + 1))]
        return format_table(contest.labels, order, headings, cells, places)


def gauntlet(heads: int, entrants: int, blocks: int, seed: int) -> Iterator[Block]:
    """Each of the first `heads` entrants plays `blocks` blocks with each of the rest, round after round."""
    pairs = [(head, other) for other in range(heads, entrants) for head in range(heads)]
    for number in range(blocks * len(pairs)):
        turn, pair = divmod(number, len(pairs))
        yield Block(number, turn, pairs[pair], SWAPPED, seed)


def _of_all(score: Score | None) -> str:
    """Points, and of how many: `3 of 4`."""
    return "-" if score is None else f"{score.points:g} of {score.played}"
