"""The files that a bot fills: a log of bounded size with its output, and its scratch folders.

A bot may write without end. Then it waits for the arena, on its own time; the arena never waits for it, and no
memory grows. A log keeps the beginning and the end. Scratch folders are emptied for the next match of a kept bot;
their content is hostile, and the bot is frozen then.
"""

import errno
import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

import trio
from msgspec import Struct

from protocol.messages import PRINTED
from referee.linux.files import for_owner

READ_BYTES = 64 * 1024
"""Size of a new pipe in bytes."""
PIPE_READS = 256
"""Reads after which a pipe without writers is empty: a bot may enlarge it to that many pages, each one a
packet."""
LATEST_BYTES = 16_000
"""The most bytes of the latest output that are kept in memory: the end of a traceback, or a fatal error's 100
calls."""
_FRAME = re.compile(r'^  File "([^"\n]+)", line (\d+)', re.MULTILINE)
_TIMEOUT = re.compile(
    r"^Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!\n(?:(?:Thread 0x|  File |  \.\.\.).*\n|\n)*", re.MULTILINE
)
"""The stacks of all threads, as written by the kit at the deadline of a window."""
_PLACED = re.compile(r"\([^()\s]+:\d+\)\Z")
"""The end of an error that names the bot's own line itself."""
_FATAL = re.compile(r"^Fatal Python error: .*$", re.MULTILINE)
_NOT_THE_BOTS = (
    "<frozen ",
    "<string>",
    "/bots/kit/",
    "/bots/wire.py",
    "launcher.py",
    "/prefork_server.py",
    "/protocol/games/",
    "/lib/python3",
)
"""Parts of the paths of frames that are not the bot's own: of the kit, the games' messages, and Python's
library."""
BREATH_SECONDS = 0.02
"""Seconds between two full reads of discarded output: a flood costs at most three megabytes of copying per
second."""
MOST_ENTRIES = 1_000
"""The most files and folders that are removed. A bot that left more is ended, which takes the same time for any
number."""
MOST_DEEP = 10
"""The deepest nesting of folders that are removed."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class BoundedFile:
    """A file of bounded size that holds the beginning and the end of the bytes written to it."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Create the file, for its owner alone.

        Raises:
            OSError: it cannot be created.
        """
        self._half = limit_bytes // 2
        self._tail = bytearray()
        self._head_bytes = 0
        self.dropped_bytes = 0
        """Number of bytes that are in neither half."""
        self._file = open(path, "wb", buffering=0, opener=for_owner)  # noqa: SIM115 - closed by `close`

    def add(self, data: bytes) -> None:
        """Add bytes; drop some from the middle if there are too many."""
        head = data[: self._half - self._head_bytes]
        self._head_bytes += len(head)
        self._write(head)
        self._tail += data[len(head) :]
        excess = len(self._tail) - self._half
        if excess > 0:
            self.dropped_bytes += excess
            del self._tail[:excess]

    def close(self, waited: float = 0.0) -> None:
        """Complete the file.

        `waited` is the most seconds that the bot can have waited to print the dropped bytes.
        """
        if self.dropped_bytes:
            cost = f"; the bot waited up to {waited:.1f} s to print them" if waited else ""
            self._write(f"\n[{self.dropped_bytes} bytes left out here{cost}]\n".encode())
        self._write(self._tail)
        self._file.close()

    def _write(self, data: bytes | bytearray) -> None:
        try:
            self._file.write(data)
        except OSError:
            # A full disk. The transcript reports it; no match is stopped because of a bot's output.
            return


class BotLog:
    """Copies a bot's output from a pipe into files, one per match."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Open a pipe for the bot. The file is created when the bot writes, which most never do.

        Raises:
            OSError: the file's folder is not writable, or descriptors have run out.
        """
        self._latest = b""
        self._file: BoundedFile | None = None
        self._thrown_away = 0
        """Discarded bytes of earlier files."""
        self.waited = self._waited_before = 0.0
        """Seconds for which the pipe was full of discarded output: for all files, and for earlier ones."""
        self._place: tuple[Path, int] | None = None
        """Path and limit of the next file, which is created with the first byte."""
        self.begin(path, limit_bytes)
        self._pipe, self._bots_end = os.pipe()
        os.set_blocking(self._pipe, False)
        self._finished = False
        self._following = trio.CancelScope(shield=True)

    @property
    def bots_end(self) -> int:
        """The pipe's writing end, for the bot. Call `handed_over` once the bot has it."""
        return self._bots_end

    def handed_over(self) -> None:
        """Close this process's copy of the writing end."""
        os.close(self._bots_end)

    async def follow(self) -> None:
        """Read until the pipe's end, or `finish`. It is shielded from cancellation: the bot's end stops it."""
        with self._following:
            # `finish` may have closed the pipe while this task was about to continue.
            breath = 0.0
            while not self._finished and (taken := self._take()) != 0:
                if taken == READ_BYTES:
                    self.waited += breath  # The pipe was full, so that its writers waited.
                breath = 0.0
                if self._file is not None and self._file.dropped_bytes:
                    began = trio.current_time()
                    await trio.sleep(BREATH_SECONDS)
                    breath = trio.current_time() - began
                await trio.lowlevel.wait_readable(self._pipe)

    def finish(self) -> str:
        """Read the rest of the pipe and complete the file.

        Returns:
            The last line of output; after a Python traceback, with the bot's own file and line.
        """
        self._following.cancel()
        self._finished = True
        self._take_all()
        self._close_file()
        os.close(self._pipe)
        return last_line(self._latest.decode(errors="replace"))

    def stuck_at(self) -> str:
        """Return the bot's file and line when a window's time ran out, as written by its kit; "": unknown."""
        return stuck_at(self._latest.decode(errors="replace"))

    def thrown_away(self) -> int:
        """Return the number of discarded bytes."""
        return self._thrown_away + (0 if self._file is None else self._file.dropped_bytes)

    def complete(self) -> None:
        """Complete the file of a frozen bot. Output between this call and `begin` is discarded."""
        if not self._finished:  # Otherwise the descriptor may have been reused by now.
            self._take_all()
            self._close_file()

    def begin(self, path: Path, limit_bytes: int) -> None:
        """Write further output to a new file, and forget earlier output, which belongs to another match.

        Raises:
            OSError: the file's folder is not writable.
        """
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise FileNotFoundError(errno.ENOENT, "no place for a bot's log", str(path))
        path.unlink(missing_ok=True)
        self._latest = b""
        self._place = path, limit_bytes

    def _close_file(self) -> None:
        self._place = None
        if self._file is not None:
            self._thrown_away += self._file.dropped_bytes
            self._file.close(self.waited - self._waited_before)
            self._waited_before = self.waited
            self._file = None

    def _keep(self, taken: bytes) -> None:
        if self._file is None and self._place is not None:
            # As with a full disk: no match is stopped because of a bot's output.
            with suppress(OSError):
                self._file = BoundedFile(*self._place)
        if self._file is not None:
            self._file.add(taken)

    def _take_all(self) -> None:
        """Read until the pipe is empty."""
        for _ in range(PIPE_READS):
            if self._take() <= 0:
                break

    def _take(self) -> int:
        """Read from the pipe; return the number of bytes, 0 at its end, or -1 if it is empty."""
        try:
            taken = os.read(self._pipe, READ_BYTES)
        except BlockingIOError:
            return -1
        if taken:
            self._keep(taken)
        self._latest = (self._latest + taken)[-LATEST_BYTES:]
        return len(taken)


def stuck_at(text: str) -> str:
    """Return the bot's own file and line, such as `bot.py:4`, in the last stacks that its kit wrote at a deadline.

    The place is that of the thread in which the kit runs. Empty: there is none.
    """
    dumps = _TIMEOUT.findall(text)
    if not dumps:
        return ""
    for thread in dumps[-1].split("\nThread 0x"):
        frames = _FRAME.findall(thread)
        own = _own_frames(thread, 0)
        if own and any("/bots/kit/" in path for path, _ in frames):
            path, line = own[0]  # The most recent call comes first.
            return f"{path.rpartition('/')[2]}:{line}"
    return ""


def _fatal_error(text: str) -> str:
    """Return Python's message about a fatal signal such as SIGSEGV, with the place in the bot; empty: none."""
    found = list(_FATAL.finditer(text))
    if not found:
        return ""
    thread = text.find("Current thread ", found[-1].end())
    own = [] if thread < 0 else _own_frames(text, thread)
    return found[-1][0] + (_place(own[0]) if own else "")  # The most recent call comes first.


def _own_frames(text: str, start: int) -> list[tuple[str, str]]:
    """Return file and line of the calls in the bot's own code."""
    frames = _FRAME.findall(text, start)
    return [(path, line) for path, line in frames if not any(map(path.__contains__, _NOT_THE_BOTS))]


def _place(frame: tuple[str, str]) -> str:
    path, line = frame
    return f" ({path.rpartition('/')[2]}:{line})"


def last_line(text: str) -> str:
    """Return the last line of a bot's output; after a Python traceback, with the bot's own file and line appended.

    The standard output of a program that speaks by lines reaches the log a little later than an error that it
    writes afterwards, perhaps before that error's line ends. So it is returned only where there is no other line.
    """
    text = _TIMEOUT.sub("", text)
    lines = text.strip().splitlines()
    if not lines:
        return ""
    lines = [line.partition(PRINTED)[0] for line in lines if not line.startswith(PRINTED)] or lines
    if fatal := _fatal_error(text):
        return fatal
    start = text.rfind("Traceback (most recent call last)")
    own = _own_frames(text, max(0, start))
    if not own or lines[-1].startswith(" ") or _PLACED.search(lines[-1]):
        return lines[-1]
    return lines[-1] + _place(own[-1])


class Scratch(Struct, frozen=True):
    """A folder that a bot can write to."""

    folder: Path
    """The folder as seen from outside; in a sandbox, through one of its processes."""
    but_not: Path | None = None
    """The machine's own folder of that name. It would be found if the process had ended and its number was
    reused."""


def is_empty(scratch: Scratch) -> bool:
    """Return whether a folder is empty; False if that is unknown."""
    try:
        with os.scandir(scratch.folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def empty(scratch: Scratch) -> bool:
    """Remove everything in a folder, following no link; return False if that is too much or impossible."""
    try:
        descriptor = os.open(scratch.folder, _FOLDER)
    except OSError:
        return False
    try:
        other = None if scratch.but_not is None else scratch.but_not.stat()
        if other is not None and os.path.samestat(os.fstat(descriptor), other):
            return False
        return _empty(descriptor, MOST_ENTRIES, MOST_DEEP) >= 0
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _empty(folder: int, left: int, deep: int) -> int:
    """Remove everything in a folder, up to `left` entries and `deep` levels.

    Returns:
        The number of entries that may still be removed; negative: there were more, or they are nested too deep.

    Raises:
        OSError: an entry cannot be removed.
    """
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, left + 1)]
    left -= len(found)
    for name, is_folder in found:
        if left < 0:
            break
        if not is_folder:
            os.unlink(name, dir_fd=folder)
        elif deep == 0:
            return -1
        else:
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                left = _empty(below, left, deep - 1)
            finally:
                os.close(below)
            if left >= 0:
                os.rmdir(name, dir_fd=folder)
    return left
