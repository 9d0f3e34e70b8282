"""What a format makes of a tournament's results: its own order, and the table that suits it. Pure."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from arena.quantities import duration
from arena.schedule.formats import Form, schedule_of
from arena.schedule.knockout import Knockout, bracket_of, rounds_reached
from arena.schedule.ladder import Ladder, final_ratings
from arena.schedule.rounds import Schedule
from arena.schedule.swiss import Swiss, swiss_lines
from arena.statistics import Played, Score, StandingsRow

HOUSE = "h"
"""The place of the house, which has none."""
Row = tuple[str, ...]


class Contest(Struct, frozen=True, kw_only=True):
    """A form with which nothing is wrong, and the results that it led to so far."""

    form: Form
    labels: tuple[str, ...]
    house: int | None
    """The entrant that fills seats and does not compete."""
    seed: int
    played: list[Played]
    """In schedule order."""

    @property
    def schedule(self) -> Schedule:
        """Who plays whom."""
        return schedule_of(self.form)


def in_order(contest: Contest, lines: Sequence[StandingsRow]) -> tuple[StandingsRow, ...]:
    """The lines as the format places their bots, the house last; `lines` are by mean points."""
    place = _places(contest, lines)
    return tuple(sorted(lines, key=lambda line: (line.house, place[line.entrant])))


def _places(contest: Contest, lines: Sequence[StandingsRow]) -> dict[int, float]:
    """By entrant; equal ones stay as they are."""
    match contest.schedule:
        case Swiss() as swiss:
            order = swiss_lines(swiss, contest.seed, contest.played)
            places = {line.entrant: float(place) for place, line in enumerate(order)}
        case Ladder() as ladder:
            ratings = final_ratings(ladder, contest.seed, contest.played)
            places = {entrant: -rating for entrant, rating in enumerate(ratings)}
        case Knockout() as knockout:
            reached = rounds_reached(bracket_of(knockout, contest.seed, contest.played))
            places = {entrant: -float(turn) for entrant, turn in reached.items()}
        case _:
            places = {}
    return {line.entrant: places.get(line.entrant, 0.0) for line in lines}


def order_text(contest: Contest) -> str:
    """By what `in_order` places the bots."""
    match contest.schedule:
        case Swiss():
            return "By points, byes counted, then Buchholz."
        case Ladder():
            return "By the ladder's rating."
        case Knockout():
            return "By the round that was reached, then mean points."
        case _:
            return "By mean points."


def format_rows(contest: Contest, lines: Sequence[StandingsRow]) -> tuple[Row, list[Row]] | None:
    """Headings and rows of the format's own table; None where each against each says it all.

    `lines` are as `in_order` has them.
    """
    match contest.schedule:
        case Swiss() as swiss:
            return _swiss(contest, swiss, lines)
        case Ladder() as ladder:
            ratings = final_ratings(ladder, contest.seed, contest.played)
            headings = ("rating", "played", "points", "W-T-L")
            return _rows(
                contest,
                lines,
                headings,
                lambda line: (f"{ratings[line.entrant]:z.0f}", str(line.played), f"{line.points:g}", _won(line)),
            )
        case Knockout():
            return _rows(contest, lines, ("points", "W-T-L"), lambda line: (f"{line.points:g}", _won(line)))
        case _ if contest.form.format == "gauntlet":
            return _gauntlet(contest, lines)
        case _:
            return None


def _swiss(contest: Contest, swiss: Swiss, lines: Sequence[StandingsRow]) -> tuple[Row, list[Row]]:
    """By points with byes, then Buchholz."""
    found = {line.entrant: line for line in swiss_lines(swiss, contest.seed, contest.played)}

    def cells(line: StandingsRow) -> Row:
        if line.house:
            return f"{line.points:g}", "-", _won(line), "-"
        mine = found[line.entrant]
        return f"{mine.points:g}", f"{mine.buchholz:g}", _won(line), str(mine.byes)

    return _rows(contest, lines, ("points", "Buchholz", "W-T-L", "house" if swiss.filled else "byes"), cells)


def _gauntlet(contest: Contest, lines: Sequence[StandingsRow]) -> tuple[Row, list[Row]]:
    """The heads first, each with what it did against the field; then the field, with what it did against each."""
    heads = contest.form.heads or 1
    headings = ("points", "W-T-L", "share", *(f"against {name}" for name in contest.labels[:heads]))

    def cells(line: StandingsRow) -> Row:
        share = "-" if line.mean is None else f"{100 * line.mean:.0f}%"
        return f"{line.points:g}", _won(line), share, *(_of_all(line.against.get(head)) for head in range(heads))

    order = sorted(lines, key=lambda line: line.entrant >= heads)
    places = [*["head"] * heads, *map(str, range(1, len(lines) - heads + 1))]
    return _rows(contest, order, headings, cells, places)


def _rows(
    contest: Contest,
    lines: Sequence[StandingsRow],
    headings: Row,
    cells: Callable[[StandingsRow], Row],
    places: Sequence[str] | None = None,
) -> tuple[Row, list[Row]]:
    places = places or [HOUSE if line.house else str(place) for place, line in enumerate(lines, start=1)]
    last, conducts = conduct(lines)
    rows = [
        (place, contest.labels[line.entrant], *cells(line), *behaved)
        for place, line, behaved in zip(places, lines, conducts, strict=True)
    ]
    return ("#", "bot", *headings, *last), rows


def conduct(lines: Sequence[StandingsRow]) -> tuple[Row, list[Row]]:
    """The last columns of every table, `refused` only where something was: headings, and cells by line."""
    columns: dict[str, Callable[[StandingsRow], str]] = {
        "faults": lambda line: str(line.faults),
        "defaults": lambda line: str(line.defaults),
        "refused": lambda line: str(line.refused),
        "a window": lambda line: "-" if line.mean_us is None else duration(line.mean_us),
    }
    if not any(line.refused for line in lines):
        del columns["refused"]
    return tuple(columns), [tuple(cell(line) for cell in columns.values()) for line in lines]


def _won(line: StandingsRow) -> str:
    return f"{line.wins}-{line.ties}-{line.losses}"


def _of_all(score: Score | None) -> str:
    """Points of those there were."""
    return "-" if score is None else f"{score.points:g} of {score.played}"
