"""The supervisor of a season's server: the processes that play, judge and serve, each started again when it ends.

The processes share nothing but files, so that one may fail or be killed without harm to the others. They are told
to stop when the supervisor ends, however that happens.
"""

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import SIGNALLED, WRONG_USE
from arena.processes import LIFE, LIFE_SECONDS, PR_SET_PDEATHSIG, seconds_without_life, show_life
from arena.submissions import server_lock
from arena.terminal import say
from protocol.codec import encode
from referee.display_text import printable
from referee.linux.files import MODE, read_regular, write_bytes_whole
from referee.linux.processes import stat_fields
from referee.log import Logger

LOCK = "supervisor.lock"
PROCESSES = "processes.json"
"""File in the server's folder that says how each process does."""
MOST_BYTES = 100_000
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a process is started again: after the first failure, and at most."""
WELL_SECONDS = 60.0
"""Seconds after which a process counts as started well, so that its next pause is short again."""
STOP_SECONDS = 60.0
"""Seconds in which a process must end once it was told to; then it is killed."""
LONGEST_LINE = 4_000
SUPERVISOR = "supervisor"
HANGS_SECONDS = 60.0
"""Seconds without a sign of life after which a process is taken to hang."""
_PRCTL = ctypes.CDLL(None).prctl

ProcessState = Literal["runs", "waits", "done", "stopped"]


class ProcessReport(Struct, frozen=True):
    """State of a process."""

    name: str
    state: ProcessState
    since: str
    pid: int | None = None
    starts: int = 0
    last: str = ""
    """Description of its last end; empty if it has not ended yet."""
    hangs_after: float = HANGS_SECONDS

    @property
    def text(self) -> str:
        """The report in words."""
        last = f"; before: {self.last}" if self.last and self.state == "runs" else ""
        if self.state == "waits":
            return f"starts again soon: {self.last}"
        return {"runs": "runs", "done": "done", "stopped": "stopped"}[self.state] + last


class ServerProcess(Struct, frozen=True):
    """A process of the server."""

    name: str
    command: Sequence[str]
    ends: bool = False
    """True if its exit with 0 means that all is done, so that it is not started again."""
    hangs_after: float = HANGS_SECONDS
    """Seconds without a sign of life after which it is taken to hang."""


class Supervisor:
    """Starts processes, passes their lines on, and writes how they do."""

    def __init__(self, processes: Sequence[ServerProcess], folder: Path, log: Logger) -> None:
        """`folder`: the server's folder, which exists."""
        self._processes = processes
        self._folder = folder
        self._log = log
        self._reports = {
            each.name: ProcessReport(each.name, "waits", _now(), hangs_after=each.hangs_after)
            for each in processes
        }

    async def run(self) -> None:
        """Keep all processes running until cancelled; then tell them to stop, and wait for their end."""
        try:
            async with trio.open_nursery() as nursery:
                for process in self._processes:
                    nursery.start_soon(self._keep, process)
                while True:
                    show_life(str(_life_of(self._folder, SUPERVISOR)))
                    await trio.sleep(LIFE_SECONDS)
        finally:
            for name in self._reports:
                self._report(name, "stopped")

    async def _keep(self, process: ServerProcess) -> None:
        pause = FIRST_PAUSE
        while True:
            began = trio.current_time()
            code = await self._run_once(process)
            last = _ending(code)
            if code == 0 and process.ends:
                self._report(process.name, "done", last=last)
                say(f"{process.name}: all is done")
                return
            if trio.current_time() - began >= WELL_SECONDS:
                pause = FIRST_PAUSE
            if code == WRONG_USE:
                pause = LONGEST_PAUSE  # Somebody must change a file first.
            self._log.warning("process_ended", task=process.name, reason=last)
            say(f"{process.name}: {last}; it starts again in {pause:g} s")
            self._report(process.name, "waits", last=last)
            await trio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _run_once(self, process: ServerProcess) -> int:
        """Run a process until it ends; return its exit code, negative for a signal."""
        life = str(_life_of(self._folder, process.name))
        show_life(life)
        # Started by the main thread: the kernel tells a process of the end of the thread that started it.
        child = subprocess.Popen(  # noqa: ASYNC220, S603 - at once, and our own words
            process.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {LIFE: life},
            start_new_session=True,
            preexec_fn=_stop_with_parent,  # noqa: PLW1509 - it makes one system call
        )
        self._report(process.name, "runs", pid=child.pid)
        ended = os.pidfd_open(child.pid)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._pass_on, process.name, child)
                await trio.lowlevel.wait_readable(ended)
                with trio.move_on_after(1):  # Its last lines; a grandchild may hold the pipe for longer.
                    await trio.sleep(0.2)
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await _end(child, ended)
            os.close(ended)
            if child.stdout is not None:
                child.stdout.close()
        return child.wait()

    async def _pass_on(self, name: str, child: "subprocess.Popen[bytes]") -> None:
        """Print a process's lines after its name."""
        if child.stdout is None:
            return
        rest = b""
        async with trio.lowlevel.FdStream(os.dup(child.stdout.fileno())) as lines:
            async for piece in lines:
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    say(f"{name}: {printable(line.decode(errors='replace')[:LONGEST_LINE])}")
                rest = rest[-LONGEST_LINE:]

    def _report(self, name: str, state: ProcessState, *, pid: int | None = None, last: str | None = None) -> None:
        before = self._reports[name]
        starts = before.starts + (state == "runs")
        if last is None:
            last = before.last
        self._reports[name] = replace(before, state=state, since=_now(), pid=pid, starts=starts, last=last)
        with suppress(OSError):  # A full disk must not end it.
            write_bytes_whole(self._folder / PROCESSES, encode(list(self._reports.values())), MODE)


def supervisor_lock(folder: Path) -> AbstractContextManager[None]:
    """Lock a server's folder for the one supervisor.

    Two would overwrite each other's reports, and start processes for which the others' locks leave no place.

    Raises:
        WrongUse: another supervisor is at work, or the folder cannot be written.
        MachineCannot: there is no space.
    """
    return server_lock(folder, LOCK, "supervisor (arena serve --play)")


def read_reports(folder: Path) -> list[ProcessReport]:
    """Return the supervisor's last reports; an empty list if there are none.

    A process that is gone, as after the supervisor was killed, is reported as stopped.
    """
    try:
        reports = msgspec.json.decode(read_regular(folder / PROCESSES, MOST_BYTES), type=list[ProcessReport])
    except (OSError, msgspec.MsgspecError):
        return []
    for number, each in enumerate(reports):
        if each.pid is not None and not _is_there(each.pid):
            reports[number] = replace(each, state="stopped", pid=None)
    return reports


def complaints(folder: Path) -> list[str]:
    """Return a line for each process of this process's supervisor that does not work, and for the supervisor.

    There is none for a process that runs without a supervisor, whatever an earlier one has left.
    """
    reports = read_reports(folder)
    if os.getpid() not in {each.pid for each in reports}:
        return []
    found = [f"{each.name} {each.text}" for each in reports if each.state in {"waits", "stopped"}]
    for each in [ProcessReport(SUPERVISOR, "runs", ""), *reports]:
        quiet = seconds_without_life(_life_of(folder, each.name))
        if each.state == "runs" and quiet > each.hangs_after:
            found.append(f"{each.name} hangs: no sign of life for {quiet:.0f} s")
    return found


def _life_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.life"


def _is_there(pid: int) -> bool:
    """Return whether a process has not ended. In many containers nobody reaps those whose parent was killed."""
    try:
        return stat_fields(f"/proc/{pid}")[0] != b"Z"
    except OSError:
        return False


async def _end(child: "subprocess.Popen[bytes]", ended: int) -> None:
    """Tell a process to stop, and kill it if it does not."""
    if child.poll() is not None:
        return
    child.terminate()
    with trio.move_on_after(STOP_SECONDS):
        await trio.lowlevel.wait_readable(ended)
    if child.poll() is None:
        child.kill()
        child.wait()


def _stop_with_parent() -> None:
    _PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _ending(code: int) -> str:
    number = -code
    if code > SIGNALLED:
        number = code - SIGNALLED
    with suppress(ValueError):
        return f"ended by {signal.Signals(number).name}"
    return f"ended with exit code {code}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
