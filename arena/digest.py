"""All that a report says of a tournament, in numbers: standings, ratings, seats, faults and time. Pure."""

from collections import Counter
from collections.abc import Sequence
from statistics import quantiles

import numpy as np
from msgspec import Struct

from arena.rankings import Orders, orders_of
from arena.ratings import ELO, Ratings, fit, rate
from arena.standings import Line, Played, points, standings
from protocol.refusals import Conduct

MOMENTS = 12
"""How often ratings are looked back at: after so many equal parts of the blocks."""


class Mean(Struct, frozen=True):
    """A mean with what it is of."""

    played: int
    points: float

    @property
    def value(self) -> float | None:
        """Points a match; None before there was one."""
        return self.points / self.played if self.played else None


class TimeUse(Struct, frozen=True):
    """Charged time a window of one bot, in microseconds: how it differs from match to match."""

    tenth: float
    """In a tenth of its matches it used less."""
    median: float
    nine_tenths: float
    most: float


class Moment(Struct, frozen=True):
    """The ratings after so many blocks."""

    blocks: int
    elo: tuple[float, ...]
    """By entrant."""


class Digest(Struct, frozen=True, kw_only=True):
    """A tournament in numbers. Tuples by entrant unless it says otherwise."""

    labels: tuple[str, ...]
    house: int | None
    """The entrant that fills seats and does not compete."""
    seats: int
    blocks: int
    matches: int
    lines: tuple[Line, ...]
    """Best first."""
    ratings: Ratings
    moments: tuple[Moment, ...]
    by_seat: tuple[Mean, ...]
    """By seat: points of whoever sat there."""
    by_bot_and_seat: tuple[tuple[Mean, ...], ...]
    """By entrant, then by seat."""
    conduct: tuple[dict[str, int], ...]
    """Matches by conduct."""
    time: tuple[TimeUse | None, ...]
    """None for who has had no window."""


def digest_of(labels: Sequence[str], played: Sequence[Played], house: int | None = None) -> Digest:
    """The numbers of results that are given in schedule order."""
    entrants = len(labels)
    orders = orders_of(played)
    seats = len(played[0].entrants) if played else 0
    by_bot = _by_bot_and_seat(entrants, seats, played)
    return Digest(
        labels=tuple(labels),
        house=house,
        seats=seats,
        blocks=len({match.block for match in played}),
        matches=len(played),
        lines=tuple(standings(entrants, played, house)),
        ratings=rate(orders, entrants, house),
        moments=_moments(orders, entrants, house),
        by_seat=tuple(_sum([row[seat] for row in by_bot]) for seat in range(seats)),
        by_bot_and_seat=by_bot,
        conduct=_conduct(entrants, played),
        time=_time(entrants, played),
    )


def _moments(orders: Orders, entrants: int, house: int | None) -> tuple[Moment, ...]:
    """The ratings as they would have been told earlier, the last being today's."""
    blocks = int(orders.blocks[-1]) + 1 if len(orders.blocks) else 0
    competing = [entrant for entrant in range(entrants) if entrant != house]
    found, strengths = [], None
    for end in sorted({-(-blocks * part // MOMENTS) for part in range(1, MOMENTS + 1)} - {0}):
        strengths = fit(orders.upto(end), entrants, strengths)
        elo = (strengths - strengths[competing].mean()) * ELO
        found.append(Moment(end, tuple(elo.tolist())))
    return tuple(found)


def _by_bot_and_seat(entrants: int, seats: int, played: Sequence[Played]) -> tuple[tuple[Mean, ...], ...]:
    """How each bot did in each seat."""
    matches, total = np.zeros((entrants, seats), dtype=int), np.zeros((entrants, seats))
    for match in played:
        for seat, entrant in enumerate(match.entrants):
            matches[entrant, seat] += 1
            total[entrant, seat] += points(match.outcome, seat)
    return tuple(
        tuple(Mean(int(matches[one, seat]), float(total[one, seat])) for seat in range(seats))
        for one in range(entrants)
    )


def _sum(means: Sequence[Mean]) -> Mean:
    return Mean(sum(mean.played for mean in means), sum(mean.points for mean in means))


def _conduct(entrants: int, played: Sequence[Played]) -> tuple[dict[str, int], ...]:
    """How often each bot behaved how, in the order of the list of conducts."""
    counts = [Counter[Conduct]() for _ in range(entrants)]
    for match in played:
        for entrant, conduct in zip(match.entrants, match.conduct, strict=True):
            counts[entrant][conduct] += 1
    return tuple({kind.value: count[kind] for kind in Conduct if count[kind]} for count in counts)


def _time(entrants: int, played: Sequence[Played]) -> tuple[TimeUse | None, ...]:
    """Charged time a window, match by match."""
    used: list[list[float]] = [[] for _ in range(entrants)]
    for match in played:
        for entrant, charged, windows in zip(match.entrants, match.charged_us, match.windows, strict=True):
            if windows:
                used[entrant].append(charged / windows)
    return tuple(_time_use(times) if times else None for times in used)


def _time_use(times: list[float]) -> TimeUse:
    tenths = quantiles(times, n=10, method="inclusive") if len(times) > 1 else times * 9
    return TimeUse(tenths[0], tenths[4], tenths[8], max(times))
