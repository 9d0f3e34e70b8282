"""Processor time: of one process beyond its limit, and of many at once beyond the bot's share."""

import os
import resource
import signal
import time

from .attempt import Verdict, attacks, bounded
from .scene import Scene

BURNING_SECONDS = 1.5
SLACK = 1.25
"""A share is given by tenths of a second: at the ends of a measurement there may be one more."""
PROCESSES = 12
PAUSE_SECONDS = 0.002
FROZEN_SECONDS = 5.0
"""At most, until it is frozen and let go on."""
GAP_SECONDS, AFTER_SECONDS = 0.3, 0.6


@attacks("processor group", seconds=10)
def burns_many_processors(scene: Scene) -> Verdict:
    """Burns processor time in many processes at once."""
    there = len(os.sched_getaffinity(0))
    if there <= scene.cpus * SLACK:
        return Verdict("not tried", f"this machine has {there} processors, no more than the bot may use")
    began = time.monotonic()
    for _ in range(PROCESSES):
        if os.fork() == 0:
            while time.monotonic() < began + BURNING_SECONDS:
                pass
            os._exit(0)
    for _ in range(PROCESSES):
        os.wait()
    took = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return bounded((used.ru_utime + used.ru_stime) / took, scene.cpus * SLACK, "processors")


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
    del scene
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
            # Each new one starts the next, and ends.
            if os.fork() != 0:
                os._exit(0)
            time.sleep(PAUSE_SECONDS)
        os._exit(0)
    os.write(1, b'{"freeze": true}\n')
    last = time.monotonic()
    while time.monotonic() < until and time.monotonic() - last < GAP_SECONDS:
        # Nobody who is frozen sees it happen, but for the time that is missing then.
        last = time.monotonic()
        time.sleep(PAUSE_SECONDS)
    time.sleep(AFTER_SECONDS)
    return Verdict("sent", "burned in many processes")


def _burn() -> None:
    until = time.monotonic() + FROZEN_SECONDS
    while time.monotonic() < until:
        pass
    os._exit(0)
