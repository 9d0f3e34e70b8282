"""Runs a bot's build commands, in a sandbox like the bot's or without one, until nothing of them is left.

What they made is then a folder in which nobody writes any more: in a sandbox, of its scratch in memory, which the
descriptor that was opened before they began keeps when the sandbox is gone. The commands are given no way to hand
anything over themselves: what they could write to, a stranger could.
"""

import os
import select
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from referee.bot_folder import BotFolder
from referee.linux import orphans
from referee.linux.awake_clock import AwakeClock
from referee.sandbox import bwrap, unconfined
from referee.sandbox.bot_environment import environment, link_importable, this_machine, with_interpreter
from referee.sandbox.bwrap_args import SCRATCH
from referee.sandbox.levels import Isolation
from referee.sandbox.output_log import READ_BYTES, BoundedFile
from referee.sandbox.process import KILOBYTE, SandboxError, cannot, no_sandbox

WORKSHOP = "build"
"""The folder in the scratch that the commands work in."""
MILLISECONDS = 1_000
LAST_READS = 64
"""The most reads of the output after the build has ended; a pipe without writers is empty before.

A pipe that still has a writer would never end.
"""
SUPERVISOR = """
import ctypes, os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
try:
    child = os.fork()
    if child == 0:
        os.execvp("sh", ["sh", "-c", sys.argv[1]])
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)
finally:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                for left in file.read().split():
                    os.kill(int(left), signal.SIGKILL)
            os.wait()
    except ChildProcessError:
        pass
"""
"""Without a sandbox: runs a shell, and ends when nothing is left of it: the launcher has made its orphans ours.

It ends all of them when the shell has ended, when it is asked to, and when the arena is gone.
"""
PATIENCE_SECONDS = 10
"""Processes that multiply faster than they are killed need a sandbox."""


class Ended(Struct, frozen=True):
    """How the commands ended, and what they left."""

    scratch: int
    """A descriptor of the folder that `WORKSHOP` lies in."""
    code: int | None
    """The exit code, negative for a signal; None: their time was up."""
    is_memory_up: bool
    """Whether the kernel ended a process because they used more memory than they may together."""
    is_scratch_full: bool
    has_met_process_bound: bool = False
    """Whether they were refused a process because they had as many as they may."""


class Output:
    """What the commands print: a pipe, read as they go on, into a log that does not grow without end."""

    def __init__(self, log: Path, limit_bytes: int) -> None:
        """See `BoundedFile`."""
        self._file = BoundedFile(log, limit_bytes)
        self._pipe, self.theirs = os.pipe()
        os.set_blocking(self._pipe, False)

    def follow(self, process: int, seconds: float) -> bool:
        """Reads until a process has ended, by its descriptor; False: its time was up.

        Time in which we were stopped does not count: whatever stopped us may have stopped it, too.
        """
        clock = AwakeClock()
        clock.start_clock()
        try:
            return self._follow(process, clock, clock.current_time() + seconds)
        finally:
            clock.close()

    def _follow(self, process: int, clock: AwakeClock, give_up: float) -> bool:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(self._pipe, select.POLLIN)
        while clock.current_time() < give_up:
            ready = dict(poll.poll(clock.deadline_to_sleep_time(give_up) * MILLISECONDS))
            if process in ready:
                return True
            self._take()
        return False

    def close(self) -> None:
        """Takes what is still in the pipe, and completes the log."""
        os.close(self.theirs)
        for _ in range(LAST_READS):
            if not self._take():
                break
        os.close(self._pipe)
        self._file.close()

    def _take(self) -> bool:
        try:
            taken = os.read(self._pipe, READ_BYTES)
        except BlockingIOError:
            return False
        self._file.add(taken)
        return bool(taken)


@contextmanager
def run(bot: BotFolder, isolation: Isolation, *, aside: Path, log: Path, seconds: float) -> Iterator[Ended]:
    """Runs the commands. All their processes are gone when it gives what they left, which is gone afterwards.

    Args:
        bot: whose `build`.
        isolation: as for its matches.
        aside: an empty folder for what `none` makes, on this machine's disk; it stays there.
        log: the file for what they print, of `build_limits.log_kb`; overwritten.
        seconds: all commands together may take so long.

    Raises:
        SandboxError: the sandbox cannot be made.
        OSError: no process, descriptor or control group is to be had, or a file cannot be made.
    """
    with ExitStack() as kept:
        output = Output(log, bot.build_limits.log_kb * KILOBYTE)
        try:
            ended = (
                _run_bare(bot, aside, output, seconds, kept)
                if isolation == "none"
                else _run_sandboxed(bot, output, seconds, kept)
            )
        finally:
            output.close()
        if ended is None:
            said = " ".join(log.read_text(errors="replace").split())
            raise SandboxError(f"{bot.given}: {no_sandbox(said)}")
        yield ended


def _command(bot: BotFolder, scratch: str) -> str:
    """For a shell: copies the folder and runs the commands there."""
    interpreter = this_machine().interpreter
    commands = [shlex.join(with_interpreter(command, interpreter)) for command in bot.build]
    workshop = shlex.quote(f"{scratch}/{WORKSHOP}")
    # The copy of the content holds what is hashed alone, and nobody may write to it.
    return " && ".join([f"cp -R . {workshop}", f"chmod -R u+w {workshop}", f"cd {workshop}", *commands])


def _run_sandboxed(bot: BotFolder, output: Output, seconds: float, kept: ExitStack) -> Ended | None:
    """See `run`; None: the sandbox does not stand. `kept` closes what was opened when it is needed no more."""
    builder = replace(bot, command=("sh", "-c", _command(bot, SCRATCH)), limits=bot.build_limits, transport="zmq")
    told = environment(endpoint="", token="", scratch=SCRATCH, python_path=bwrap.python_path())
    with tempfile.TemporaryDirectory() as folder:
        try:
            setting = bwrap.Setting(builder, Path(folder, "none.sock"), told, output.theirs)
        except OSError as error:
            raise cannot(error) from None
        try:
            return _ended(setting, output, seconds, kept)
        finally:
            setting.abandon()


def _ended(setting: bwrap.Setting, output: Output, seconds: float, kept: ExitStack) -> Ended | None:
    """Lets the commands begin, and sees to their end."""
    setting.gate.settimeout(bwrap.SET_UP_SECONDS)
    try:
        init = setting.take_hold()
    except TimeoutError:
        init = None
    if init is None:
        return None
    kept.callback(os.close, init)
    # Nothing of the bot's runs yet: this is the sandbox's scratch, and stays so.
    scratch = _open_folder(Path(f"/proc/{setting.first}/root{SCRATCH}"), kept)
    outer = os.pidfd_open(setting.popen.pid)
    kept.callback(os.close, outer)
    setting.begin()
    in_time = output.follow(outer, seconds)
    # Commands may have left others that run on: with the first of the sandbox the kernel ends them all.
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(init, signal.SIGKILL)
    _wait(init)
    code = setting.popen.wait()
    left = os.fstatvfs(scratch)
    group = setting.group
    return Ended(
        scratch=scratch,
        code=_code(code) if in_time else None,
        is_memory_up=group is not None and group.memory_kills() > 0,
        is_scratch_full=0 in (left.f_bavail, left.f_favail),
        has_met_process_bound=group is not None and group.processes_refused() > 0 and group.had_all_processes(),
    )


def _run_bare(bot: BotFolder, aside: Path, output: Output, seconds: float, kept: ExitStack) -> Ended:
    """The same without a sandbox: in a folder of its own, with limits for each process."""
    machine = this_machine()
    links = kept.enter_context(tempfile.TemporaryDirectory(prefix="code-"))
    link_importable(Path(links))
    path = ":".join([links, *map(str, machine.packages)])
    supervisor = [str(machine.interpreter), "-I", "-S", "-c", SUPERVISOR]
    process = subprocess.Popen(  # noqa: S603 - as a bot is started
        [*unconfined.launcher(bot.build_limits), *supervisor, _command(bot, str(aside))],
        env=environment(endpoint="", token="", scratch=str(aside), python_path=path),
        cwd=bot.folder,
        stdin=subprocess.DEVNULL,
        stdout=output.theirs,
        stderr=output.theirs,
        start_new_session=True,
    )
    try:
        descriptor = os.pidfd_open(process.pid)
        kept.callback(os.close, descriptor)
        in_time = output.follow(descriptor, seconds)
    finally:
        code = _end(process)
    return Ended(
        scratch=_open_folder(aside, kept),
        code=_code(code) if in_time else None,
        is_memory_up=False,
        is_scratch_full=False,
    )


def _end(supervisor: subprocess.Popen[bytes]) -> int:
    """Ends what is left of a build without a sandbox; its exit code."""
    supervisor.terminate()
    try:
        return supervisor.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        orphans.kill([supervisor.pid])
        return supervisor.wait()


def _open_folder(folder: Path, kept: ExitStack) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    kept.callback(os.close, descriptor)
    return descriptor


def _wait(process: int) -> None:
    """Until a process has ended, by its descriptor."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.poll()


def _code(code: int) -> int:
    """A shell, and bubblewrap, give an exit code for a signal."""
    return bwrap.SIGNALLED - code if code > bwrap.SIGNALLED else code
