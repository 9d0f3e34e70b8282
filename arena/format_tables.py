"""The table that suits a format, as people read it; and a knock-out's bracket."""

import sys
from collections.abc import Callable

from rich.table import Table

from arena.bracket import ASCII, BOXES, draw
from arena.knockout import Knockout, bracket_of, rounds_reached
from arena.ladder import Ladder, final_ratings
from arena.report import CONDUCT, HOUSE, conduct, crosstable
from arena.standings import Line, Score
from arena.swiss import Swiss, swiss_lines
from arena.tables import grid
from arena.tournament import Results
from arena.tournament_file import Tournament


def format_table(tournament: Tournament, results: Results) -> Table:
    """The standings as the format counts them."""
    match tournament.schedule:
        case Swiss() as swiss:
            return _swiss_table(swiss, tournament, results)
        case Ladder() as ladder:
            return _ladder_table(ladder, tournament, results)
        case Knockout() as knockout:
            return _knockout_table(knockout, tournament, results)
        case _ if tournament.form.format == "gauntlet":
            return _gauntlet_table(tournament, results)
        case _:
            return crosstable(results.lines, tournament.labels, tournament.seats)


def bracket_lines(tournament: Tournament, results: Results) -> list[str] | None:
    """A knock-out's bracket, line by line; None for other formats."""
    schedule = tournament.schedule
    if not isinstance(schedule, Knockout):
        return None
    bracket = bracket_of(schedule, results.seed, results.played)
    return draw(bracket, tournament.labels, BOXES if sys.stdout.isatty() else ASCII)


def _swiss_table(swiss: Swiss, tournament: Tournament, results: Results) -> Table:
    """By points with byes, then Buchholz."""
    table = _grid("points", "Buchholz", "W-T-L", "house" if swiss.filled else "byes")
    lines = _by_entrant(results)
    for place, line in enumerate(swiss_lines(swiss, results.seed, results.played), start=1):
        cells = (f"{line.points:g}", f"{line.buchholz:g}", _won(lines[line.entrant]), str(line.byes))
        _row(table, str(place), lines[line.entrant], tournament, cells)
    _house_row(table, tournament, lines, lambda line: (f"{line.points:g}", "-", _won(line), "-"))
    return table


def _ladder_table(ladder: Ladder, tournament: Tournament, results: Results) -> Table:
    """By rating."""
    table = _grid("rating", "played", "points", "W-T-L")
    ratings = final_ratings(ladder, results.seed, results.played)
    lines = _by_entrant(results)

    def cells(line: Line) -> tuple[str, ...]:
        return f"{ratings[line.entrant]:.0f}", str(line.played), f"{line.points:g}", _won(line)

    order = sorted(range(ladder.entrants), key=lambda bot: -ratings[bot])
    for place, bot in enumerate(order, start=1):
        _row(table, str(place), lines[bot], tournament, cells(lines[bot]))
    _house_row(table, tournament, lines, cells)
    return table


def _gauntlet_table(tournament: Tournament, results: Results) -> Table:
    """The heads first, each with what it did against the field; then the field, with what it did against each."""
    heads = tournament.form.heads or 1
    names = [tournament.labels[head] for head in range(heads)]
    table = _grid("points", "W-T-L", "share", *(f"against {name}" for name in names))
    lines = _by_entrant(results)
    field = [line.entrant for line in results.lines if line.entrant >= heads]
    order = [line.entrant for line in results.lines if line.entrant < heads] + field
    for place, bot in enumerate(order):
        line = lines[bot]
        against = (_of_all(line.against.get(head)) for head in range(heads))
        share = "-" if line.mean is None else f"{100 * line.mean:.0f}%"
        mark = "head" if place < heads else str(place - heads + 1)
        _row(table, mark, line, tournament, (f"{line.points:g}", _won(line), share, *against))
    return table


def _knockout_table(knockout: Knockout, tournament: Tournament, results: Results) -> Table:
    """By how far each came, then by points; the bracket tells the rest."""
    table = _grid("points", "W-T-L")
    reached = rounds_reached(bracket_of(knockout, results.seed, results.played))
    lines = sorted(results.lines, key=lambda line: -reached[line.entrant])
    for place, line in enumerate(lines, start=1):
        _row(table, str(place), line, tournament, (f"{line.points:g}", _won(line)))
    return table


def _grid(*numbers: str) -> Table:
    return grid({"#": True, "bot": False} | dict.fromkeys((*numbers, *CONDUCT), True))


def _row(table: Table, place: str, line: Line, tournament: Tournament, cells: tuple[str, ...]) -> None:
    table.add_row(place, tournament.labels[line.entrant], *cells, *conduct(line))


def _house_row(
    table: Table, tournament: Tournament, lines: dict[int, Line], cells: Callable[[Line], tuple[str, ...]]
) -> None:
    """The house's row, the last, where it plays."""
    if tournament.house is not None:
        line = lines[tournament.house]
        _row(table, HOUSE, line, tournament, cells(line))


def _won(line: Line) -> str:
    return f"{line.wins}-{line.ties}-{line.losses}"


def _of_all(score: Score | None) -> str:
    """Points of those there were."""
    return "-" if score is None else f"{score.points:g} of {score.played}"


def _by_entrant(results: Results) -> dict[int, Line]:
    return {line.entrant: line for line in results.lines}
