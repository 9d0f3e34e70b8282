"""Standings of a tournament: one row per bot with its scores against the others, and the columns of tables. Pure.

A column is one declaration for terminal, CSV, JSON, Markdown and pages. A new one needs a field of `StandingsRow`,
its declaration here, and a place in the groups at the end, from which tables are made.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from arena.arrays import Numbers, Whole, np
from arena.quantities import Column, duration, plain, rounded, three_digits
from protocol.refusals import Conduct
from protocol.words import Outcome

Ranking = Sequence[Sequence[int]]
"""Groups of seats, best first."""


class FinishedMatch(Protocol):
    """The needed attributes of a finished match."""

    @property
    def entrants(self) -> Sequence[int]:
        """Entrants' numbers, indexed by seat."""

    @property
    def outcome(self) -> Outcome:
        """Outcome of the match."""


class ResultArrays(Struct, frozen=True):
    """Matches with the same number of seats, one per row; columns are seats."""

    entrants: Whole
    places: Whole
    """Index of each seat's group in the ranking, 0 for the best."""
    sizes: Whole
    """Number of seats in each seat's group, including itself."""
    shares: Numbers
    """Points: the share of the other seats ranked below; a tie counts half."""

    @property
    def seats(self) -> int:
        """Number of seats in each match; 0 without matches."""
        return int(self.places.shape[1])


def table_of(played: Sequence[FinishedMatch]) -> ResultArrays:
    """Return the arrays of these matches."""
    sitting = list(map(attrgetter("entrants"), played))
    seats = len(sitting[0]) if sitting else 0
    shape = (len(sitting), seats)
    entrants = np.array(sitting, dtype=np.int64).reshape(shape)
    rankings = map(attrgetter("outcome.ranking"), played)
    places = np.array([_places(ranking, seats) for ranking in rankings], dtype=np.int64).reshape(shape)
    before, sizes = np.zeros((2, *shape), dtype=np.int64)
    for seat in range(seats):
        before += places < places[:, [seat]]
        sizes += places == places[:, [seat]]
    shares = (before + (sizes - 1) / 2) / max(seats - 1, 1)
    return ResultArrays(entrants, places, sizes, shares)


def _places(ranking: Ranking, seats: int) -> list[int]:
    """Return the index of each seat's group in the ranking."""
    places = [0] * seats
    for place, group in enumerate(ranking):
        for seat in group:
            places[seat] = place
    return places


Count = Annotated[int, Meta(ge=0, le=2**53)]


class CountedMatch(Struct, frozen=True, kw_only=True):
    """A finished match that counts."""

    block: Count
    seating: Count
    entrants: tuple[Count, ...]
    """Entrants' numbers, indexed by seat; so are the later tuples."""
    outcome: Outcome
    conduct: tuple[Conduct, ...]
    charged_us: tuple[Count, ...]
    windows: tuple[Count, ...]
    defaults: tuple[Count, ...]
    refused: tuple[Count, ...]
    """Number of refused messages of each seat."""
    head: str = ""
    """Hash of the last line of the match's transcript."""

    def fits(self, entrants: int) -> bool:
        """Return True if the match is consistent with `entrants` bots; ledgers are untrusted."""
        seats = range(len(self.entrants))
        by_seat = (self.conduct, self.charged_us, self.windows, self.defaults, self.refused)
        ranked = sorted(chain.from_iterable(self.outcome.ranking))
        return (
            len(seats) > 1
            and all(len(each) == len(seats) for each in by_seat)
            and ranked == list(seats)
            and all(self.outcome.ranking)
            and set(self.outcome.winners) <= set(seats)
            and self.outcome.eliminated in (None, *seats)
            and max(self.entrants) < entrants
        )


class Score(Struct, kw_only=True):
    """Score of one bot, in all matches or against one other. Each seat counts if the bot takes several."""

    played: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    points: float = 0

    @property
    def mean(self) -> float | None:
        """Mean points per match; None without matches."""
        return self.points / self.played if self.played else None

    @property
    def record(self) -> str:
        """Wins, ties and losses as text, such as `3-0-1`."""
        return f"{self.wins}-{self.ties}-{self.losses}"


class StandingsRow(Score, kw_only=True):
    """One bot's row in the standings."""

    entrant: int
    house: bool = False
    """True for the bot that fills empty seats and does not compete."""
    faults: int = 0
    """Number of matches in which the bot's conduct was not `ok`."""
    defaults: int = 0
    """Number of windows in which the default action was used."""
    refused: int = 0
    """Number of messages that the referee refused."""
    windows: int = 0
    charged_us: int = 0
    untimed: int = 0
    """Number of windows in matches in which the bot never started; no time was charged for them."""
    against: dict[int, Score] = {}
    """Scores against other bots, by entrant."""

    @property
    def mean_us(self) -> float | None:
        """Mean charged time per window in matches in which the bot started, in microseconds; None without any."""
        timed = self.windows - self.untimed
        return self.charged_us / timed if timed else None


def standings_of(entrants: int, played: Iterable[CountedMatch], house: int | None = None) -> list[StandingsRow]:
    """Return the rows of all entrants, best first; equal ones are in the order of the file.

    `house` is the number of the entrant that fills seats; its row is the last.
    """
    matches = list(played)
    table = table_of(matches)
    sums = _sums(entrants, table, matches)
    against = _against(entrants, table)
    rows = []
    for entrant in range(entrants):
        row = StandingsRow(entrant=entrant, house=entrant == house, against=against[entrant])
        for field, each in sums.items():
            setattr(row, field, each[entrant])
        rows.append(row)
    return sorted(rows, key=lambda row: (row.house, -(row.mean or 0), row.faults, row.entrant))


def points(outcome: Outcome, seat: int) -> float:
    """Return the share of the other seats ranked below; a tie counts half. With two seats it is 1, 0.5 or 0."""
    sizes = list(map(len, outcome.ranking))
    place = next(place for place, group in enumerate(outcome.ranking) if seat in group)
    return (sum(sizes[place + 1 :]) + (sizes[place] - 1) / 2) / (sum(sizes) - 1)


def places_by_seat(outcome: Outcome) -> dict[int, int]:
    """Return each seat's place, from 1 for the best; tied seats have the same place."""
    places: dict[int, int] = {}
    for group in outcome.ranking:
        places |= dict.fromkeys(group, len(places) + 1)
    return places


def _sums(entrants: int, table: ResultArrays, matches: Sequence[CountedMatch]) -> dict[str, list[Any]]:
    """Return the fields of a row that are sums over matches, each indexed by entrant."""
    first, tied = table.places == 0, table.sizes > 1

    def total(values: Any) -> list[Any]:
        each = np.asarray(values).ravel()
        sums = np.bincount(table.entrants.ravel(), each, entrants)
        found: list[Any] = (sums if each.dtype == float else sums.astype(int)).tolist()
        return found

    sums = {
        "played": total(np.ones_like(table.places)),
        "wins": total(first & ~tied),
        "ties": total(first & tied),
        "losses": total(~first),
        "points": total(table.shares),
        "faults": total(list(map(_faults, matches))),
        "untimed": total(list(map(_untimed, matches))),
    }
    for field in ("defaults", "refused", "windows", "charged_us"):
        sums[field] = total(list(map(attrgetter(field), matches)))
    return sums


def _faults(match: CountedMatch) -> list[bool]:
    """Return for each seat whether its conduct was not `ok`."""
    return [conduct is not Conduct.OK for conduct in match.conduct]


def _untimed(match: CountedMatch) -> list[int]:
    """Return each seat's windows if its bot never started, otherwise 0."""
    seats = zip(match.windows, match.conduct, strict=True)
    return [windows * (conduct is Conduct.NEVER_STARTED) for windows, conduct in seats]


def _against(entrants: int, table: ResultArrays) -> list[dict[int, Score]]:
    """Return each entrant's scores against the others that it met; a bot in two seats does not meet itself."""
    played, wins, ties = np.zeros((3, entrants * entrants), dtype=int)
    for seat in range(table.seats):
        cells = table.entrants[:, [seat]] * entrants + table.entrants
        mine = table.places[:, [seat]]
        played += np.bincount(cells.ravel(), minlength=entrants**2)
        wins += np.bincount(cells[mine < table.places], minlength=entrants**2)
        ties += np.bincount(cells[mine == table.places], minlength=entrants**2)
    found: list[dict[int, Score]] = [{} for _ in range(entrants)]
    for cell in np.flatnonzero(played).tolist():
        one, other = divmod(cell, entrants)
        if other != one:
            found[one][other] = _score(int(played[cell]), int(wins[cell]), int(ties[cell]))
    return found


def _score(played: int, wins: int, ties: int) -> Score:
    return Score(played=played, wins=wins, ties=ties, losses=played - wins - ties, points=wins + ties / 2)


BotColumn = Column[StandingsRow]
RATING_MEANING = "Strength in Elo: 400 points are odds of 10 to 1 to be ranked before the other. The mean is 0."

PLAYED: BotColumn = Column(
    "played",
    lambda row: row.played,
    key="played",
    meaning="Matches that count. A bot in several seats of a match counts for each.",
)
WINS: BotColumn = Column(
    "wins", lambda row: row.wins, key="wins", meaning="Matches in which the bot alone was first."
)
TIES: BotColumn = Column(
    "shared wins", lambda row: row.ties, key="ties", meaning="Matches in which the bot was first with others."
)
LOSSES: BotColumn = Column("lost", lambda row: row.losses, key="losses", meaning="All other matches.")
WON: BotColumn = Column("won", lambda row: row.wins, meaning="Matches that the bot alone won.")
TIED: BotColumn = Column("tied", lambda row: row.ties, meaning="Matches in which the bot shared the first place.")
RECORD: BotColumn = Column("W-T-L", lambda row: row.record, meaning="Matches won, tied and lost.")
POINTS: BotColumn = Column(
    "points",
    lambda row: row.points,
    plain,
    key="points",
    meaning="The sum over all matches. A match has 1 for the first place and 0 for the last, ties a half.",
)
MEAN_POINTS: BotColumn = Column(
    "mean points",
    lambda row: row.mean,
    three_digits,
    key="mean_points",
    meaning="Points per match: the share of the other seats that were ranked below, ties as a half.",
)
FAULTS: BotColumn = Column(
    "faults",
    lambda row: row.faults,
    key="faults",
    meaning="Matches in which the bot crashed, left, misbehaved or never started.",
)
DEFAULTS: BotColumn = Column(
    "defaults",
    lambda row: row.defaults,
    key="defaults",
    meaning="Moves that the game made for the bot, because no legal action came in time.",
)
REFUSED: BotColumn = Column(
    "refused",
    lambda row: row.refused,
    key="refused",
    meaning="Messages of the bot that the referee could not act on.",
)
WINDOWS: BotColumn = Column("windows", lambda row: row.windows, key="windows")
TIME_PER_MOVE: BotColumn = Column(
    "time per move", lambda row: row.mean_us, duration, meaning="Average thinking time per move."
)

US_PER_WINDOW: BotColumn = Column("time per move", lambda row: rounded(row.mean_us), key="us_per_window")
"""The time per move in CSV, in microseconds."""
WHOLE_US_PER_WINDOW: BotColumn = Column(
    "time per move", lambda row: None if row.mean_us is None else round(row.mean_us), key="us_per_window"
)
"""The same in the JSON of results, in whole microseconds."""

FOR_PROGRAMS = (PLAYED, WINS, TIES, LOSSES, POINTS, MEAN_POINTS, FAULTS, DEFAULTS, REFUSED, WINDOWS)
"""Columns of CSV and JSON, in this order, before the time per move."""
COUNTS_OF_TWO = (PLAYED, WON, TIED, LOSSES)
"""Counts of matches on pages, in games of two seats."""
COUNTS_OF_MANY = (PLAYED, WINS, TIES)
"""Counts of matches on pages, in games of more seats, in which a second place is not a loss."""
CONDUCT = (FAULTS, DEFAULTS, REFUSED)
"""Columns about a bot's behaviour, which are the last ones of each table for people."""


def conduct_columns(rows: Sequence[StandingsRow]) -> list[BotColumn]:
    """Return the last columns of tables in a terminal; `refused` only if a message of these rows was refused."""
    columns = [*CONDUCT, TIME_PER_MOVE]
    if not any(map(attrgetter("refused"), rows)):
        columns.remove(REFUSED)
    return columns
