"""The output of a bot, or of a build, kept in a file of bounded size: its first half and its last.

A bot may write without end. It then waits for us, in its own time; we never wait for it, and nothing grows.
"""

import errno
import os
import re
from contextlib import suppress
from pathlib import Path

import trio

from protocol.lines import PRINTED
from referee.linux.private_file import for_owner

READ_BYTES = 64 * 1024
"""As much as a pipe holds at first."""
PIPE_READS = 256
"""After so many it is empty if nobody writes: a bot may make it larger, up to so many pages, and each a packet."""
LATEST_BYTES = 16_000
"""Kept of what was written last, whatever the file holds: a traceback's end, or the 100 calls of a fatal error."""
_FRAME = re.compile(r'^  File "([^"\n]+)", line (\d+)', re.MULTILINE)
_TIMEOUT = re.compile(
    r"^Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!\n(?:(?:Thread 0x|  File |  \.\.\.).*\n|\n)*", re.MULTILINE
)
"""The calls of all threads, as the kit writes them at the deadline of a window."""
_PLACED = re.compile(r"\([^()\s]+:\d+\)\Z")
"""The end of an error that names the bot's own line itself."""
_FATAL = re.compile(r"^Fatal Python error: .*$", re.MULTILINE)
_NOT_THE_BOTS = (
    "<frozen ",
    "<string>",
    "/bots/kit",
    "/bots/wire.py",
    "launcher.py",
    "/prefork_server.py",
    "/protocol/games/",
    "/lib/python3",
)
"""In the paths of frames that are not the bot's own: of the kit, the words of the games, and Python's library."""
BREATH_SECONDS = 0.02
"""Between two full reads of what is thrown away: a flood costs us at most three megabytes of copying a second."""


class BoundedFile:
    """A file that holds the first half of what is written to it, and at its end the last."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Opens it, for its owner alone.

        Raises:
            OSError: it cannot be made.
        """
        self._half = limit_bytes // 2
        self._tail = bytearray()
        self._head_bytes = 0
        self.dropped_bytes = 0
        """What is in neither half."""
        self._file = open(path, "wb", buffering=0, opener=for_owner)  # noqa: SIM115 - closed by `close`

    def add(self, taken: bytes) -> None:
        """Keeps this, or drops what was in the middle for it."""
        head = taken[: self._half - self._head_bytes]
        self._head_bytes += len(head)
        self._write(head)
        self._tail += taken[len(head) :]
        excess = len(self._tail) - self._half
        if excess > 0:
            self.dropped_bytes += excess
            del self._tail[:excess]

    def close(self, waited: float = 0.0) -> None:
        """Complete the file. `waited`: seconds, at most, for which the bot waited to print what is left out."""
        if self.dropped_bytes:
            cost = f"; the bot waited up to {waited:.1f} s to print them" if waited else ""
            self._write(f"\n[{self.dropped_bytes} bytes left out here{cost}]\n".encode())
        self._write(self._tail)
        self._file.close()

    def _write(self, data: bytes | bytearray) -> None:
        try:
            self._file.write(data)
        except OSError:
            # A full disk. The transcript says so aloud; no match is stopped for what a bot prints.
            return


class BotLog:
    """Reads one pipe into one file."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        """Opens a pipe whose writing end is for the bot. The file is made when the bot writes: most never do.

        Raises:
            OSError: there is no place for the file, or descriptors have run out.
        """
        self._latest = b""
        self._file: BoundedFile | None = None
        self._thrown_away = 0
        """Of earlier files."""
        self.waited = self._waited_before = 0.0
        """Seconds for which the pipe was full of what is not kept: of all files, and of earlier ones."""
        self._place: tuple[Path, int] | None = None
        """Where the file is to be, once there is something to be kept."""
        self.begin(path, limit_bytes)
        self._pipe, self._bots_end = os.pipe()
        os.set_blocking(self._pipe, False)
        self._finished = False
        self._following = trio.CancelScope(shield=True)

    @property
    def bots_end(self) -> int:
        """The descriptor that the bot writes to. The bot's alone once `handed_over`."""
        return self._bots_end

    def handed_over(self) -> None:
        """The bot has its end, or never will: ours of it is closed."""
        os.close(self._bots_end)

    async def follow(self) -> None:
        """Reads until the pipe's end, or `finish`. No cancellation stops it: its bot's end does."""
        with self._following:
            # It may have been about to go on when `finish` came: the pipe is closed then.
            breath = 0.0
            while not self._finished and (taken := self._take()) != 0:
                if taken == READ_BYTES:
                    self.waited += breath  # The pipe was full: whoever writes to it waits.
                breath = 0.0
                if self._file is not None and self._file.dropped_bytes:
                    began = trio.current_time()
                    await trio.sleep(BREATH_SECONDS)
                    breath = trio.current_time() - began
                await trio.lowlevel.wait_readable(self._pipe)

    def finish(self) -> str:
        """Takes what is still in the pipe and completes the file.

        Returns:
            The last line that was written; after a Python traceback, with the bot's own file and line.
        """
        self._following.cancel()
        self._finished = True
        self._take_all()
        self._close_file()
        os.close(self._pipe)
        return last_line(self._latest.decode(errors="replace"))

    def stuck_at(self) -> str:
        """Return where the bot was when the time of a window was over, as its kit has written, or ""."""
        return stuck_at(self._latest.decode(errors="replace"))

    def thrown_away(self) -> int:
        """How many bytes there was no place for."""
        return self._thrown_away + (0 if self._file is None else self._file.dropped_bytes)

    def complete(self) -> None:
        """All that a bot has written that is frozen completes the file. What comes before `begin` is not kept."""
        if not self._finished:  # Else the descriptor may be another's by now.
            self._take_all()
            self._close_file()

    def begin(self, path: Path, limit_bytes: int) -> None:
        """What comes from now on goes to this file. What came before is quoted no more: it is another match's.

        Raises:
            OSError: there is no place for it.
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
            # As with a full disk: no match is stopped for what a bot prints.
            with suppress(OSError):
                self._file = BoundedFile(*self._place)
        if self._file is not None:
            self._file.add(taken)

    def _take_all(self) -> None:
        """Reads until the pipe is empty."""
        for _ in range(PIPE_READS):
            if self._take() <= 0:
                break

    def _take(self) -> int:
        """Reads what the pipe holds; 0 at its end."""
        try:
            taken = os.read(self._pipe, READ_BYTES)
        except BlockingIOError:
            return -1
        if taken:
            self._keep(taken)
        self._latest = (self._latest + taken)[-LATEST_BYTES:]
        return len(taken)


def stuck_at(text: str) -> str:
    """Return the bot's own file and line in the last stack that its kit wrote at the deadline of a window.

    It is that of the thread in which the kit runs: `bot.py:4`. Empty: there is none.
    """
    dumps = _TIMEOUT.findall(text)
    if not dumps:
        return ""
    for thread in dumps[-1].split("\nThread 0x"):
        frames = _FRAME.findall(thread)
        own = _own_frames(thread, 0)
        if own and any("/bots/kit" in path for path, _ in frames):
            path, line = own[0]  # The most recent call is the first.
            return f"{path.rpartition('/')[2]}:{line}"
    return ""


def _fatal_error(text: str) -> str:
    """What Python wrote when a signal such as SIGSEGV ended it, with the place in the bot; empty: nothing."""
    found = list(_FATAL.finditer(text))
    if not found:
        return ""
    thread = text.find("Current thread ", found[-1].end())
    own = [] if thread < 0 else _own_frames(text, thread)
    return found[-1][0] + (_place(own[0]) if own else "")  # The most recent call is the first.


def _own_frames(text: str, start: int) -> list[tuple[str, str]]:
    """File and line of the calls in the bot's own code."""
    frames = _FRAME.findall(text, start)
    return [(path, line) for path, line in frames if not any(part in path for part in _NOT_THE_BOTS)]


def _place(frame: tuple[str, str]) -> str:
    path, line = frame
    return f" ({path.rpartition('/')[2]}:{line})"


def last_line(text: str) -> str:
    """Of a bot's output, the last line; after a Python traceback, with the bot's own file and line behind it.

    What a program that speaks by lines prints to standard output comes to the log a little later than an error
    that it writes after it, perhaps between the error and the end of its line. It is the last line only where
    there is no other.
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
