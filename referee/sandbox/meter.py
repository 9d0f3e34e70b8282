"""What the kernel has counted for a bot: processor time, waiting for a processor, throttling."""

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from time import monotonic

from msgspec import Struct

from referee.linux.cgroups import Group
from referee.linux.cpu_time import MICROSECONDS
from referee.linux.process_tree import threads
from referee.linux.schedstat import read_schedstat

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
FREE_TURNS, FREE_TURNS_A_SECOND = 10, 20
"""So many turns of a thread count, however short they are."""
LONGEST = 2
"""Threads whose waiting counts: a Python bot's answer goes through its own and one of ZeroMQ's."""
USEFUL_TURN = 1_000
"""Microseconds that it must have run for each further one: of a thread that sleeps and wakes all the time to no
purpose, which waits a little each time, nothing is kept."""
FLOOD_BYTES = 64 * 1024
"""Of output, as much as a pipe holds: a bot of whose output so much was thrown away waits for that to be done."""
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

    def withheld(self, before: "Reading", seconds: float) -> int:
        """How much processor time others than itself kept from it since a reading before, in microseconds.

        A thread that waits may wait for the bot's own others: as long as those ran is not counted. Nor is as long
        as the bot was throttled to its own `cpus`, which the kernel counts as waiting. Nor is what a processor
        takes anyway to come to a thread, of which a bot could make much by sleeping often; of one that does so
        only as many turns count as it had a use for. Only the two threads count that waited longest: one stall
        that hundreds of them wait for is no longer by that. Nor is more counted than the bot was short of its
        `cpus`: what it did not want to use was not kept from it. Nothing counts if it printed more than its log
        holds: it waits for us to read that, and each time for a processor.
        """
        if self.thrown_away - before.thrown_away >= FLOOD_BYTES:
            return 0
        cpu = max(0, self.cpu - before.cpu)
        own = max(0, self.throttled - before.throttled)
        kept: list[int] = []
        for number, (ran, waited, turns) in self.threads.items():
            ran_before, waited_before, turns_before = before.threads.get(number, (0, 0, 0))
            others = max(0, cpu - (ran - ran_before))
            let = turns - turns_before
            useful = max(FREE_TURNS, seconds * FREE_TURNS_A_SECOND) + (ran - ran_before) / USEFUL_TURN
            share = useful / let if let > useful else 1.0
            kept.append(max(0, round((waited - waited_before - others - own - let * TURN) * share)))
        return max(0, min(sum(sorted(kept)[-LONGEST:]), round(self.cpus * seconds * MICROSECONDS) - cpu))


NOTHING = Reading(0, 0, 0, 0.0, {})


class Meter:
    """One bot's counters. A reading takes some microseconds: files are kept open."""

    def __init__(
        self,
        roots: tuple[int, ...],
        group: Group | None,
        cpus: float,
        thrown_away: Callable[[], int] = lambda: 0,
    ) -> None:
        """Begins to count.

        Args:
            roots: all its processes descend from these.
            group: its control group, where there is one.
            cpus: how many cores it may keep busy.
            thrown_away: how many bytes of its output were so far.
        """
        self._thrown_away = thrown_away
        self._cpus = cpus
        self._roots = roots
        self._group = group
        self._readings = 0
        self._looked = 0.0
        self._files: dict[int, int] = {}
        self._ended = [0, 0]
        """What threads ran and waited that are gone, as was last read."""
        self._last = NOTHING

    def read(self) -> Reading:
        """The counters now; of a bot that is gone, the last that were read."""
        now = monotonic()
        if self._readings < AT_FIRST or now - self._looked >= AGAIN_SECONDS:
            self._look()
            self._looked = now
        self._readings += 1
        threads = {}
        for number, file in list(self._files.items()):
            try:
                ran, ready, turns = read_schedstat(file)
                threads[number] = ran // NANOSECONDS_PER_MICROSECOND, ready // NANOSECONDS_PER_MICROSECOND, turns
            except (OSError, ValueError):
                os.close(self._files.pop(number))
                last_ran, last_waited, _ = self._last.threads.get(number, (0, 0, 0))
                self._ended[0] += last_ran
                self._ended[1] += last_waited
        cpu, waited = self._ended
        for its_cpu, its_waiting, _ in threads.values():
            cpu += its_cpu
            waited += its_waiting
        throttled = 0
        if self._group is not None:
            with suppress(OSError, ValueError):
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
        )
        return self._last

    def close(self) -> None:
        """Gives up what it holds open."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _look(self) -> None:
        for task in islice(threads(*self._roots), LOOKED_AT):
            number = int(task.rpartition("/")[2])
            if number not in self._files and len(self._files) < THREADS:
                with suppress(OSError):
                    self._files[number] = os.open(f"{task}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
