"""The practice matches of one site, seen from the web server: begun, found, counted and removed.

A match lies in a folder of its own, in `practice/`. Its process outlives the web server, which finds it again by
its socket. The server holds no state of a match.
"""

import errno
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

from arena.errors import tried_again
from arena.practice.order import Terms
from arena.practice.protocol import (
    ERRORS,
    READY,
    SEATS,
    SOCKET,
    Assignment,
    read_seats,
    short_address,
)
from protocol.codec import encode
from referee.log import Logger
from referee.sandbox import SandboxError, find_isolation

MOST_TABLES = 8
"""Maximum matches at once: each has a process of its own, and its bots."""
MOST_OF_VISITOR = 2
"""Maximum matches at once that one browser began."""
MOST_OF_ADDRESS = 4
"""Maximum matches at once from one address other than this machine's own."""
MOST_LISTED = 10
"""Maximum matches of a browser that are listed, besides those that go on."""
KEPT_SECONDS = 7 * 86_400.0
"""Seconds for which a match that has ended is kept."""
MOST_KEPT = 200
"""Maximum folders of matches; the oldest that have ended are removed first."""
MOST_BYTES = 1024 * 1024 * 1024
"""Maximum bytes of all folders together."""
CLEAN_SECONDS = 600.0
START_SECONDS = 60.0
"""Seconds in which a match's process must answer; it starts in one on a quiet machine."""
SAMPLE_SECONDS = 1.0
"""Seconds for which the processors' idle time is measured."""
FREE_CORES = 0.5
"""Cores that must be idle for a practice match, of a low priority, to begin beside a competition."""
FULL_SECONDS = 60
BUSY_SECONDS = 20
ID = re.compile(r"[0-9a-f]{12}")
FOLDER_MODE = 0o700
STAT = Path("/proc/stat")
_IDLE = slice(3, 5)
"""Indices of the idle times among the fields of a processor in /proc/stat."""


class NoRoomError(Exception):
    """A match cannot begin now. The text says why, for the visitor."""

    def __init__(self, text: str, status: int, retry_seconds: int) -> None:
        super().__init__(text)
        self.status = status
        """Status of the answer: 429 for the visitor's own bounds, else 503."""
        self.retry_seconds = retry_seconds


class OwnMatch(Struct, frozen=True):
    """A match in which a browser has a seat, and that goes on or has a result."""

    id: str
    title: str
    is_over: bool


class Tables:
    """The practice matches in one folder."""

    def __init__(
        self, folder: Path, nursery: trio.Nursery, log: Logger, is_playing: Callable[[], Awaitable[bool]]
    ) -> None:
        """`is_playing` returns whether a competition is being played here: its matches come first."""
        self.folder = folder.absolute()
        self._nursery = nursery
        self._log = log
        self._is_playing = is_playing
        self._starting: dict[str, tuple[str, str]] = {}
        """Holder and address of the matches whose processes start, by id."""
        self._no_sandbox: str | None = None
        """Why bots cannot play here; "" if they can, None before it was tried."""

    async def begin(self, terms: Terms, holder: str, address: str) -> str:
        """Start the process of a match, and return its id once it answers.

        Args:
            terms: the match.
            holder: hash of the visitor's secret.
            address: the address by which the visitor is counted; "" for this machine's own.

        Raises:
            NoRoomError: it cannot begin now.
        """
        self._count(holder, address)
        id_ = secrets.token_hex(6)
        self._starting[id_] = holder, address
        try:
            await self._demand_machine(terms)
            folder = self.folder / id_
            await trio.to_thread.run_sync(_make, folder)
            is_ready = await self._start(folder, Assignment(id=id_, terms=terms, holder=holder, address=address))
        except OSError as error:
            self._log.error("practice_failed", reason=repr(error))
            raise NoRoomError("This machine cannot begin a match now.", 503, FULL_SECONDS) from None
        finally:
            del self._starting[id_]
        if not is_ready:
            self._log.error("practice_failed", reason=f"see {ERRORS} in its folder", match=id_)
            raise NoRoomError("The referee of the match did not start in time.", 503, BUSY_SECONDS)
        self._log.info("practice_begun", match=id_, game=terms.game)
        return id_

    async def why_not(self) -> str:
        """Return why no match against bots can begin here at all; "" if one can."""
        if self._no_sandbox is None:
            self._no_sandbox = await trio.to_thread.run_sync(_no_sandbox)
        return self._no_sandbox

    def find(self, id_: str) -> Path | None:
        """Return the folder of a match, by what a visitor says is its id."""
        folder = self.folder / id_
        if ID.fullmatch(id_) and (folder / SEATS).is_file():
            return folder
        return None

    def own_matches(self, holder: str) -> list[OwnMatch]:
        """Return a browser's matches, the newest first: those that go on, and the latest that are over."""
        alive = set(self._alive())
        found: list[OwnMatch] = []
        for _, folder in sorted(self._folders(), reverse=True):
            seats = read_seats(folder)
            if seats is None or seats.seat_of(holder) is None:
                continue
            goes_on = folder in alive and not seats.has_ended
            if goes_on or (seats.over and len(found) < MOST_LISTED):
                found.append(OwnMatch(folder.name, seats.title, seats.over))
        return found

    async def keep(self) -> None:
        """Remove what is old, from time to time."""
        while True:
            with tried_again():
                await trio.to_thread.run_sync(self.clean)
            await trio.sleep(CLEAN_SECONDS)

    def clean(self) -> None:
        """Remove the folders of matches that have ended: those that are old, and the oldest of too many."""
        alive = set(self._alive())
        now, size = time.time(), 0
        for number, (written, folder) in enumerate(sorted(self._folders(), reverse=True)):
            size += _size(folder)
            is_old = now - written > KEPT_SECONDS or number >= MOST_KEPT or size > MOST_BYTES
            if is_old and folder not in alive:
                shutil.rmtree(folder, ignore_errors=True)

    def _count(self, holder: str, address: str) -> None:
        """Raise NoRoomError if a visitor, an address or the site has as many matches as it may."""
        whose = list(self._starting.values())
        for folder in self._alive():
            seats = read_seats(folder)
            if seats is not None and not seats.has_ended and folder.name not in self._starting:
                whose.append((seats.made_by, seats.address))
        if sum(holder == each for each, _ in whose) >= MOST_OF_VISITOR:
            text = f"You have {MOST_OF_VISITOR} matches already. Finish or leave one first."
            raise NoRoomError(text, 429, FULL_SECONDS)
        if address and sum(address == each for _, each in whose) >= MOST_OF_ADDRESS:
            raise NoRoomError("Your address has as many matches as it may at once.", 429, FULL_SECONDS)
        if len(whose) >= MOST_TABLES:
            text = f"All {MOST_TABLES} tables of this site are taken. Try again in a while."
            raise NoRoomError(text, 503, FULL_SECONDS)

    async def _demand_machine(self, terms: Terms) -> None:
        """Raise NoRoomError if the machine has no sandbox, or no core to spare beside a competition."""
        if any(terms.bots) and (why := await self.why_not()):
            raise NoRoomError(why, 503, FULL_SECONDS)
        if await self._is_playing() and await free_cores() < FREE_CORES:
            text = "A competition uses all processors of this machine. Try again in a while."
            raise NoRoomError(text, 503, BUSY_SECONDS)

    async def _start(self, folder: Path, assignment: Assignment) -> bool:
        """Start a match's process, and return whether it answers in time. It does not end with this one."""
        pid, said = _spawn(folder, encode(assignment))
        self._nursery.start_soon(_reap, pid, os.pidfd_open(pid))
        async with trio.lowlevel.FdStream(said) as stream:
            with trio.move_on_after(START_SECONDS):
                if await stream.receive_some(len(READY)) == READY:
                    return True
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return False

    def _alive(self) -> list[Path]:
        """Return the folders of the matches that have a process. Sockets that nobody listens at are removed."""
        found = []
        for own in self.folder.glob(f"*/{SOCKET}"):
            if not ID.fullmatch(own.parent.name):
                continue
            if _answers(own.parent):
                found.append(own.parent)
            else:
                own.unlink(missing_ok=True)
        return found

    def _folders(self) -> list[tuple[float, Path]]:
        """Return the folders of all matches, each with the time of the last change."""
        found = []
        for seats in self.folder.glob(f"*/{SEATS}"):
            if ID.fullmatch(seats.parent.name):
                with suppress(OSError):
                    found.append((seats.stat().st_mtime, seats.parent))
        return found


async def free_cores() -> float:
    """Return how many cores were idle in the last second: measured now, so it takes one."""
    before = _processor_times()
    await trio.sleep(SAMPLE_SECONDS)
    after = _processor_times()
    total = sum(after) - sum(before)
    idle = sum(after[_IDLE]) - sum(before[_IDLE])
    return len(os.sched_getaffinity(0)) * idle / max(1, total)


def _processor_times() -> list[int]:
    """Return the times of all processors together, by what they did."""
    return [int(each) for each in STAT.read_text().partition("\n")[0].split()[1:9]]


def _spawn(folder: Path, assignment: bytes) -> tuple[int, int]:
    """Start a match's process. Return its number, and the descriptor of what it prints."""
    orders, given = os.pipe()
    said, saying = os.pipe()
    errors = os.open(folder / ERRORS, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(given, assignment)  # A pipe has room for all of it.
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "arena.practice.process", str(folder)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, orders, 0),
                (os.POSIX_SPAWN_DUP2, saying, 1),
                (os.POSIX_SPAWN_DUP2, errors, 2),
            ],
            setsid=True,
        )
    except OSError:
        os.close(said)
        raise
    finally:
        for each in (orders, given, saying, errors):
            os.close(each)
    return pid, said


async def _reap(pid: int, descriptor: int) -> None:
    """Wait for the end of a process."""
    try:
        await trio.lowlevel.wait_readable(descriptor)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)  # noqa: ASYNC222 - it has ended
    finally:
        os.close(descriptor)


def _make(folder: Path) -> None:
    """Make the folder of a match, which only the user may enter."""
    folder.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    folder.mkdir(FOLDER_MODE)


def _no_sandbox() -> str:
    """Return why bots cannot play here; "" if they can."""
    try:
        find_isolation()
    except (SandboxError, OSError):
        return "This machine has no sandbox for bots, so only people can play each other here."
    return ""


def _answers(folder: Path) -> bool:
    """Return whether a process listens at a match's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own, suppress(FileNotFoundError):
        own.setblocking(False)
        try:
            with short_address(folder) as address:
                own.connect(address)
        except OSError as error:
            return error.errno == errno.EAGAIN  # So many wait for it that there is no room for one more.
        return True
    return False


def _size(folder: Path) -> int:
    """Return the bytes of the files of a match."""
    size = 0
    with suppress(OSError):
        for each in folder.iterdir():
            size += each.stat().st_size
    return size
