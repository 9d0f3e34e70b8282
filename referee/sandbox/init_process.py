"""The first process of a sandbox. When it ends, the kernel kills all others of the bot."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import trio

from referee.linux.cgroups import ControlGroup
from referee.linux.processes import go_on, stop, tree_us
from referee.sandbox.bwrap_args import SCRATCH, SHARED_MEMORY
from referee.sandbox.scratch import Scratch


class InitProcess:
    """Freezes, measures and ends all processes of a bot together, by their control group if they have one."""

    def __init__(self, roots: tuple[int, ...], descriptor: int, group: ControlGroup | None, program: int) -> None:
        """Take over the first process of a sandbox.

        Args:
            roots: the processes from which all others of the bot descend. The first one sees the bot's file
            system.
            descriptor: a pidfd of the first process, which is closed by `end`. Unlike a number, it is never
            reused.
            group: the bot's control group, if there is one.
            program: the process that becomes the bot's program.
        """
        self.roots = roots
        self.program = program
        self._descriptor = descriptor
        self._group = group

    def freeze(self) -> None:
        """Freeze all processes."""
        if self._group is None or not self._group.freeze():
            stop(*self.roots)

    def thaw(self) -> None:
        """Thaw all processes."""
        if self._group is None or not self._group.thaw():
            go_on(*self.roots)

    def cpu_us(self) -> int:
        """Return the processor time of all processes so far, in microseconds.

        Raises:
            OSError: they have ended.
        """
        return tree_us(*self.roots) if self._group is None else self._group.cpu_us()

    async def exited(self) -> None:
        """Wait until the first process has ended."""
        await trio.lowlevel.wait_readable(self._descriptor)

    async def end(self) -> None:
        """Kill all processes, and wait until the last has ended, which is the first process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        if self._group is not None:
            # A frozen process cannot die.
            self._group.thaw()
        await self.exited()
        os.close(self._descriptor)


class NamespaceSandbox:
    """Common part of bots in sandboxes, however they are started. They are controlled by their first process."""

    def __init__(self) -> None:
        self._init: InitProcess | None = None
        """The first process; None: the sandbox is not ready yet."""

    @property
    def roots(self) -> tuple[int, ...]:
        """The processes from which all others of the bot descend; none before the sandbox is ready."""
        return () if self._init is None else self._init.roots

    @property
    def program(self) -> int:
        """The process that becomes the bot's program, by its number here; 0 before the sandbox is ready."""
        return 0 if self._init is None else self._init.program

    @property
    def lost(self) -> str:
        """The reason why the sandbox ended through no act of the bot; empty: its program has ended."""
        return ""

    def scratch(self) -> list[Scratch]:
        """Return the folders to which the bot can write, as seen from outside."""
        first = 0 if self._init is None else self._init.roots[0]
        own = [Path(folder) for folder in (SCRATCH, SHARED_MEMORY)]
        return [Scratch(Path(f"/proc/{first}/root{folder}"), but_not=folder) for folder in own]

    def freeze(self) -> None:
        """Freeze all processes of the bot."""
        if self._init is not None:
            self._init.freeze()

    def thaw(self) -> None:
        """Thaw all processes of the bot."""
        if self._init is not None:
            self._init.thaw()

    def cpu_us(self) -> int:
        """Return the processor time of all processes of the bot so far, in microseconds.

        Raises:
            OSError: they have ended.
        """
        return 0 if self._init is None else self._init.cpu_us()
