"""Run matches in referee processes, on this machine or on a cluster.

Each name is imported at its first use, because a referee process needs only a few of these modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.workers.api import PlayMatch, Roster, Worker, WorkerGoneError, WorkerPool, Workers
    from arena.workers.machine import (
        BUILD_LOG,
        MAX_CONCURRENCY,
        cores,
        demand_room,
        keep_calibration,
        matches_at_once,
        own_content,
        own_files,
        ready,
    )
    from arena.workers.placement import LOCAL, Placement, PoolSetup, build_at
    from arena.workers.pool import workers_kept
    from arena.workers.remote_seats import Hosting, RemoteSeats, open_listener

_NAMES = {
    "api": {"PlayMatch", "Roster", "Worker", "WorkerGoneError", "WorkerPool", "Workers"},
    "machine": {"BUILD_LOG", "MAX_CONCURRENCY", "cores", "demand_room", "keep_calibration", "matches_at_once"}
    | {"own_content", "own_files", "ready"},
    "placement": {"LOCAL", "Placement", "PoolSetup", "build_at"},
    "pool": {"workers_kept"},
    "remote_seats": {"Hosting", "RemoteSeats", "open_listener"},
}
"""Public names, by module."""


def __getattr__(name: str) -> Any:
    """Import the module that defines a public name, and return the object."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"arena.workers.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
