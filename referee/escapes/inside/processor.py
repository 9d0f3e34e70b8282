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
