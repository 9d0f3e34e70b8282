"""The properties of the sandbox that only the bot itself can observe."""

import ctypes
import os
import resource
from contextlib import suppress

from .kernel import UnknownMachineError, call, libc

NO_NEW_PRIVS = 38
MOST_RULESETS = 16
"""Number of rulesets that Landlock can stack."""
LIMITS = ("AS", "NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK", "MSGQUEUE", "CPU")


def look() -> dict[str, object]:
    """Return all observations as a JSON object."""
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
            # The descriptor of the listing itself is already closed.
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
    """Return the number of rulesets in force, from the number that can still be added; None: it is unknown."""
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
    """Return the number of rulesets that can still be added; 255: Landlock is missing or not permitted."""
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
