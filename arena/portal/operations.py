"""Health of the server and its competitions, for operators and for Prometheus.

Numbers name competitions, states and processes; never a team, an address or a secret.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from arena.errors import MachineCannot, WrongUse
from arena.portal.supervisor import complaints, read_reports
from arena.portal.visit import RouteTerms, Visit
from arena.quantities import pluralise
from arena.tournament import LEDGER, AttemptCounts, Ledger
from arena.web import ALWAYS, Refusal, ServedCompetition
from referee.linux.processes import children

LOW_BYTES = 500_000_000
"""Free bytes on the disk below which the server says that it is not well."""
LOW_SHARE = 0.02
"""Share of the disk for the same, at most `LOW_SHARE_BYTES`; and share of its files."""
LOW_SHARE_BYTES = 5_000_000_000


LabelT = TypeVar("LabelT", bound=str)


class Disk(Struct, frozen=True, kw_only=True):
    """The disk with a server's folder."""

    free: int
    total: int
    """Bytes, as `free`."""
    free_files: int
    files: int
    """Number of files that it has room for; 0: it has no such bound."""

    @property
    def complaint(self) -> str:
        """Sentence about the resource that is nearly used up; "" if none is."""
        if self.free < LOW_BYTES or self.free < min(LOW_SHARE * self.total, LOW_SHARE_BYTES):
            return f"the disk is nearly full: {self.free / 1e9:.1f} of {self.total / 1e9:.1f} GB are free"
        if self.free_files < LOW_SHARE * self.files:
            return f"the disk has hardly room for more files: {self.free_files:,} of {self.files:,}"
        return ""


def disk_of(folder: Path) -> Disk:
    """Return the state of the disk that holds a folder."""
    space, files = shutil.disk_usage(folder), os.statvfs(folder)
    return Disk(free=space.free, total=space.total, free_files=files.f_favail, files=files.f_files)


class PlayState(Struct, frozen=True, kw_only=True):
    """Progress of a tournament."""

    slug: str
    title: str
    counted: int
    """Number of matches that count."""
    under_way: int
    """Number of attempts that have not ended; those of a killed arena stay until it starts again."""
    voids: int
    """Number of void attempts since the last match that was played."""
    reason: str
    """Reason of the last of these."""


def play_states(parts: Sequence[ServedCompetition]) -> list[PlayState]:
    """Return how the tournaments go. One whose ledger cannot be read is left out."""
    found: list[PlayState] = []
    for part in parts:
        if not (part.folder / LEDGER).is_file():
            continue
        with suppress(WrongUse, MachineCannot), closing(Ledger(part.folder / LEDGER)) as ledger:
            voids, reason = ledger.void_series()
            found.append(
                PlayState(
                    slug=part.slug,
                    title=part.title,
                    counted=ledger.matches(),
                    under_way=len(ledger.times().under_way),
                    voids=voids,
                    reason=reason,
                )
            )
    return found


class Meter:
    """Counts what tournaments play from when this process sees them first; a collector for Prometheus."""

    def __init__(self) -> None:
        self._counts: dict[str, AttemptCounts] = {}
        """Sums by slug; `last` is the last attempt in them."""

    def look(self, parts: Sequence[ServedCompetition]) -> None:
        """Add the attempts that have ended since the last look; those of a ledger that cannot be read, later."""
        for part in parts:
            if not (part.folder / LEDGER).is_file():
                continue
            with suppress(WrongUse, MachineCannot), closing(Ledger(part.folder / LEDGER)) as ledger:
                before = self._counts.get(part.slug)
                if before is None:
                    self._counts[part.slug] = AttemptCounts(ledger.last_settled())
                else:
                    self._counts[part.slug] = _sum(before, ledger.counts(before.last))

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield the counters."""
        for field, what in (
            ("played", "Matches that were played to their end"),
            ("void", "Attempts at matches that were void, without interrupted ones"),
            ("windows", "Windows of all seats"),
            ("defaults", "Windows in which the default action was taken"),
            ("late", "Windows whose answers came too late"),
            ("failed", "Seats whose conduct was not ok"),
        ):
            family = CounterMetricFamily(f"arena_{field}", f"{what}, from this start", labels=["tournament"])
            for slug, counts in self._counts.items():
                family.add_metric([slug], getattr(counts, field))
            yield family


def _sum(before: AttemptCounts, more: AttemptCounts) -> AttemptCounts:
    return AttemptCounts(
        last=more.last,
        played=before.played + more.played,
        void=before.void + more.void,
        windows=before.windows + more.windows,
        defaults=before.defaults + more.defaults,
        late=before.late + more.late,
        failed=before.failed + more.failed,
    )


def processes(folder: Path) -> list[tuple[str, str]]:
    """Return the processes of the server whose folder this is, and how each does, in words."""
    found: list[tuple[str, str]] = []
    for each in read_reports(folder):
        text = each.text
        if each.pid is not None and (own := children(each.pid)):
            text = f"{text}, with {pluralise(len(own), 'worker')}"
        found.append((each.name, text))
    return found


def server_complaints(folder: Path) -> list[str]:
    """Return a line for each thing that is wrong with the server whose folder this is."""
    disk = disk_of(folder)
    return [*([disk.complaint] if disk.complaint else []), *complaints(folder)]


async def healthz(visit: Visit) -> Response:
    """Say whether the server works: 200 if it does, 503 with the reasons otherwise."""
    portal = visit.portal
    folder = portal.competition.server
    reasons = await portal.in_thread(lambda: server_complaints(folder))
    try:
        await portal.in_thread(lambda: portal.database.value("SELECT 1"))
    except (WrongUse, MachineCannot):
        reasons.append("the database cannot be read")
    reports = await portal.in_thread(lambda: read_reports(folder))
    states = {each.name: each.state for each in reports}
    return visit.json(
        {"well": not reasons, "reason": "; ".join(reasons), "processes": states},
        HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK,
    )


async def metrics(visit: Visit) -> Response:
    """Send the server's numbers in Prometheus' format, to clients on this machine alone."""
    portal = visit.portal
    if visit.client:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    registry = CollectorRegistry()
    await portal.in_thread(lambda: _of_queue(visit, registry))
    await portal.in_thread(lambda: _of_machine(portal.competition.server, registry))
    await portal.in_ledgers(lambda: _of_tournaments(visit, registry))
    headers = {"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"}
    return Response(generate_latest(registry), headers=ALWAYS | headers)


def _of_queue(visit: Visit, registry: CollectorRegistry) -> None:
    submissions, jobs = visit.portal.submissions, visit.portal.scrimmages.jobs
    queue = submissions.queue()
    _set(registry, "arena_submissions", "Submissions by state", "state", submissions.counts_by_state())
    _set(registry, "arena_queue_waiting", "Jobs that wait, by kind", "kind", jobs.waiting_by_kind())
    numbers = {
        "arena_queue_teams": ("Teams whose jobs wait", queue.teams),
        "arena_queue_oldest_seconds": ("Seconds for which the oldest job has waited", jobs.seconds_waited()),
        "arena_queue_in_work": ("Jobs in work", queue.in_work),
        "arena_queue_paused": ("1 if the host has paused the judge", queue.paused),
        "arena_queue_typical_seconds": ("Seconds that a submission typically takes", queue.seconds or 0.0),
        "arena_queue_failed": ("Jobs that the judge failed at and will try again", jobs.failed()),
    }
    for name, (what, value) in numbers.items():
        Gauge(name, what, registry=registry).set(value)


def _of_machine(folder: Path, registry: CollectorRegistry) -> None:
    disk = disk_of(folder)
    Gauge("arena_disk_free_bytes", "Free bytes of the disk with the results", registry=registry).set(disk.free)
    Gauge("arena_disk_bytes", "Bytes of the disk with the results", registry=registry).set(disk.total)
    Gauge("arena_disk_free_files", "Files that it has room for", registry=registry).set(disk.free_files)
    reports = read_reports(folder)
    runs = {each.name: each.state == "runs" for each in reports}
    starts = {each.name: each.starts for each in reports}
    workers = {each.name: len(children(each.pid)) for each in reports if each.pid is not None}
    _set(registry, "arena_process_runs", "1 if a process of the server runs", "process", runs)
    _set(registry, "arena_process_starts", "Starts of a process by this supervisor", "process", starts)
    _set(registry, "arena_workers", "Processes that it has started itself, as workers", "process", workers)


def _of_tournaments(visit: Visit, registry: CollectorRegistry) -> None:
    portal = visit.portal
    states = play_states(portal.parts)
    counted = {each.slug: each.counted for each in states}
    under_way = {each.slug: each.under_way for each in states}
    voids = {each.slug: each.voids for each in states}
    _set(registry, "arena_matches_counted", "Matches that count", "tournament", counted)
    _set(registry, "arena_matches_under_way", "Matches that are played now", "tournament", under_way)
    _set(registry, "arena_void_series", "Void attempts since the last match", "tournament", voids)
    portal.meter.look(portal.parts)
    registry.register(portal.meter)


def _set(registry: CollectorRegistry, name: str, what: str, label: str, values: Mapping[LabelT, float]) -> None:
    gauge = Gauge(name, what, [label], registry=registry)
    for value, number in values.items():
        gauge.labels(value).set(number)


ROUTES = (
    RouteTerms("healthz", "anybody", healthz, of_programs=True),
    RouteTerms("metrics", "anybody", metrics, of_programs=True),
)
