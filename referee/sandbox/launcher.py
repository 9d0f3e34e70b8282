"""The program that becomes a bot, run as `launcher.py NAME=VALUE… -- COMMAND…`.

Inside a sandbox it puts up the walls that can only be put up from inside: it drops its rights, sets its limits,
restricts itself with Landlock, reports on standard input that the sandbox is ready, and waits for the referee's
permission. Only then it runs the bot: in the same interpreter if the bot is a Python script, which saves the start
of a second one, else in its place. Without a sandbox it ends with the arena, sets limits, and runs the command. It
imports nothing of this project, and no `typing`, to be quick.

    arena=PID       end with this process, which is its parent: there is no sandbox
    user=N          become this user (of root's bots), without any rights
    script=yes      the command is this interpreter with a script
    landlock=N      this machine's version of Landlock
    list=PATH       its folders may be listed (Landlock)
    read=PATH       may be read and run (Landlock)
    device=PATH     may be read and written, but nothing can be created (Landlock)
    write=PATH      everything is allowed (Landlock)
    AS=N …          resource limits
"""

import ctypes
import errno
import os
import resource
import signal
import sys

TYPE_CHECKING = False  # Type checkers take it for the one of `typing`, which is slow to import.
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

SET_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
SET_DUMPABLE, DROP_FROM_BOUNDING_SET, SET_NO_NEW_PRIVS, AMBIENT, CLEAR_AMBIENT = 4, 24, 38, 47, 4
CAPABILITIES = 64
"""A number larger than that of any kernel's capabilities."""
CAPABILITY_VERSION = 0x2008_0522
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
BENEATH_PATH = 1
# Rights of Landlock on files, as bits; later versions have more of them.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
KNOWN_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
BIND_AND_CONNECT_TCP = 3
ABSTRACT_SOCKETS_AND_SIGNALS = 3
RULESET_BYTES = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}
COMMAND_NOT_RUN = 127

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Become the bot, or exit."""
    split = sys.argv.index("--")
    told, command = [word.split("=", 1) for word in sys.argv[1:split]], sys.argv[split + 1 :]
    values = dict(told)
    if "arena" in values:
        end_with(int(values["arena"]))
    if "user" in values:
        become(int(values["user"]))
    check(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    for name, value in told:
        if name.isupper():
            limit(getattr(resource, f"RLIMIT_{name}"), int(value))
    if "landlock" in values:
        lock_in(int(values["landlock"]), [(name, value) for name, value in told if name in RIGHTS])
    if "arena" not in values:
        wait_for_permission()
    if values.get("script") == "yes":
        run_script(command[1:])
    try:
        os.execvp(command[0], command)  # noqa: S606 - this is the door
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(COMMAND_NOT_RUN)


def end_with(arena: int) -> None:
    """Have the kernel kill this process when the arena ends, and adopt its own orphans, so that they are found."""
    libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != arena:
        # The arena ended before this process was bound to it.
        sys.exit(1)
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_permission() -> None:
    """Report that the sandbox is ready, and exit if the referee does not answer: no process would end the bot."""
    os.write(0, b"\n")
    if os.read(0, 1) != b"\n":
        sys.exit(COMMAND_NOT_RUN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def check(result: int, what: str) -> int:
    """Exit if a wall could not be put up, else return the result."""
    if result < 0:
        sys.stderr.write(f"{what}: {os.strerror(ctypes.get_errno())}\n")
        sys.exit(COMMAND_NOT_RUN)
    return result


def become(user: int | None) -> None:
    """Drop all capabilities for good, and become another user if one is passed."""
    for capability in range(CAPABILITIES):
        if libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0) < 0 and ctypes.get_errno() == errno.EINVAL:
            break  # The kernel has no more.
    check(libc.prctl(AMBIENT, CLEAR_AMBIENT, 0, 0, 0), "ambient capabilities")
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    check(libc.capset(header, (ctypes.c_uint32 * 6)()), "capabilities")
    # Otherwise its own /proc would belong to root.
    check(libc.prctl(SET_DUMPABLE, 1, 0, 0, 0), "dumpable")


def limit(kind: int, wanted: int) -> None:
    """Set a resource limit of this process and its descendants, but never above the current one.

    At its limit of processor time a process gets SIGXCPU, which shows the cause; SIGKILL follows a second later.
    """
    most = resource.getrlimit(kind)[1]
    bounds = wanted, wanted + (kind == resource.RLIMIT_CPU)
    if most != resource.RLIM_INFINITY:
        bounds = min(bounds[0], most), min(bounds[1], most)
    resource.setrlimit(kind, bounds)


RIGHTS = {
    "list": READ_DIR,
    "read": EXECUTE | READ_FILE | READ_DIR,
    "device": READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | IOCTL_DEV,
    "write": ~0,
}


def lock_in(version: int, places: list[tuple[str, str]]) -> None:
    """Apply Landlock: only files below these paths, no TCP, no abstract sockets, no signals to other processes."""
    everything = (1 << KNOWN_RIGHTS.get(version, 16)) - 1
    ruleset = (ctypes.c_uint64 * 3)(everything, BIND_AND_CONNECT_TCP, ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = check(libc.syscall(CREATE_RULESET, ruleset, RULESET_BYTES.get(version, 24), 0), "Landlock")
    for name, path in places:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rule = (ctypes.c_uint32 * 3)()
        rights = everything & RIGHTS[name]
        rule[0], rule[1], rule[2] = rights & 0xFFFF_FFFF, rights >> 32, place
        check(libc.syscall(ADD_RULE, rules, BENEATH_PATH, rule, 0), f"Landlock: {path}")
        os.close(place)
    check(libc.syscall(RESTRICT_SELF, rules, 0), "Landlock")
    os.close(rules)


def hide_sendmsg() -> None:
    """Let asyncio find no `sendmsg`, which the filter forbids: from Python 3.12 on it would write by it."""
    import _socket  # noqa: PLC0415 - older versions need neither
    import socket  # noqa: PLC0415

    class Hidden:
        def __get__(self, instance: "Any", owner: type) -> "Any":
            if instance is None:
                raise AttributeError("sendmsg")
            return _socket.socket.sendmsg.__get__(instance)

    socket.socket.sendmsg = Hidden()  # type: ignore[method-assign, assignment]


def run_script(argv: list[str]) -> None:
    """Run a script as `python SCRIPT ARGUMENTS…` would, and exit as it exits."""
    if sys.version_info >= (3, 12):
        hide_sendmsg()
    path = os.path.abspath(argv[0])
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = type(sys)("__main__")
    module.__file__ = path
    module.__dict__["__builtins__"] = __builtins__
    sys.argv[:] = argv
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    sys.modules["__main__"] = module
    sys.excepthook = without_us
    exec(code, module.__dict__)  # noqa: S102 - it is what this process is for
    sys.exit(0)


def without_us(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> "Any":
    """Print a traceback that starts with the bot's own code. An `excepthook`."""
    while trace is not None and os.path.dirname(trace.tb_frame.f_code.co_filename) == os.path.dirname(__file__):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    main()
