"""Attempts to use more processor time: one process beyond its limit, or many beyond the bot's share."""

import os
import resource
import signal
import time

from .attempt import Verdict, any_of, attacks, bounded
from .kernel import call
from .scene import Scene

LEAST_PRIORITY = 19
SCHED_CORE, SCHED_CORE_CREATE = 62, 1
"""The option of `prctl` for core scheduling, and its command."""
BURNING_SECONDS = 1.5
SLACK = 1.25
"""Tolerance of a measurement: the kernel grants a share per tenth of a second, so there may be one more at the
end."""
PROCESSES = 12
NOTHING_LEFT = 0.1
"""Number of idle processors below which other programs may be the reason that the bot got no more."""
TRIES = 3
"""Number of measurements while the machine is too busy."""
PAUSE_SECONDS = 0.002
FROZEN_SECONDS = 5.0
"""Longest wait to be frozen and thawed."""
GAP_SECONDS, AFTER_SECONDS = 0.6, 0.6
"""Seconds without progress that count as a freeze, and seconds of burning after it. The real freeze is longer."""


@attacks("processor group", seconds=10)
def burns_many_processors(scene: Scene) -> Verdict:
    """Burns processor time in many processes at once."""
    there = len(os.sched_getaffinity(0))
    if there <= scene.cpus * SLACK:
        return Verdict("not tried", f"this machine has {there} processors, no more than the bot may use")
    for _ in range(TRIES):
        verdict = _burn_many(scene)
        if verdict.result != "too busy":
            break
    return verdict


def _burn_many(scene: Scene) -> Verdict:
    """Burn in many processes, and return a verdict; too busy if no processor was left for more."""
    idle, began = idle_seconds(), time.monotonic()
    before = _of_children()
    for _ in range(PROCESSES):
        if os.fork() == 0:
            while time.monotonic() < began + BURNING_SECONDS:
                pass
            os._exit(0)
    for _ in range(PROCESSES):
        os.wait()
    took = time.monotonic() - began
    idle = (idle_seconds() - idle) / took
    verdict = bounded((_of_children() - before) / took, scene.cpus * SLACK, "processors")
    if verdict.result == "held" and idle < NOTHING_LEFT:
        return Verdict("too busy", f"others used the processors: {verdict.evidence}, and no more were left")
    return Verdict(verdict.result, f"{verdict.evidence}, {idle:.2g} more were left")


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def idle_seconds() -> float:
    """Return the idle time of all processors in seconds; if it is not shown, the time of the clock."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[4]) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.monotonic()


@attacks("resource limits")
def raises_its_priority(scene: Scene) -> Verdict:
    """Asks to be run before all others."""

    def first() -> str:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        return "it is run before all others" if os.sched_getscheduler(0) == os.SCHED_FIFO else ""

    def less_nice() -> str:
        before = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, before - 1)
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        return f"its niceness is {niceness}" if niceness < before else ""

    return any_of([("scheduler", first), ("nice", less_nice)])


@attacks("system-call filter")
def has_itself_kept_waiting(scene: Scene) -> Verdict:
    """Makes itself wait for processors that are free: by its priority, its scheduler, its binding."""

    def nice() -> str:
        os.setpriority(os.PRIO_PROCESS, 0, LEAST_PRIORITY)
        return "its priority is the least" if os.getpriority(os.PRIO_PROCESS, 0) == LEAST_PRIORITY else ""

    def idle() -> str:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        return "it runs when nobody else does" if os.sched_getscheduler(0) == os.SCHED_IDLE else ""

    def bound() -> str:
        there = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(there)})
        return "it uses one processor of several" if len(os.sched_getaffinity(0)) < len(there) else ""

    def alone() -> str:
        answer = call("prctl", SCHED_CORE, SCHED_CORE_CREATE, 0, 0, 0)
        return f"it shares a core with nobody: the kernel answered {answer}"

    return any_of([("nice", nice), ("scheduler", idle), ("affinity", bound), ("core scheduling", alone)])


@attacks("resource limits", seconds=15)
def burns_beyond_its_processor_time(scene: Scene) -> Verdict:
    """Burns more processor time in one process than it was given, and ignores the warning."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while time.process_time() < 1.5 * scene.cpu_seconds:
        pass
    return Verdict("escaped", f"used {time.process_time():.2g} s, {scene.cpu_seconds} s are allowed")


@attacks("freezer", seconds=10)
def burns_in_the_others_turn(scene: Scene) -> Verdict:
    """Burns processor time while it should stand still: in a child, in a session of its own, in new processes."""
    if os.fork() == 0:
        _burn()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _burn()
        os._exit(0)
    until = time.monotonic() + FROZEN_SECONDS
    if os.fork() == 0:
        while time.monotonic() < until:
            # Each new process starts the next one, and exits.
            if os.fork() != 0:
                os._exit(0)
            time.sleep(PAUSE_SECONDS)
        os._exit(0)
    os.write(1, b'{"freeze": true}\n')
    last = time.monotonic()
    while time.monotonic() < until and time.monotonic() - last < GAP_SECONDS:
        # A frozen process can notice the freeze only by the gap in time.
        last = time.monotonic()
        time.sleep(PAUSE_SECONDS)
    time.sleep(AFTER_SECONDS)
    return Verdict("sent", "burned in many processes")


@attacks("freezer")
def outlives_a_killed_referee(scene: Scene) -> Verdict:
    """Stands still while the referee that froze it is killed: a frozen process may be unable to end."""
    return Verdict("sent", "a referee of its own was killed while its bot was frozen")


def _burn() -> None:
    until = time.monotonic() + FROZEN_SECONDS
    while time.monotonic() < until:
        pass
    os._exit(0)
