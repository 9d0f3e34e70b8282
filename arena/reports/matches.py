"""Results of single matches: of one that was just played, and the list of a tournament's matches.

The list is read from the ledger in batches, because that of a large tournament needs much memory.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import WrongUse
from arena.quantities import Column, Table, duration
from arena.reports.files import csv_head, csv_rows
from arena.reports.standings import usage_json, usage_table
from arena.schedule import match_name
from arena.statistics import Reported, places_by_seat, points
from arena.terminal import Grid, grid, results_console, show
from arena.tournament import FieldState, Ledger, load_start_terms
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.display_text import did_you_mean
from referee.host import AttemptResult
from referee.match import sentences

USUAL_ENDS = frozenset({"decided", "discovered", "finished", "full", "rounds", "titles"})
"""Reasons of outcomes that only mean that the match was played to its end."""
AT_ONCE = 1_000
"""Number of matches read from a ledger in one step."""
HEAD_SHOWN = 12
"""Number of digits of a head in the table."""


def show_match(result: AttemptResult, names: Sequence[str], *, usage: bool = False) -> None:
    """Print a match's result, one line per seat, then what went wrong and the paths of logs and transcript.

    If `usage` is True, also print the time and memory that the bots used.
    """
    screen = results_console()
    show(screen, match_table(result, names))
    if usage:
        screen.print()
        show(screen, usage_table(names, result.reports))
        screen.print()
    if result.outcome is not None and (end := unusual_end(result.outcome.reason)):
        screen.say(f"ended by: {end}")
    for seat in range(len(result.reports)):
        problems = _problems(result, seat)
        if problems:
            problems += map("log: {}".format, logs_of(result, seat))
            screen.say(f"{names[seat]}, seat {seat}: {'; '.join(problems)}")
    screen.say(f"transcript: {result.transcript} {result.head}")


def match_table(result: AttemptResult, names: Sequence[str]) -> Grid:
    """Return the table of a match with one row per seat."""
    outcome = result.outcome
    if outcome is None:
        raise AssertionError("a void attempt is not printed")
    places: dict[int, int] = {}
    for place, group in enumerate(outcome.ranking, start=1):
        places |= dict.fromkeys(group, place)
    columns: list[Column[int]] = [
        Column("seat", lambda seat: seat),
        Column("bot", lambda seat: names[seat], is_text=True),
        Column("place", lambda seat: places[seat]),
    ]
    for name, by_seat in _figures(outcome, len(names)).items():
        is_number = isinstance(next(iter(by_seat.values())), int)
        columns.append(Column(name, by_seat.get, is_text=not is_number))
    columns += [
        Column("conduct", lambda seat: result.conduct[seat].value, is_text=True),
        Column("windows", lambda seat: result.windows[seat]),
        Column("defaults", lambda seat: result.defaults[seat]),
        Column("refused", lambda seat: result.refused[seat] if result.refused else None),
        Column("charged", lambda seat: result.charged_us[seat], duration),
    ]
    return grid(Table(columns, range(len(names))))


def unusual_end(reason: str) -> str:
    """Return why a match ended, in words; empty if it ended as matches of its game usually do."""
    if reason in USUAL_ENDS:
        return ""
    return reason.replace("_", " ")


def over_text(reason: str, places: str) -> str:
    """Return how a match ended: the reason if it is unusual, and the places."""
    over = "over"
    if end := unusual_end(reason):
        over = f"over ({end})"
    return f"{over}: {places}"


def _figures(outcome: Outcome, seats: int) -> dict[str, dict[int, Any]]:
    """Return the columns after the places: scores, counts and titles of the game, each by seat."""
    figures: dict[str, Any] = {"score": outcome.scores or {}, "tokens": outcome.tokens, "garnets": outcome.garnets}
    detail = msgspec.to_builtins(outcome.detail)
    if isinstance(detail, dict):
        figures |= {name: value for name, value in detail.items() if _are_numbers(value)}
    columns: dict[str, dict[int, Any]] = {}
    for name, by_key in figures.items():
        by_seat = {seat: by_key[str(seat)] for seat in range(seats) if str(seat) in by_key}
        if by_seat:
            columns[name] = by_seat
    if isinstance(detail, dict) and (claims := detail.get("claims")) and isinstance(claims, dict):
        columns["title"] = {claim["seat"]: title for title, claim in claims.items()}
    return columns


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, int) for each in value.values())


def match_json(result: AttemptResult) -> dict[str, Any]:
    """Return a match's result as plain values, with problems, usage and paths of logs indexed by seat.

    A bot has one log for each start in which it wrote output.
    """
    seats = range(len(result.reports))
    return {
        **msgspec.to_builtins(result),
        "said": [_problems(result, seat) for seat in seats],
        "usage": list(map(usage_json, result.reports)),
        "logs": [logs_of(result, seat) for seat in range(len(result.conduct))],
    }


def _problems(result: AttemptResult, seat: int) -> list[str]:
    """Return what went wrong for a seat's bot, as phrases."""
    return sentences(result.reports[seat], windows=result.windows[seat], refused=result.refused[seat])


def logs_of(result: AttemptResult, seat: int) -> list[str]:
    """Return the paths of the existing logs of a seat's bot, named as in `referee.host.one_match`."""
    transcript = Path(result.transcript)
    starts = transcript.parent.glob(f"{transcript.stem}.seat-{seat}.start-*.log")
    logs = [transcript.with_suffix(f".seat-{seat}.log"), *sorted(starts)]
    return [str(log) for log in logs if log.exists()]


class SeatListed(Struct, frozen=True, kw_only=True):
    """The result of one seat of a match."""

    seat: int
    entrant: int
    bot: str
    place: int
    """Place from 1; tied seats have the same."""
    points: float
    conduct: Conduct
    windows: int
    defaults: int
    refused: int
    charged_us: int
    causes: tuple[str, ...]
    """Faults, as phrases."""


class MatchListed(Struct, frozen=True, kw_only=True):
    """A match that counts."""

    match: str
    """Name of the match, as on pages."""
    block: int
    seating: int
    seats: tuple[SeatListed, ...]
    transcript: str
    """Name of the transcript's file in the results folder, or its URL."""
    head: str


class MatchFilter(Struct, frozen=True, kw_only=True):
    """Conditions that one seat of a match must fulfil. None, and an empty `conduct`, accept all."""

    bot: int | None = None
    seat: int | None = None
    conduct: frozenset[Conduct] = frozenset()
    opponent: int | None = None
    """An entrant in another seat."""

    def fits(self, match: MatchListed) -> bool:
        """Return whether the match has a seat that fulfils all conditions."""
        return any(self._fits(each, match.seats) for each in match.seats)

    def _fits(self, one: SeatListed, seats: Sequence[SeatListed]) -> bool:
        opponents = [other.entrant for other in seats if other is not one]
        return (
            self.bot in (None, one.entrant)
            and self.seat in (None, one.seat)
            and (not self.conduct or one.conduct in self.conduct)
            and (self.opponent is None or self.opponent in opponents)
        )


def field_of(ledger: Ledger) -> FieldState:
    """Return a tournament's entrants, including those that wait to be accepted.

    Raises:
        WrongUse: the ledger is not that of a tournament.
        MachineCannot: the ledger cannot be read.
    """
    return FieldState.of(load_start_terms(ledger), ledger.events(), ledger.begun())


def entrant_called(standing: FieldState, label: str) -> int:
    """Return the number of the entrant with exactly this label, whether it competes or has withdrawn.

    Raises:
        WrongUse: there is none.
    """
    if label not in standing.labels:
        raise WrongUse(f"no bot is called {label}; {did_you_mean(label, standing.labels, 'bots')}")
    return standing.labels.index(label)


def matches_listed(ledger: Ledger, labels: Sequence[str]) -> Iterator[MatchListed]:
    """Yield every match that counts, in schedule order.

    A match whose block starts to count during the iteration may be missing.

    Raises:
        WrongUse: the ledger holds a result that is not that of a match among these bots.
        MachineCannot: the ledger cannot be read.
    """
    for rows in batches_of(ledger.path, ledger.after):
        for row in rows:
            if not row.played.fits(len(labels)):
                text = f"holds a result that does not fit a match among its {len(labels)} bots"
                raise WrongUse(f"{ledger.path}: {text}")
            yield match_listed(row, labels)


def batches_of(ledger: Path, after: Callable[[int, int, int], list[Reported]]) -> Iterator[list[Reported]]:
    """Yield all matches of a ledger in batches, in schedule order.

    `after` returns a number of matches after a block and a seating, as `arena.tournament.Ledger.after` does.

    Raises:
        WrongUse: the ledger is damaged: its results are not in order.
    """
    last = (-1, 0)
    while rows := after(*last, AT_ONCE):
        yield rows
        if len(rows) < AT_ONCE:
            return
        newest = (rows[-1].played.block, rows[-1].played.seating)
        if newest <= last:
            raise WrongUse(f"{ledger}: holds results that are not in order")
        last = newest


def match_listed(row: Reported, labels: Sequence[str], causes_of: Container[int] | None = None) -> MatchListed:
    """Return a match as lists show it.

    Args:
        row: the match.
        labels: labels of all entrants, by number.
        causes_of: the entrants whose causes of losses are included; None: all.
    """
    match = row.played
    places = places_by_seat(match.outcome)
    seats = []
    for seat, entrant in enumerate(match.entrants):
        windows, refused, causes = match.windows[seat], match.refused[seat], list[str]()
        if row.reports and (causes_of is None or entrant in causes_of):
            causes = sentences(row.reports[seat], windows=windows, refused=refused)
        seats.append(
            SeatListed(
                seat=seat,
                entrant=entrant,
                bot=labels[entrant],
                place=places[seat],
                points=points(match.outcome, seat),
                conduct=match.conduct[seat],
                windows=windows,
                defaults=match.defaults[seat],
                refused=refused,
                charged_us=match.charged_us[seat],
                causes=tuple(causes),
            )
        )
    return MatchListed(
        match=match_name(match.block, match.seating),
        block=match.block,
        seating=match.seating,
        seats=tuple(seats),
        transcript=row.transcript,
        head=match.head,
    )


SeatRow = tuple[MatchListed, SeatListed]
COLUMNS: tuple[Column[SeatRow], ...] = (
    Column("match", lambda row: row[0].match, key="match"),
    Column("block", lambda row: row[0].block, key="block"),
    Column("seating", lambda row: row[0].seating, key="seating"),
    Column("seat", lambda row: row[1].seat, key="seat"),
    Column("bot", lambda row: row[1].bot, key="bot", is_text=True),
    Column("place", lambda row: row[1].place, key="place"),
    Column("points", lambda row: row[1].points, "{:.3g}".format, key="points"),
    Column("conduct", lambda row: row[1].conduct.value, key="conduct", is_text=True),
    Column("windows", lambda row: row[1].windows, key="windows"),
    Column("defaults", lambda row: row[1].defaults, key="defaults"),
    Column("refused", lambda row: row[1].refused, key="refused"),
    Column("charged", lambda row: row[1].charged_us, duration, key="charged_us"),
    Column("causes", lambda row: "; ".join(row[1].causes), key="causes", is_text=True),
    Column("transcript", lambda row: row[0].transcript, key="transcript", is_text=True),
    Column("head", lambda row: row[0].head, lambda head: head[:HEAD_SHOWN], key="head", is_text=True),
)
"""Columns of the list of matches: CSV has all. Blocks and seats count from 0."""
IN_TABLE = ("match", "seat", "bot", "place", "points", "conduct", "transcript", "head")
"""Columns of the table for people."""
OF_THE_MATCH = ("match", "transcript", "head")
"""Columns of the table that are filled only in the row of a match's first seat."""


def matches_table(matches: Iterable[MatchListed]) -> Grid:
    """Return a table with one row per seat."""
    columns = []
    for column in COLUMNS:
        if column.heading in OF_THE_MATCH:
            columns.append(_first_seat_only(column))
        elif column.heading in IN_TABLE:
            columns.append(column)
    rows: list[SeatRow] = []
    for match in matches:
        rows += product([match], match.seats)
    return grid(Table(columns, rows))


def _first_seat_only(column: Column[SeatRow]) -> Column[SeatRow]:
    return Column(column.heading, lambda row: "" if row[1].seat else column.cell(row), is_text=column.is_text)


def causes_text(matches: Iterable[MatchListed]) -> Iterator[str]:
    """Yield a line for each seat in which something went wrong."""
    for match in matches:
        for seat in match.seats:
            if seat.causes:
                yield f"{match.match} seat {seat.seat}, {seat.bot}: {'; '.join(seat.causes)}"


def matches_csv(matches: Iterable[MatchListed]) -> Iterator[str]:
    """Yield the list as CSV: the headings, then for each match one line per seat."""
    yield csv_head(COLUMNS)
    for match in matches:
        yield csv_rows(COLUMNS, product([match], match.seats))
