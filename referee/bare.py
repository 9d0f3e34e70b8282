"""Isolation `none`: a bot as a plain process, with limits, and with an end that it can hardly escape.

It sees and may do all that the arena's own user may: for bots that one trusts, on machines without a sandbox.
Neither its scratch nor the number of its processes is limited, for these limits would be the user's.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

from referee.bot_environment import PROJECT, command_line, environment, this_machine
from referee.bot_folder import BotFolder, Limits
from referee.stopping import go_on, stop

LAUNCHER = Path(__file__).with_name("bare_launcher.py")
MEGABYTE = 1024 * 1024
SET_CHILD_SUBREAPER = 36
"""`prctl` of Linux: orphans among a process's descendants become its children."""
SWEEP_SECONDS = 0.005
"""Between looks at processes that were killed and are not gone yet."""
PATIENCE_SECONDS = 10
"""After that a bot is let go whose processes multiply faster than they are killed: it needs a sandbox."""

_roots: set[int] = set()
"""The bots' first processes that are not waited for yet."""


class Bare:
    """One bot without a sandbox, from its start to the end of the last process that came from it."""

    def __init__(self, bot: BotFolder, line: Path, token: str, output: int) -> None:
        """Starts the bot. Arguments and errors as for `bubblewrap.Bubble`."""
        _adopt_orphans()
        machine = this_machine()
        self._scratch = tempfile.mkdtemp(prefix="scratch-")
        told = environment(
            endpoint=f"ipc://{line}",
            token=token,
            scratch=self._scratch,
            python_path=":".join([str(PROJECT), *map(str, machine.packages)]),
        )
        command = command_line(bot, machine.interpreter)
        try:
            # Not by trio: it would start it from a thread, and with that thread's end the bot would be killed.
            self._popen = subprocess.Popen(  # noqa: S603 - this is the door
                launcher(bot.limits) + command,
                env=told,
                cwd=bot.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # by its session an orphan is known to be a bot's
            )
        except OSError:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise
        self.pid = self._popen.pid
        self.group = None
        _roots.add(self.pid)
        self._root = os.pidfd_open(self.pid)

    async def ready(self) -> None:
        """It runs from the start."""
        await trio.lowlevel.checkpoint()

    async def exited(self) -> None:
        """Waits until the bot's program has ended; other processes of the bot may still be there."""
        await trio.lowlevel.wait_readable(self._root)

    def freeze(self) -> None:
        """Stops all the bot's processes where they are."""
        stop(self.pid)

    def thaw(self) -> None:
        """Lets them go on."""
        go_on(self.pid)

    async def end(self) -> int:
        """Ends all that is left of the bot and waits until nothing is. The exit code, negative for a signal."""
        _kill([self.pid])
        await trio.lowlevel.wait_readable(self._root)
        code = self._popen.wait()
        _roots.discard(self.pid)
        os.close(self._root)
        with trio.move_on_after(PATIENCE_SECONDS):
            while orphans := _orphans():
                _kill(orphans)
                _reap(orphans)
                await trio.sleep(SWEEP_SECONDS)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return code


def launcher(limits: Limits) -> list[str]:
    """What stands before a command, so that it runs with limits and ends with us at the latest."""
    interpreter = str(this_machine().interpreter)
    return [interpreter, "-I", "-S", str(LAUNCHER), str(os.getpid()), *_limits(limits), "--"]


class Seen(Struct, frozen=True):
    """A process as /proc shows it."""

    pid: int
    parent: int
    group: int
    session: int


def _adopt_orphans() -> None:
    """Makes this process the parent of its descendants' orphans: what a bot leaves behind cannot get lost."""
    if ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _processes() -> list[Seen]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                # The program's name stands in brackets and may hold anything, brackets too.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                found.append(Seen(int(entry.name), *map(int, fields[1:4])))
    return found


def _orphans() -> list[int]:
    """Children of ours that a bot left behind: of a session that is not ours, and not a bot's first process.

    A bot that still runs is the parent of its own orphans, so these are of bots that have ended.
    """
    ours = os.getsid(0)
    return [
        process.pid
        for process in _processes()
        if process.parent == os.getpid() and process.session != ours and process.pid not in _roots
    ]


def _kill(roots: list[int]) -> None:
    """Kills processes and all that descend from them, with their groups: a group is killed at one blow.

    So one that starts another and ends, over and over, is caught, unless each leaves the group of the one before.
    """
    processes = _processes()
    doomed: list[int] = []
    found = list(roots)
    while found:
        doomed += found
        found = [process.pid for process in processes if process.parent in found and process.pid not in doomed]
    groups = {process.group for process in processes if process.pid in doomed} - {os.getpgrp()}
    for target in [*(-group for group in groups), *doomed]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signal.SIGKILL)


def _reap(children: list[int]) -> None:
    """Takes leave of those that are dead already."""
    for child in children:
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def _limits(limits: Limits) -> list[str]:
    """As words for the launcher."""
    words = [
        f"AS={(limits.address_space_mb or limits.memory_mb) * MEGABYTE}",
        f"NOFILE={limits.files}",
        f"FSIZE={limits.scratch_mb * MEGABYTE}",
        "CORE=0",
    ]
    return words if limits.cpu_seconds is None else [*words, f"CPU={limits.cpu_seconds}"]
