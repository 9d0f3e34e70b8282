"""A process that holds an interpreter with the kit's imports and nothing else, and makes Python bots by forking.

Run by `warm` inside a sandbox that bubblewrap made: there it has the root that bots will see, with the machine's
own still below OUTSIDE, and the rights to make namespaces. Each request comes with a bot's places and limits,
its log and a gate. The fork goes into fresh namespaces and a control group, mounts the bot's own folders, loses
the machine's root, all rights and most system calls, says at the gate that it stands, and loads the bot when it
hears the word: it is the sandbox of `bubblewrap`, without its start. The fork's first process stays as the
sandbox's init and tells at the gate how the bot ended.
"""

import array
import atexit
import ctypes
import gc
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module

import msgspec
import sandbox_launcher as launcher

OUTSIDE = "/outside"
NEW_MOUNTS, NEW_CGROUP, NEW_UTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NET = (
    0x0002_0000,
    0x0200_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
)
BIND, RECURSIVE, READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, DETACH = 4096, 16384, 1, 2, 4, 8, 2
SET_MOUNT_ATTRIBUTES, FROM_HERE, ATTRIBUTES_RECURSIVE = 442, -100, 0x8000
READ_ONLY_NO_SUID_NO_DEVICES = 1 | 2 | 4
SET_DEATH_SIGNAL, SET_SECCOMP, FILTER = 1, 22, 2
REQUEST_BYTES, DESCRIPTORS = 65_536, 16
MOST_DESCRIPTORS = 1_024
OWN_USER = 1_000
"""Who an ordinary user's bots are to themselves. The starter is the same user under another number: 0."""

libc = launcher.libc
fork = ctypes.PyDLL(None, use_errno=True).fork
"""The C library's own: Python's touches five times the memory, to mend what only threads could have broken.

There are none here: one thread holds the interpreter before and after.
"""
check = launcher.check


class Request(msgspec.Struct, frozen=True):
    """One bot to be made. With it come descriptors: its log, the gate, and the ways into its control group."""

    folder: str
    sockets: str
    scratch_bytes: int
    shared_bytes: int
    user: int | None
    """Who it becomes; None: the ordinary user that this is already, in a user namespace of its own."""
    limits: list[tuple[str, int]]
    landlock: int
    places: list[tuple[str, str]]
    environment: dict[str, str]
    argv: list[str]


def main() -> Request | None:
    """Serves until the referee is gone; in a bot's process it returns, with what that is to run."""
    control = socket.socket(fileno=int(sys.argv[1]))
    filter_words = control.recv(REQUEST_BYTES)
    for name in sys.argv[2:]:
        rehearse = getattr(import_module(name), "rehearse", None)
        if rehearse is not None:
            rehearse()
    for call in ("prctl", "unshare", "setns", "mount", "umount2", "sethostname", "syscall", "capset"):
        getattr(libc, call)
    # What is here now is never looked at by a collection again: a page that is not touched is shared by all bots.
    gc.collect()
    gc.freeze()
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control.send(b"\n")
    while True:
        words, descriptors = receive(control)
        if not words:
            return None
        log, gate, *groups = descriptors
        request = msgspec.msgpack.decode(words, type=Request)
        child = give_birth(log)
        if child == 0:
            return be_a_sandbox(request, filter_words, log, gate, groups)
        check(libc.setns(own_pids, NEW_PIDS), "own namespace of processes")
        if child > 0:
            introduce(gate, child)
        # Where there is no child, the gate closes with this, and that says it.
        for descriptor in descriptors:
            os.close(descriptor)


def give_birth(log: int) -> int:
    """Forks into a new namespace of processes: the child, or 0 in it; or -1, with the reason in a log.

    The machine may have no more of them just now: this process lives on, for with it all bots would end.
    """
    if libc.unshare(NEW_PIDS) < 0 or (child := fork()) < 0:
        os.write(log, f"no process: {os.strerror(ctypes.get_errno())}\n".encode())
        return -1
    return int(child)


def receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """The next request; empty at the end."""
    size = array.array("i").itemsize
    words, ancillary, _, _ = control.recvmsg(REQUEST_BYTES, socket.CMSG_SPACE(DESCRIPTORS * size))
    found = array.array("i")
    for _, _, data in ancillary:
        found.frombytes(data[: len(data) - len(data) % size])
    return words, list(found)


def introduce(gate: int, child: int) -> None:
    """Tells who the sandbox's first process is, by a descriptor, which can never come to mean another."""
    with socket.socket(fileno=os.dup(gate)) as way:
        try:
            first = os.pidfd_open(child)
            way.sendmsg([b"%d" % child], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [first]))])
            os.close(first)
        except OSError:
            # Gone already, or nobody is there to hear it: the gate closes, and that says it.
            return


def be_a_sandbox(request: Request, filter_words: bytes, log: int, gate: int, groups: list[int]) -> Request:
    """The first process of a new sandbox. Returns in the bot's process, which it forks; else not.

    It puts up all walls before it forks: what memory that takes is then shared by the two.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        for group in groups:
            os.write(group, b"0")
        check(libc.unshare(NEW_MOUNTS | NEW_CGROUP | NEW_UTS | NEW_IPC | NEW_NET), "namespaces")
        furnish(request)
        if request.user is None:
            shut_user_in()
        launcher.become(request.user)
        check(libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "end with the referee")
        os.closerange(3, gate)
        os.closerange(gate + 1, MOST_DESCRIPTORS)
        for name, value in request.limits:
            launcher.limit(getattr(launcher.resource, f"RLIMIT_{name}"), value)
        check(libc.prctl(launcher.SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if request.landlock:
            launcher.lock_in(request.landlock, request.places)
        forbid_the_rest(filter_words)
        os.write(gate, b"\n")
        if os.read(gate, 1) == b"\n":
            bot = check(fork(), "fork")
            if bot == 0:
                os.close(gate)
                prepare(request)
                return request
            check(libc.prctl(launcher.SET_DUMPABLE, 0, 0, 0, 0), "not to be looked into")
            os.write(gate, b"%d" % wait_for(bot))
    except SystemExit:
        pass  # `check` has said why.
    except BaseException as error:  # noqa: BLE001 - there is nobody to raise it to
        os.write(2, f"{error}\n".encode())
    os._exit(0)


def wait_for(bot: int) -> int:
    """Until the bot has ended, and takes leave of all that end before; its exit code, negative for a signal."""
    while True:
        ended, status = os.wait()
        if ended == bot:
            return os.waitstatus_to_exitcode(status)


def prepare(request: Request) -> None:
    """What a process has that is started as a bot, and no more."""
    os.setsid()
    os.chdir("/bot")
    # The rest is as this process has it.
    os.environ.update({name: word for name, word in request.environment.items() if name.startswith("ARENA_")})
    # What Python does itself after a fork of its own, as far as it is needed: no two bots share their chance.
    sys.modules["random"].seed()
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined]  # noqa: SLF001 - nobody else can


def furnish(request: Request) -> None:
    """The bot's own folders, and nothing of the machine's beyond what the root has."""
    libc.sethostname(b"bot", 3)
    for here, inside in ((request.folder, "/bot"), (request.sockets, "/run/arena")):
        mount(OUTSIDE + here, inside, None, BIND | RECURSIVE)
        make_read_only(inside)
    check(libc.umount2(b"/proc", DETACH), "the starter's processes")
    mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    mount("tmpfs", "/proc/sys/fs", "tmpfs", NO_SUID | NO_DEVICES | NO_EXEC | READ_ONLY, "size=4k,mode=0555")
    for place, size in (("/tmp", request.scratch_bytes), ("/dev/shm", request.shared_bytes)):  # noqa: S108 - its own
        mount("tmpfs", place, "tmpfs", NO_SUID | NO_DEVICES, f"size={size},mode=1777")
    check(libc.umount2(OUTSIDE.encode(), DETACH), "the machine's root")


def mount(source: str, place: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mounts something."""
    words = [None if word is None else word.encode() for word in (source, place, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), options.encode()), place)


def make_read_only(place: str) -> None:
    """Also what is mounted below; nothing there gives rights or is a device."""
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY_NO_SUID_NO_DEVICES, 0, 0, 0)
    call = (SET_MOUNT_ATTRIBUTES, FROM_HERE, place.encode(), ATTRIBUTES_RECURSIVE, attributes, 32)
    check(libc.syscall(*call), place)


def shut_user_in() -> None:
    """A user namespace of its own, so that its processes are counted apart; no further ones are to be had."""
    check(libc.unshare(NEW_USER), "user namespace")
    for name, text in (
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/uid_map", f"{OWN_USER} 0 1"),
        ("/proc/self/gid_map", f"{OWN_USER} 0 1"),
        ("/proc/sys/user/max_user_namespaces", "0"),
    ):
        with open(name, "w") as file:
            file.write(text)


class Program(ctypes.Structure):
    """A filter, as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("words", ctypes.c_char_p))


def forbid_the_rest(filter_words: bytes) -> None:
    """No system calls but those of the filter, where there is one."""
    if filter_words != b"\n":
        program = Program(len(filter_words) // 8, filter_words)
        check(libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0), "filter of system calls")


def play_out(argv: list[str]) -> None:
    """Runs the bot's script, and ends as Python would, but for taking itself apart.

    That would touch all that is here, and so copy the memory that bots share: it took most of a short bot's time.
    Only files that a bot left open and unwritten could have needed it, and they end with its sandbox.
    """
    code = 0
    try:
        launcher.run_script(argv)
    except SystemExit as said:
        code = exit_code(said.code)
    except Exception:  # noqa: BLE001 - whatever it is, it is told as Python does
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - what Python itself does at its end
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


def exit_code(said: object) -> int:
    """What `sys.exit` of this comes to."""
    if said is None or isinstance(said, int):
        return said or 0
    sys.stderr.write(f"{said}\n")
    return 1


if __name__ == "__main__":
    made = main()
    if made is not None:
        play_out(made.argv)
