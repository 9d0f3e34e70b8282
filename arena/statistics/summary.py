"""All numbers of a tournament's report: standings, ratings, seats, time, and the causes of losses. Pure.

The reports of matches are read one by one, and the number of causes and texts stored per bot is bounded.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from operator import attrgetter
from statistics import quantiles
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena.arrays import Numbers, np
from arena.statistics.ratings import ELO, Orders, Rating, Ratings, fit, orders_of, rate, ratings_at
from arena.statistics.standings import CountedMatch, ResultArrays, Score, StandingsRow, standings_of, table_of
from protocol.refusals import Conduct
from referee.match import Complaint, Frequent, SeatReport, sentences, summed

MOST_KINDS = 50
"""Maximum number of causes of losses, and of refusal texts, per bot; bots can influence these texts."""
AT_ONCE = 100
"""Number of a bot's reports that are summed in one step, because each step copies the sums so far."""
_MEASURED = re.compile(r"(\d+\.\d+)")
"""Pattern of numbers that may differ between matches with the same cause, such as a time used."""


class Reported(NamedTuple):
    """A match that counts, with what its ledger holds about it besides the result."""

    played: CountedMatch
    reports: tuple[SeatReport, ...]
    """Reports indexed by seat; possibly empty."""
    transcript: str
    """Name of the transcript's file in the results folder, or its URL."""


class Loss(Struct, frozen=True, kw_only=True):
    """Matches in which a bot was lost, or never started, for the same cause."""

    cause: str
    """Cause as text, with ranges of differing numbers: `no hello in 2 s (0.8 to 1.2 s of processor time used)`."""
    never_started: bool
    matches: int
    last_line: str
    """Last line of the bot's output in the latest of these matches."""
    log: str
    """Path of the log of that match, next to the transcript; it exists only if the bot wrote output."""


class BotReport(Struct, frozen=True, kw_only=True):
    """Summary of one bot's reports of all its matches."""

    matches: int = 0
    """Number of matches with a report; each seat counts if the bot takes several."""
    windows: int = 0
    refused: int = 0
    lost: int = 0
    """Number of matches in which the bot was lost or never started."""
    losses: tuple[Loss, ...] = ()
    """Losses by cause, the most frequent first; at most `MOST_KINDS`."""
    total: SeatReport = SeatReport()
    """Sums and maxima over all matches, without `loss` and `last_line`."""
    log: str = ""
    """Log path for the latest match with a problem, or "" if there was none."""


class _LossKind:
    """Losses of one bot with the same cause."""

    def __init__(self, numbers: Sequence[str]) -> None:
        self.matches = 0
        self.last_line = self.log = ""
        self.ranges = list(zip(numbers, numbers, strict=True))

    def add(self, numbers: Sequence[str], last_line: str, log: str) -> None:
        self.matches += 1
        self.last_line, self.log = last_line, log
        for place, (range_, number) in enumerate(zip(self.ranges, numbers, strict=True)):
            self.ranges[place] = min(range_[0], number, key=float), max(range_[1], number, key=float)

    def loss(self, words: Sequence[str], *, never_started: bool) -> Loss:
        """Return the losses as one entry, with a cause such as `killed: memory over 256 to 300 MB`.

        The cause is `words`, with the range of one number after each.
        """
        cause = ""
        for word, range_ in zip_longest(words, self.ranges, fillvalue=()):
            cause += f"{word}{' to '.join(dict.fromkeys(range_))}"
        return Loss(
            cause=cause,
            never_started=never_started,
            matches=self.matches,
            last_line=self.last_line,
            log=self.log,
        )


class _Tally:
    """One bot's matches so far."""

    def __init__(self) -> None:
        self._matches = self._windows = self._refused = self._lost = 0
        self._kinds: dict[tuple[bool, tuple[str, ...]], _LossKind] = {}
        self._complaints: Frequent[tuple[str, str]] = Frequent(MOST_KINDS)
        self._total = SeatReport()
        self._not_added: list[SeatReport] = []
        """Reports that are not in the total yet."""
        self._log = ""

    def add(self, report: SeatReport, match: CountedMatch, seat: int, log: str) -> None:
        """Add one seat's report of a match."""
        self._matches += 1
        self._windows += match.windows[seat]
        self._refused += match.refused[seat]
        self._not_added.append(report)
        if len(self._not_added) == AT_ONCE:
            self._add_up()
        if sentences(report, windows=match.windows[seat], refused=match.refused[seat]):
            self._log = log
        if report.loss:
            self._lose(report, log, never_started=match.conduct[seat] is Conduct.NEVER_STARTED)
        for each in report.complaints:
            self._complaints.add((each.refusal, each.text), each.times)

    def _add_up(self) -> None:
        self._total = summed((self._total, *self._not_added))
        self._not_added = []

    def _lose(self, report: SeatReport, log: str, *, never_started: bool) -> None:
        self._lost += 1
        # If a program stopped before its first message, its last line of output is the error that stopped it.
        cause = (never_started and report.last_line) or report.loss
        words, numbers = _MEASURED.split(cause)[::2], _MEASURED.findall(cause)
        key = never_started, tuple(words)
        if key in self._kinds or len(self._kinds) < MOST_KINDS:
            self._kinds.setdefault(key, _LossKind(numbers)).add(numbers, report.last_line, log)

    def report(self) -> BotReport:
        """Return the summary of all reports so far."""
        self._add_up()
        losses = []
        for (never_started, words), kind in sorted(self._kinds.items(), key=lambda item: -item[1].matches):
            losses.append(kind.loss(words, never_started=never_started))
        complaints = (Complaint(refusal, text, times) for (refusal, text), times in self._complaints.most_common())
        return BotReport(
            matches=self._matches,
            windows=self._windows,
            refused=self._refused,
            lost=self._lost,
            losses=tuple(losses),
            total=replace(self._total, hello_us=None, complaints=tuple(complaints)),
            log=self._log,
        )


def reports_of(entrants: int, matches: Iterable[Reported]) -> tuple[BotReport, ...]:
    """Return the summaries of `entrants` bots, by entrant. Skip matches without reports."""
    tallies = [_Tally() for _ in range(entrants)]
    for match, reports, transcript in matches:
        stem = transcript.removesuffix(".jsonl")
        for seat, report in enumerate(reports):
            tallies[match.entrants[seat]].add(report, match, seat, f"{stem}.seat-{seat}.log")
    return tuple(map(_Tally.report, tallies))


BLOCK = attrgetter("block")
MOMENTS = 12
"""Number of points in the history of ratings, at equal parts of the blocks."""
MOST_BANDS = 100
"""Maximum number of bots up to which the history has intervals, because their cost grows with the cube of it."""
ROUGHLY = 0.003
"""Precision of the history, in units of log-strength: half an Elo point."""


class TimeUse(Struct, frozen=True):
    """Distribution over matches of one bot's charged time per window, in microseconds."""

    tenth: float
    """The 10th percentile."""
    median: float
    nine_tenths: float
    most: float


class RatingSnapshot(Struct, frozen=True):
    """Ratings after a number of blocks."""

    blocks: int
    matches: int
    elo: tuple[float, ...]
    """Ratings in Elo, indexed by entrant."""
    ends: tuple[tuple[float, float], ...] = ()
    """Ends of their 95 % intervals, with the prior where the results set no limit; empty for many bots."""


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
    moments: tuple[RatingSnapshot, ...]
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
    played: Sequence[CountedMatch],
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
        blocks=len(set(map(BLOCK, played))),
        matches=len(played),
        standings=tuple(order(standings_of(entrants, played, house))),
        ratings=rate(orders, entrants, house, last),
        moments=_moments(orders, played, strengths, house),
        by_seat=tuple(map(_sum, zip(*by_bot, strict=True))),
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
    orders: Orders,
    played: Sequence[CountedMatch],
    strengths: Sequence[tuple[int, Numbers]],
    house: int | None,
) -> tuple[RatingSnapshot, ...]:
    """Return the ratings after each of these numbers of blocks."""
    last = list(accumulate(Counter(map(BLOCK, played)).values()))
    """Number of matches up to the end of each block."""
    found = []
    for blocks, each in strengths:
        competing = [entrant for entrant in range(len(each)) if entrant != house]
        elo = (each - each[competing].mean()) * ELO + 0.0  # Adding 0.0 turns minus zero into zero.
        ratings: tuple[Rating, ...] = ()
        if len(each) <= MOST_BANDS:
            ratings = ratings_at(orders.upto(blocks), each, house)
        ends = tuple((rating.prior_low, rating.prior_high) for rating in ratings)
        found.append(RatingSnapshot(blocks, last[blocks - 1], tuple(elo.tolist()), ends))
    return tuple(found)


def _first(entrants: int, played: Sequence[CountedMatch]) -> tuple[int | None, ...]:
    """Return the number of matches before each entrant's first; None for a bot without matches."""
    first: dict[int, int] = {}
    for number, match in enumerate(played):
        for entrant in match.entrants:
            first.setdefault(entrant, number)
    return tuple(map(first.get, range(entrants)))


def _by_bot_and_seat(entrants: int, table: ResultArrays) -> tuple[tuple[Score, ...], ...]:
    """Return the matches and points of each bot in each seat."""
    cells = (table.entrants * table.seats + np.arange(table.seats)).ravel()
    matches = np.bincount(cells, minlength=entrants * table.seats).tolist()
    total = np.bincount(cells, table.shares.ravel(), entrants * table.seats).tolist()
    means = [Score(played=played, points=points) for played, points in zip(matches, total, strict=True)]
    return tuple(tuple(means[one * table.seats : (one + 1) * table.seats]) for one in range(entrants))


def _sum(means: Sequence[Score]) -> Score:
    return Score(played=sum(mean.played for mean in means), points=sum(mean.points for mean in means))


def _conduct(entrants: int, played: Sequence[CountedMatch]) -> tuple[dict[str, int], ...]:
    """Return each bot's numbers of matches by conduct, in the order of `Conduct`."""
    counts = [Counter[Conduct]() for _ in range(entrants)]
    for match in played:
        for entrant, conduct in zip(match.entrants, match.conduct, strict=True):
            counts[entrant][conduct] += 1
    return tuple(map(_by_name, counts))


def _by_name(count: Counter[Conduct]) -> dict[str, int]:
    return {kind.value: count[kind] for kind in Conduct if count[kind]}


def _time(entrants: int, played: Sequence[CountedMatch]) -> tuple[TimeUse | None, ...]:
    """Return the distribution of each bot's charged time per window over its matches."""
    used: list[list[float]] = [[] for _ in range(entrants)]
    for match in played:
        seats = zip(match.entrants, match.charged_us, match.windows, match.conduct, strict=True)
        for entrant, charged, windows, conduct in seats:
            if windows and conduct is not Conduct.NEVER_STARTED:
                used[entrant].append(charged / windows)
    return tuple(map(_time_use, used))


def _time_use(times: list[float]) -> TimeUse | None:
    if not times:
        return None
    tenths = times * 9
    if len(times) > 1:
        tenths = quantiles(times, n=10, method="inclusive")
    return TimeUse(tenths[0], tenths[4], tenths[8], max(times))
