"""Isolation `none`: a bot as a plain process, with limits, and with an end that it can hardly escape.

It sees and may do all that the arena's own user may: for bots that one trusts, on machines without a sandbox.
Neither its scratch nor the number of its processes is limited, for these limits would be the user's.
"""

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from referee.bot_folder import BotFolder, Limits
from referee.linux.cpu_time import tree_us
from referee.linux.orphans import adopt_orphans, children, end_all, kill
from referee.linux.process_tree import go_on, stop
from referee.linux.shortage import shortage_text
from referee.sandbox.bot_environment import command_line, environment, link_importable, this_machine
from referee.sandbox.bwrap_args import resource_limits
from referee.sandbox.scratch import Scratch

LAUNCHER = Path(__file__).with_name("unconfined_launcher.py")
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at
LIMITED = frozenset({"AS", "NOFILE", "FSIZE", "CORE", "CPU"})
"""The limits that are for each process; others would be for all of the user's."""
_roots: set[int] = set()
"""The bots' first processes that are not waited for yet."""
PASSED_ON = ("TERM", "COLORTERM", "PYTHONBREAKPOINT")
"""What a bot at a terminal gets of the arena's own environment: a debugger needs it."""


class Terminal(Struct, frozen=True):
    """The arena's own standard input, output and error, for one bot outside the sandbox.

    The bot is in the arena's process group, so that it may read from the terminal: a Ctrl-C reaches both. A bot
    with the transport `stdio` gets standard error alone, and is in a session of its own.
    """

    output: int = 1
    """The descriptor that is its standard output."""
    still_runs: Callable[[], None] = lambda: None
    """Called when all is over and the bot has not ended: it is waited for."""


class Bare:
    """One bot without a sandbox, from its start to the end of the last process that came from it."""

    def __init__(
        self, bot: BotFolder, line: Path, token: str, output: int, terminal: Terminal | None = None
    ) -> None:
        """Starts the bot. Arguments and errors as for `bubblewrap.Bubble`. A terminal replaces `output`."""
        adopt_orphans()
        machine = this_machine()
        self._scratch = tempfile.mkdtemp(prefix="scratch-")
        self._code = tempfile.mkdtemp(prefix="code-")
        told = environment(
            endpoint=f"ipc://{line}",
            token=token,
            scratch=self._scratch,
            python_path=":".join([self._code, *map(str, machine.packages)]),
            kept=bot.keeps,
        )
        command = command_line(bot, machine.interpreter)
        files: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        if terminal is not None:
            told |= {name: os.environ[name] for name in PASSED_ON if name in os.environ}
            stdin = None if bot.transport == "zmq" else subprocess.DEVNULL
            files = {"stdin": stdin, "stdout": terminal.output, "stderr": None}
        with ExitStack() as undo:
            undo.callback(self._remove_folders)
            link_importable(Path(self._code))
            # Not by trio: it would start it from a thread, and with that thread's end the bot would be killed.
            self._popen = subprocess.Popen(  # noqa: S603 - this is the door
                launcher(bot.limits) + command,
                env=told,
                cwd=bot.folder,
                **files,
                # By its session an orphan is known to be a bot's; of one at the terminal, by its token.
                start_new_session=files["stdin"] is not None,
            )
            undo.callback(self._popen.wait)
            undo.callback(self._popen.kill)
            self.pid = self._popen.pid
            self._root = os.pidfd_open(self.pid)
            undo.pop_all()
        self.roots = (self.pid,)
        """All its processes descend from these."""
        self.program = self.pid
        """The process that becomes the bot's program."""
        self.group = None
        """It has no control group."""
        self.lost = ""
        """Why it has ended, if that may be because the machine had no more space for it; empty: it had."""
        self._mark = f"ARENA_TOKEN={token}\0".encode()
        _roots.add(self.pid)

    async def ready(self) -> None:
        """It runs from the start."""
        await trio.lowlevel.checkpoint()

    async def exited(self) -> None:
        """Waits until the bot's program has ended; other processes of the bot may still be there."""
        await trio.lowlevel.wait_readable(self._root)

    def scratch(self) -> list[Scratch]:
        """The folders that are its own to write to; it may have written elsewhere."""
        return [Scratch(Path(self._scratch))]

    def freeze(self) -> None:
        """Stops all the bot's processes where they are."""
        stop(self.pid)

    def thaw(self) -> None:
        """Lets them go on."""
        go_on(self.pid)

    def cpu_us(self) -> int:
        """Processor time of all the bot's processes so far, in microseconds."""
        return tree_us(self.pid)

    async def end(self) -> int:
        """Ends all that is left of the bot and waits until nothing is. The exit code, negative for a signal."""
        kill([self.pid])
        await trio.lowlevel.wait_readable(self._root)
        code = self._popen.wait()
        _roots.discard(self.pid)
        os.close(self._root)
        await end_all(partial(_orphans, self._mark))
        if code != 0 and (full := _full(Path(self._scratch), SHARED_MEMORY)):
            self.lost = shortage_text(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), full))
        # In a thread: a bot may have filled it, and no other match waits for that.
        await trio.to_thread.run_sync(self._remove_folders)
        return code

    def _remove_folders(self) -> None:
        for folder in (self._scratch, self._code):
            shutil.rmtree(folder, ignore_errors=True)


def _full(*places: Path) -> str | None:
    """Return the first of these whose file system has no space left for an ordinary user, as text."""
    for place in places:
        with suppress(OSError):
            found = os.statvfs(place)
            # One without a bound says 0 of 0.
            if (found.f_blocks and not found.f_bavail) or (found.f_files and not found.f_favail):
                return str(place)
    return None


def launcher(limits: Limits) -> list[str]:
    """What stands before a command, so that it runs with limits and ends with us at the latest."""
    interpreter = str(this_machine().interpreter)
    bounds = [f"{name}={value}" for name, value in resource_limits(limits, others=0) if name in LIMITED]
    return [interpreter, "-I", "-S", str(LAUNCHER), str(os.getpid()), *bounds, "--"]


def _orphans(mark: bytes) -> list[int]:
    """Children of ours that a bot left behind: of a session that is not ours, and not a bot's first process.

    A bot that still runs is the parent of its own orphans, so these are of bots that have ended. Those of our
    session are a bot's if the mark is in their environment.
    """
    ours = os.getsid(0)
    return [
        process.pid
        for process in children()
        if process.pid not in _roots and (process.session != ours or _has(process.pid, mark))
    ]


def _has(pid: int, mark: bytes) -> bool:
    """Whether a process was started with this in its environment."""
    with suppress(OSError):
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    return False
