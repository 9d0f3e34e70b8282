"""Plays many matches of the same bots in several processes: each deal once in every rotation of the seats."""

import os
import pickle
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, SupportsIndex, overload

from msgspec import Struct
from msgspec.structs import replace
from rich.progress import TimeElapsedColumn

from arena.processes import process_pool
from arena.quantities import Column, Table, pluralise, require_int, three_digits
from arena.simulation.bots import BotGiven, BotSource, OnError, OnIllegal, Rules, check_number, source_of
from arena.simulation.match import Given, Result, new_table, seed_of
from arena.simulation.one_match import play_table, terms_of
from arena.statistics import MeanPoints, mean_points
from arena.terminal import progress_bar, progress_console
from referee.match import Policy

PARTS = 16
"""Number of parts of the matches per process: few enough to cost little, enough to move the progress bar."""
LARGEST_PART = 200
IMPORTABLE = (
    "other processes must be able to import a bot: put it into a module, at its top level; or say workers=1"
)
GUARDED = 'a script calls play_many below `if __name__ == "__main__":`; or say workers=1'


class SharedTerms(Struct, frozen=True):
    """Terms that all matches share."""

    game: str
    variant: str | None
    options: Given
    setup: Given
    seed: int
    rules: Rules


class Sitting(Struct, frozen=True):
    """The deal and the seating of one match."""

    seed: int
    seating: int
    bots: tuple[int, ...]
    """Indices of the bots, by seat."""


class BotSummary(Struct, frozen=True, kw_only=True):
    """Summary of one bot's results."""

    bot: str
    played: int
    points: MeanPoints
    """Mean points per match, with a 95 % interval."""
    wins: int
    """Number of matches in which the bot ranks first, alone or tied."""
    windows: int
    defaults: int
    illegal: int


def _interval(points: MeanPoints) -> str:
    return f"{points.low:.3f} to {points.high:.3f}"


COLUMNS: tuple[Column[BotSummary], ...] = (
    Column("bot", lambda summary: summary.bot, is_text=True),
    Column("points", lambda summary: summary.points.mean, three_digits),
    Column("95 % interval", lambda summary: summary.points, _interval),
    Column("played", lambda summary: summary.played),
    Column("first", lambda summary: summary.wins),
    Column("defaults", lambda summary: summary.defaults),
)
"""Columns of the table of results."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Results(Sequence[Result[None]]):
    """The results of many matches, as a sequence: a slice is a `Results`, too."""

    results: tuple[Result[None], ...]
    """Results in order; bots are listed by seat."""
    sittings: tuple[Sitting, ...]
    """Deals and seatings of the same matches."""
    bots: tuple[str, ...]
    """Names of the bots, in the order of the argument."""

    def __len__(self) -> int:
        """Return the number of matches."""
        return len(self.results)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Result[None]: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: SupportsIndex | slice) -> "Result[None] | Results":
        """Return one result, or those of a slice, whose `summary` is of these alone."""
        if isinstance(index, slice):
            return Results(results=self.results[index], sittings=self.sittings[index], bots=self.bots)
        return self.results[index]

    def __iter__(self) -> Iterator[Result[None]]:
        """Iterate over the results in order."""
        return iter(self.results)

    @property
    def summary(self) -> tuple[BotSummary, ...]:
        """Summaries by bot, in the order of the argument; empty without matches."""
        if not self.results:
            return ()
        return tuple(map(self._summary, range(len(self.bots))))

    def _summary(self, bot: int) -> BotSummary:
        points: list[tuple[int, float]] = []
        wins = windows = defaults = illegal = 0
        for result, sitting in zip(self.results, self.sittings, strict=True):
            seat = sitting.bots.index(bot)
            points.append((sitting.seed, result.points[seat]))
            wins += seat in result.ranking[0]
            windows += result.windows[seat]
            defaults += result.defaults[seat]
            illegal += result.illegal[seat]
        return BotSummary(
            bot=self.bots[bot],
            played=len(points),
            points=mean_points(points),
            wins=wins,
            windows=windows,
            defaults=defaults,
            illegal=illegal,
        )

    def __str__(self) -> str:
        """Return the summary as a table."""
        table = Table(COLUMNS, self.summary)
        rows = [table.headings, *table.cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        """See `__str__`."""
        return f"<Results of {pluralise(len(self), 'match')}>\n{self}"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks."""
        from arena.simulation.html import text  # noqa: PLC0415 - only notebooks need it

        return text(str(self))


def play_many(
    game: str,
    bots: Sequence[BotGiven],
    *,
    matches: int,
    workers: int | None = None,
    seed: SupportsIndex | None = None,
    variant: str | None = None,
    options: Given = None,
    setup: Given = None,
    on_illegal: OnIllegal = "raise",
    on_error: OnError = "raise",
    progress: bool = True,
) -> Results:
    """Play many matches. Each deal is played once in every rotation of the bots round the table.

    The results and their order do not depend on the number of processes if bots use only `window.rng` for random
    choices. Every match has new bots: an object is copied for each.

    Args:
        game: as for `play`.
        bots: one for each seat.
        matches: total number; the last deal is incomplete if it is not a multiple of the number of seats.
        workers: number of processes, by default one per core; with 1 this process plays, and bots may be anything.
        seed: seed of all deals, by default random.
        variant: as for `play`.
        options: as for `play`.
        setup: as for `play`.
        on_illegal: as for `play`.
        on_error: as for `play`.
        progress: True to show a bar in a terminal.

    Raises:
        ValueError: as `play`, or the bots cannot be sent to other processes.
        IllegalActionError, BotError: as `play`; the remaining matches are not played.
    """
    matches = require_int("matches", matches, 1)
    if workers is not None:
        workers = require_int("workers", workers, 1)
    seats = new_table(game, variant, 0, options, setup).seats
    check_number(game, bots, seats)
    drawn = seed_of(seed)
    terms = SharedTerms(game, variant, options, setup, drawn, Rules(on_illegal, on_error))
    sittings = _sittings(drawn, seats, matches)
    sources = [source_of(game, each, fresh=True) for each in bots]
    processes = min(workers or len(os.sched_getaffinity(0)), matches)
    parts = _parts(sittings, processes)
    done = (_play_part(terms, sources, part) for part in parts)
    if processes > 1:
        done = _pooled(terms, bots, parts, processes)
    results: list[Result[None]] = []
    # If a match fails, the generator is closed at once, without waiting for other matches.
    with closing(done), progress_bar(progress_console(), TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("matches", total=matches, visible=progress)
        for part in done:
            results += part
            bar.advance(task, len(part))
    return Results(results=tuple(results), sittings=tuple(sittings), bots=tuple(source.name for source in sources))


def _sittings(seed: int, seats: int, matches: int) -> list[Sitting]:
    """Return the deals and seatings, which equal those of a tournament's blocks."""
    from arena.schedule import Block  # noqa: PLC0415 - it needs NumPy, as statistics do

    every = tuple(range(seats))
    sittings: list[Sitting] = []
    for number in range(-(-matches // seats)):
        matches_of_block = Block(number, 0, every, every, seed).matches
        sittings += [Sitting(match.seed, match.seating, match.entrants) for match in matches_of_block]
    return sittings[:matches]


def _parts(sittings: Sequence[Sitting], processes: int) -> list[Sequence[Sitting]]:
    size = min(LARGEST_PART, max(1, len(sittings) // (processes * PARTS)))
    return [sittings[at : at + size] for at in range(0, len(sittings), size)]


def _play_part(terms: SharedTerms, sources: Sequence[BotSource], part: Sequence[Sitting]) -> list[Result[None]]:
    """Play some of the matches. The results have no `match`, because they may go to another process."""
    results = []
    for sitting in part:
        table = new_table(terms.game, terms.variant, sitting.seed, terms.options, terms.setup)
        clock = terms_of(table, Policy(), None)
        seated = [sources[bot] for bot in sitting.bots]
        result = play_table(table, seated, terms.rules, clock, seating=sitting.seating)
        kept: Any = replace(result, match=None)
        results.append(kept)
    return results


def _pooled(
    terms: SharedTerms, bots: Sequence[BotGiven], parts: Sequence[Sequence[Sitting]], processes: int
) -> Generator[list[Result[None]], None, None]:
    """Play the parts in other processes; yield the results in order."""
    try:
        packed = pickle.dumps((terms, tuple(bots)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"bots: {error}: {IMPORTABLE}") from None
    with process_pool(processes) as pool:
        try:
            yield from pool.map(_play_packed, [packed] * len(parts), parts)
        except BrokenProcessPool:
            raise RuntimeError(f"a process that played matches has ended: {GUARDED}") from None


def _play_packed(packed: bytes, part: Sequence[Sitting]) -> list[Result[None]]:
    """Play a part in a process of the pool."""
    terms, sources = _unpacked(packed)
    return _play_part(terms, sources, part)


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[SharedTerms, list[BotSource]]:
    try:
        terms, bots = pickle.loads(packed)  # noqa: S301 - the parent process made it
    except (AttributeError, ImportError) as error:
        raise ValueError(f"bots: {error}: {IMPORTABLE}") from None
    return terms, [source_of(terms.game, each, fresh=True) for each in bots]
