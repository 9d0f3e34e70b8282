"""Run matches in referee processes, on this machine or on a cluster.

Each name is imported at its first use, because a referee process needs only a few of these modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.workers.api import Play, Roster, Worker, WorkerGoneError, WorkerPool, Workers
    from arena.workers.cluster import PATIENCE_SECONDS
    from arena.workers.machine import (
        MAX_CONCURRENCY,
        cores,
        demand_room,
        keep_calibration,
        matches_at_once,
        own_content,
        own_files,
        ready,
    )
    from arena.workers.placement import LOCAL, Placement, PoolSetup
    from arena.workers.pool import workers_kept
    from arena.workers.remote_seats import Hosting, RemoteSeats, open_listener

__all__ = [
    "LOCAL",
    "MAX_CONCURRENCY",
    "PATIENCE_SECONDS",
    "Hosting",
    "Placement",
    "Play",
    "PoolSetup",
    "RemoteSeats",
    "Roster",
    "Worker",
    "WorkerGoneError",
    "WorkerPool",
    "Workers",
    "cores",
    "demand_room",
    "keep_calibration",
    "matches_at_once",
    "open_listener",
    "own_content",
    "own_files",
    "ready",
    "workers_kept",
]

_PLACES = {
    "Hosting": "arena.workers.remote_seats",
    "LOCAL": "arena.workers.placement",
    "MAX_CONCURRENCY": "arena.workers.machine",
    "PATIENCE_SECONDS": "arena.workers.cluster",
    "Play": "arena.workers.api",
    "RemoteSeats": "arena.workers.remote_seats",
    "Roster": "arena.workers.api",
    "WorkerPool": "arena.workers.api",
    "Placement": "arena.workers.placement",
    "PoolSetup": "arena.workers.placement",
    "Worker": "arena.workers.api",
    "WorkerGoneError": "arena.workers.api",
    "Workers": "arena.workers.api",
    "cores": "arena.workers.machine",
    "demand_room": "arena.workers.machine",
    "keep_calibration": "arena.workers.machine",
    "matches_at_once": "arena.workers.machine",
    "open_listener": "arena.workers.remote_seats",
    "own_content": "arena.workers.machine",
    "own_files": "arena.workers.machine",
    "ready": "arena.workers.machine",
    "workers_kept": "arena.workers.pool",
}


def __getattr__(name: str) -> Any:
    """Import the module that defines a public name, and return the object."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
