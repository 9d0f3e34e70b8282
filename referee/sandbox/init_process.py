"""The first process of a sandbox: with it the kernel ends all others of the bot."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import trio

from referee.linux.cgroups import Group
from referee.linux.cpu_time import tree_us
from referee.linux.process_tree import go_on, stop
from referee.sandbox.bwrap_args import SCRATCH, SHARED_MEMORY
from referee.sandbox.scratch import Scratch


class FirstProcess:
    """What is done to it is done to all of the bot's processes: by their control group, where they have one."""

    def __init__(self, roots: tuple[int, ...], descriptor: int, group: Group | None, program: int) -> None:
        """`descriptor` is of the process: it can never come to mean another, as a number can. It becomes ours.

        All of the bot's processes descend from `roots`; the first of them sees what the bot sees. One of them is
        to become the bot's `program`.
        """
        self.roots = roots
        self.program = program
        self._descriptor = descriptor
        self._group = group

    def freeze(self) -> None:
        """Stops all where they are."""
        if self._group is None or not self._group.freeze():
            stop(*self.roots)

    def thaw(self) -> None:
        """Lets them go on."""
        if self._group is None or not self._group.thaw():
            go_on(*self.roots)

    def cpu_us(self) -> int:
        """Processor time of all so far, in microseconds.

        Raises:
            OSError: they are gone.
        """
        return tree_us(*self.roots) if self._group is None else self._group.cpu_us()

    async def exited(self) -> None:
        """Waits until it has ended."""
        await trio.lowlevel.wait_readable(self._descriptor)

    async def end(self) -> None:
        """Ends all, and waits until nothing is left of them: it is the last to be gone."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        if self._group is not None:
            # A frozen process cannot die.
            self._group.thaw()
        await self.exited()
        os.close(self._descriptor)


class InSandbox:
    """What is common to bots in sandboxes, however they are started: they are known by their first process."""

    def __init__(self) -> None:
        self._first: FirstProcess | None = None
        """Once the sandbox stands."""

    @property
    def roots(self) -> tuple[int, ...]:
        """All the bot's processes descend from these; none before the sandbox stands."""
        return () if self._first is None else self._first.roots

    @property
    def program(self) -> int:
        """The process that becomes the bot's program, by this machine's number; 0 before the sandbox stands."""
        return 0 if self._first is None else self._first.program

    @property
    def lost(self) -> str:
        """Why it has ended, if nothing that the bot did ended it; empty: its program has ended."""
        return ""

    def scratch(self) -> list[Scratch]:
        """The folders that it can write to, as they are seen from here."""
        first = 0 if self._first is None else self._first.roots[0]
        own = [Path(folder) for folder in (SCRATCH, SHARED_MEMORY)]
        return [Scratch(Path(f"/proc/{first}/root{folder}"), but_not=folder) for folder in own]

    def freeze(self) -> None:
        """Stops all the bot's processes where they are."""
        if self._first is not None:
            self._first.freeze()

    def thaw(self) -> None:
        """Lets them go on."""
        if self._first is not None:
            self._first.thaw()

    def cpu_us(self) -> int:
        """Processor time of all the bot's processes so far, in microseconds.

        Raises:
            OSError: they are gone.
        """
        return 0 if self._first is None else self._first.cpu_us()
