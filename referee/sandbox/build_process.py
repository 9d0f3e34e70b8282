"""Runs a bot's build commands, in a sandbox like the bot's or without one, until all their processes have ended.

The result is then a folder to which no process writes any more. In a sandbox it is in the scratch memory, which a
descriptor opened before the start keeps alive after the sandbox's end. The commands have no way to pass a result
on themselves: untrusted programs could use it too.
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
from referee.linux import processes
from referee.linux.awake_clock import AwakeClock
from referee.sandbox import bwrap, unconfined
from referee.sandbox.bot_files import READ_BYTES, BoundedFile
from referee.sandbox.bwrap_args import SCRATCH
from referee.sandbox.host_machine import Isolation, environment, link_importable, this_machine, with_interpreter
from referee.sandbox.process import KILOBYTE
from referee.sandbox.walls import SandboxError, cannot, no_sandbox

WORKSHOP = "build"
"""Name of the folder in the scratch space in which the commands work."""
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
"""A program that runs a shell without a sandbox, and ends when no process of it is left. It adopts the shell's
orphans.

It kills all of them when the shell has ended, on SIGTERM, and when the arena has ended.
"""
PATIENCE_SECONDS = 10
"""Seconds in which it must end. Processes that multiply faster than they are killed need a sandbox."""


class BuildResult(Struct, frozen=True):
    """The end of the commands, and their result."""

    scratch: int
    """A descriptor of the folder that contains `WORKSHOP`."""
    code: int | None
    """The exit code, negative for a signal; None: they took too long."""
    is_memory_up: bool
    """True if the kernel killed a process because they exceeded their memory limit together."""
    is_scratch_full: bool
    has_met_process_bound: bool = False
    """True if they were refused a process because they had as many as allowed."""


class BuildLog:
    """The output of the commands: a pipe that is copied into a log of bounded size."""

    def __init__(self, log: Path, limit_bytes: int) -> None:
        """See `BoundedFile`."""
        self._file = BoundedFile(log, limit_bytes)
        self._pipe, self.theirs = os.pipe()
        os.set_blocking(self._pipe, False)

    def follow(self, process: int, seconds: float) -> bool:
        """Read until a process has ended; return False if it takes longer than `seconds`.

        Time in which this process was stopped does not count: the other one may have been stopped too.

        Args:
            process: a pidfd.
            seconds: the most time to wait.
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
        """Read the rest of the pipe, and complete the log."""
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
def run(bot: BotFolder, isolation: Isolation, *, aside: Path, log: Path, seconds: float) -> Iterator[BuildResult]:
    """Run a bot's build commands. Their processes have ended when the block starts; the result is lost at its end.

    Args:
        bot: the bot whose `build` is run.
        isolation: the level of its matches.
        aside: an empty folder on this machine's disk for the result at level `none`, where it remains.
        log: the file for their output, of `build_limits.log_kb`. It is overwritten.
        seconds: the most time for all commands together.

    Raises:
        SandboxError: the sandbox cannot be created.
        OSError: no process, descriptor or control group is available, or a file cannot be created.
    """
    with ExitStack() as kept:
        output = BuildLog(log, bot.build_limits.log_kb * KILOBYTE)
        try:
            if isolation == "none":
                ended: BuildResult | None = _run_bare(bot, aside, output, seconds, kept)
            else:
                ended = _run_sandboxed(bot, output, seconds, kept)
        finally:
            output.close()
        if ended is None:
            said = " ".join(log.read_text(errors="replace").split())
            raise SandboxError(f"{bot.given}: {no_sandbox(said)}")
        yield ended


def _command(bot: BotFolder, scratch: str) -> str:
    """Return the shell command that copies the folder and runs the build commands there."""
    interpreter = this_machine().interpreter
    commands = [shlex.join(with_interpreter(command, interpreter)) for command in bot.build]
    workshop = shlex.quote(f"{scratch}/{WORKSHOP}")
    # The bot's folder contains only hashed files, and is read-only.
    return " && ".join([f"cp -R . {workshop}", f"chmod -R u+w {workshop}", f"cd {workshop}", *commands])


def _run_sandboxed(bot: BotFolder, output: BuildLog, seconds: float, kept: ExitStack) -> BuildResult | None:
    """See `run`; return None if the sandbox could not be created. `kept` closes the descriptors."""
    builder = replace(bot, command=("sh", "-c", _command(bot, SCRATCH)), limits=bot.build_limits, transport="zmq")
    told = environment(endpoint="", token="", scratch=SCRATCH, python_path=bwrap.python_path())
    with tempfile.TemporaryDirectory() as folder:
        try:
            setup = bwrap.SandboxSetup(builder, Path(folder, "none.sock"), told, output.theirs)
        except OSError as error:
            raise cannot(error) from None
        try:
            return _ended(setup, output, seconds, kept)
        finally:
            setup.abandon()


def _ended(setup: bwrap.SandboxSetup, output: BuildLog, seconds: float, kept: ExitStack) -> BuildResult | None:
    """Start the commands, and wait for the end of all their processes."""
    setup.gate.settimeout(bwrap.SET_UP_SECONDS)
    try:
        init = setup.take_hold()
    except TimeoutError:
        init = None
    if init is None:
        return None
    kept.callback(os.close, init)
    # No process of the bot runs yet, so this is the sandbox's scratch folder.
    scratch = _open_folder(Path(f"/proc/{setup.init_pid}/root{SCRATCH}"), kept)
    outer = os.pidfd_open(setup.popen.pid)
    kept.callback(os.close, outer)
    setup.begin()
    in_time = output.follow(outer, seconds)
    # Other processes may still run: the kernel kills them all with the first process of the sandbox.
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(init, signal.SIGKILL)
    _wait(init)
    code: int | None = bwrap.program_code(setup.popen.wait())
    if not in_time:
        code = None
    left = os.fstatvfs(scratch)
    group = setup.group
    return BuildResult(
        scratch=scratch,
        code=code,
        is_memory_up=group is not None and group.memory_kills() > 0,
        is_scratch_full=0 in (left.f_bavail, left.f_favail),
        has_met_process_bound=group is not None and group.processes_refused() > 0 and group.had_all_processes(),
    )


def _run_bare(bot: BotFolder, aside: Path, output: BuildLog, seconds: float, kept: ExitStack) -> BuildResult:
    """Run the commands without a sandbox: in a folder of their own, with limits for each process."""
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
        code: int | None = bwrap.program_code(_end(process))
    if not in_time:
        code = None
    return BuildResult(
        scratch=_open_folder(aside, kept),
        code=code,
        is_memory_up=False,
        is_scratch_full=False,
    )


def _end(supervisor: subprocess.Popen[bytes]) -> int:
    """End the processes of a build without a sandbox, and return its exit code."""
    supervisor.terminate()
    try:
        return supervisor.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        processes.kill_trees([supervisor.pid])
        return supervisor.wait()


def _open_folder(folder: Path, kept: ExitStack) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    kept.callback(os.close, descriptor)
    return descriptor


def _wait(process: int) -> None:
    """Block until the process of a pidfd has ended."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.poll()
