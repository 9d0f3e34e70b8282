"""A process that holds an interpreter with the kit's imports and nothing else, and creates Python bots by forking.

`prefork` runs it inside a sandbox made by bubblewrap. There it has the root that bots will see, with the machine's
own root below OUTSIDE, and the rights to create namespaces. Each request contains a bot's folders and limits, its
log and a gate. The fork enters fresh namespaces and a control group, mounts the bot's own folders, and drops the
machine's root, all rights and most system calls. It reports at the gate that it is ready, and runs the bot when
permitted: that is the sandbox of `bwrap` without its start. This process learns from the kernel how the bot ended,
and reports it at the gate.

A bot is not the first process of its namespace: the kernel blocks most signals to a first process, even its own,
and the cause of its death would not be visible. The first process is an init that only waits and runs no Python:
it shares the memory of a process that only makes such inits, and so costs no fork.
"""

import array
import atexit
import ctypes
import errno
import gc
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from types import ModuleType

import launcher
import msgspec

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
SET_SECCOMP, FILTER = 22, 2
SHARED_MEMORY, WITH_DESCRIPTOR = 0x100, 0x1000
SIGNALS, NO_STOPS = 1024, 1
"""Values of the C library: the size of a set of signals; SA_NOCLDSTOP, with which SIGCHLD reports ends only."""
STACK_BYTES, STACK_ALIGNMENT = 65_536, 64
INIT_SECONDS = 10.0
"""Seconds to wait for an init. After that the process that makes them has ended: inits keep its socket open."""
REQUEST_BYTES, DESCRIPTORS = 65_536, 16
GATE = 1
"""Index of the gate among the descriptors of a request."""
MOST_DESCRIPTORS = 65_536
"""The limit of open files: two per running bot are needed."""
SHORTAGES = frozenset(
    {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ENOSPC, errno.EUSERS}
)
"""Shortages when a sandbox is created. `referee.linux.shortage` cannot be imported here."""
INTRODUCTION = b"!"
OUT_OF = b"E"
"""Prefix of an error number in a message at a gate: this process has run out of a resource, and creates no bot."""
OWN_USER = 1_000
"""The user id that an ordinary user's bots see. The starter is the same user, seen as 0."""

libc = launcher.libc
fork = ctypes.PyDLL(None, use_errno=True).fork
"""The C library's fork. Python's touches five times the memory, to repair state that only threads could have
broken.

There are none here: one thread holds the interpreter before and after.
"""
check = launcher.check


class BotRequest(msgspec.Struct, frozen=True):
    """A request for a bot.

    Its descriptors are those of the log, the gate, and the entrances of its control group.
    """

    folder: str
    sockets: str
    scratch_bytes: int
    shared_bytes: int
    user: int | None
    """The user that the bot becomes; None: the current ordinary user, in a user namespace of its own."""
    limits: list[tuple[str, int]]
    landlock: int
    places: list[tuple[str, str]]
    environment: dict[str, str]
    argv: list[str]


REQUESTS = msgspec.msgpack.Decoder(BotRequest)


def main() -> BotRequest | None:
    """Serve until the referee has ended. In a bot's process, return the request of the bot to run."""
    control = socket.socket(fileno=int(sys.argv[1]))
    inits, maker = keep_inits(control)
    launcher.limit(launcher.resource.RLIMIT_NOFILE, MOST_DESCRIPTORS)
    filter_words = control.recv(REQUEST_BYTES)
    for name in sys.argv[2:]:
        rehearse(import_module(name))
    for call in ("prctl", "unshare", "setns", "mount", "umount2", "sethostname", "syscall", "capset"):
        getattr(libc, call)
    bots = Bots(maker)
    # Garbage collections skip the current objects from now on: pages that are not touched are shared by all bots.
    gc.collect()
    gc.freeze()
    control.send(b"\n")
    return serve(control, inits, bots, filter_words)


def rehearse(module: ModuleType) -> None:
    """Do the work of a module's first use now, for all bots."""
    for word in vars(module).values():
        if isinstance(word, type) and issubclass(word, msgspec.Struct):
            msgspec.msgpack.Decoder(word)  # It caches the class's layout in the class.
    own = getattr(module, "rehearse", None)
    if own is not None:
        own()


def serve(control: socket.socket, inits: socket.socket, bots: "Bots", filter_words: bytes) -> BotRequest | None:
    """See `main`."""
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    libraries = open_libraries()
    asked = bytearray(REQUEST_BYTES)
    while True:
        bots.tell_of_ends_until(control)
        size, descriptors, is_whole = receive(control, asked)
        if not size:
            return None
        if not is_whole:
            # This process may open no more files. Without the entrances of its groups a bot would have no bounds.
            refuse_birth(descriptors)
            continue
        log, gate, *groups = descriptors
        init = next_init(inits)
        child = give_birth(init, log)
        if child == 0:
            bots.forget()
            request = REQUESTS.decode(asked[:size])
            return be_a_sandbox(request, filter_words, log, gate, groups, libraries=libraries)
        # The request of one bot must not be in the memory of the next.
        asked[:size] = bytes(size)
        check(libc.setns(own_pids, NEW_PIDS), "own namespace of processes")
        for descriptor in (log, *groups):
            os.close(descriptor)
        if init is not None and child > 0:
            introduce(gate, init, child)
            bots.add(child, init, gate)
        else:
            say_out_of(gate, ctypes.get_errno())
            end_sandbox(init, gate)


class Bots:
    """The running bots, each with its namespace's init and its gate."""

    def __init__(self, maker: int) -> None:
        """Start to watch for the end of bots, and of the process that makes inits."""
        self._maker = maker
        self._living: dict[int, tuple[int, int]] = {}
        self._some_ended, self._tells = socket.socketpair()
        self._tells.setblocking(False)
        signal.set_wakeup_fd(self._tells.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        tell_of_ends_alone()

    def forget(self) -> None:
        """Stop watching, in a bot's own process."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def add(self, child: int, init: int, gate: int) -> None:
        """Add a bot."""
        self._living[child] = init, gate

    def tell_of_ends_until(self, control: socket.socket) -> None:
        """Report ended bots at their gates, until a socket is readable."""
        while True:
            readable, _, _ = select.select([control, self._some_ended], [], [])
            if self._some_ended in readable:
                self._some_ended.recv(REQUEST_BYTES)
                self._tell_of_ends()
            if control in readable:
                return

    def _tell_of_ends(self) -> None:
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            if child == self._maker:
                sys.exit("the process that makes inits has ended")
            if child not in self._living:
                continue  # Without a filter of system calls, a bot can create children of this process.
            init, gate = self._living.pop(child)
            with suppress(OSError):  # The referee may not wait for it any more.
                os.write(gate, b"%d" % os.waitstatus_to_exitcode(status))
            end_sandbox(init, gate)


class SignalAction(ctypes.Structure):
    """The C library's `struct sigaction`."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * (SIGNALS // ctypes.sizeof(ctypes.c_ulong) // 8)),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def tell_of_ends_alone() -> None:
    """Ignore stops of children: a bot that stops and resumes all the time would cost others time."""
    action = SignalAction()
    check(libc.sigaction(signal.SIGCHLD, None, ctypes.byref(action)), "signals")
    action.flags |= NO_STOPS
    check(libc.sigaction(signal.SIGCHLD, ctypes.byref(action), None), "signals")


def keep_inits(control: socket.socket) -> tuple[socket.socket, int]:
    """Start the process that makes inits, one ahead; return the socket from which they come, and its number."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if (maker := check(fork(), "fork")) > 0:
        theirs.close()
        ours.settimeout(INIT_SECONDS)
        return ours, maker
    for other in (ours, control):
        other.close()
    # Without handlers, which Python sets for these signals only, it is never woken. A bot's orphans are reaped.
    for number in (signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    check(libc.prctl(launcher.SET_DUMPABLE, 0, 0, 0, 0), "not to be looked into")
    # All inits use the same stack, at the same place, and never run on from there.
    stack = ctypes.create_string_buffer(STACK_BYTES)
    top = (ctypes.addressof(stack) + STACK_BYTES) // STACK_ALIGNMENT * STACK_ALIGNMENT
    flags = SHARED_MEMORY | WITH_DESCRIPTOR | NEW_PIDS | signal.SIGCHLD
    init = ctypes.c_int()
    is_taken = True
    while is_taken:
        number = libc.clone(libc.pause, ctypes.c_void_p(top), flags, None, ctypes.byref(init))
        is_taken = offer(theirs, [] if number < 0 else [init.value])
    os._exit(0)


def offer(inits: socket.socket, made: list[int]) -> bool:
    """Send a new init, if one could be made, and return whether the other process has taken it.

    Where that process has ended, kill the init. Bubblewrap's first process waits for all processes of its sandbox;
    if bubblewrap was killed before its first process had bound itself to it, both would stay for ever.
    """
    answer = b""
    with suppress(OSError):
        send_descriptors(inits, INTRODUCTION, made)
        answer = inits.recv(1)
    for init in made:
        if not answer:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(init, signal.SIGKILL)
        os.close(init)
    return bool(answer)


def next_init(inits: socket.socket) -> int | None:
    """Return the descriptor of an init; None: processes or descriptors have run out, as `errno` tells."""
    for _ in range(2):  # There may have been a shortage when the first one was made.
        size, found, is_whole = receive(inits, bytearray(1))
        if not size:
            sys.exit("there are no inits any more")
        inits.send(b"\n")
        if found:
            return found[0]
        ctypes.set_errno(errno.EAGAIN if is_whole else errno.EMFILE)
    return None


def refuse_birth(descriptors: list[int]) -> None:
    """Report missing descriptors at the gate, if that has arrived, and close those that have."""
    if len(descriptors) > GATE:
        say_out_of(descriptors[GATE], errno.EMFILE)
    for descriptor in descriptors:
        os.close(descriptor)


def say_out_of(gate: int, number: int) -> None:
    """Report a shortage of this process at a gate, by the number of the error."""
    with suppress(OSError):  # The other end may be closed.
        os.write(gate, OUT_OF + b"%d" % (number or errno.EAGAIN))


def end_sandbox(init: int | None, gate: int) -> None:
    """Kill the init of a bot's namespace, and with it all its processes, and close the gate."""
    if init is not None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(init, signal.SIGKILL)
        os.close(init)
    os.close(gate)


def give_birth(init: int | None, log: int) -> int:
    """Fork into an init's namespace; return the child's number, 0 in the child, or -1 with the reason in a log.

    A shortage of processes does not end this process: all bots would end with it.
    """
    if init is None or libc.setns(init, NEW_PIDS) < 0 or (child := fork()) < 0:
        os.write(log, f"no process: {os.strerror(ctypes.get_errno())}\n".encode())
        return -1
    return int(child)


def receive(way: socket.socket, words: bytearray) -> tuple[int, list[int], bool]:
    """Receive a message; return its length, 0 at the end, its descriptors, and whether all of them arrived."""
    size = array.array("i").itemsize
    length, ancillary, flags, _ = way.recvmsg_into([words], socket.CMSG_SPACE(DESCRIPTORS * size))
    found = array.array("i")
    for _, _, data in ancillary:
        found.frombytes(data[: len(data) - len(data) % size])
    return length, list(found), not flags & socket.MSG_CTRUNC


def send_descriptors(way: socket.socket, word: bytes, descriptors: list[int]) -> None:
    """Send copies of them. The caller closes its own."""
    way.sendmsg([word], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])


def introduce(gate: int, init: int, child: int) -> None:
    """Send descriptors of the sandbox's init and the bot to a gate. Unlike numbers, they are never reused."""
    found: list[int] = []
    # If descriptors have run out, fewer are sent, as a notice. Otherwise the referee would wait for ever.
    with suppress(OSError):
        found.append(os.dup(init))
        found.append(os.pidfd_open(child))
    way = socket.socket(fileno=gate)
    try:
        with suppress(OSError):  # The other end may be closed.
            send_descriptors(way, INTRODUCTION, found)
    finally:
        way.detach()
        for descriptor in found:
            os.close(descriptor)


def open_libraries() -> set[int]:
    """Return the descriptors of libraries whose code this process runs.

    Some versions of libffi keep their own file open, and map it again for every hundred callbacks of ctypes.
    Another file at that number would be run as code.
    """
    mapped = set()
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, rights, *_, path = line.rstrip("\n").split(maxsplit=5)
            if "x" in rights:
                mapped.add(path)
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # The descriptor of the listing itself is already closed.
            if os.readlink(f"/proc/self/fd/{name}") in mapped:
                found.add(int(name))
    return found


def close_all_but(kept: set[int]) -> None:
    """Close all descriptors but these and the standard ones."""
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, MOST_DESCRIPTORS)


def be_a_sandbox(
    request: BotRequest, filter_words: bytes, log: int, gate: int, groups: list[int], *, libraries: set[int]
) -> BotRequest:
    """Put up all walls around this process, and return when it may run the bot; otherwise exit.

    Args:
        request: the bot.
        filter_words: the filter of system calls.
        log: descriptor of its log.
        gate: descriptor of its socket to the referee until it may run.
        groups: descriptors of its control groups' entrances.
        libraries: descriptors that it keeps; see `open_libraries`.
    """
    os.dup2(log, 1)
    os.dup2(log, 2)
    short = 0
    try:
        # The standard input is shared by all bots, which could set and read its flags.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for group in groups:
            os.write(group, b"0")
        check(libc.unshare(NEW_MOUNTS | NEW_CGROUP | NEW_UTS | NEW_IPC | NEW_NET), "namespaces")
        furnish(request)
        if request.user is None:
            shut_user_in()
        launcher.become(request.user)
        check(libc.prctl(launcher.SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "end with the referee")
        close_all_but({gate, *libraries})
        for name, value in request.limits:
            launcher.limit(getattr(launcher.resource, f"RLIMIT_{name}"), value)
        check(libc.prctl(launcher.SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if request.landlock:
            launcher.lock_in(request.landlock, request.places)
        forbid_the_rest(filter_words)
        os.write(gate, b"\n")
        if os.read(gate, 1) == b"\n":
            os.close(gate)
            prepare(request)
            return request
    except SystemExit:
        short = ctypes.get_errno()  # `check` has printed the reason.
    except BaseException as error:  # noqa: BLE001 - there is no caller to raise it to
        os.write(2, f"{error}\n".encode())
        short = getattr(error, "errno", None) or 0
    if short in SHORTAGES:
        say_out_of(gate, short)
    os._exit(0)


def prepare(request: BotRequest) -> None:
    """Give this process the session, folder and environment of a started bot."""
    os.setsid()
    os.chdir("/bot")
    # All other variables are the same in this process.
    os.environ.update({name: word for name, word in request.environment.items() if name.startswith("ARENA_")})
    # Python does this itself after its own fork. No two bots may share their random numbers.
    sys.modules["random"].seed()
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined]  # noqa: SLF001 - nobody else can


def furnish(request: BotRequest) -> None:
    """Mount the bot's own folders, and unmount the machine's root."""
    libc.sethostname(b"bot", 3)
    for here, inside in ((request.folder, "/bot"), (request.sockets, "/run/arena")):
        mount(OUTSIDE + here, inside, None, BIND | RECURSIVE)
        make_read_only(inside)
    check(libc.umount2(b"/proc", DETACH), "the starter's processes")
    # Hide processes that the bot may not inspect: the init, which has the machine's root.
    mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC, "hidepid=2")
    mount("tmpfs", "/proc/sys/fs", "tmpfs", NO_SUID | NO_DEVICES | NO_EXEC | READ_ONLY, "size=4k,mode=0555")
    for place, size in (("/tmp", request.scratch_bytes), ("/dev/shm", request.shared_bytes)):  # noqa: S108 - its own
        mount("tmpfs", place, "tmpfs", NO_SUID | NO_DEVICES, f"size={size},mode=1777")
    check(libc.umount2(OUTSIDE.encode(), DETACH), "the machine's root")


def mount(source: str, place: str, kind: str | None, flags: int, options: str = "") -> None:
    """Call `mount`, and exit if it fails."""
    words = [None if word is None else word.encode() for word in (source, place, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), options.encode()), place)


def make_read_only(place: str) -> None:
    """Make a mount and all below it read-only, without set-uid programs and devices."""
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY_NO_SUID_NO_DEVICES, 0, 0, 0)
    call = (SET_MOUNT_ATTRIBUTES, FROM_HERE, place.encode(), ATTRIBUTES_RECURSIVE, attributes, 32)
    check(libc.syscall(*call), place)


def shut_user_in() -> None:
    """Enter a user namespace of its own, so that its processes are counted apart, and forbid further ones."""
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
    """The kernel's `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("words", ctypes.c_char_p))


def forbid_the_rest(filter_words: bytes) -> None:
    """Apply the filter of system calls, if there is one."""
    if filter_words != b"\n":
        program = Program(len(filter_words) // 8, filter_words)
        check(libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0), "filter of system calls")


def play_out(argv: list[str]) -> None:
    """Run the bot's script, and exit as Python would, but without finalising the interpreter.

    That would touch all objects and so copy the memory that bots share, which took most of a short bot's time.
    Only files that a bot left unflushed could have needed it, and they end with its sandbox.
    """
    code = 0
    try:
        launcher.run_script(argv)
    except SystemExit as said:
        code = exit_code(said.code)
    except Exception:  # noqa: BLE001 - any error is printed as Python does
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - as Python itself does at its end
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


def exit_code(said: object) -> int:
    """Return the exit code of a `sys.exit` with this argument, after printing it if it is a text."""
    if said is None or isinstance(said, int):
        return said or 0
    sys.stderr.write(f"{said}\n")
    return 1


if __name__ == "__main__":
    made = main()
    if made is not None:
        play_out(made.argv)
