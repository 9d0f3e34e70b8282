"""Stress tests of the timing rules: load over the real wire, campaigns in virtual time, and tables of both.

Load tests play many simultaneous matches with bots that answer close to their deadlines. The bots are
`stress_edge`, in the sandbox like any other; each logs when it really answered, and these logs are compared with
the referee's transcripts.

Campaigns are split into portions that any number of processes share. A portion's seed is derived from the seed of
the campaign and the portion's number, so the number of processes does not change what is played. Scripts and their
checks are in `referee.proofs.fuzzing`.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import trio
from msgspec import Raw, Struct

from arena import event_loop
from arena.processes import process_pool
from arena.quantities import Column, Table
from arena.terminal import Grid, grid
from referee.bot_folder import find_bot
from referee.host import AttemptResult, Plan, SandboxedBot, play
from referee.match import Judged, Policy, SeatTime, Used, Verdict, WindowTime
from referee.proofs.fuzzing import CampaignCounts, Violation, fuzz
from referee.sandbox import Isolation
from referee.transcript import read_transcript
from referee.wire import Wire, open_wire

BOT = "stress_edge"
TURNS = 10
MARGIN_US = 5_000
"""Distance to the end of main time within which a bot's log cannot tell whether an answer was in time. The log
counts from the window's arrival at the bot, and the referee from its handover."""
SAFE_LATENESS_US = 20_000
"""Limit of the 99.9th percentile of the referee's lateness, below which it is not overloaded."""
PERCENTILES = (50.0, 99.0, 99.9, 100.0)
GLANCE_SECONDS = 0.1
LEVEL_SEEDS = 1_000_000
"""Distance between the first seeds of two levels."""
STARTUP_MS = 120_000


class Percentiles(Struct, frozen=True):
    """Percentiles of times in microseconds."""

    p50: int
    p99: int
    p999: int
    max: int


class LoadResult(Struct, frozen=True, kw_only=True):
    """Measurements of one level: a number of matches played at once."""

    concurrent: int
    matches: int
    seconds: float
    windows: int
    lateness: Percentiles
    """Delay of the referee's wake-up after the deadlines that it acted on."""
    behind: Percentiles
    """Longest event-loop stall per window."""
    charged: Percentiles
    """Charged time in excess of the bot's own time, according to its log."""
    verdicts: dict[str, int]
    wrong_defaults: int
    """Windows with a default by the bot's fault, although its own log shows it in time by more than MARGIN_US."""
    wrong_answers: int
    """Windows that accepted an answer although it was late according to the bot's own log."""
    cpu_ms: float
    """Processor time of the referee per match, in milliseconds."""
    memory_kb: float
    """Growth of the referee's memory per simultaneous match, in KiB."""
    void: int
    latenesses: tuple[int, ...]
    overcharges: tuple[int, ...]

    @property
    def is_safe(self) -> bool:
        """True if nothing went wrong that a smaller load would have spared."""
        unfair = self.verdicts.get("referee", 0) + self.verdicts.get("host", 0)
        wrong = self.wrong_defaults + self.wrong_answers + self.void
        return unfair == wrong == 0 and self.lateness.p999 <= SAFE_LATENESS_US


class Load(Struct, frozen=True, kw_only=True):
    """Parameters of a stress test."""

    levels: tuple[int, ...]
    """Number of simultaneous matches of each level, in order."""
    matches: int | None = None
    """Number of matches per level; None: twice the number of simultaneous ones."""
    main_ms: int = 200
    hogs: int = 0
    """Number of additional processes that only use processor time."""
    seed: int = 0
    isolation: Isolation = "strict"


def run_load(load: Load, ended: Callable[[int, int], None]) -> list[LoadResult]:
    """Play all levels. After each match, call `ended` with the level and the number of its finished matches.

    Raises:
        SandboxError: the machine does not provide the isolation.
        Stopped: a signal arrived.
    """
    with _hogs(load.hogs):
        return event_loop.run(lambda: _levels(load, ended))


async def _levels(load: Load, ended: Callable[[int, int], None]) -> list[LoadResult]:
    found = []
    async with open_wire() as wire:
        for number, concurrent in enumerate(load.levels):
            with tempfile.TemporaryDirectory(prefix="arena-stress-") as folder:
                level = _LoadRun(load, concurrent, number, Path(folder), wire, ended=partial(ended, concurrent))
                found.append(await level.play(load.matches or 2 * concurrent))
    return found


class _LoadRun:
    """One level in progress."""

    def __init__(
        self, load: Load, concurrent: int, number: int, folder: Path, wire: Wire, *, ended: Callable[[int], None]
    ) -> None:
        self._load = load
        self._concurrent = concurrent
        self._number = number
        self._folder = folder
        self._wire = wire
        self._ended = ended
        self._results: list[AttemptResult] = []
        self._peak = 0

    async def play(self, matches: int) -> LoadResult:
        """Play a number of matches and summarise them."""
        before = self._peak = resident_bytes()
        began, used = time.monotonic(), time.process_time()
        async with trio.open_nursery() as watching:
            watching.start_soon(self._watch)
            await event_loop.share_out(range(matches), self._concurrent, self._play_match)
            seconds, cpu = time.monotonic() - began, time.process_time() - used
            watching.cancel_scope.cancel()
        seen = _Seen(self._load.main_ms * 1000)
        verdicts = Counter[str]()
        for result in self._results:
            seen.take(result)
            for of_seat in result.verdicts:
                verdicts.update(of_seat)
        return LoadResult(
            concurrent=self._concurrent,
            matches=matches,
            seconds=seconds,
            windows=seen.windows,
            lateness=percentiles(seen.lateness),
            behind=percentiles(seen.behind),
            charged=percentiles(seen.overcharged),
            verdicts=dict(verdicts),
            wrong_defaults=seen.wrong_defaults,
            wrong_answers=seen.wrong_answers,
            cpu_ms=cpu / matches * 1000,
            memory_kb=(self._peak - before) / 1024 / self._concurrent,
            void=sum(result.outcome is None for result in self._results),
            latenesses=tuple(sorted(seen.lateness)),
            overcharges=tuple(sorted(seen.overcharged)),
        )

    async def _play_match(self, number: int) -> None:
        bot, load = SandboxedBot(find_bot(BOT)), self._load
        plan = Plan(
            match=f"{self._number}-{number}",
            game="mist",
            variant="contractual-obligation",
            seed=load.seed + LEVEL_SEEDS * self._number + number,
            options=Raw(b'{"first":0,"max_turns":%d}' % TURNS),
            policy=Policy(main_ms=load.main_ms, reserve_ms=0, startup_ms=STARTUP_MS, unfair="note"),
            isolation=load.isolation,
        )
        transcript = self._folder / f"{plan.match}.jsonl"
        self._results.append(await play(plan, (bot, bot), transcript=transcript, wire=self._wire))
        self._ended(len(self._results))

    async def _watch(self) -> None:
        while True:
            self._peak = max(self._peak, resident_bytes())
            await trio.sleep(GLANCE_SECONDS)


class _Seen:
    """Measurements from transcripts and the bots' own logs."""

    def __init__(self, main: int) -> None:
        """Start to compare, given the main time in microseconds."""
        self._main = main
        self.windows = self.wrong_defaults = self.wrong_answers = 0
        self.lateness: list[int] = []
        self.behind: list[int] = []
        self.overcharged: list[int] = []

    def take(self, result: AttemptResult) -> None:
        """Add the measurements of one match."""
        path = Path(result.transcript)
        own_logs = [_own_log(path, seat) for seat in (0, 1)]
        records = tuple(read_transcript(path))
        judged = {(each.seat, each.number): each.verdict for each in records if isinstance(each, Judged)}
        counts = [0, 0]
        for record in records:
            if isinstance(record, Used):
                self.behind.append(record.behind)
            elif isinstance(record, WindowTime):
                self.windows += 1
                if record.lateness:
                    self.lateness.append(record.lateness)
                for part in record.seats:
                    number = counts[part.seat]
                    self._compare(part, own_logs[part.seat].get(number), judged.get((part.seat, number)))
                    counts[part.seat] += 1

    def _compare(self, part: SeatTime, after: int | None, verdict: Verdict | None) -> None:
        """Compare the referee's result with the bot's log: how long after the window's arrival it answered."""
        if after is None:
            return
        in_time = after < self._main - MARGIN_US
        self.wrong_defaults += part.by_default and in_time and verdict is Verdict.BOT
        self.wrong_answers += not part.by_default and after > self._main + MARGIN_US
        if part.arrived is not None:
            self.overcharged.append(part.arrived - part.opened - after)


def _own_log(transcript: Path, seat: int) -> dict[int, int]:
    """Return the bot's answer times in microseconds from its own log, by window."""
    found = {}
    try:
        lines = transcript.with_suffix(f".seat-{seat}.log").read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            entry = json.loads(line)
            found[int(entry["window"])] = int(entry["after"])
        except (ValueError, KeyError, TypeError):
            continue  # The log is bounded, so its last line may be cut.
    return found


def percentiles(values: Sequence[int]) -> Percentiles:
    """Return percentiles of the values; zeros if there are none."""
    ordered = sorted(values) or [0]
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * part / 100))] for part in PERCENTILES]
    return Percentiles(*at)


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _hogs(count: int) -> Iterator[None]:
    """Run processes that use all available processor time; they end with this process."""
    hog = "import ctypes, signal\nctypes.CDLL(None).prctl(1, signal.SIGKILL)\nwhile True: pass"
    running = [subprocess.Popen([sys.executable, "-c", hog]) for _ in range(count)]  # noqa: S603 - our own
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


PORTION = 2_000
"""Windows per portion, about one second of work."""


class Campaign(Struct, frozen=True, kw_only=True):
    """Result of a fuzzing campaign."""

    seed: int
    windows: int
    matches: int
    messages: int
    """Number of steps by bots, operators and the network."""
    seconds: float
    finding: Violation | None

    @property
    def pace(self) -> float:
        """Windows per second."""
        return self.windows / self.seconds


def play_campaign(
    seed: int, windows: int, processes: int, progress: Callable[[int], object] = lambda _: None
) -> Campaign:
    """Check a number of windows, or all up to the first finding.

    Args:
        seed: seed of the campaign; the same seed produces the same matches.
        windows: minimum number of windows to play.
        processes: number of processes that share the work; 1 uses this process alone.
        progress: called with the number of windows judged since the last call.
    """
    began = monotonic()
    total, finding = CampaignCounts(), None
    for tally, finding in _portions(seed, windows, processes):
        total.windows += tally.windows
        total.matches += tally.matches
        total.messages += tally.messages
        progress(tally.windows)
        if finding is not None:
            break
    return Campaign(
        seed=seed,
        windows=total.windows,
        matches=total.matches,
        messages=total.messages,
        seconds=monotonic() - began,
        finding=finding,
    )


def _portions(seed: int, windows: int, processes: int) -> Iterator[tuple[CampaignCounts, Violation | None]]:
    """Yield the result of each portion, in order."""
    starts = range(0, windows, PORTION)
    portions = [(f"{seed}/{number}", min(PORTION, windows - start)) for number, start in enumerate(starts)]
    if processes == 1:
        yield from (_fuzz(*portion) for portion in portions)
        return
    with process_pool(processes) as pool:
        for future in [pool.submit(_fuzz, *portion) for portion in portions]:
            yield future.result()


def _fuzz(seed: str, windows: int) -> tuple[CampaignCounts, Violation | None]:
    """Run one portion with rare garbage collection; Python's default takes a fifth of the time here."""
    usual = gc.get_threshold()
    gc.set_threshold(*event_loop.GARBAGE)
    try:
        return fuzz(seed, windows)
    finally:
        gc.set_threshold(*usual)


BINS = (0, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Lower bounds of the histogram's bins in microseconds; the last bin has no upper bound."""
WIDTH, HEIGHT, BAR = 640, 160, 50
"""Size of a histogram, and the distance between its bars, in units of the drawing."""


def _milliseconds(microseconds: int) -> str:
    return f"{microseconds / 1000:z.2f}"


def _time(heading: str, value: Callable[[LoadResult], int]) -> Column[LoadResult]:
    """Return a column of times in milliseconds."""
    return Column(heading, value, _milliseconds)


def _verdicts(name: str) -> Column[LoadResult]:
    """Return a column with the number of windows for which one side was to blame."""
    return Column(name, lambda level: level.verdicts.get(name, 0))


def _all_verdicts(level: LoadResult) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(level.verdicts.items())) or "none"


AT_ONCE: Column[LoadResult] = Column("at once", lambda level: level.concurrent)
LATENESS = (
    _time("late p50", lambda level: level.lateness.p50),
    _time("p99", lambda level: level.lateness.p99),
    _time("p99.9", lambda level: level.lateness.p999),
    _time("max", lambda level: level.lateness.max),
)
WRONG: Column[LoadResult] = Column("wrong", lambda level: level.wrong_defaults + level.wrong_answers + level.void)
CPU: Column[LoadResult] = Column("CPU ms", lambda level: level.cpu_ms, "{:.0f}".format)
MEMORY: Column[LoadResult] = Column("KiB", lambda level: level.memory_kb, "{:.0f}".format)
IN_TERMINAL: tuple[Column[LoadResult], ...] = (
    AT_ONCE,
    Column("matches", lambda level: level.matches),
    Column("a second", lambda level: level.matches / level.seconds, "{:.1f}".format),
    *LATENESS,
    _time("behind p99.9", lambda level: level.behind.p999),
    _time("charged - actual p50", lambda level: level.charged.p50),
    _time("charged - actual p99.9", lambda level: level.charged.p999),
    _verdicts("bot"),
    _verdicts("referee"),
    _verdicts("host"),
    WRONG,
    CPU,
    MEMORY,
)
ON_PAGE: tuple[Column[LoadResult], ...] = (
    AT_ONCE,
    Column("matches a second", lambda level: level.matches / level.seconds, "{:.1f}".format),
    *LATENESS,
    Column("verdicts", _all_verdicts),
    WRONG,
)


def stress_table(levels: Sequence[LoadResult]) -> Grid:
    """Return a table with one row per level."""
    return grid(Table(IN_TERMINAL, levels))


class HistogramBar(Struct, frozen=True):
    """A bar of a histogram, in units of the drawing."""

    left: int
    top: int
    height: int
    bound: str
    """Lower bound of the bin in milliseconds."""
    count: int


def histogram(values: Sequence[int]) -> list[HistogramBar]:
    """Return the bars of the number of values per bin."""
    counts = [0] * len(BINS)
    for value in values:
        counts[max((at for at, bound in enumerate(BINS) if value >= bound), default=0)] += 1
    most = max([*counts, 1])
    bars = []
    for at, (bound, count) in enumerate(zip(BINS, counts, strict=True)):
        height = round(count / most * (HEIGHT - 40))
        bars.append(HistogramBar(at * BAR + 5, HEIGHT - 20 - height, height, f"{bound / 1000:g}", count))
    return bars


def stress_context(load: Load, levels: Sequence[LoadResult], machine: str) -> dict[str, Any]:
    """Return the values for the template of the page; see `arena.pages.stress_page`."""
    table = Table(ON_PAGE, levels)
    charts = [(level.concurrent, histogram(level.latenesses), histogram(level.overcharges)) for level in levels]
    return {
        "machine": machine,
        "load": load,
        "headings": table.headings,
        "rows": table.cells(),
        "charts": charts,
        "width": WIDTH,
        "height": HEIGHT,
        "bar_width": BAR - 8,
    }
