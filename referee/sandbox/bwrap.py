"""The levels `strict` and `standard`: a bot in namespaces of its own, with nothing of this machine but its mounts.

Layers: no network, no other files, processes, users or host name; read-only but for a scratch in memory; no
privileges, none to be gained, no further namespaces; limits for each process and for their number; where the
machine has them, a filter of system calls, Landlock, and control groups. This file lives with one such process;
`bwrap_args` says how it is made, and `launcher` is the first program inside.
"""

import os
import re
import socket
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import cache
from pathlib import Path

import trio

from referee.bot_folder import BotFolder, Limits
from referee.linux import seccomp
from referee.linux.cgroups import OWN_PROCESSES, Group
from referee.sandbox.bot_environment import environment, this_machine
from referee.sandbox.bwrap_args import CODE, SCRATCH, SOCKETS, arguments, packages_inside
from referee.sandbox.bwrap_user import standard_output
from referee.sandbox.init_process import FirstProcess, InSandbox
from referee.sandbox.levels import find_layers, group_for, processes_beyond

SET_UP_SECONDS = 20.0
"""A sandbox that does not stand by then never will; it takes a hundredth of a second."""
SIGNALLED = 128
"""Bubblewrap's exit code for a program that a signal ended is this and the signal's number."""
PROBE_SECONDS = 20
GO = b"\n"
"""The word that the launcher waits for."""
_INIT = re.compile(rb'"child-pid": (\d+)')
_CREDENTIALS = struct.Struct("3i")


class SetUpError(Exception):
    """Bubblewrap did not get as far as the bot's program. Its own words are in the bot's log."""


class Setting:
    """A sandbox from bubblewrap's start until the bot may begin: two processes to know, and a gate to open."""

    def __init__(
        self,
        bot: BotFolder,
        line: Path,
        told: dict[str, str],
        output: int,
    ) -> None:
        """Starts bubblewrap.

        Args:
            bot: whom to start.
            line: the socket's file, in a folder that holds nothing else.
            told: the bot's environment.
            output: descriptor for its standard output and error.

        Raises:
            OSError: no process, descriptor or control group is to be had.
        """
        layers = find_layers()
        self.first = 0
        """The sandbox's first process, by this machine's number, once admitted."""
        self.program = 0
        """The process that becomes the bot's program, likewise."""
        with ExitStack() as undo, ExitStack() as given:
            self.group = None if layers.no_groups is not None else group_for(bot.limits)
            """The bot's control group, empty until `admit`."""
            if self.group is not None:
                undo.callback(self.group.close)
            # No pipe: if we died, writing to it would end bubblewrap half-way, its child waiting for it for ever.
            self._info = os.memfd_create("info")
            undo.callback(os.close, self._info)
            self.gate, gate = socket.socketpair()
            undo.enter_context(self.gate)
            given.enter_context(gate)
            self.gate.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            syscalls = None if layers.no_filter is not None else _readable(seccomp.program(), given)
            words = arguments(bot, line, self._info, syscalls, processes_beyond(layers))
            out = standard_output(output)
            split = words.index("--")
            options = _readable("\0".join(words[1:split]).encode(), given)
            with nullcontext() if self.group is None else self.group.inside():
                # Not by trio: it would start it from a thread, and with that thread's end the bot would be killed.
                self.popen = subprocess.Popen(  # noqa: S603 - this is the door
                    # Options are not on the command line, where the bot could read the machine's paths.
                    [words[0], "--args", str(options), *words[split:]],
                    env=told,
                    cwd="/",
                    stdin=gate.fileno(),
                    stdout=out,
                    stderr=output,
                    pass_fds=[self._info, options, *([] if syscalls is None else [syscalls])],
                    process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
                )
            undo.pop_all()

    def admit(self) -> int | None:
        """Lets the bot begin, once `gate` can be read. Returns as `take_hold`."""
        init = self.take_hold()
        if init is not None:
            self.begin()
        return init

    def begin(self) -> None:
        """Lets the bot begin, once `take_hold` has found its sandbox."""
        self.gate.send(GO)

    def take_hold(self) -> int | None:
        """Puts its processes into their group, once `gate` can be read. Nothing of the bot's runs yet.

        A descriptor of the sandbox's first process; None: it did not stand.
        """
        said, ancillary, _, _ = self.gate.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not said:
            return None
        told = _INIT.search(os.pread(self._info, 4096, 0))
        if told is None:
            return None
        self.first = int(told[1])
        try:
            # A descriptor can never come to mean another process, as a number can.
            init = os.pidfd_open(self.first)
        except ProcessLookupError:
            return None
        # The kernel says who spoke: nothing of the bot's runs before it hears the word.
        speakers = _speakers(ancillary)
        self.program = next(iter(speakers), 0)
        if self.group is not None:
            for pid in (self.first, *speakers):
                self.group.add(pid)
            # Of version 1 bubblewrap is in the group, too, with its init.
            self.group.bound_processes(OWN_PROCESSES if self.group.version == 1 else 1)
        return init

    def abandon(self) -> None:
        """Ends bubblewrap, and with it all that is inside."""
        self.popen.kill()
        self.popen.wait()
        if self.group is not None:
            # Bubblewrap's child may not have been tied to its life yet.
            self.group.kill()
        self.close()

    def close(self) -> None:
        """When all its processes are gone."""
        os.close(self._info)
        self.gate.close()
        if self.group is not None:
            self.group.close()


def _readable(content: bytes, until: ExitStack) -> int:
    """A new descriptor from which this can be read, once."""
    descriptor = os.memfd_create("words")
    until.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _speakers(ancillary: Sequence[tuple[int, int, bytes]]) -> list[int]:
    """The process that wrote to the gate, by this machine's number."""
    return [
        _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
        for level, kind, data in ancillary
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    ]


class Bubble(InSandbox):
    """One sandboxed bot, from the start of bubblewrap to the end of the last process in it."""

    def __init__(self, bot: BotFolder, line: Path, token: str, output: int) -> None:
        """Starts bubblewrap.

        Args:
            bot: whom to start.
            line: the socket's file, bound, in a folder that holds nothing else.
            token: for the bot's environment.
            output: descriptor for its standard output and error.

        Raises:
            OSError: no process, descriptor or control group is to be had.
        """
        super().__init__()
        told = environment(
            endpoint=f"ipc://{SOCKETS}/{line.name}",
            token=token,
            scratch=SCRATCH,
            python_path=python_path(),
            kept=bot.keeps,
        )
        self._setting = Setting(bot, line, told, output)
        self.pid = self._setting.popen.pid
        try:
            self._outer = os.pidfd_open(self.pid)
        except OSError:
            self._setting.abandon()
            raise

    @property
    def group(self) -> Group | None:
        """Its control group, where there are such."""
        return self._setting.group

    async def ready(self) -> None:
        """Waits until the sandbox stands, and the bot's program begins.

        Raises:
            SetUpError: it does not stand.
        """
        if not await self._stands():
            raise SetUpError

    async def exited(self) -> None:
        """Waits until the bot's program has ended; other processes of the bot may still be there."""
        await trio.lowlevel.wait_readable(self._outer)

    async def end(self) -> int:
        """Ends all that is left of the bot and waits until nothing is. The exit code, negative for a signal."""
        # What is not yet a sandbox is let become one, or fail: before it is, there is nobody to kill for certain.
        with suppress(OSError):  # `ready` has raised it, and bubblewrap was killed then.
            await self._stands()
        if self._first is not None:
            await self._first.end()
        await trio.lowlevel.wait_readable(self._outer)
        code: int = self._setting.popen.wait()
        if self._first is None and self.group is not None:
            # What was to be the sandbox ends with bubblewrap, but may need a moment more.
            self.group.kill()
        os.close(self._outer)
        self._setting.close()
        return SIGNALLED - code if code > SIGNALLED else code

    async def _stands(self) -> bool:
        """Waits until the sandbox stands, and takes hold of its first process; False: it failed."""
        if self._first is None:
            with trio.move_on_after(SET_UP_SECONDS) as waiting:
                await trio.lowlevel.wait_readable(self._setting.gate)
            if waiting.cancelled_caught:
                self._setting.popen.kill()  # Stopped or stuck: the match must not wait for it for ever.
            else:
                try:
                    descriptor = self._setting.admit()
                except OSError:
                    # There is no hold on its first process. With bubblewrap all that is inside ends.
                    self._setting.popen.kill()
                    raise
                if descriptor is not None:
                    self._first = FirstProcess(
                        (self._setting.first,), descriptor, self.group, self._setting.program
                    )
        return self._first is not None


def run(bot: BotFolder, line: Path, told: dict[str, str], output: int, *, seconds: float) -> int:
    """Runs a bot's command to its end, in a sandbox as a bot's; the exit code as bubblewrap gives it.

    Args: as for `Setting`. `seconds`: then all is killed.

    Raises:
        subprocess.TimeoutExpired: the time was up.
        OSError: as for `Setting`.
    """
    setting = Setting(bot, line, told, output)
    try:
        setting.gate.settimeout(seconds)
        init = setting.admit()
        if init is not None:
            os.close(init)
        # When time is up bubblewrap is killed, and with it all that is inside.
        return setting.popen.wait(seconds)
    except TimeoutError:
        raise subprocess.TimeoutExpired(bot.command, seconds) from None
    finally:
        setting.abandon()


@cache
def python_path() -> str:
    """Where Python finds packages and our words, inside."""
    return ":".join([CODE, *packages_inside(this_machine())])


def probe() -> str | None:
    """Whether a sandbox can be made on this machine: None, or bubblewrap's complaint.

    Raises:
        OSError: as for `arguments`, or no process or namespace is to be had.
    """
    nobody = BotFolder(
        given="probe",
        folder=Path("/usr"),
        name="",
        version="",
        command=("true",),
        games=(),
        limits=Limits(),
        content="",
    )
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        line = Path(folder, "none.sock")
        code = run(nobody, line, dict(os.environ), log.fileno(), seconds=PROBE_SECONDS)
        log.seek(0)
        return None if code == 0 else " ".join(log.read().decode(errors="replace").split())
