"""How the walls look from inside: what only the bot itself can see of them."""

import ctypes
import os
import resource
from contextlib import suppress

from .kernel import UnknownMachineError, call, libc

NO_NEW_PRIVS = 38
MOST_RULESETS = 16
"""That Landlock lays one over the other."""
LIMITS = ("AS", "NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK", "MSGQUEUE", "CPU")


def look() -> dict[str, object]:
    """What it sees."""
    return {
        "process": os.getpid(),
        "mounts": _mounts(),
        "limits": {
            name: limit
            for name in LIMITS
            if (limit := resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]) != resource.RLIM_INFINITY
        },
        "variables": sorted(os.environ),
        "descriptors": _descriptors(),
        "landlock": _landlock(),
        "controlling_terminal": _has_terminal(),
    }


def _descriptors() -> list[str]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            # The one by which they are listed is gone by now.
            found.append(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
    return found


def _mounts() -> dict[str, str]:
    found = {}
    with open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            _, place, kind, options, *_ = line.split()
            if place in {"/", os.environ["TMPDIR"], "/dev/shm"}:
                found[place] = f"{kind},{options}"
    return found


def _has_terminal() -> bool:
    with suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDONLY))
        return True
    return False


def _landlock() -> int | None:
    """How many rulesets bind it: as many as cannot be laid over them any more. None: it cannot be known."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, bytes([_rulesets_that_fit()]))
        os._exit(0)
    os.close(writing)
    told = os.read(reading, 1)
    os.close(reading)
    os.waitpid(child, 0)
    return None if not told or told[0] > MOST_RULESETS else MOST_RULESETS - told[0]


def _rulesets_that_fit() -> int:
    """255: Landlock is not there, or may not be asked."""
    libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    execute = (ctypes.c_uint64 * 1)(1)
    fitting = 0
    try:
        rules = call("landlock_create_ruleset", execute, ctypes.sizeof(execute), 0)
    except (OSError, UnknownMachineError):
        return 255
    with suppress(OSError):
        while fitting < MOST_RULESETS:
            call("landlock_restrict_self", rules, 0)
            fitting += 1
    return fitting
