"""Place, bot and conduct columns, which the tables of all formats share. Pure."""

from collections.abc import Callable, Sequence

from arena.quantities import duration
from arena.schedule.contract import Cells
from arena.statistics import StandingsRow

HOUSE = "h"
"""Mark of the house in the column of places."""


def format_table(
    labels: Sequence[str],
    rows: Sequence[StandingsRow],
    headings: Cells,
    cells: Callable[[StandingsRow], Cells],
    places: Sequence[str] | None = None,
) -> tuple[Cells, list[Cells]]:
    """Return the headings and the rows of a table.

    Args:
        labels: names of the bots, by entrant.
        rows: in the order of the table.
        headings: headings of the format's own columns.
        cells: returns a bot's cells in these columns.
        places: the first column; numbers from 1 if None.
    """
    places = places or [HOUSE if row.house else str(place) for place, row in enumerate(rows, start=1)]
    last, conducts = conduct_columns(rows)
    found = [
        (place, labels[row.entrant], *cells(row), *conduct)
        for place, row, conduct in zip(places, rows, conducts, strict=True)
    ]
    return ("#", "bot", *headings, *last), found


def mean_text(row: StandingsRow) -> str:
    """Return a bot's mean points as text, or `-` if it played no match."""
    return "-" if row.mean is None else f"{row.mean:.3f}"


def conduct_columns(rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
    """Return headings and cells of the last columns; include `refused` only if some message was refused."""
    columns: dict[str, Callable[[StandingsRow], str]] = {
        "faults": lambda row: str(row.faults),
        "defaults": lambda row: str(row.defaults),
        "refused": lambda row: str(row.refused),
        "time per move": lambda row: "-" if row.mean_us is None else duration(row.mean_us),
    }
    if not any(row.refused for row in rows):
        del columns["refused"]
    return tuple(columns), [tuple(cell(row) for cell in columns.values()) for row in rows]
