"""The list of a tournament's matches that count: which are asked for, and how people and programs read them.

Matches are read from the ledger some at a time, so that the list of a large tournament is never held whole.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from arena.errors import WrongUse
from arena.reports.csv import csv_text
from arena.schedule import match_name
from arena.statistics import points
from arena.tables import Grid, grid_of
from arena.tournament import Ledger, Reported, Standing, begun_in
from protocol.refusals import Conduct
from referee.match import sentences
from referee.suggestions import did_you_mean

AT_ONCE = 1_000
"""Matches that are read from a ledger in one step."""
HEAD_SHOWN = 12
"""Digits of a head in the table."""
COLUMNS = (
    "match", "block", "seating", "seat", "bot", "place", "points", "conduct", "windows", "defaults", "refused",
    "charged_us", "causes", "transcript", "head",
)  # fmt: skip
"""Of the list as CSV: a row a seat."""


class SeatListed(Struct, frozen=True, kw_only=True):
    """What came of one seat of a match."""

    seat: int
    entrant: int
    bot: str
    place: int
    """1 is the best; seats that are tied share theirs."""
    points: float
    conduct: Conduct
    windows: int
    defaults: int
    refused: int
    charged_us: int
    causes: tuple[str, ...]
    """Why it lost what it lost, in words."""


class MatchListed(Struct, frozen=True, kw_only=True):
    """A match that counts."""

    match: str
    """As pages call it."""
    block: int
    seating: int
    seats: tuple[SeatListed, ...]
    transcript: str
    """Its file's name in the results folder, or its URL."""
    head: str


class MatchFilter(Struct, frozen=True, kw_only=True):
    """Which matches are asked for: one of their seats fits all of this. None, and no conduct: any does."""

    bot: int | None = None
    seat: int | None = None
    conduct: frozenset[Conduct] = frozenset()
    opponent: int | None = None
    """An entrant in another seat."""

    def fits(self, match: MatchListed) -> bool:
        """Whether a match is asked for."""
        return any(self._fits(each, match.seats) for each in match.seats)

    def _fits(self, one: SeatListed, seats: Sequence[SeatListed]) -> bool:
        return (
            self.bot in (None, one.entrant)
            and self.seat in (None, one.seat)
            and (not self.conduct or one.conduct in self.conduct)
            and (
                self.opponent is None or any(self.opponent == other.entrant for other in seats if other is not one)
            )
        )


def field_of(ledger: Ledger) -> Standing:
    """A tournament's entrants, those that wait to be taken in among them.

    Raises:
        WrongUse: the ledger is of no tournament.
        MachineCannot: it cannot be read.
    """
    return Standing.of(begun_in(ledger), ledger.events(), ledger.begun())


def entrant_called(standing: Standing, label: str) -> int:
    """The number of the entrant with exactly this label, whether it competes or has withdrawn.

    Raises:
        WrongUse: there is none.
    """
    if label not in standing.labels:
        raise WrongUse(f"no bot is called {label}; {did_you_mean(label, standing.labels, 'bots')}")
    return standing.labels.index(label)


def matches_listed(ledger: Ledger, labels: Sequence[str]) -> Iterator[MatchListed]:
    """Every match that counts, in schedule order. One whose block comes to count meanwhile may be missing.

    Raises:
        WrongUse: the ledger holds what is none of a match among these bots.
        MachineCannot: it cannot be read.
    """
    for rows in _batches(ledger):
        if not all(match.fits(len(labels)) for match, _, _ in rows):
            raise WrongUse(f"{ledger.path}: holds a result that does not fit a match among its {len(labels)} bots")
        yield from (_listed(row, labels) for row in rows)


def _batches(ledger: Ledger) -> Iterator[list[Reported]]:
    last = (-1, 0)
    while rows := ledger.after(*last, AT_ONCE):
        yield rows
        newest = (rows[-1][0].block, rows[-1][0].seating)
        if newest <= last:
            raise WrongUse(f"{ledger.path}: holds results that are not in order")
        last = newest


def _listed(row: Reported, labels: Sequence[str]) -> MatchListed:
    match, reports, transcript = row
    places: dict[int, int] = {}
    before = 0
    for group in match.outcome.ranking:
        places |= dict.fromkeys(group, before + 1)
        before += len(group)
    return MatchListed(
        match=match_name(match.block, match.seating),
        block=match.block,
        seating=match.seating,
        seats=tuple(
            SeatListed(
                seat=seat,
                entrant=entrant,
                bot=labels[entrant],
                place=places[seat],
                points=points(match.outcome, seat),
                conduct=match.conduct[seat],
                windows=match.windows[seat],
                defaults=match.defaults[seat],
                refused=match.refused[seat],
                charged_us=match.charged_us[seat],
                causes=tuple(
                    sentences(reports[seat], windows=match.windows[seat], refused=match.refused[seat])
                    if reports
                    else ()
                ),
            )
            for seat, entrant in enumerate(match.entrants)
        ),
        transcript=transcript,
        head=match.head,
    )


def matches_table(matches: Iterable[MatchListed]) -> Grid:
    """A row for each seat; what its match is called, and where it is, stands in the first."""
    headings = ("match", "seat", "bot", "place", "points", "conduct", "transcript", "head")
    rows = [
        (
            "" if each.seat else one.match,
            str(each.seat),
            each.bot,
            str(each.place),
            f"{each.points:.3g}",
            each.conduct.value,
            "" if each.seat else one.transcript,
            "" if each.seat else one.head[:HEAD_SHOWN],
        )
        for one in matches
        for each in one.seats
    ]
    return grid_of(headings, rows, words=("bot", "conduct", "transcript", "head"))


def causes_text(matches: Iterable[MatchListed]) -> Iterator[str]:
    """Why bots lost what they lost, a line each; too long for a table."""
    for one in matches:
        for each in one.seats:
            if each.causes:
                yield f"{one.match} seat {each.seat}, {each.bot}: {'; '.join(each.causes)}"


def matches_csv(matches: Iterable[MatchListed]) -> Iterator[str]:
    """The list as CSV, its heading first: a row for each seat of each match. Blocks and seats count from 0."""
    yield csv_text([COLUMNS])
    for one in matches:
        yield csv_text(_row(one, each) for each in one.seats)


def _row(one: MatchListed, each: SeatListed) -> tuple[Any, ...]:
    return (
        one.match, one.block, one.seating, each.seat, each.bot, each.place, each.points, each.conduct.value,
        each.windows, each.defaults, each.refused, each.charged_us, "; ".join(each.causes), one.transcript,
        one.head,
    )  # fmt: skip
