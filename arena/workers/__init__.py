"""Where matches are played: referee processes of this machine, or of a cluster."""

from arena.workers.api import Play, Venue, Worker, WorkerGoneError, Workers
from arena.workers.builds import ready
from arena.workers.capacity import MAX_CONCURRENCY, cores, keep_calibration, matches_at_once
from arena.workers.cluster import PATIENCE_SECONDS
from arena.workers.listener import Hosting, open_listener
from arena.workers.own_code import own_content, own_files
from arena.workers.remote_seats import RemoteSeats
from arena.workers.room import demand_room
from arena.workers.roster import Roster
from arena.workers.venue import LOCAL, Where, venue_for

__all__ = [
    "LOCAL",
    "MAX_CONCURRENCY",
    "PATIENCE_SECONDS",
    "Hosting",
    "Play",
    "RemoteSeats",
    "Roster",
    "Venue",
    "Where",
    "Worker",
    "WorkerGoneError",
    "Workers",
    "cores",
    "demand_room",
    "keep_calibration",
    "matches_at_once",
    "open_listener",
    "own_content",
    "own_files",
    "ready",
    "venue_for",
]
