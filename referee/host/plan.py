"""Plain data about a match: its plan, its result, and the files and processes that matches need.

A shortage of those is found before the first match.
"""

import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Raw, Struct

from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.linux import cgroups
from referee.match import ClockTable, HeldUp, NotNegative, Policy, SeatReport
from referee.sandbox import Isolation
from referee.wire import PATH_BYTES, SOCKET_NAME

PROCESS_FILES = 64
"""Files of a worker itself: of its interpreter, its connection to the arena, its poll, its groups, a bot's
start."""
MATCH_FILES = 8
"""Files per match: its transcript, and some for short times."""
SEAT_FILES = 36
"""Files per bot: its line, its log, its process, its group's counters, and the counters of sixteen threads."""
SANDBOX_PROCESSES = 3
"""Processes per bot that belong to its sandbox."""
PROCESS_PROCESSES = 8
"""Processes and threads per worker: itself, its threads for the disk, the processes that bots are forked from."""
_MADE = "/arena-12345678"
"""A name as long as those that `tempfile` makes."""


class Plan(Struct, frozen=True, kw_only=True):
    """A match to be played."""

    match: str
    """The match's name, unique in its tournament. It is sent to the bots."""
    game: str
    variant: str
    seed: int
    seating: NotNegative = 0
    """Number of the match among those of one deal. Bots' own seeds depend on it too, so that no bot can recognise
    a deal that it has seen before."""
    options: Raw | None = None
    """JSON object; None: all defaults."""
    setup: Raw | None = None
    """JSON object; None: drawn at random."""
    policy: Policy = Policy()
    clock: ClockTable | None = None
    """The match's clock; None: the clock of the variant's rules, as changed by the policy."""
    isolation: Isolation = "strict"
    block: int | None = None
    """Number of the tournament's block to which the match belongs. It is not sent to bots."""
    unexcused: tuple[NotNegative, ...] = ()
    """Seats that a verdict `host` does not excuse, because the tournament found that their bots stall
    themselves."""
    labels: tuple[str, ...] = ()
    """Names of the bots for people who read about the match, indexed by seat; empty: the bots' own names. They are
    not sent to bots."""
    credit_ms: NotNegative = 0
    """Milliseconds of a remote bot's network delay, per window, that are not charged to it at most."""
    warm: bool = True
    """True if sandboxed Python bots are forked from a process that has imported the kit already; see `prefork`."""


class AttemptResult(Struct, frozen=True, kw_only=True):
    """The result of one attempt at a match."""

    match: str
    outcome: Outcome | None
    """None: the attempt is void."""
    conduct: tuple[Conduct, ...]
    """The conduct of each bot; indexed by seat."""
    void: str | None
    """The reason why the attempt does not count: a fault of the referee or the machine. None: it counts."""
    held_up: HeldUp | None = None
    """The bot that voided the attempt by stalling; None: the attempt is not void, or for another reason."""
    charged_us: tuple[int, ...]
    """Microseconds charged over all windows, indexed by seat. Quick bots answer in a few hundred."""
    windows: tuple[int, ...]
    """Number of windows, indexed by seat."""
    defaults: tuple[int, ...]
    """Number of windows that took the default action, indexed by seat."""
    refused: tuple[int, ...] = ()
    """Number of refused messages, indexed by seat."""
    transcript: str
    """Path of the transcript."""
    head: str
    """Hash of the transcript's last line. Where it is published, no later change of the file goes unnoticed."""
    remote: tuple[int, ...] = ()
    """Seats whose bots ran on their authors' own machines, outside any sandbox of this arena."""
    debugged: tuple[int, ...] = ()
    """Seats whose bots ran outside the sandbox, at their author's terminal, with stopped clocks."""
    reports: tuple[SeatReport, ...] = ()
    """Reports on each bot: its use of time and memory, and the causes of its losses; indexed by seat."""
    verdicts: tuple[dict[str, int], ...] = ()
    """Counts of `Verdict`s on windows that took the default or used reserve; indexed by seat."""

    def report(self, seat: int) -> SeatReport:
        """Return the report on the bot of a seat, or an empty one where none was made."""
        if not self.reports:
            return SeatReport()
        return self.reports[seat]


def files_needed(matches: int, seats: int) -> int:
    """Return how many files a process needs that plays `matches` at once, each with `seats`."""
    return PROCESS_FILES + matches * (MATCH_FILES + seats * SEAT_FILES)


def files_allowed() -> int | None:
    """Return how many files a process may have open here; None: there is no bound."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY:
        return None
    return hard


def processes_needed(matches: int, seats: int, workers: int, of_bot: int) -> int:
    """Return how many processes and threads there can be while `matches` are played at once.

    `of_bot` is the number that each bot may have. If bots could use up those of others, they could have matches
    voided.
    """
    return workers * PROCESS_PROCESSES + matches * seats * (of_bot + SANDBOX_PROCESSES)


def processes_left() -> tuple[int, str] | None:
    """Return how many more processes and threads there may be, and which bound applies; None: no bound."""
    found = list(cgroups.processes_left())
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    # The kernel does not apply this bound to root.
    if hard != resource.RLIM_INFINITY and os.geteuid() != 0:
        found.append((hard - sum(_threads_of(os.geteuid())), f"ulimit -u is {hard}"))
    return min(found, default=None)


def _threads_of(user: int) -> Iterator[int]:
    """Yield the number of threads of each process of a user."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if entry.stat().st_uid == user:
                    yield len(list((entry / "task").iterdir()))
            except OSError:
                continue  # It has ended.


def too_long_for_sockets(*, of_worker: bool) -> str | None:
    """Return an error text if the path of the folder for temporary files is too long for bots' sockets, else None.

    Args:
        of_worker: whether the matches are played by a worker, which has a folder of its own in that one.

    Raises:
        OSError: there is no folder for temporary files.
    """
    folder = tempfile.gettempdir()
    most = PATH_BYTES - len(f"{_MADE}/{SOCKET_NAME}")
    if of_worker:
        most -= len(_MADE)
    size = len(os.fsencode(Path(folder).absolute()))
    if size <= most:
        return None
    return (
        f"TMPDIR: {folder}: its path has {size} bytes, and bots' sockets have room in one of at most {most}: "
        "set TMPDIR to a shorter one, such as /tmp"
    )
