"""The table that suits a format, as people read it; and a knock-out's bracket."""

from collections.abc import Sequence

from arena.reports.bracket import Strokes, draw
from arena.schedule import Contest, Knockout, bracket_of, format_rows
from arena.statistics import StandingsRow
from arena.tables import Grid


def own_table(contest: Contest, lines: Sequence[StandingsRow]) -> Grid | None:
    """The standings as the format counts them; None where each against each says it all."""
    found = format_rows(contest, lines)
    if found is None:
        return None
    headings, rows = found
    table = Grid({heading: heading != "bot" for heading in headings})
    for row in rows:
        table.add_row(*row)
    return table


def bracket_lines(contest: Contest, strokes: Strokes) -> list[str]:
    """A knock-out's bracket, line by line; none of other formats."""
    schedule = contest.schedule
    if not isinstance(schedule, Knockout):
        return []
    return draw(bracket_of(schedule, contest.seed, contest.played), contest.labels, strokes)
