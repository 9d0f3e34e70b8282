"""The kernel's counters of a bot: processor time, waiting for a processor, throttling.

A wait excuses a bot only in a thread that would have answered: the main thread of its program, and the threads
that carry messages to it and back. The kernel, not the bot, tells which threads these are; see `Meter`.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from referee.linux.cgroups import ControlGroup
from referee.linux.processes import (
    MICROSECONDS,
    descendants,
    read_kernel_file,
    read_schedstat,
    stat_fields,
    tasks,
    threads,
)
from referee.linux.shortage import ButForShortages

AT_FIRST = 2
"""Number of first readings that always search for threads: at the bot's start, and when it has connected."""
AGAIN_SECONDS = 0.2
"""Seconds after which later readings search again. The counters of a missed window are read later than that after
its start, so that no thread is missing then."""
THREADS = 16
"""The most threads whose counters are read. A bot may have hundreds, and each needs an open file."""
LOOKED_AT = 40
"""The most threads that a search visits. That takes some 2 ms, for which it blocks the referee's loop."""
TURN = 20
"""Microseconds that an idle machine may take to schedule a thread that is ready."""
FREE_TURNS = 5
"""Turns of a main thread that count in full, however short they are."""
USEFUL_TURN = 1_000
"""Microseconds that it must have run for each further turn. A thread that keeps sleeping or yielding waits a
little each time, but was deprived of nothing."""
CARRIER_TURNS = 4
"""Turns of a carrier thread that count in a window: one for each message in and out, and one to spare each. So a
bot gains nothing by keeping such a thread busy, or by giving its name to another."""
CARRIERS = 6
"""The most threads that count as carriers: a bot could give their name to all its threads."""
CARRIER = b"ZMQbg/"
"""Prefix of the names of ZeroMQ's own threads."""
FLOOD_BYTES = 64 * 1024
"""Bytes of discarded output, the size of a pipe, from which the bot may have waited for the arena to read."""
HELPERS_FREE = 5_000
"""Microseconds for which other threads and processes of the bot may run in a window without effect."""
NANOSECONDS_PER_MICROSECOND = 1_000


class Reading(Struct, frozen=True):
    """Counters since the bot's start. Times are in microseconds."""

    cpu: int
    waited: int
    throttled: int
    cpus: float
    """The number of cores that the bot may use; not a counter."""
    threads: dict[int, tuple[int, int, int]]
    """Time run, time waited for a processor, and number of turns of each thread; keyed by thread number."""
    thrown_away: int = 0
    """Bytes of output for which the log had no room."""
    main: int = 0
    """Number of the main thread of the bot's program; 0: unknown."""
    carriers: tuple[int, ...] = ()
    """Numbers of the threads that carry messages between the referee and the main thread."""
    is_ready: bool = False
    """True if the main thread was running or ready at that time, so that its last wait may not be counted yet."""
    stack: int = 0
    """Address of the main thread's stack, which changes with each `execve`; 0: unknown."""
    has_threads: bool = False
    """True if the main thread's process has other threads."""

    def withheld(self, before: "Reading", seconds: float, *, starting: bool = False) -> int:
        """Return the processor time withheld from the bot since an earlier reading, in microseconds.

        Counts the waits of its main thread and of its carriers, without:

        - the time in which other threads or processes of the bot ran, for which they may have waited;
        - the time in which the bot was throttled to its own `cpus`, which some kernels count as waiting;
        - `TURN` per turn, which scheduling takes on an idle machine;
        - a share of the waits of a thread that had more turns than useful ones;
        - the share of all waits that corresponds to the share of the bot's processor time used by threads and
        processes
          which do not answer: behind its own children a thread waits longer for others, because they wait too;
        - any wait of a bot that printed more than its log holds: it waits for the arena to read that, each time
        also
          for a processor;
        - any time beyond the bot's shortfall from its `cpus`, since a bot cannot lose time that it did not need.

        Args:
            before: an earlier reading.
            seconds: the time between the two.
            starting: whether the bot was being started. Its carrier then has imports of its own to do, so that all
            its
                useful turns count.
        """
        if self.thrown_away - before.thrown_away >= FLOOD_BYTES or self._is_another_thread(before):
            return 0
        cpu = max(0, self.cpu - before.cpu)
        own = max(0, self.throttled - before.throttled)
        kept, answering = 0, 0
        for number in (self.main, *self.carriers):
            ran, waited, turns = self.since(before, number)
            answering += ran if number == self.main else min(ran, CARRIER_TURNS * USEFUL_TURN)
            others = max(0, cpu - ran)
            useful = float(CARRIER_TURNS)
            if starting or number == self.main:
                useful = FREE_TURNS + ran / USEFUL_TURN
            share = min(1.0, useful / turns) if turns else 1.0
            kept += max(0, round((waited - others - own - turns * TURN) * share))
        helping = cpu - answering - HELPERS_FREE
        if helping > 0 and not starting:
            kept = kept * answering // (answering + helping)
        return max(0, min(kept, round(self.cpus * seconds * MICROSECONDS) - cpu))

    @property
    def progress(self) -> tuple[int, int]:
        """Time that the main thread ran, and its number of turns."""
        ran, _, turns = self.threads.get(self.main, (0, 0, 0))
        return ran, turns

    def active(self, before: "Reading") -> int | None:
        """Return the time for which the bot worked on its answer since an earlier reading, in microseconds.

        That is the time in which its main thread, and some turns of its carriers, ran or waited for a processor. A
        wait that has not ended (`is_ready`) is missing.

        Returns:
            The time; None: its main thread is unknown.
        """
        if not self.main:
            return None
        if self._is_another_thread(before):
            return 0
        total = 0
        for number in (self.main, *self.carriers):
            ran, waited, turns = self.since(before, number)
            share = 1.0 if number == self.main or not turns else min(1.0, CARRIER_TURNS / turns)
            total += round((ran + waited) * share)
        return total

    def _is_another_thread(self, before: "Reading") -> bool:
        """Return whether another thread may have taken over the main thread's number since an earlier reading.

        A thread that calls `execve` becomes its process's main thread, and its counters continue under that
        number.
        """
        return self.main == before.main and before.has_threads and self.stack != before.stack

    def leaving_out(self, begun: "Reading", ended: "Reading") -> "Reading":
        """Return this reading plus the counts between two later ones, to exclude those from a difference."""
        threads = dict(self.threads)
        for number in ended.threads:
            ran, waited, turns = self.threads.get(number, (0, 0, 0))
            more_ran, more_waited, more_turns = ended.since(begun, number)
            threads[number] = ran + more_ran, waited + more_waited, turns + more_turns
        return replace(
            self,
            cpu=self.cpu + max(0, ended.cpu - begun.cpu),
            waited=self.waited + max(0, ended.waited - begun.waited),
            throttled=self.throttled + max(0, ended.throttled - begun.throttled),
            threads=threads,
        )

    def since(self, before: "Reading", number: int) -> tuple[int, int, int]:
        """Return how long a thread ran and waited, and its turns, since an earlier reading; 0 if it has ended."""
        ran, waited, turns = self.threads.get(number, (0, 0, 0))
        ran_before, waited_before, turns_before = before.threads.get(number, (0, 0, 0))
        return max(0, ran - ran_before), max(0, waited - waited_before), max(0, turns - turns_before)


NOTHING = Reading(0, 0, 0, 0.0, {})


class Meter:
    """Reads the counters of a bot. Their files stay open, so that a reading takes some tens of microseconds."""

    def __init__(
        self,
        roots: tuple[int, ...],
        group: ControlGroup | None,
        cpus: float,
        thrown_away: Callable[[], int] = lambda: 0,
        program: int = 0,
        *,
        bridged: bool = False,
    ) -> None:
        """Set up a meter.

        Args:
            roots: the processes from which all others of the bot descend.
            group: the bot's control group, if there is one.
            cpus: the number of cores that the bot may use.
            thrown_away: a function that returns the number of discarded bytes of output so far.
            program: the process that the arena started inside the sandbox. Its main thread is the bot's.
            bridged: whether that is the bridge for bots that speak by lines: then the bot's main thread is that of
            the
                one program started by the bridge, and the bridge carries messages.
        """
        self._thrown_away = thrown_away
        self._cpus = cpus
        self._roots = roots
        self._group = group
        self._program = program
        self._bridged = bridged
        self._main = program
        self._carriers: set[int] = set()
        self._readings = 0
        self._looked = 0.0
        self._files: dict[int, int] = {}
        self._ended = [0, 0]
        """Time run and waited of all ended threads, as last read."""
        self._last = NOTHING

    def read(self) -> Reading:
        """Return the current counters, or the last ones of a bot that has ended."""
        now = monotonic()
        if self._readings < AT_FIRST or now - self._looked >= AGAIN_SECONDS:
            self._look()
            self._looked = now
        self._readings += 1
        # Before the counters, so that a thread that becomes ready in between counts as idle for microseconds only.
        state = _state(self._main) if self._main in self._files else IDLE
        threads = {}
        for number, file in list(self._files.items()):
            try:
                ran, ready, turns = read_schedstat(file)
                threads[number] = ran // NANOSECONDS_PER_MICROSECOND, ready // NANOSECONDS_PER_MICROSECOND, turns
            except (OSError, ValueError):
                os.close(self._files.pop(number))
                self._carriers.discard(number)
                last_ran, last_waited, _ = self._last.threads.get(number, (0, 0, 0))
                self._ended[0] += last_ran
                self._ended[1] += last_waited
        cpu, waited = self._ended
        for its_cpu, its_waiting, _ in threads.values():
            cpu += its_cpu
            waited += its_waiting
        throttled = 0
        if self._group is not None:
            with suppress(ValueError), ButForShortages():
                cpu = self._group.cpu_us()
                throttled = self._group.throttled_us()
        last = self._last
        # The time of processes that have ended stays counted.
        self._last = Reading(
            max(last.cpu, cpu),
            max(last.waited, waited),
            max(last.throttled, throttled),
            self._cpus,
            threads,
            self._thrown_away(),
            self._main,
            tuple(sorted(self._carriers & threads.keys())),
            state.is_ready,
            state.stack,
            state.has_threads,
        )
        return self._last

    def close(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _look(self) -> None:
        """Search for new threads, first for those whose waits count."""
        self._find_those_that_answer()
        for task in islice(threads(*self._roots), LOOKED_AT):
            if len(self._files) >= THREADS:
                break
            self._watch(_number(task), task)

    def _find_those_that_answer(self) -> None:
        """Find the threads whose waits count: the main thread of the bot's program, and its carriers."""
        if not self._program:
            return
        carriers = [
            number
            for number in self._of(self._program)
            if self._bridged or number in self._carriers or _carries(number)
        ]
        if self._bridged and self._main == self._program:
            # The bridge's only child is the bot's program.
            self._main = next(iter(descendants(self._program)), self._program)
        if self._main != self._program:
            carriers.append(self._program)
        self._watch(self._main, f"/proc/{self._main}")
        for number in carriers:
            if number != self._main and (number in self._carriers or len(self._carriers) < CARRIERS):
                self._carriers.add(number)
                self._watch(number, f"/proc/{number}")

    def _of(self, process: int) -> Iterable[int]:
        """Return the numbers of a process's threads without its main one."""
        return [number for task in tasks(process)[:LOOKED_AT] if (number := _number(task)) != process]

    def _watch(self, number: int, folder: str) -> None:
        """Open a thread's counters; do nothing if it has ended."""
        if number not in self._files:
            with ButForShortages():
                self._files[number] = os.open(f"{folder}/schedstat", os.O_RDONLY | os.O_CLOEXEC)


def _number(task: str) -> int:
    """Return the number of the thread of a /proc folder."""
    return int(task.rpartition("/")[2])


def _carries(number: int) -> bool:
    """Return whether a thread has a name of ZeroMQ's own threads."""
    with ButForShortages():
        return read_kernel_file(f"/proc/{number}/comm").startswith(CARRIER)
    return False


class _State(Struct, frozen=True):
    """The state of a main thread, from `/proc/PID/stat`."""

    is_ready: bool = False
    stack: int = 0
    has_threads: bool = False


IDLE = _State()
THREADS_AT, STACK_AT = 17, 25
"""Indices among the fields of that file after the program's name: number of threads, start of the stack."""


def _state(number: int) -> _State:
    """Return the state of a main thread; `IDLE` if it has ended."""
    with ButForShortages():
        words = stat_fields(f"/proc/{number}")
        if len(words) > STACK_AT:
            return _State(words[0] == b"R", int(words[STACK_AT]), int(words[THREADS_AT]) > 1)
    return IDLE
