"""Attempts to gain rights: to be root, to have capabilities, to set the clock, to type into a terminal."""

import ctypes
import fcntl
import os
import stat
import termios
import time
from collections.abc import Callable
from contextlib import suppress

from .attempt import AttemptVerdict, any_of, attacks, call, done
from .scene import Scene

PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/lib/openssh")
CAPABILITY_VERSION = 0x2008_0522
ADJUST_TICK = 0x4000
TIMEX_BYTES = 208
CLOCK_REALTIME = 0
LOOKS = 200
FULL_PIPE = 65536


@attacks("unprivileged user")
def becomes_root(scene: Scene) -> AttemptVerdict:
    """Asks to be root, and to be in root's group."""
    if os.geteuid() == 0:
        return AttemptVerdict("escaped", "it is root")
    return any_of(
        [
            ("setuid", done("it is", os.setuid, 0)),
            ("setgid", done("it is", os.setgid, 0)),
            ("setgroups", done("it is", os.setgroups, [0])),
        ]
    )


@attacks("no capabilities")
def has_capabilities(scene: Scene) -> AttemptVerdict:
    """Looks for any capability, also for those it could come to have; asks for them."""
    with open("/proc/self/status", encoding="ascii") as file:
        sets = dict(line.split(":\t") for line in file.read().splitlines() if line.startswith("Cap"))

    def has(name: str) -> Callable[[], str]:
        return lambda: sets[name] if int(sets[name], 16) else ""

    def asked() -> str:
        header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
        call("capset", header, (ctypes.c_uint32 * 6)(*[0xFFFF_FFFF] * 6))
        return "given"

    return any_of([*((name, has(name)) for name in sets), ("capset", asked)])


@attacks("no new privileges")
def gains_by_a_set_uid_program(scene: Scene) -> AttemptVerdict:
    """Runs a program that would run as root, and looks whom it runs as."""
    if os.geteuid() == 0:
        return AttemptVerdict("not tried", "it is root already")
    found = list(_set_uid_programs())
    if not found:
        return AttemptVerdict("not tried", "no set-uid program is in sight")
    seen = {program: _user_of(program) for program in found[:4]}
    for program, user in seen.items():
        if user not in (None, os.geteuid()):
            return AttemptVerdict("escaped", f"{program} ran as user {user}")
    told = ", ".join(f"{program} as {user}" for program, user in seen.items() if user is not None)
    return (
        AttemptVerdict("held", f"ran {told}")
        if told
        else AttemptVerdict("held", f"none of {', '.join(seen)} was run")
    )


def _set_uid_programs() -> list[str]:
    found = []
    for folder in PROGRAMS:
        with suppress(OSError), os.scandir(folder) as entries:
            found += [
                os.path.realpath(entry.path)
                for entry in entries
                if not entry.is_symlink()
                and entry.stat().st_mode & stat.S_ISUID
                and os.access(entry.path, os.X_OK)
            ]
    return sorted(set(found), key=lambda path: (os.path.basename(path) not in {"su", "passwd", "mount"}, path))


def _user_of(program: str) -> int | None:
    """Run a program, and return its user; None: it did not start.

    A full pipe blocks the program's first output.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(FULL_PIPE))
    with suppress(BlockingIOError):
        while True:
            os.write(writing, b"\0")
    os.set_blocking(writing, True)
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        with suppress(OSError):
            os.execv(program, [program, "--help"])
        os._exit(127)
    name = os.path.basename(program)[:15]
    user = None
    for _ in range(LOOKS):
        with open(f"/proc/{child}/status", encoding="utf-8") as file:
            told = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        if told["Name"] == name:
            user = int(told["Uid"].split()[1])
            break
        time.sleep(0.001)
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    return user


@attacks("no capabilities")
def sets_the_clock(scene: Scene) -> AttemptVerdict:
    """Sets the machine's clock, to what it shows, and its pace, to what it is."""

    def to_what_it_shows() -> str:
        now = time.time_ns()
        call("clock_settime", CLOCK_REALTIME, (ctypes.c_long * 2)(now // 10**9, now % 10**9))
        return "set"

    def to_its_pace() -> str:
        pace = (ctypes.c_char * TIMEX_BYTES)()
        call("clock_adjtime", CLOCK_REALTIME, pace)
        ctypes.memmove(pace, ctypes.byref(ctypes.c_uint(ADJUST_TICK)), 4)
        call("clock_adjtime", CLOCK_REALTIME, pace)
        return "set"

    # Try the harmless call first: it needs the same right.
    ways = [
        ("settimeofday", done("allowed", call, "settimeofday", None, None)),
        ("clock_adjtime", to_its_pace),
        ("clock_settime", to_what_it_shows),
    ]
    return any_of(ways)


@attacks("new session")
def types_into_a_terminal(scene: Scene) -> AttemptVerdict:
    """Types into the terminal it was started from and into another one, and writes to them."""

    def typed(path: str, *, aloud: bool) -> Callable[[], str]:
        def way() -> str:
            descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            if aloud:
                os.write(descriptor, b"types-into-a-terminal\n")
            with suppress(OSError):
                fcntl.ioctl(descriptor, termios.TIOCSTI, b"#")
                return "opened, and typed into"
            return "opened"

        return way

    ways = [("/dev/tty", typed("/dev/tty", aloud=False))]
    if scene.terminal is not None:
        ways.append((scene.terminal, typed(scene.terminal, aloud=True)))
    return any_of(ways)
