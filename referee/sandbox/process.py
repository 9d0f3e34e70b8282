"""The one place where a bot's process is started, limited and ended. None of its processes outlives its `Process`.

The levels: `strict` promises no network, no foreign files, no foreign processes, and bounds on memory, processes,
processor time, disk and system calls, or else fails; `standard` promises what bubblewrap and limits per process
can, and uses the rest if the machine has it; `none` promises nothing, and must be requested by name.

`bwrap`, `prefork` and `unconfined` are the three ways to start a bot. Its bot.toml sets its limits,
`bot_environment` its environment.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import trio
from msgspec import Struct
from msgspec.structs import replace

from referee.bot_folder import MEGABYTE, BotFolder, Limits
from referee.linux.processes import MICROSECONDS, most_cores
from referee.linux.shortage import ButForShortages, shortage_text
from referee.sandbox import bwrap, unconfined
from referee.sandbox.bot_files import BotLog, empty, is_empty
from referee.sandbox.host_machine import Isolation
from referee.sandbox.meter import Meter
from referee.sandbox.prefork import STARTER_ENDED, PreforkedSandbox, can_be_warm
from referee.sandbox.walls import SandboxError, cannot, demand, no_sandbox

KILOBYTE = 1024
NO_PROCESSES = (
    "the machine has run out of processes: a bot was refused one although it had fewer than its own bound "
    "(pids.max of a control group around the arena's is too small, or fewer matches at once are needed)"
)
NO_MEMORY = (
    "the machine has run out of memory: it ended a process of a bot that had less than its own bound "
    "(more memory is needed, or fewer matches at once)"
)


AnySandbox = bwrap.BubblewrapSandbox | unconfined.PlainProcess | PreforkedSandbox


class _CountersBefore(Struct, frozen=True):
    """The kernel's counters of a bot at the start of its match, which are not 0 if it was kept."""

    kills: int = 0
    """Number of the bot's processes killed because of the memory limit."""
    processes_refused: int = 0
    bound_met: int = 0
    """Number of times that the bot's processes had met the memory limit of the group."""
    peak_bytes: int = 0
    """The bot's peak memory in bytes; 0 if the kernel can reset it for each match."""
    peak_processes: int = 0
    """Most processes and threads that the bot has had at once."""


class Process:
    """A started bot. It ends with its nursery at the latest."""

    def __init__(self, box: AnySandbox, log: BotLog, limits: Limits, *, bridged: bool = False) -> None:
        """See `start`. `bridged`: whether the bot speaks by lines, so that the bridge runs in front of it."""
        self._limits = limits
        self._bridged = bridged
        self._box = box
        self._log = log
        self._until_exit = trio.CancelScope()
        self._is_ending = False
        self._ended = trio.Event()
        self._exit = 0
        self.lost = ""
        """The reason why the bot ended, if that is the fault of the referee's machine; empty otherwise."""
        self._cpu_us = 0
        self._peak_bytes: int | None = None
        self._peak_processes: int | None = None
        self._scratch_bytes: int | None = None
        self._scratch: int | None = None
        """A descriptor of the bot's scratch folder, which outlives its processes; None: the bot has no sandbox."""
        self._memory_kills = 0
        self._met_process_bound = False
        self._before = _CountersBefore()
        self.last_line = ""
        """The last line of the bot's output, once it has ended."""

    @property
    def pid(self) -> int:
        """The number on this machine of the first process that was started for the bot."""
        return self._box.pid

    @property
    def how(self) -> str:
        """The way of starting: `warm` from a process with the kit, `cold` in a sandbox, `bare` without one."""
        return {PreforkedSandbox: "warm", bwrap.BubblewrapSandbox: "cold", unconfined.PlainProcess: "bare"}[
            type(self._box)
        ]

    def meter(self) -> Meter:
        """Return a meter for the bot's counters, which the caller must close."""
        cpus = min(self._limits.cpus, most_cores(None))
        return Meter(
            self._box.roots,
            self._box.group,
            cpus,
            self._log.thrown_away,
            self._box.program,
            bridged=self._bridged,
        )

    async def wait(self) -> int:
        """Wait until all processes of the bot have ended; return the program's exit code, negative for a signal.

        All other processes of the bot are killed when the program ends. Its log is complete then.
        """
        await self._ended.wait()
        return self._exit

    @property
    def has_ended(self) -> bool:
        """True if the bot is ending or has ended, so that `wait` returns soon."""
        return self._is_ending

    def end_log(self) -> None:
        """Complete the log of a frozen bot."""
        self._log.complete()

    def begin_match(self, path: Path) -> None:
        """Assign a frozen bot to another match, with a new file for its output.

        Raises:
            OSError: the file cannot be created.
        """
        self._log.complete()
        self._log.begin(path, self._limits.log_kb * KILOBYTE)
        self._peak_bytes = self._peak_processes = self._scratch_bytes = None
        group = self._box.group
        if group is not None:
            with suppress(ValueError), ButForShortages():
                self._before = _CountersBefore(
                    kills=group.memory_kills(),
                    processes_refused=group.processes_refused(),
                    bound_met=group.bound_met(),
                    peak_bytes=0 if group.begin_peak() else group.peak_bytes() or 0,
                    peak_processes=group.peak_processes() or 0,
                )

    async def empty_scratch(self) -> bool:
        """Empty the folders to which a frozen bot can write; return whether that succeeded."""
        scratch = self._box.scratch()
        if all(is_empty(each) for each in scratch):
            return True
        return await trio.to_thread.run_sync(lambda: all(empty(each) for each in scratch))

    def freeze(self) -> None:
        """Freeze all processes of the bot. They use no processor time then, and cannot notice the freeze.

        Does nothing if the bot has ended, which may have happened unnoticed.
        """
        if not self._is_ending:
            self._box.freeze()

    def thaw(self) -> None:
        """Thaw all processes of the bot. Idempotent."""
        if not self._is_ending:
            self._box.thaw()

    def cpu_us(self) -> int:
        """Return the processor time of all the bot's processes in microseconds; after its end, as last read."""
        if not self._ended.is_set():
            self.scratch_bytes()
            with ButForShortages():
                self._cpu_us = max(self._cpu_us, self._box.cpu_us())
        return self._cpu_us

    def peak_bytes(self) -> int | None:
        """Return the peak memory of the bot's processes in this match in bytes, also after its end.

        None: unknown, also if the kernel cannot reset the peak for another match, and an earlier one had a higher
        peak.
        """
        if not self._ended.is_set() and self._box.group is not None:
            with suppress(ValueError), ButForShortages():
                self._peak_bytes = self._box.group.peak_bytes()
                if self._peak_bytes is not None and self._peak_bytes <= self._before.peak_bytes:
                    self._peak_bytes = None
        return self._peak_bytes

    def peak_processes(self) -> int | None:
        """Return the most processes and threads that the bot had at once in this match, also after its end.

        None: unknown, also if an earlier match of a kept bot had as many.
        """
        if not self._ended.is_set() and self._box.group is not None:
            with suppress(ValueError), ButForShortages():
                peak = self._box.group.peak_processes()
                self._peak_processes = peak if peak is None or peak > self._before.peak_processes else None
        return self._peak_processes

    def scratch_bytes(self) -> int | None:
        """Return the most bytes in the scratch folder at any reading of the bot's counters; None: unknown."""
        if self._scratch is not None:
            disk = os.fstatvfs(self._scratch)
            held = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
            self._scratch_bytes = max(held, self._scratch_bytes or 0)
        return self._scratch_bytes

    def watch_scratch(self) -> None:
        """Begin to measure the scratch folder. Call once the sandbox is ready."""
        with ButForShortages():
            self._scratch = os.open(self._box.scratch()[0].folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            disk = os.fstatvfs(self._scratch)
            # Without a sandbox it is another folder's disk.
            if disk.f_blocks * disk.f_frsize != self._limits.scratch_mb * MEGABYTE or self._is_ending:
                self._forget_scratch()

    def _forget_scratch(self) -> None:
        if self._scratch is not None:
            os.close(self._scratch)
            self._scratch = None

    def unlogged_bytes(self) -> int:
        """Return the number of bytes of output so far for which the bot's logs had no room."""
        return self._log.thrown_away()

    def output_wait_us(self) -> int:
        """Return the most microseconds that the bot can have waited to print what its logs had no room for."""
        return round(self._log.waited * MICROSECONDS)

    def stuck_at(self) -> str:
        """Return the file and line that the bot was at when a window's time ran out, as reported by its kit."""
        return self._log.stuck_at()

    def _read_counters(self) -> None:
        """Store the kernel's counters, which disappear with the bot."""
        try:
            self.cpu_us()
            self.peak_bytes()
            self.peak_processes()
            self.scratch_bytes()
            group = self._box.group
            if group is not None:
                with suppress(ValueError), ButForShortages():
                    self._memory_kills = group.memory_kills() - self._before.kills
                    if self._memory_kills and group.bound_met() == self._before.bound_met:
                        self.lost = NO_MEMORY
                        self._memory_kills = 0
                    elif group.wanted_processes_in_vain():
                        self.lost = NO_PROCESSES
                    else:
                        self._met_process_bound = group.processes_refused() > self._before.processes_refused
        except OSError as error:
            self.lost = shortage_text(error)

    def why_ended(self) -> str:
        """Return in words how the bot's program ended. Call only after its end."""
        why = self._how_ended()
        if self._met_process_bound and self._exit:
            most = self._limits.processes
            return f"{why}; it had wanted more processes and threads than the {most} it may have (processes)"
        return why

    def _how_ended(self) -> str:
        limits = self._limits
        # The kernel kills one process of the group, not always the first one. It counts, but does not tell when.
        if self._memory_kills and -self._exit == signal.SIGKILL:
            return f"killed: memory over {limits.memory_mb} MB"
        if self._exit >= 0:
            return self._why_exited()
        # A process that ignores SIGXCPU, or gets it at the machine's own bound, gets SIGKILL.
        if -self._exit == signal.SIGXCPU or (-self._exit == signal.SIGKILL and self._used_its_processor_time()):
            return f"killed: more than {limits.cpu_seconds} s of processor time (cpu_seconds)"
        if -self._exit == signal.SIGXFSZ:
            return f"killed: it wrote a file of more than {limits.scratch_mb} MB (scratch_mb)"
        if -self._exit == signal.SIGSYS:
            return "killed: a system call that the sandbox forbids"
        return f"killed by {_signal_name(-self._exit)}"

    def _used_its_processor_time(self) -> bool:
        seconds = self._limits.cpu_seconds
        return seconds is not None and self._cpu_us >= seconds * MICROSECONDS

    def _why_exited(self) -> str:
        if self._exit == 0:
            return "its program ended before the match was over (exit code 0)"
        why = f"it exited with code {self._exit}"
        if self._memory_kills:
            why = f"{why}; one of its processes had been killed: memory over {self._limits.memory_mb} MB"
        return why

    @property
    def has_group(self) -> bool:
        """True if a control group bounds the number of cores that the bot uses."""
        return self._box.group is not None

    async def kill(self) -> None:
        """Kill all processes of the bot, and wait until they have ended. Idempotent."""
        self._until_exit.cancel()
        await self._ended.wait()

    async def _live(self) -> None:
        """Wait for the end of the bot, or end it when cancelled."""
        try:
            with self._until_exit:
                await self._box.exited()
        finally:
            self._is_ending = True  # From here on it is thawed, and its group is removed.
            with trio.CancelScope(shield=True):
                self._read_counters()
                self._forget_scratch()
                try:
                    self._exit = await self._box.end()
                    # A bot that exited well lacked nothing.
                    if self._exit == 0:
                        self.lost = ""
                    self.lost = self._box.lost or self.lost
                    self.last_line = self._log.finish()
                finally:
                    # After any error: a task that waits for the end may be shielded, and would wait for ever.
                    self._ended.set()


def _signal_name(number: int) -> str:
    """Return a signal as text, such as `SIGSEGV (segmentation fault)`."""
    if number not in set(signal.Signals):
        return f"signal {number}"
    return f"{signal.Signals(number).name} ({(signal.strsignal(number) or 'unknown').lower()})"


async def start(
    nursery: trio.Nursery,
    bot: BotFolder,
    *,
    line: Path,
    token: str,
    isolation: Isolation | unconfined.Terminal,
    log: Path,
    warm: bool = False,
    kept: bool = False,
) -> Process:
    """Start a bot's program in its sandbox.

    Call it from the arena's main thread: the kernel kills the bot when the thread that started it ends.

    Args:
        nursery: the nursery of its tasks. The bot is killed when that is cancelled.
        bot: the bot to start.
        line: the bound socket file, alone in its folder. As root, it is given to the bot's user. The bot gets its
            endpoint in ARENA_ENDPOINT.
        token: the token that its `hello` must contain. The bot gets it in ARENA_TOKEN.
        isolation: the level; `none` only limits its processes, hides nothing, and allows it to escape. Or the
            terminal to which a bot outside any sandbox writes, instead of the log.
        warm: whether a Python bot may be forked from a process that has its imports already. That saves most of
            the time of its start; the walls are the same.
        kept: whether it must wait for another match when one is over.
        log: the bounded file for its standard output and error. It is overwritten.

    Raises:
        SandboxError: its sandbox cannot be created.
        OSError: the log cannot be created, or no process or descriptor is available.
    """
    make: Callable[[BotFolder, Path, str, int], AnySandbox] = bwrap.BubblewrapSandbox
    if isinstance(isolation, unconfined.Terminal):
        make = partial(unconfined.PlainProcess, terminal=isolation)
    else:
        demand(isolation)
        if isolation == "none":
            make = unconfined.PlainProcess
        elif warm and can_be_warm(bot):
            make = PreforkedSandbox
    bot = replace(bot, keeps=kept)
    once = partial(_start, nursery, bot, make, line=line, token=token, log=log)
    try:
        return await once()
    except _LostError:
        # Another process to fork from is started now. A second failure is no accident.
        return await once()


class _LostError(SandboxError):
    """The sandbox ended before it was ready, with the process from which it was forked."""


async def _start(
    nursery: trio.Nursery,
    bot: BotFolder,
    make: Callable[[BotFolder, Path, str, int], AnySandbox],
    *,
    line: Path,
    token: str,
    log: Path,
) -> Process:
    """See `start`."""
    bounded = BotLog(log, bot.limits.log_kb * KILOBYTE)
    try:
        box = make(bot, line, token, bounded.bots_end)
    except OSError as error:
        bounded.handed_over()
        bounded.finish()
        if make in (bwrap.BubblewrapSandbox, PreforkedSandbox):
            raise cannot(error) from None
        raise
    bounded.handed_over()
    process = Process(box, bounded, bot.limits, bridged=bot.transport == "stdio")
    nursery.start_soon(bounded.follow)
    nursery.start_soon(process._live)  # noqa: SLF001 - its own
    begun = trio.current_time()
    try:
        await box.ready()
    except bwrap.SetUpError:
        await process.wait()
        if process.lost == STARTER_ENDED:
            raise _LostError(f"{bot.given}: no sandbox: {STARTER_ENDED}") from None
        if process.lost:
            raise SandboxError(f"{bot.given}: no sandbox: {process.lost}") from None
        if trio.current_time() - begun >= bwrap.SET_UP_SECONDS:
            raise SandboxError(
                f"{bot.given}: no sandbox: it did not stand within {bwrap.SET_UP_SECONDS:g} s: "
                "this machine is too busy or too slow"
            ) from None
        what = process.last_line or "nothing"
        raise SandboxError(f"{bot.given}: {no_sandbox(what)}") from None
    except trio.Cancelled:
        with trio.CancelScope(shield=True):
            await process.kill()
        raise
    process.watch_scratch()
    return process
