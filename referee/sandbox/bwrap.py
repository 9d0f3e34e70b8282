"""The levels `strict` and `standard`: a bot in namespaces of its own, which sees only its mounts.

Layers: no network, no other files, processes, users or host name; all mounts read-only except scratch folders in
memory; no privileges, no way to gain them, no further namespaces; limits per process and of their number; and, if
the machine has them, a filter of system calls, Landlock, and control groups. This module runs such a sandbox;
`bwrap_args` makes its command line, and `launcher` is the first program inside. When the sandbox's first process
ends, the kernel kills all others of the bot.
"""

import os
import re
import signal
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
from referee.linux import guard, seccomp
from referee.linux.cgroups import OWN_PROCESSES, ControlGroup
from referee.linux.processes import go_on, stop, tree_us
from referee.sandbox.bot_files import Scratch
from referee.sandbox.bwrap_args import (
    CODE,
    SCRATCH,
    SHARED_MEMORY,
    SOCKETS,
    arguments,
    packages_inside,
    standard_output,
)
from referee.sandbox.host_machine import environment, find_layers, group_for, processes_beyond, this_machine

SET_UP_SECONDS = 20.0
"""Seconds after which a sandbox that is not ready has failed. It usually takes a hundredth of a second."""
SIGNALLED = 128
"""Bubblewrap's exit code for a program that was killed is this plus the signal's number."""
PROBE_SECONDS = 20
GO = b"\n"
"""The message that permits the launcher to run the bot."""
_INIT = re.compile(rb'"child-pid": (\d+)')
_CREDENTIALS = struct.Struct("3i")


class NamespaceSandbox:
    """Common part of bots in sandboxes, however they are started. They are controlled by their first process.

    All processes of a bot are frozen, measured and ended together, by their control group if they have one.
    """

    group: ControlGroup | None
    """The bot's control group, if this machine has them."""

    def __init__(self) -> None:
        self.roots: tuple[int, ...] = ()
        """The processes from which all others of the bot descend; none before the sandbox is ready.

        The first one sees the bot's file system.
        """
        self.program = 0
        """The process that becomes the bot's program, by its number here; 0 before the sandbox is ready."""
        self._init: int | None = None
        """A pidfd of the first process, which is never reused, unlike a number; None: it is not ready yet."""

    def _take_over(self, roots: tuple[int, ...], init: int, program: int) -> None:
        """Take over the processes of a sandbox that is ready; see the attributes."""
        self.roots, self._init, self.program = roots, init, program

    @property
    def lost(self) -> str:
        """The reason why the sandbox ended through no act of the bot; empty: its program has ended."""
        return ""

    def scratch(self) -> list[Scratch]:
        """Return the folders to which the bot can write, as seen from outside."""
        first = next(iter(self.roots), 0)
        own = [Path(folder) for folder in (SCRATCH, SHARED_MEMORY)]
        return [Scratch(Path(f"/proc/{first}/root{folder}"), but_not=folder) for folder in own]

    def freeze(self) -> None:
        """Freeze all processes of the bot."""
        if self.roots and (self.group is None or not self.group.freeze()):
            stop(*self.roots)

    def thaw(self) -> None:
        """Thaw all processes of the bot."""
        if self.roots and (self.group is None or not self.group.thaw()):
            go_on(*self.roots)

    def cpu_us(self) -> int:
        """Return the processor time of all processes of the bot so far, in microseconds.

        Raises:
            OSError: they have ended.
        """
        if not self.roots:
            return 0
        if self.group is None:
            return tree_us(*self.roots)
        return self.group.cpu_us()

    async def _end_init(self) -> None:
        """Kill all processes, if the sandbox is ready, and wait until the last has ended: the first process."""
        if self._init is None:
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._init, signal.SIGKILL)
        if self.group is not None:
            # A frozen process cannot die.
            self.group.thaw()
        await trio.lowlevel.wait_readable(self._init)
        os.close(self._init)


class SetUpError(Exception):
    """Bubblewrap failed before the bot's program. Its complaint is in the bot's log."""


def start(
    words: list[str], told: dict[str, str], *, stdin: int, stdout: int, stderr: int, pass_fds: list[int]
) -> "subprocess.Popen[bytes]":
    """Start bubblewrap, as the leader of a process group.

    The guard ends its child if this process dies while bubblewrap is starting.

    Args:
        words: bubblewrap's command line.
        told: the environment of its program.
        stdin: descriptor for its standard input.
        stdout: descriptor for its standard output.
        stderr: descriptor for its standard error.
        pass_fds: further descriptors for it.

    Raises:
        OSError: no process or descriptor is available.
    """
    guard.ensure_guard()
    split = words.index("--")
    theirs, ours = os.pipe()
    try:
        # Not by trio, which would start it from a thread: the bot would be killed when that thread ends.
        bubblewrap = subprocess.Popen(  # noqa: S603 - this is the door
            # Options are not on the command line, where the bot could read the machine's paths.
            [words[0], "--args", str(theirs), *words[split:]],
            env=told,
            cwd="/",
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[theirs, *pass_fds],
            process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
        )
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    guard.report_start(bubblewrap.pid)
    # Only with its options it can go on, and bind itself to the life of this process.
    with suppress(BrokenPipeError), open(ours, "wb") as options:  # noqa: PTH123 - a descriptor
        options.write("\0".join(words[1:split]).encode())
    return bubblewrap


class SandboxSetup:
    """A sandbox from bubblewrap's start until the bot may run: two processes to identify, and a gate to open."""

    def __init__(
        self,
        bot: BotFolder,
        line: Path,
        told: dict[str, str],
        output: int,
    ) -> None:
        """Start bubblewrap.

        Args:
            bot: the bot to start.
            line: the socket file, alone in its folder.
            told: the bot's environment.
            output: descriptor for its standard output and error.

        Raises:
            OSError: no process, descriptor or control group is available.
        """
        layers = find_layers()
        self.init_pid = 0
        """The number on this machine of the sandbox's first process, once it is admitted."""
        self.program = 0
        """The number on this machine of the process that becomes the bot's program, once it is admitted."""
        with ExitStack() as undo, ExitStack() as given:
            self.group = None if layers.no_groups is not None else group_for(bot.limits)
            """The bot's control group, empty until `admit`."""
            if self.group is not None:
                undo.callback(self.group.close)
            # Not a pipe: a write after this process's death would end bubblewrap, whose child would wait for ever.
            self._info = os.memfd_create("info")
            undo.callback(os.close, self._info)
            self.gate, gate = socket.socketpair()
            undo.enter_context(self.gate)
            given.enter_context(gate)
            self.gate.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            syscalls = None if layers.no_filter is not None else _readable(seccomp.program(), given)
            words = arguments(bot, line, self._info, syscalls, processes_beyond(layers))
            out = standard_output(output)
            with nullcontext() if self.group is None else self.group.inside():
                self.popen = start(
                    words,
                    told,
                    stdin=gate.fileno(),
                    stdout=out,
                    stderr=output,
                    pass_fds=[self._info, *([] if syscalls is None else [syscalls])],
                )
            undo.pop_all()

    def admit(self) -> int | None:
        """Permit the bot to run. Call when `gate` is readable. Returns the result of `take_hold`."""
        init = self.take_hold()
        if init is not None:
            self.begin()
        return init

    def begin(self) -> None:
        """Permit the bot to run. Call after `take_hold`."""
        self.gate.send(GO)

    def take_hold(self) -> int | None:
        """Move the sandbox's processes into their group. Call when `gate` is readable; the bot does not run yet.

        Returns:
            A descriptor of the sandbox's first process; None: the sandbox failed.
        """
        said, ancillary, _, _ = self.gate.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not said:
            return None
        told = _INIT.search(os.pread(self._info, 4096, 0))
        if told is None:
            return None
        self.init_pid = int(told[1])
        try:
            # Unlike a number, a descriptor is never reused for another process.
            init = os.pidfd_open(self.init_pid)
        except ProcessLookupError:
            return None
        # The kernel identifies the sender: no code of the bot runs before the permission.
        speakers = _speakers(ancillary)
        self.program = next(iter(speakers), 0)
        if self.group is not None:
            for pid in (self.init_pid, *speakers):
                self.group.add(pid)
            # In version 1, bubblewrap itself is in the group too, with its init.
            self.group.bound_processes(OWN_PROCESSES if self.group.version == 1 else 1)
        return init

    def abandon(self) -> None:
        """Kill bubblewrap, and with it all processes inside."""
        guard.kill(self.popen)
        self.popen.wait()
        if self.group is not None:
            self.group.kill()
        self.close()

    def close(self) -> None:
        """Release descriptors. Call only after all processes have ended."""
        os.close(self._info)
        self.gate.close()
        if self.group is not None:
            self.group.close()


def _readable(content: bytes, until: ExitStack) -> int:
    """Return a new descriptor from which the bytes can be read once."""
    descriptor = os.memfd_create("words")
    until.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _speakers(ancillary: Sequence[tuple[int, int, bytes]]) -> list[int]:
    """Return the number on this machine of the process that wrote to the gate."""
    return [
        _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
        for level, kind, data in ancillary
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    ]


class BubblewrapSandbox(NamespaceSandbox):
    """A sandboxed bot, from the start of bubblewrap to the end of its last process."""

    def __init__(self, bot: BotFolder, line: Path, token: str, output: int) -> None:
        """Start bubblewrap.

        Args:
            bot: the bot to start.
            line: the bound socket file, alone in its folder.
            token: the token for the bot's environment.
            output: descriptor for its standard output and error.

        Raises:
            OSError: no process, descriptor or control group is available.
        """
        super().__init__()
        told = environment(
            endpoint=f"ipc://{SOCKETS}/{line.name}",
            token=token,
            scratch=SCRATCH,
            python_path=python_path(),
            kept=bot.keeps,
        )
        self._setup = SandboxSetup(bot, line, told, output)
        self.group = self._setup.group
        self.pid = self._setup.popen.pid
        try:
            self._outer = os.pidfd_open(self.pid)
        except OSError:
            self._setup.abandon()
            raise

    async def ready(self) -> None:
        """Wait until the sandbox is ready and the bot's program runs.

        Raises:
            SetUpError: the sandbox failed.
        """
        if not await self._wait_until_ready():
            raise SetUpError

    async def exited(self) -> None:
        """Wait until the bot's program has ended. Other processes of the bot may still run."""
        await trio.lowlevel.wait_readable(self._outer)

    async def end(self) -> int:
        """Kill all processes of the bot, and wait until they have ended.

        Returns:
            The exit code of its program, negative for a signal.
        """
        # Wait until the sandbox is ready or has failed: before that, its first process is unknown.
        with suppress(OSError):  # `ready` has raised it, and bubblewrap was killed then.
            await self._wait_until_ready()
        await self._end_init()
        await trio.lowlevel.wait_readable(self._outer)
        code: int = self._setup.popen.wait()
        if self._init is None and self.group is not None:
            # The unfinished sandbox ends with bubblewrap, but may need a moment more.
            self.group.kill()
        os.close(self._outer)
        self._setup.close()
        return program_code(code)

    async def _wait_until_ready(self) -> bool:
        """Wait until the sandbox is ready, and take over its first process; return False if the sandbox failed."""
        if self._init is None:
            with trio.move_on_after(SET_UP_SECONDS) as waiting:
                await trio.lowlevel.wait_readable(self._setup.gate)
            if waiting.cancelled_caught:
                guard.kill(self._setup.popen)  # It is stopped or stuck, and the match must not wait for ever.
            else:
                try:
                    descriptor = self._setup.admit()
                except OSError:
                    # Its first process is unknown. All processes inside end with bubblewrap.
                    guard.kill(self._setup.popen)
                    raise
                if descriptor is not None:
                    self._take_over((self._setup.init_pid,), descriptor, self._setup.program)
        return self._init is not None


def program_code(code: int) -> int:
    """Return the exit code of a program, given that of bubblewrap or a shell, which encode signals."""
    if code > SIGNALLED:
        return SIGNALLED - code
    return code


def run(bot: BotFolder, line: Path, told: dict[str, str], output: int, *, seconds: float) -> int:
    """Run a bot's command to its end, in a sandbox like a bot's; return bubblewrap's exit code.

    The arguments are those of `SandboxSetup`, and the seconds after which all processes are killed.

    Raises:
        subprocess.TimeoutExpired: the command took too long.
        OSError: as in `SandboxSetup`.
    """
    setup = SandboxSetup(bot, line, told, output)
    try:
        setup.gate.settimeout(seconds)
        init = setup.admit()
        if init is not None:
            os.close(init)
        # After the timeout bubblewrap is killed, and with it all processes inside.
        return setup.popen.wait(seconds)
    except TimeoutError:
        raise subprocess.TimeoutExpired(bot.command, seconds) from None
    finally:
        setup.abandon()


@cache
def python_path() -> str:
    """Return PYTHONPATH inside the sandbox: packages, messages, rules and kit."""
    return ":".join([CODE, *packages_inside(this_machine())])


def probe() -> str | None:
    """Try to create a sandbox on this machine; return None, or bubblewrap's complaint.

    Raises:
        OSError: as in `arguments`, or no process or namespace is available.
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
        if code == 0:
            return None
        return " ".join(log.read().decode(errors="replace").split())
