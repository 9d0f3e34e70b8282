"""What operators watch: whether the server works, and its numbers for Prometheus."""

import shutil
from http import HTTPStatus
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from arena.portal.supervisor import read_reports
from arena.portal.visit import RouteTerms, Visit
from arena.submissions import STATES
from arena.web import ALWAYS, Refusal

LOW_BYTES = 500_000_000
"""Free bytes on the disk below which the server says that it is not well."""


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk that holds a folder."""
    return shutil.disk_usage(folder).free


async def healthz(visit: Visit) -> Response:
    """Say whether the server works: 200 if it does, 503 with the reason otherwise."""
    portal = visit.portal
    await portal.in_thread(lambda: portal.database.value("SELECT 1"))
    free = await portal.in_thread(lambda: free_bytes(portal.competition.server))
    reports = await portal.in_thread(lambda: read_reports(portal.competition.server))
    well = free >= LOW_BYTES
    states = {each.name: each.state for each in reports}
    return visit.json(
        {"well": well, "reason": "" if well else "the disk is nearly full", "processes": states},
        HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE,
    )


async def metrics(visit: Visit) -> Response:
    """Send the server's numbers in Prometheus' format, to clients on this machine alone."""
    portal = visit.portal
    if visit.client:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    counts = await portal.in_thread(portal.submissions.counts_by_state)
    queue = await portal.in_thread(portal.submissions.queue)
    free = await portal.in_thread(lambda: free_bytes(portal.competition.server))
    registry = CollectorRegistry()
    states = Gauge("arena_submissions", "Submissions by state", ["state"], registry=registry)
    for state in STATES:
        states.labels(state).set(counts.get(state, 0))
    Gauge("arena_queue_waiting", "Submissions that wait to be judged", registry=registry).set(queue.waiting)
    Gauge("arena_queue_teams", "Teams whose submissions wait", registry=registry).set(queue.teams)
    Gauge("arena_disk_free_bytes", "Free bytes of the disk with the results", registry=registry).set(free)
    runs = Gauge("arena_process_runs", "1 if a process of the server runs", ["process"], registry=registry)
    starts = Gauge(
        "arena_process_starts", "Starts of a process by this supervisor", ["process"], registry=registry
    )
    for each in await portal.in_thread(lambda: read_reports(portal.competition.server)):
        runs.labels(each.name).set(each.state == "runs")
        starts.labels(each.name).set(each.starts)
    headers = {"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"}
    return Response(generate_latest(registry), headers=ALWAYS | headers)


ROUTES = (
    RouteTerms("healthz", "anybody", healthz, of_programs=True),
    RouteTerms("metrics", "anybody", metrics, of_programs=True),
)
