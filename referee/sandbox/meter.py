"""What the kernel has counted for a bot: processor time, waiting for a processor, throttling.

A wait excuses a bot only in a thread that would have answered: the main thread of its program, and what carries
messages to it and back. Which threads these are is the kernel's word, not the bot's: see `Meter`.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from referee.linux.cgroups import Group
from referee.linux.cpu_time import MICROSECONDS
from referee.linux.process_tree import descendants, read_kernel_file, tasks, threads
from referee.linux.schedstat import read_schedstat
from referee.linux.shortage import ButForShortages

AT_FIRST = 2
"""At so many readings a bot's threads are looked for in any case: at its start, and when it has connected."""
AGAIN_SECONDS = 0.2
"""Later on after so long: less than passes before the counters of a missed window are read, so none is missing."""
THREADS = 16
"""The counters of no more are read: a bot may have hundreds, and each is a file to be held open."""
LOOKED_AT = 40
"""No more are looked for: that takes some 2 ms, in which the referee's loop does nothing else."""
TURN = 20
"""Microseconds that an idle machine may take to let a thread run that is ready to."""
FREE_TURNS = 5
"""So many turns of a main thread count, however short they are."""
USEFUL_TURN = 1_000
"""Microseconds that it must have run for each further one. A thread that sleeps, or gives its turn away, all
the time waits a little each time: nothing was kept from it by that."""
CARRIER_TURNS = 4
"""So many turns of a thread that carries messages count in a window: one message comes, one goes, with one to
spare each. No bot is let off because it keeps such a thread busy, or calls another by its name."""
CARRIERS = 6
"""No more are taken for such: a bot could call all its threads by their name."""
CARRIER = b"ZMQbg/"
"""How ZeroMQ's own threads are called."""
FLOOD_BYTES = 64 * 1024
"""Of output, as much as a pipe holds: a bot of whose output so much was thrown away waits for that to be done."""
HELPERS_FREE = 5_000
"""Microseconds that threads and processes which do not answer may run in a window, and change nothing."""
NANOSECONDS_PER_MICROSECOND = 1_000


class Reading(Struct, frozen=True):
    """Microseconds since the bot's start."""

    cpu: int
    waited: int
    throttled: int
    cpus: float
    """Not counted: how many cores it may keep busy."""
    threads: dict[int, tuple[int, int, int]]
    """Of each thread there is, by its number: how long it ran, was ready to, and how often it was let."""
    thrown_away: int = 0
    """Bytes of its output that its log had no place for."""
    main: int = 0
    """Number of the main thread of its program; 0 if it is not known."""
    carriers: tuple[int, ...] = ()
    """Numbers of the threads that carry messages between the referee and its main thread."""
    is_ready: bool = False
    """Whether the main thread ran or waited for a processor just then: its last wait may not be counted yet."""
    stack: int = 0
    """Where the main thread's stack begins: elsewhere after each `execve`. 0: nobody can say."""
    has_threads: bool = False
    """Whether its process has other threads."""

    def withheld(self, before: "Reading", seconds: float, *, starting: bool = False) -> int:
        """Return the processor time that others kept from the bot since a reading before, in microseconds.

        Counts the waits of its main thread and of its carriers. Does not count:

        - the time in which other threads or processes of the bot ran: it may have waited for those;
        - the time in which the bot was throttled to its own `cpus`, which some kernels count as waiting;
        - `TURN` for each turn, which a processor takes anyway to come to a thread;
        - waits of a thread that had more turns than it had a use for: only their share;
        - of all waits, the share that threads and processes which do not answer had of the bot's processor time: a
          thread waits longer for others behind its own children, as they wait for those, too;
        - any wait of a bot that printed more than its log holds: it waits for the arena to read that, and each
          time for a processor;
        - more than the bot was short of its `cpus`: what it did not want to use was not kept from it.

        Args:
            before: an earlier reading.
            seconds: the time between the two.
            starting: whether the bot was being started: then what will carry its messages has its own imports to
                do, and all turns of it count in which it ran for long enough.
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
        """How long its main thread ran, and how often a processor came to it."""
        ran, _, turns = self.threads.get(self.main, (0, 0, 0))
        return ran, turns

    def active(self, before: "Reading") -> int | None:
        """Return for how long the bot was at its answer since a reading before: ran, or waited for a processor.

        In microseconds: its main thread, and some turns of its carriers. None if its main thread is not known.
        A wait that is not over, `is_ready` then, is missing.
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
        """Return whether the main thread may be another than in a reading before, with that one's counters.

        Whatever thread calls `execve` becomes its process's main thread, and the kernel counts on for it.
        """
        return self.main == before.main and before.has_threads and self.stack != before.stack

    def leaving_out(self, begun: "Reading", ended: "Reading") -> "Reading":
        """Return this reading as if what was counted between two later ones had been counted before it."""
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
        """Return how long a thread ran and waited since a reading before, and how many turns it had.

        Nobody knows it of a thread that is gone, with its bot for example: that counts as nothing.
        """
        ran, waited, turns = self.threads.get(number, (0, 0, 0))
        ran_before, waited_before, turns_before = before.threads.get(number, (0, 0, 0))
        return max(0, ran - ran_before), max(0, waited - waited_before), max(0, turns - turns_before)


NOTHING = Reading(0, 0, 0, 0.0, {})


class Meter:
    """One bot's counters. A reading takes some microseconds: files are kept open."""

    def __init__(
        self,
        roots: tuple[int, ...],
        group: Group | None,
        cpus: float,
        thrown_away: Callable[[], int] = lambda: 0,
        program: int = 0,
        *,
        bridged: bool = False,
    ) -> None:
        """Begin to count.

        Args:
            roots: all its processes descend from these.
            group: its control group, where there is one.
            cpus: how many cores it may keep busy.
            thrown_away: returns how many bytes of its output were thrown away so far.
            program: the process that the arena started for it inside the sandbox. Its main thread is the bot's.
            bridged: whether that is the bridge for bots that speak by lines: then the bot's main thread is that
                of the one program that the bridge starts, and the bridge carries messages.
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
        """What threads ran and waited that are gone, as was last read."""
        self._last = NOTHING

    def read(self) -> Reading:
        """Return the counters now; of a bot that is gone, the last that were read."""
        now = monotonic()
        if self._readings < AT_FIRST or now - self._looked >= AGAIN_SECONDS:
            self._look()
            self._looked = now
        self._readings += 1
        # Before the counters: what becomes ready in between is taken for idle for some microseconds only.
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
        # What a process has used that is gone is not taken back.
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
        """Close the files that it holds open."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _look(self) -> None:
        """Look for threads that are new: those whose waits count before all others."""
        self._find_those_that_answer()
        for task in islice(threads(*self._roots), LOOKED_AT):
            if len(self._files) >= THREADS:
                break
            self._watch(_number(task), task)

    def _find_those_that_answer(self) -> None:
        """Find the main thread of the bot's program, and the threads that carry its messages."""
        if not self._program:
            return
        carriers = [
            number
            for number in self._of(self._program)
            if self._bridged or number in self._carriers or _carries(number)
        ]
        if self._bridged and self._main == self._program:
            # The first that it starts is the bot's program; the bridge starts no other.
            self._main = next(iter(descendants(self._program)), self._program)
        if self._main != self._program:
            carriers.append(self._program)
        self._watch(self._main, f"/proc/{self._main}")
        for number in carriers:
            if number != self._main and (number in self._carriers or len(self._carriers) < CARRIERS):
                self._carriers.add(number)
                self._watch(number, f"/proc/{number}")

    def _of(self, process: int) -> Iterable[int]:
        """Return the numbers of a process's threads but for its main one."""
        return [number for task in tasks(process)[:LOOKED_AT] if (number := _number(task)) != process]

    def _watch(self, number: int, folder: str) -> None:
        """Hold a thread's counters open; do nothing if it is gone."""
        if number not in self._files:
            with ButForShortages():
                self._files[number] = os.open(f"{folder}/schedstat", os.O_RDONLY | os.O_CLOEXEC)


def _number(task: str) -> int:
    """Return the number of a thread, from its folder."""
    return int(task.rpartition("/")[2])


def _carries(number: int) -> bool:
    """Return whether a thread is called as ZeroMQ calls its own."""
    with ButForShortages():
        return read_kernel_file(f"/proc/{number}/comm").startswith(CARRIER)
    return False


class _State(Struct, frozen=True):
    """What the kernel says of a main thread, in `/proc/PID/stat`."""

    is_ready: bool = False
    stack: int = 0
    has_threads: bool = False


IDLE = _State()
THREADS_AT, STACK_AT = 17, 25
"""Places in that file, behind the program's name: of the number of threads, and of the stack's beginning."""


def _state(number: int) -> _State:
    """Return the state of a main thread; `IDLE` if it is gone."""
    with ButForShortages():
        # The program's name stands in brackets and may hold anything, brackets too.
        words = read_kernel_file(f"/proc/{number}/stat").rpartition(b")")[2].split()
        if len(words) > STACK_AT:
            return _State(words[0] == b"R", int(words[STACK_AT]), int(words[THREADS_AT]) > 1)
    return IDLE
