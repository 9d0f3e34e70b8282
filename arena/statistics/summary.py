"""All numbers of a tournament's report: standings, ratings, seats, faults and time. Pure."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles

from msgspec import Struct

from arena.arrays import Numbers, np
from arena.statistics.orders import Orders, orders_of
from arena.statistics.ratings import ELO, Ratings, fit, rate
from arena.statistics.result_arrays import Table, table_of
from arena.statistics.standings import Played, Score, StandingsRow, standings_of
from protocol.refusals import Conduct

MOMENTS = 12
"""Number of points in the history of ratings, at equal parts of the blocks."""
ROUGHLY = 0.003
"""Precision of the history, in units of log-strength: half an Elo point."""


class TimeUse(Struct, frozen=True):
    """Distribution over matches of one bot's charged time per window, in microseconds."""

    tenth: float
    """The 10th percentile."""
    median: float
    nine_tenths: float
    most: float


class Moment(Struct, frozen=True):
    """Ratings after a number of blocks."""

    blocks: int
    matches: int
    elo: tuple[float, ...]
    """Ratings in Elo, indexed by entrant."""


class Digest(Struct, frozen=True, kw_only=True):
    """Numbers of a tournament. Tuples are indexed by entrant unless stated otherwise."""

    labels: tuple[str, ...]
    house: int | None
    """Number of the entrant that fills empty seats and does not compete."""
    seats: int
    blocks: int
    matches: int
    standings: tuple[StandingsRow, ...]
    """Rows in the order of the format."""
    ratings: Ratings
    moments: tuple[Moment, ...]
    by_seat: tuple[Score, ...]
    """Numbers of matches and points only, indexed by seat."""
    by_bot_and_seat: tuple[tuple[Score, ...], ...]
    """Numbers of matches and points only, indexed by entrant, then by seat."""
    conduct: tuple[dict[str, int], ...]
    """Numbers of matches, by conduct."""
    time: tuple[TimeUse | None, ...]
    """Time per window; None for a bot without a window in a match in which it started."""
    first: tuple[int | None, ...]
    """Number of matches before each bot's first, in schedule order; None for a bot without matches."""


def digest_of(
    labels: Sequence[str],
    played: Sequence[Played],
    house: int | None = None,
    order: Callable[[Sequence[StandingsRow]], Sequence[StandingsRow]] = tuple,
) -> Digest:
    """Return the numbers of results in schedule order; `order` sorts the standings if not by mean points."""
    entrants = len(labels)
    orders = orders_of(played)
    table = table_of(played)
    by_bot = _by_bot_and_seat(entrants, table)
    strengths = list(_strengths(orders, entrants))
    last = strengths[-1][1] if strengths else None
    return Digest(
        labels=tuple(labels),
        house=house,
        seats=table.seats,
        blocks=len({match.block for match in played}),
        matches=len(played),
        standings=tuple(order(standings_of(entrants, played, house))),
        ratings=rate(orders, entrants, house, last),
        moments=_moments(played, strengths, house),
        by_seat=tuple(_sum([row[seat] for row in by_bot]) for seat in range(table.seats)),
        by_bot_and_seat=by_bot,
        conduct=_conduct(entrants, played),
        time=_time(entrants, played),
        first=_first(entrants, played),
    )


def _strengths(orders: Orders, entrants: int) -> Iterator[tuple[int, Numbers]]:
    """Yield numbers of blocks, and the log-strengths after them; each fit starts from the one before."""
    blocks = int(orders.blocks[-1]) + 1 if len(orders.blocks) else 0
    strengths = None
    for end in sorted({-(-blocks * part // MOMENTS) for part in range(1, MOMENTS + 1)} - {0}):
        strengths = fit(orders.upto(end), entrants, strengths, ROUGHLY)
        yield end, strengths


def _moments(
    played: Sequence[Played], strengths: Sequence[tuple[int, Numbers]], house: int | None
) -> tuple[Moment, ...]:
    """Return the ratings after each of these numbers of blocks."""
    last = [number for number, match in enumerate(played, start=1) if _ends_block(played, number, match)]
    found = []
    for blocks, each in strengths:
        competing = [entrant for entrant in range(len(each)) if entrant != house]
        elo = (each - each[competing].mean()) * ELO + 0.0  # Adding 0.0 turns minus zero into zero.
        found.append(Moment(blocks, last[blocks - 1], tuple(elo.tolist())))
    return tuple(found)


def _ends_block(played: Sequence[Played], number: int, match: Played) -> bool:
    return number == len(played) or played[number].block != match.block


def _first(entrants: int, played: Sequence[Played]) -> tuple[int | None, ...]:
    """Return the number of matches before each entrant's first; None for a bot without matches."""
    first: list[int | None] = [None] * entrants
    for number, match in enumerate(played):
        for entrant in match.entrants:
            if first[entrant] is None:
                first[entrant] = number
    return tuple(first)


def _by_bot_and_seat(entrants: int, table: Table) -> tuple[tuple[Score, ...], ...]:
    """Return the matches and points of each bot in each seat."""
    cells = (table.entrants * table.seats + np.arange(table.seats)).ravel()
    matches = np.bincount(cells, minlength=entrants * table.seats).tolist()
    total = np.bincount(cells, table.shares.ravel(), entrants * table.seats).tolist()
    means = [Score(played=played, points=points) for played, points in zip(matches, total, strict=True)]
    return tuple(tuple(means[one * table.seats : (one + 1) * table.seats]) for one in range(entrants))


def _sum(means: Sequence[Score]) -> Score:
    return Score(played=sum(mean.played for mean in means), points=sum(mean.points for mean in means))


def _conduct(entrants: int, played: Sequence[Played]) -> tuple[dict[str, int], ...]:
    """Return each bot's numbers of matches by conduct, in the order of `Conduct`."""
    counts = [Counter[Conduct]() for _ in range(entrants)]
    for match in played:
        for entrant, conduct in zip(match.entrants, match.conduct, strict=True):
            counts[entrant][conduct] += 1
    return tuple({kind.value: count[kind] for kind in Conduct if count[kind]} for count in counts)


def _time(entrants: int, played: Sequence[Played]) -> tuple[TimeUse | None, ...]:
    """Return the distribution of each bot's charged time per window over its matches."""
    used: list[list[float]] = [[] for _ in range(entrants)]
    for match in played:
        seats = zip(match.entrants, match.charged_us, match.windows, match.conduct, strict=True)
        for entrant, charged, windows, conduct in seats:
            if windows and conduct is not Conduct.NEVER_STARTED:
                used[entrant].append(charged / windows)
    return tuple(_time_use(times) if times else None for times in used)


def _time_use(times: list[float]) -> TimeUse:
    tenths = quantiles(times, n=10, method="inclusive") if len(times) > 1 else times * 9
    return TimeUse(tenths[0], tenths[4], tenths[8], max(times))
