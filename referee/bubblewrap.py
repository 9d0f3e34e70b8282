"""Isolation `bubblewrap`: a bot in namespaces of its own, with nothing of this machine but what is mounted there.

Layers: no network, no other files, processes, users or host name; read-only but for a scratch in memory; no
privileges, none to be gained, no further namespaces; limits for each process and for their number. This file lives
with one such process; `bubblewrap_arguments` says how it is made.
"""

import os
import re
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import trio

from referee.bot_environment import environment, this_machine
from referee.bot_folder import BotFolder, Limits
from referee.bubblewrap_arguments import CODE, SCRATCH, SOCKETS, arguments, packages_inside
from referee.bubblewrap_user import standard_output

SET_UP_SECONDS = 20.0
"""A sandbox that does not stand by then never will; it takes a hundredth of a second."""
SIGNALLED = 128
"""Bubblewrap's exit code for a program that a signal ended is this and the signal's number."""
PROBE_SECONDS = 20
_INIT = re.compile(rb'"child-pid": (\d+)')


class SetUpError(Exception):
    """Bubblewrap did not get as far as the bot's program. Its own words are in the bot's log."""


class Bubble:
    """One sandboxed bot, from the start of bubblewrap to the end of the last process in it."""

    def __init__(self, bot: BotFolder, line: Path, token: str, output: int) -> None:
        """Starts bubblewrap.

        Args:
            bot: whom to start.
            line: the socket's file, bound, in a folder that holds nothing else.
            token: for the bot's environment.
            output: descriptor for its standard output and error.

        Raises:
            OSError: no process can be started.
        """
        self._init: int | None = None
        told = environment(
            endpoint=f"ipc://{SOCKETS}/{line.name}",
            token=token,
            scratch=SCRATCH,
            python_path=":".join([CODE, *packages_inside(this_machine())]),
        )
        # No pipe: if we died, writing to it would end bubblewrap half-way, with its child waiting for it for ever.
        self._info = os.memfd_create("info")
        self._gate, gate = socket.socketpair()
        try:
            # Not by trio: it would start it from a thread, and with that thread's end the bot would be killed.
            self._popen = subprocess.Popen(  # noqa: S603 - this is the door
                arguments(bot, line, self._info),
                env=told,
                cwd="/",
                stdin=gate.fileno(),
                stdout=standard_output(output),
                stderr=output,
                pass_fds=[self._info],
                process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
            )
        except OSError:
            os.close(self._info)
            self._gate.close()
            raise
        finally:
            gate.close()
        self.pid = self._popen.pid
        self._outer = os.pidfd_open(self.pid)

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
        await self._stands()
        if self._init is not None:
            # With the first process of the namespace the kernel kills all others, and it is the last to be gone.
            signal.pidfd_send_signal(self._init, signal.SIGKILL)
            await trio.lowlevel.wait_readable(self._init)
            os.close(self._init)
        await trio.lowlevel.wait_readable(self._outer)
        code: int = self._popen.wait()
        os.close(self._outer)
        os.close(self._info)
        self._gate.close()
        return SIGNALLED - code if code > SIGNALLED else code

    async def _stands(self) -> bool:
        """Waits until the sandbox stands, and takes hold of its first process; False: it failed."""
        if self._init is None:
            with trio.move_on_after(SET_UP_SECONDS) as waiting:
                await trio.lowlevel.wait_readable(self._gate)
            if waiting.cancelled_caught:
                self._popen.kill()  # Stopped or stuck: the match must not wait for it for ever.
            elif self._gate.recv(1):
                told = _INIT.search(os.pread(self._info, 4096, 0))
                # A descriptor can never come to mean another process, as a number can.
                self._init = os.pidfd_open(int(told[1])) if told else None
        return self._init is not None


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
    ours, gate = socket.socketpair()
    with ours, gate, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        with Path(os.devnull).open("wb") as info:
            code = subprocess.run(  # noqa: S603 - as a bot is started
                arguments(nobody, Path(folder, "none.sock"), info.fileno()),
                stdin=gate.fileno(),
                stdout=standard_output(log.fileno()),
                stderr=log,
                pass_fds=[info.fileno()],
                cwd="/",
                timeout=PROBE_SECONDS,
                check=False,
            ).returncode
        log.seek(0)
        return None if code == 0 else " ".join(log.read().decode(errors="replace").split())
