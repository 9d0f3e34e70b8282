"""Attempts to gain rights, and to use parts of the kernel that no bot needs.

Rights are to be root, to have capabilities, to set the clock, to type into a terminal. Through rarely used parts
of the kernel, other programs have escaped.
"""

import ctypes
import fcntl
import mmap
import os
import platform
import stat
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product, starmap
from typing import Any

from .attempt import AttemptVerdict, Scene, Way, any_of, attacks, call, done, libc, proof

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
        return lambda: proof(int(sets[name], 16), sets[name])

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
    return AttemptVerdict("held", proof(told, f"ran {told}") or f"none of {', '.join(seen)} was run")


def _set_uid_programs() -> list[str]:
    found = []
    for folder in PROGRAMS:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                is_set_uid = not entry.is_symlink() and entry.stat().st_mode & stat.S_ISUID
                if is_set_uid and os.access(entry.path, os.X_OK):
                    found.append(os.path.realpath(entry.path))
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


NAMESPACES = {
    "mount": 0x0002_0000,
    "cgroup": 0x0200_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "pid": 0x2000_0000,
    "net": 0x4000_0000,
    "time": 0x80,
}
NEW_USER = 0x1000_0000
SIBLING, SIGCHLD = 0x8000, 17
ADDR_NO_RANDOMIZE = 0x0040_0000
PROCESS_KEYRING = -2
BPF_MAP_CREATE, BPF_PROG_LOAD = 0, 5
USER_MODE_ONLY = 1
SYSLOG_READ_ALL = 3
WRONG_FLAGS = 0xFFFF
DETACH, REMOUNT, BIND = 2, 32, 4096
X32_UNSHARE = 0x4000_0000 | 272


def _made(name: str, *arguments: object) -> tuple[str, Callable[[], str]]:
    def way() -> str:
        return f"the kernel answered {call(name, *arguments)}"

    return name, way


def _zeros(size: int, *words: int) -> ctypes.Array[ctypes.c_char]:
    """Return a structure for the kernel: 32-bit words, then zeros."""
    data = b"".join(word.to_bytes(4, "little") for word in words)
    return ctypes.create_string_buffer(data.ljust(size, b"\0"), size)


def _bpf_program() -> ctypes.Array[ctypes.c_char]:
    """Return the description of a program for the kernel that returns 0."""
    program = _zeros(128, 1, 2)
    for at, part in ((8, _BPF_CODE), (16, _BPF_LICENCE)):
        ctypes.memmove(ctypes.addressof(program) + at, ctypes.byref(ctypes.c_uint64(ctypes.addressof(part))), 8)
    return program


def _performance_event() -> ctypes.Array[ctypes.c_char]:
    """Return the description of an event that counts the time of this task."""
    software, task_clock, exclude_kernel_and_hypervisor = 1, 1, 0b110_0000
    event = _zeros(128, software, 128, task_clock, 0)
    event[40] = bytes([exclude_kernel_and_hypervisor])
    return event


# The kernel reads these while it looks at the program, so they must stay in memory.
_BPF_CODE = (ctypes.c_uint64 * 2)(0xB7, 0x95)
_BPF_LICENCE = ctypes.create_string_buffer(b"GPL")
_NAME = ctypes.c_char_p(b"arena-doctor")
Call = tuple[Any, ...]
"""The name of a system call, and its arguments."""


def _refused(name: str, what: str, *calls: Call) -> None:
    """Register an attempt that only makes system calls which the filter refuses."""

    def run(scene: Scene) -> AttemptVerdict:
        return any_of(starmap(_made, calls))

    run.__name__, run.__doc__ = name, what
    attacks("system-call filter")(run)


_refused("sets_up_io_uring", "Sets up io_uring: calls that no filter sees.", ("io_uring_setup", 4, _zeros(120)))
_refused(
    "uses_userfaultfd",
    "Takes over page faults, with which races in the kernel are won.",
    ("userfaultfd", 0),
    ("userfaultfd", USER_MODE_ONLY),
)
_refused(
    "uses_bpf",
    "Loads programs and makes maps in the kernel.",
    ("bpf", BPF_MAP_CREATE, _zeros(128, 2, 4, 4, 1), 128),
    ("bpf", BPF_PROG_LOAD, _bpf_program(), 128),
)
_refused(
    "uses_keyrings",
    "Keeps keys in the kernel, and asks for those of others.",
    ("keyctl", 0, PROCESS_KEYRING, 1),
    ("add_key", ctypes.c_char_p(b"user"), _NAME, _NAME, 4, PROCESS_KEYRING),
    ("request_key", ctypes.c_char_p(b"user"), _NAME, None, 0),
)
_refused(
    "opens_performance_events",
    "Counts what the processor does.",
    ("perf_event_open", _performance_event(), 0, -1, -1, 0),
)
_refused("traces_itself", "Uses ptrace at all, on a process of its own.", ("ptrace", 0, 0, 0, 0))
_refused("changes_its_personality", "Switches off the shuffling of addresses.", ("personality", ADDR_NO_RANDOMIZE))
_refused("reads_the_kernels_log", "Reads the kernel's messages.", ("syslog", SYSLOG_READ_ALL, _zeros(4096), 4096))
_refused(
    "opens_new_file_systems",
    "Uses the newer doors to mounts, hidden memory, and watches on whole file systems.",
    ("fsopen", ctypes.c_char_p(b"tmpfs"), 0),
    ("open_tree", -100, ctypes.c_char_p(b"/"), 1),
    ("fanotify_init", 0, 0),
    ("memfd_secret", 0),
)


@attacks("system-call filter")
def calls_by_other_numbers(scene: Scene) -> AttemptVerdict:
    """Makes forbidden calls by the numbers of another kind of program: 32 bits, x32."""
    if platform.machine() != "x86_64":
        return AttemptVerdict("not tried", f"{platform.machine()} has no other numbers that are known here")

    def old() -> str:
        # mov eax, 310; xor ebx, ebx; int 0x80; ret. The code saves and restores rbx for the caller.
        code = b"\x53\xb8\x36\x01\x00\x00\x31\xdb\xcd\x80\x5b\xc3"
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        here = ctypes.addressof(ctypes.c_char.from_buffer(page))
        answer = ctypes.CFUNCTYPE(ctypes.c_int)(here)()
        if answer < 0:
            raise OSError(-answer, os.strerror(-answer))
        return "unshare was reached by int 0x80"

    def x32() -> str:
        if libc.syscall(ctypes.c_long(X32_UNSHARE), ctypes.c_long(0)) != 0:
            raise OSError(ctypes.get_errno(), "")
        return "unshare was reached as an x32 call"

    return any_of([("x32", x32), ("int 0x80", old)])


def _cloned(flags: int) -> Callable[[], str]:
    return _forked("clone", flags | SIGCHLD, 0, 0, 0, 0)


def _cloned_anew(flags: int) -> Callable[[], str]:
    wanted = (ctypes.c_uint64 * 11)()
    wanted[0], wanted[4] = flags, SIGCHLD
    return _forked("clone3", wanted, ctypes.sizeof(wanted))


def _forked(name: str, *arguments: object) -> Callable[[], str]:
    def way() -> str:
        child = call(name, *arguments)
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return "a process was made in it"

    return way


@attacks("system-call filter")
def makes_a_child_of_its_parents(scene: Scene) -> AttemptVerdict:
    """Makes a process that is not its own child, but of what started it."""

    def way() -> str:
        if call("clone", SIBLING | SIGCHLD, 0, 0, 0, 0) == 0:
            os._exit(0)
        return "its parent has another child"

    return any_of([("clone", way)])


@attacks("user namespace")
def makes_a_user_namespace(scene: Scene) -> AttemptVerdict:
    """Makes a user namespace, in which it would have every right."""
    return any_of([("clone", _cloned(NEW_USER)), ("clone3", _cloned_anew(NEW_USER)), _made("unshare", NEW_USER)])


@attacks("no capabilities")
def makes_other_namespaces(scene: Scene) -> AttemptVerdict:
    """Makes every other kind of namespace."""
    cloned: list[Way] = []
    unshared: list[Way] = []
    for name, flag in NAMESPACES.items():
        if name != "time":
            cloned.append((f"clone {name}", _cloned(flag)))
        unshared.append((f"unshare {name}", _made("unshare", flag)[1]))
    return any_of(cloned + unshared)


@attacks("no capabilities")
def enters_other_namespaces(scene: Scene) -> AttemptVerdict:
    """Enters the namespaces of the referee, of the other bot and of the sandbox's first process."""

    def entered(process: int, name: str) -> Callable[[], str]:
        def way() -> str:
            descriptor = os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY)
            call("setns", descriptor, 0)
            return "entered"

        return way

    places = product((1, *scene.pids), ("mnt", "net"))
    return any_of((f"{process} {name}", entered(process, name)) for process, name in places)


@attacks("no capabilities")
def mounts_file_systems(scene: Scene) -> AttemptVerdict:
    """Mounts a file system in its scratch, and its root anew as one to write to."""
    folder = os.path.join(os.environ["TMPDIR"], f"mount-{os.getpid()}")
    os.mkdir(folder)
    kind, place = ctypes.c_char_p(b"tmpfs"), ctypes.c_char_p(folder.encode())

    def mounted() -> str:
        call("mount", kind, place, kind, 0, None)
        call("umount2", place, DETACH)
        return "mounted"

    remounted = _made("mount", None, ctypes.c_char_p(b"/"), None, REMOUNT | BIND, None)[1]
    try:
        return any_of([("mount", mounted), ("remount", remounted)])
    finally:
        os.rmdir(folder)


@attacks("no capabilities")
def changes_its_root(scene: Scene) -> AttemptVerdict:
    """Makes another folder its root, by chroot and pivot_root."""
    here = ctypes.c_char_p(b".")
    return any_of([_made("chroot", here), _made("pivot_root", here, here)])


@attacks("no capabilities")
def opens_files_by_handle(scene: Scene) -> AttemptVerdict:
    """Opens files past all folders, by the handle that the disk knows them by."""

    def opened() -> str:
        handle = _zeros(136, 128)
        mount = ctypes.c_int()
        call("name_to_handle_at", -100, ctypes.c_char_p(b"bot.py"), handle, ctypes.byref(mount), 0)
        folder = os.open(".", os.O_RDONLY)
        return f"opened as {call('open_by_handle_at', folder, handle, os.O_RDONLY)}"

    return any_of([("open_by_handle_at", opened)])


@attacks("no capabilities")
def loads_kernel_code(scene: Scene) -> AttemptVerdict:
    """Loads a module and another kernel; what it offers is none, so that nothing happens where it may."""

    def reached(name: str, *arguments: object) -> tuple[str, Callable[[], str]]:
        def way() -> str:
            try:
                call(name, *arguments)
            except (PermissionError, NotImplementedError):
                raise
            except OSError as error:
                if error.errno in {38, 95}:
                    raise
                return f"it was looked at: {error.strerror}"
            return "done"

        return name, way

    empty = _zeros(8)
    return any_of(
        [
            reached("init_module", empty, 8, empty),
            reached("finit_module", -1, empty, WRONG_FLAGS),
            reached("kexec_load", 0, 0, None, WRONG_FLAGS),
        ]
    )
