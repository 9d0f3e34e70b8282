"""Warm starts: Python bots forked from a process that has already loaded the interpreter and the kit's imports.

The walls are those of `bwrap`. A warm start saves the start of bubblewrap and the interpreter, and the imports:
nine tenths of a bot's start. That process runs `prefork_server`; there is one per arena, and it ends with the
arena.
"""

import array
import errno
import os
import re
import signal
import socket
import subprocess
import tempfile
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

import msgspec
import trio

from protocol import games
from referee.bot_folder import MEGABYTE, PYTHON, BotFolder
from referee.linux import guard, seccomp
from referee.sandbox import host_machine
from referee.sandbox.bwrap import GO, SET_UP_SECONDS, NamespaceSandbox, SetUpError, python_path, start
from referee.sandbox.bwrap_args import (
    SCRATCH,
    SHARED_MEMORY_BYTES,
    SOCKETS,
    check_readable,
    places,
    resource_limits,
    roots_user,
    standard_output,
    starter_arguments,
)
from referee.sandbox.host_machine import environment, find_layers, group_for, processes_beyond, this_machine

MODULES = ("bots.kit", *(f"protocol.games.{module.name}" for module in iter_modules(games.__path__)))
"""The modules that are imported already when a bot starts."""
NO_FILTER = b"\n"
INTRODUCTION = b"!"
OUT_OF = b"E"
"""Prefix of an error number in a message: the process from which bots are forked has run out of a resource."""
INTRODUCED = 2
"""Number of processes in an introduction: the sandbox's init and the bot."""
STARTER_ENDED = "the process that warm bots are forked from has ended"
_PID = re.compile(rb"^Pid:\s+(\d+)$", re.MULTILINE)


def can_be_warm(bot: BotFolder) -> bool:
    """Return whether a bot can be started warm: it must be a Python script that opens its own ZeroMQ socket."""
    program, *arguments = bot.command
    return bot.transport == "zmq" and program == PYTHON and bool(arguments) and not arguments[0].startswith("-")


class PreforkedSandbox(NamespaceSandbox):
    """A warm bot, from the fork to the end of the last process in its sandbox."""

    def __init__(self, bot: BotFolder, line: Path, token: str, output: int) -> None:
        """Request the fork. Arguments and errors are those of `bwrap.BubblewrapSandbox`."""
        super().__init__()
        check_readable(bot, line)
        self._starter = _living_starter()
        user = roots_user(line).number if os.geteuid() == 0 else None
        layers = find_layers()
        self.pid = 0
        """The number of the bot's process on this machine, once it is `ready`."""
        self._is_set_up = False
        self._code: int | None = None
        """The bot's exit code; None: not received yet."""
        self._out_of: OSError | None = None
        """The shortage that prevented the start of the bot; None: there was none."""
        self._is_closed = False
        """True if the other end has closed the gate."""
        self._is_settled = trio.Event()
        """Set when the sandbox is ready, or has failed."""
        request = {
            "folder": str(bot.folder),
            "sockets": str(line.parent.resolve()),
            "scratch_bytes": bot.limits.scratch_mb * MEGABYTE,
            "shared_bytes": SHARED_MEMORY_BYTES,
            "user": user,
            "limits": resource_limits(bot.limits, processes_beyond(layers)),
            "landlock": host_machine.landlock_version(),
            "places": places(this_machine()),
            "environment": environment(
                endpoint=f"ipc://{SOCKETS}/{line.name}",
                token=token,
                scratch=SCRATCH,
                python_path=python_path(),
                kept=bot.keeps,
            ),
            "argv": list(bot.command[1:]),
        }
        with ExitStack() as undo, ExitStack() as given:
            self.group = None if layers.no_groups is not None else group_for(bot.limits)
            """The bot's control group, if this machine has them."""
            if self.group is not None:
                undo.callback(self.group.close)
            self._gate, gate = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.enter_context(self._gate)
            given.enter_context(gate)
            self._gate.setblocking(False)
            joining = [] if self.group is None else self.group.entrances()
            for descriptor in joining:
                given.callback(os.close, descriptor)
            descriptors = array.array("i", [output, gate.fileno(), *joining])
            self._starter.control.sendmsg(
                [msgspec.msgpack.encode(request)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)]
            )
            undo.pop_all()

    @property
    def lost(self) -> str:
        """The reason why the bot ended, if the process from which it was forked has ended; empty: it has not."""
        return STARTER_ENDED if self._code is None and not self._starter.lives() else ""

    async def ready(self) -> None:
        """Wait until the sandbox is ready, and start the bot's program.

        Raises:
            SetUpError: the sandbox could not be created.
            OSError: the machine has run out of a resource for it.
        """
        try:
            with trio.move_on_after(SET_UP_SECONDS):
                while not self._can_begin() and self._out_of is None and await self._listen():
                    pass
            if self._is_closed and not self._is_introduced() and self._starter.lives():
                # The gate itself has not arrived: the process from which bots are forked may open no more files.
                self._out_of = self._out_of or _no_descriptor()
            if self._out_of is not None:
                raise self._out_of
            if not self._can_begin():
                raise SetUpError
            if self.group is not None:
                self.group.bound_processes(0)  # Its init is in no group of the bot's.
            try:
                self._gate.send(GO)
            except OSError:
                raise SetUpError from None
        finally:
            self._is_settled.set()

    async def exited(self) -> None:
        """Wait until the bot's program has ended."""
        await self._is_settled.wait()
        while self._code is None and await self._listen():
            pass

    async def end(self) -> int:
        """Kill all processes of the bot, and wait until they have ended.

        Returns:
            The exit code of its program, negative for a signal.
        """
        with trio.move_on_after(SET_UP_SECONDS):
            while not self._is_introduced() and self._out_of is None and await self._listen():
                pass
            if self._init is None:
                self._turn_away()
            await self._end_init()
            while self._code is None and await self._listen():
                pass
        self._close()
        return -signal.SIGKILL if self._code is None else self._code

    def _turn_away(self) -> None:
        """End a bot that waits for permission to start and is not introduced: it exits if it cannot get it."""
        with suppress(OSError):
            self._gate.shutdown(socket.SHUT_WR)

    def _can_begin(self) -> bool:
        """Return whether the sandbox is ready and its processes are known."""
        return self._is_set_up and self._is_introduced()

    def _is_introduced(self) -> bool:
        return self._init is not None

    async def _listen(self) -> bool:
        """Wait for a message at the gate and process it; return False if the gate is closed."""
        await trio.lowlevel.wait_readable(self._gate)
        return self._hears()

    def _hears(self) -> bool:
        """Process one message: the introduction of the processes, the sandbox's readiness, or the exit code.

        The first two are sent by two processes, in any order. Returns False if there is no message.
        """
        size = array.array("i").itemsize
        try:
            said, ancillary, _, _ = self._gate.recvmsg(16, socket.CMSG_SPACE(INTRODUCED * size))
        except OSError:
            return False
        self._is_closed = not said
        if said == INTRODUCTION:
            self._meet([number for _, _, data in ancillary for number in array.array("i", data)])
        elif said == GO:
            self._is_set_up = True
        elif said.startswith(OUT_OF):
            number = int(said.removeprefix(OUT_OF))
            self._out_of = OSError(number, os.strerror(number))
        elif said:
            self._code = int(said)
        return bool(said)

    def _meet(self, descriptors: list[int]) -> None:
        """Take over the descriptors of the sandbox's init and the bot.

        Some are missing if files have run out here.
        """
        try:
            if len(descriptors) < INTRODUCED:
                raise _no_descriptor()
            init, bot = descriptors
            self.pid = _number_of(bot)
            self._take_over((self.pid, _number_of(init)), init, self.pid)
            descriptors = [bot]
        except OSError as error:
            self._out_of = error
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _close(self) -> None:
        self._gate.close()
        if self.group is not None:
            self.group.close()


def _no_descriptor() -> OSError:
    return OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def _number_of(process: int) -> int:
    """Return the number on this machine of the process of a pidfd."""
    file = os.open(f"/proc/self/fdinfo/{process}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        told = _PID.search(os.read(file, 4096))
    finally:
        os.close(file)
    return int(told[1]) if told else 0


class _Starter:
    """The process from which bots are forked."""

    def __init__(self) -> None:
        """Start the process, and block until its modules are imported: some tens of milliseconds, once per arena.

        Raises:
            OSError: as in `bwrap.SandboxSetup`; number 0 with bubblewrap's complaint if there is no
                sandbox.
        """
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(SET_UP_SECONDS)
        told = environment(endpoint="", token="", scratch=SCRATCH, python_path=python_path())
        words = NO_FILTER if find_layers().no_filter is not None else seccomp.program()
        with tempfile.TemporaryFile() as log, theirs:
            self._popen = start(
                starter_arguments(theirs.fileno(), MODULES),
                told,
                stdin=subprocess.DEVNULL,
                stdout=standard_output(log.fileno()),
                stderr=log.fileno(),
                pass_fds=[theirs.fileno()],
            )
            theirs.close()
            came, late = b"", ""
            try:
                self.control.send(words)
                came = self.control.recv(1)
            except TimeoutError:
                late = f"nothing within {SET_UP_SECONDS:g} s: this machine is too busy or too slow"
            except OSError:
                pass
            if came != GO:
                self.control.close()
                guard.kill(self._popen)
                self._popen.wait()
                log.seek(0)
                complaint = " ".join(log.read().decode(errors="replace").split())
                raise OSError(0, complaint or late, "warm start")

    def lives(self) -> bool:
        """Return whether the process still runs."""
        if self._popen.poll() is not None:
            self.control.close()
        return self._popen.returncode is None


@cache
def _starter(_number: int) -> _Starter:
    return _Starter()


_deaths = 0


def _living_starter() -> _Starter:
    """Return the arena's process, or a new one if that has ended."""
    global _deaths  # noqa: PLW0603 - one process has one starter
    starter = _starter(_deaths)
    if not starter.lives():
        _deaths += 1
        starter = _starter(_deaths)
    return starter
