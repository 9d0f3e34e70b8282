"""The program that makes the attempts, each in a separate process: if a layer kills one, the others continue.

It also reports the properties of the sandbox that only the bot itself can observe.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import signal
import time
from contextlib import suppress

from . import files, kernel, limits, network, processes, sharing
from .attempt import (
    ATTEMPTS,
    FILE,
    AttemptVerdict,
    EscapeAttempt,
    Scene,
    UnknownMachineError,
    call,
    libc,
    read_scene,
    say,
)
from .limits import NOTHING_LEFT, idle_seconds

NO_NEW_PRIVS = 38
MOST_RULESETS = 16
"""Number of rulesets that Landlock can stack."""
LIMITS = ("AS", "NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK", "MSGQUEUE", "CPU")
_MODULES = [family.__name__ for family in (files, network, processes, kernel, sharing, limits)]
IN_ORDER = tuple(
    sorted(ATTEMPTS.values(), key=lambda attempt: (attempt.stays, _MODULES.index(attempt.run.__module__)))
)
"""All attempts, in the order in which they are made."""
LAST = tuple(attempt.name for attempt in IN_ORDER if attempt.stays)
EVIDENCE_LETTERS = 300
WORD = 4096
"""Number of bytes that a pipe accepts as a whole or not at all."""
GLANCE_SECONDS = 0.02
ROOM_SECONDS = 2.0
"""Longest wait for room for one more process: those of the attempt before may still be exiting."""


def look() -> dict[str, object]:
    """Return all observations as a JSON object."""
    return {
        "process": os.getpid(),
        "mounts": _mounts(),
        "limits": _limits(),
        "variables": sorted(os.environ),
        "descriptors": _descriptors(),
        "landlock": _landlock(),
        "controlling_terminal": _has_terminal(),
    }


def _limits() -> dict[str, int]:
    found = {}
    for name in LIMITS:
        _, limit = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        if limit != resource.RLIM_INFINITY:
            found[name] = limit
    return found


def _descriptors() -> list[str]:
    """Return each descriptor with its file, except read-only ones of libraries whose code this process runs.

    Some versions of libffi keep their own file open.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        mapped = {line.rstrip("\n").split(maxsplit=5)[-1] for line in file if " r-xp " in line}
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            # The descriptor of the listing itself is already closed.
            target = os.readlink(f"/proc/self/fd/{name}")
            is_writable = fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            if target not in mapped or is_writable:
                found.append(f"{name} {target}")
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
    if not told or told[0] > MOST_RULESETS:
        return None
    return MOST_RULESETS - told[0]


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


def main() -> None:
    """Make all attempts that are not done yet, then wait to be killed."""
    with open(FILE, encoding="utf-8") as file:
        scene = read_scene(file.read())
    say({"seen": look()})
    for attempt in IN_ORDER:
        if attempt.name not in scene.done:
            say({"begin": attempt.name})
            verdict = _made(attempt, scene)
            say({"end": attempt.name, "result": verdict.result, "evidence": verdict.evidence})
    say({"done": True})
    while True:
        signal.pause()


def _made(attempt: EscapeAttempt, scene: Scene) -> AttemptVerdict:
    """Make one attempt in a child process, then kill the rest of its process group."""
    reading, writing = os.pipe()
    child = _forked()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reading)
        verdict = _tried(attempt, scene)
        os.write(writing, json.dumps([verdict.result, verdict.evidence[:EVIDENCE_LETTERS]]).encode() + b"\n")
        os._exit(0)
    os.close(writing)
    try:
        return _awaited(attempt, child, reading)
    finally:
        os.close(reading)
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        with suppress(OSError):
            # Without a process namespace, this process inherits the orphans.
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass


def _forked() -> int:
    until = time.monotonic() + ROOM_SECONDS
    while True:
        try:
            return os.fork()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(GLANCE_SECONDS)


def _tried(attempt: EscapeAttempt, scene: Scene) -> AttemptVerdict:
    try:
        return attempt.run(scene)
    except UnknownMachineError:
        return AttemptVerdict("not tried", "the numbers of this machine's system calls are not known here")
    except MemoryError:
        return AttemptVerdict("held", "no memory was given")
    except OSError as error:
        return AttemptVerdict("held", f"{errno.errorcode.get(error.errno or 0)}: {error}")
    except Exception as error:  # noqa: BLE001 - the host must receive any error
        return AttemptVerdict("failed", f"{type(error).__name__}: {error}")


def _awaited(attempt: EscapeAttempt, child: int, reading: int) -> AttemptVerdict:
    began, idle = time.monotonic(), idle_seconds()
    until = began + attempt.seconds
    while time.monotonic() < until:
        # Check the exit first: the child may write its verdict and exit between the two checks.
        ended, status = os.waitpid(child, os.WNOHANG)
        if select.select([reading], [], [], 0 if ended else GLANCE_SECONDS)[0] and (
            told := os.read(reading, WORD)
        ):
            result, evidence = json.loads(told)
            if not ended:
                os.waitpid(child, 0)
            return AttemptVerdict(result, evidence)
        if ended:
            if os.WIFSIGNALED(status):
                return AttemptVerdict("held", f"ended by {signal.Signals(os.WTERMSIG(status)).name}")
            return AttemptVerdict("failed", f"exit code {os.WEXITSTATUS(status)}")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    late = f"did not end within {attempt.seconds:g} s"
    if idle_seconds() - idle < NOTHING_LEFT * (time.monotonic() - began):
        return AttemptVerdict("too busy", f"{late}; other programs used the processors")
    return AttemptVerdict("failed", late)
