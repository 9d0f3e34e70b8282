"""Isolation `none`: a bot as a plain process with limits, which is hard to outlive.

It sees and may do all that the arena's own user may: for trusted bots on machines without a sandbox. Neither its
scratch space nor its number of processes is limited, since these limits would apply to the whole user.
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
from referee.linux.processes import adopt_orphans, end_all, go_on, kill_trees, own_children, stop, tree_us
from referee.linux.shortage import shortage_text
from referee.sandbox.bot_files import Scratch
from referee.sandbox.bwrap_args import LAUNCHER, resource_limits
from referee.sandbox.host_machine import command_line, environment, link_importable, this_machine

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at
LIMITED = frozenset({"AS", "NOFILE", "FSIZE", "CORE", "CPU"})
"""The limits that apply to a process; others would apply to all processes of the user."""
_roots: set[int] = set()
"""The first processes of bots that are not reaped yet."""
PASSED_ON = ("TERM", "COLORTERM", "PYTHONBREAKPOINT")
"""Variables of the arena's own environment that a bot at a terminal gets, for its debugger."""


class Terminal(Struct, frozen=True):
    """The arena's own standard input, output and error, for one bot outside the sandbox.

    The bot is in the arena's process group, so that it may read from the terminal: a Ctrl-C reaches both. A bot
    with the transport `stdio` gets standard error alone, and is in a session of its own.
    """

    output: int = 1
    """The descriptor that is its standard output."""
    still_runs: Callable[[], None] = lambda: None
    """A function called when the match is over and the bot still runs, so that the arena waits for it."""


class PlainProcess:
    """A bot without a sandbox, from its start to the end of its last process."""

    def __init__(
        self, bot: BotFolder, line: Path, token: str, output: int, terminal: Terminal | None = None
    ) -> None:
        """Start the bot, as `bwrap.BubblewrapSandbox` does. A terminal replaces `output`."""
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
            # Not by trio, which would start it from a thread: the bot would be killed when that thread ends.
            self._popen = subprocess.Popen(  # noqa: S603 - this is the door
                launcher(bot.limits) + command,
                env=told,
                cwd=bot.folder,
                **files,
                # Orphans of a bot are recognised by its session; those of a bot at the terminal, by its token.
                start_new_session=files["stdin"] is not None,
            )
            undo.callback(self._popen.wait)
            undo.callback(self._popen.kill)
            self.pid = self._popen.pid
            self._root = os.pidfd_open(self.pid)
            undo.pop_all()
        self.roots = (self.pid,)
        """The processes from which all others of the bot descend."""
        self.program = self.pid
        """The process that becomes the bot's program."""
        self.group = None
        """None: the bot has no control group."""
        self.lost = ""
        """The shortage that may have ended the bot: the machine had no space left. Empty: there was none."""
        self._mark = f"ARENA_TOKEN={token}\0".encode()
        _roots.add(self.pid)

    async def ready(self) -> None:
        """Return at once: the bot runs from the start."""
        await trio.lowlevel.checkpoint()

    async def exited(self) -> None:
        """Wait until the bot's program has ended. Other processes of the bot may still run."""
        await trio.lowlevel.wait_readable(self._root)

    def scratch(self) -> list[Scratch]:
        """Return the folders for the bot's files. It may have written elsewhere."""
        return [Scratch(Path(self._scratch))]

    def freeze(self) -> None:
        """Stop all processes of the bot."""
        stop(self.pid)

    def thaw(self) -> None:
        """Resume all processes of the bot."""
        go_on(self.pid)

    def cpu_us(self) -> int:
        """Return the processor time of all processes of the bot so far, in microseconds."""
        return tree_us(self.pid)

    async def end(self) -> int:
        """Kill all processes of the bot, and wait until they have ended.

        Returns:
            The exit code of its program, negative for a signal.
        """
        kill_trees([self.pid])
        await trio.lowlevel.wait_readable(self._root)
        code = self._popen.wait()
        _roots.discard(self.pid)
        os.close(self._root)
        await end_all(partial(_orphans, self._mark))
        if code != 0 and (full := _full(Path(self._scratch), SHARED_MEMORY)):
            self.lost = shortage_text(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), full))
        # In a thread: a bot may have filled the folders, and other matches must not wait.
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
            # A file system without a bound reports 0 of 0.
            if (found.f_blocks and not found.f_bavail) or (found.f_files and not found.f_favail):
                return str(place)
    return None


def launcher(limits: Limits) -> list[str]:
    """Return the words before a command that make it run with limits and end with the arena."""
    interpreter = str(this_machine().interpreter)
    bounds = [f"{name}={value}" for name, value in resource_limits(limits, others=0) if name in LIMITED]
    return [interpreter, "-I", "-S", str(LAUNCHER), f"arena={os.getpid()}", *bounds, "--"]


def _orphans(mark: bytes) -> list[int]:
    """Return orphans of bots: children of this process in other sessions that are no bot's first process.

    A running bot is the parent of its own orphans, so these belong to bots that have ended. Children in this
    process's own session are a bot's if the mark is in their environment.
    """
    ours = os.getsid(0)
    return [
        process.pid
        for process in own_children()
        if process.pid not in _roots and (process.session != ours or _has(process.pid, mark))
    ]


def _has(pid: int, mark: bytes) -> bool:
    """Return whether a process was started with these bytes in its environment."""
    with suppress(OSError):
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    return False
