"""Bubblewrap's command line for a bot: its user, mounts, namespaces and limits.

The order matters to bubblewrap: later mounts cover earlier ones.

An ordinary user's bots run as that user, root's bots each as a user of its own. A bot must not run as root, whose
number of processes the kernel does not limit. Nor can root become another user first, who could not mount files
from root's own folders. So root's bots share one user namespace, created once: bubblewrap mounts there as root,
and the bot's program continues as another user of the namespace.
"""

import errno
import os
import shutil
import stat
import subprocess
from contextlib import suppress
from functools import cache, lru_cache
from itertools import count
from pathlib import Path

from msgspec import Struct

from referee.bot_folder import MEGABYTE, BotFolder, Limits
from referee.sandbox import host_machine
from referee.sandbox.host_machine import (
    PROJECT,
    Machine,
    command_line,
    importable,
    outside_code,
    this_machine,
)

BOT = "/bot"
SCRATCH = "/tmp"  # noqa: S108 - a bot's own, in memory
SOCKETS = "/run/arena"
CODE = "/arena/code"
PACKAGES = "/arena/packages"
TERMINALS = "/dev/pts"
FILES_COUNTERS = "/proc/sys/fs"
"""A folder that is hidden: the kernel counts failed name lookups there, which a bot in a later match could
read."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a bot's own
SHARED_MEMORY_BYTES = 4 * MEGABYTE
"""Size of /dev/shm: enough for Python's semaphores."""
LIBRARIES = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of programs and libraries besides /usr. On most machines they are links into it."""
LAUNCHER = Path(__file__).with_name("launcher.py")
START = "/arena/launcher.py"
"""The launcher's path inside the sandbox."""
STARTER = Path(__file__).with_name("prefork_server.py")
STARTER_INSIDE = "/arena/prefork_server.py"
OUTSIDE = "/outside"
"""The machine's own root, as seen by the process from which bots are forked. No bot sees it."""
NAMESPACES = (
    *("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--new-session", "--die-with-parent"),
)
SIGNALS = 1_024
"""The most signals that may be pending for a bot's processes."""
FIRST_USER = 0x7000_0000
"""First user id of root's bots. No system assigns ids from here on."""
USERS = 65_000
MAP = f"0 0 1\n1 {FIRST_USER + 1} {USERS}\n"
"""The namespace's map of user ids: root is root (without rights outside), the others are for bots."""

USERS_HERE = Path("/proc/self")
"""The folder of the maps of users and groups of this process's user namespace."""
STANDARD_OUTPUT = 1

FAR = 40_171
"""The golden section of `USERS`: with any number of processes that assign users, each starts far from the
others."""


class NoUsersError(OSError):
    """The user namespace of this root lacks the users for its bots."""


class User(Struct, frozen=True):
    """The user of a bot, and how the bot becomes it."""

    namespace: tuple[str, ...]
    """Bubblewrap's options for the user namespace."""
    number: int | None
    """The user that the launcher becomes, without the rights that bubblewrap left it; None: it is that user
    already."""
    others: int
    """Number of bubblewrap's processes that count as this user's inside the sandbox."""


STARTERS_NAMESPACE = ("--unshare-user", "--uid", "0", "--gid", "0")
"""Options for an ordinary user's warm starter. With any other id bubblewrap would remove its rights over
mounts."""
ROOTS_NAMESPACE = ("--userns", str(STANDARD_OUTPUT))
"""Options for the namespace of `standard_output`."""
OWN_USER = User(
    # The bot sees an ordinary user. It cannot create a namespace in which it would have rights.
    ("--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"),
    None,
    others=1,
)


def roots_user(line: Path) -> User:
    """Return a user that no other bot of this arena has, after giving the socket and its folder to it.

    Raises:
        FileNotFoundError: a program of util-linux is not installed.
        NoUsersError: the user does not exist in this user namespace.
    """
    check_users()
    number = 1 + next(_numbers(os.getpid())) % USERS
    for path in (line.parent, line):
        with suppress(FileNotFoundError):
            os.chown(path, FIRST_USER + number, FIRST_USER + number)
    rights = (word for right in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{right}"))
    return User((*ROOTS_NAMESPACE, *rights), number, others=0)


@cache
def _numbers(process: int) -> "count[int]":
    """Return the counter of user numbers of a process. Those of other arenas and workers very likely differ."""
    return count(process * FAR)


def standard_output(log: int) -> int:
    """Return the descriptor for bubblewrap's standard output: as root the namespace, else the log.

    Under any other number the bot would inherit the namespace.
    """
    return _namespace() if os.geteuid() == 0 else log


def program(name: str) -> str:
    """Return the path of a program.

    Raises:
        FileNotFoundError: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(2, "is not installed", name)
    return found


@cache
def _namespace() -> int:
    """Return a descriptor of the user namespace of root's bots. The namespace exists while it is open.

    Raises:
        FileNotFoundError: a program of util-linux is not installed.
        NoUsersError: the users of root's bots do not exist here.
        OSError: the kernel creates no user namespace; number 0, with the complaint as text.
    """
    check_users()
    holder = subprocess.Popen(  # noqa: S603 - creates the namespace, and waits until it was opened
        [program("unshare"), "--user", "sh", "-c", "echo && read -r _"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    with holder:
        assert holder.stdin and holder.stdout and holder.stderr  # noqa: S101, PT018 - pipes
        if not holder.stdout.read(1):
            raise OSError(0, holder.stderr.read().decode(errors="replace").strip(), "unshare")
        place = Path("/proc") / str(holder.pid)
        (place / "uid_map").write_text(MAP)
        (place / "gid_map").write_text(MAP)
        namespace = os.open(place / "ns" / "user", os.O_RDONLY | os.O_CLOEXEC)
        holder.stdin.close()
    # Set inside the namespace, so that no bot creates a further one, in which it would have rights.
    done = subprocess.run(  # noqa: S603 - as above
        [
            program("nsenter"),
            f"--user=/proc/self/fd/{namespace}",
            "sh",
            "-c",
            "echo 0 >/proc/sys/user/max_user_namespaces",
        ],
        pass_fds=[namespace],
        check=False,
        capture_output=True,
    )
    if done.returncode != 0:
        os.close(namespace)
        raise OSError(0, done.stderr.decode(errors="replace").strip(), "nsenter")
    return namespace


@cache
def check_users() -> None:
    """Check that the users of root's bots exist in the user namespace of this process.

    Raises:
        NoUsersError: they do not.
    """
    for kind in ("uid_map", "gid_map"):
        for line in (USERS_HERE / kind).read_text().splitlines():
            first, _, length = (int(word) for word in line.split())
            if first <= FIRST_USER + 1 and first + length > FIRST_USER + USERS:
                break
        else:
            raise NoUsersError(0, "the user namespace of this root lacks the users that root's bots run as")


class ReadOnlyPath(Struct, frozen=True):
    """A file or folder of this machine that the bot sees read-only."""

    here: Path
    inside: str


def arguments(bot: BotFolder, line: Path, info: int, syscalls: int | None, beyond: int) -> list[str]:
    """Return the command line.

    Args:
        bot: the bot to start.
        line: the socket file, alone in its folder. As root, both are given to the bot's user.
        info: descriptor to which bubblewrap writes the number of the sandbox's first process.
        syscalls: descriptor of the filter of system calls; None: there is none.
        beyond: the number of processes that its user may have besides the bot's own.

    Raises:
        FileNotFoundError: bubblewrap, or a program that it needs, is not installed.
        PermissionError: as root: other users may not read a file that the bot needs.
    """
    machine = this_machine()
    check_readable(bot, line)
    user = roots_user(line) if os.geteuid() == 0 else OWN_USER
    own = [
        ReadOnlyPath(bot.folder, BOT),
        # Read-only too: the bot can still connect, but leaves nothing on the machine's disk.
        ReadOnlyPath(line.parent.resolve(), SOCKETS),
    ]
    return [
        program("bwrap"),
        *user.namespace,
        *NAMESPACES,
        *("--hostname", "bot", "--info-fd", str(info)),
        *(() if syscalls is None else ("--seccomp", str(syscalls))),
        *_root([*_sources(machine), *own], machine),
        *("--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", SHARED_MEMORY),
        *("--size", str(bot.limits.scratch_mb * MEGABYTE), "--perms", "1777", "--tmpfs", SCRATCH),
        # The file system under the mounts is in memory too, and would have no bound.
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", BOT, "--"),
        *_launcher(bot, user, machine, user.others + beyond),
    ]


def starter_arguments(control: int, modules: tuple[str, ...]) -> list[str]:
    """Return the command line of the process from which bots are forked. It also sees the machine's own root.

    Args:
        control: descriptor of its end of the referee's line to it.
        modules: the modules that it imports for all bots.

    Raises:
        As `arguments`.
    """
    machine = this_machine()
    namespace = ROOTS_NAMESPACE if os.geteuid() == 0 else STARTERS_NAMESPACE
    return [
        program("bwrap"),
        *namespace,
        *("--cap-add", "ALL", *NAMESPACES),
        *_root([*_sources(machine), ReadOnlyPath(STARTER, STARTER_INSIDE)], machine),
        *(word for path in (BOT, SOCKETS, SCRATCH) for word in ("--perms", "0755", "--dir", path)),
        *("--ro-bind", "/", OUTSIDE, "--remount-ro", "/dev", "--remount-ro", "/", "--"),
        *(str(machine.interpreter), STARTER_INSIDE, str(control), *modules),
    ]


def check_readable(bot: BotFolder, line: Path) -> None:
    """Check that other users may read all that a bot of root needs: it would fail without an explanation.

    Raises:
        PermissionError: they may not.
    """
    if os.geteuid() != 0:
        return
    for path in _closed_sources():
        if path != line.parent.resolve():
            raise PermissionError(errno.EACCES, "may not be read by others", str(path))
    _check_folder(bot.folder)


@lru_cache
def _check_folder(folder: Path) -> None:
    """Check a bot's folder. It is a copy that does not change, so the result is cached; errors are not."""
    for path in (folder, *folder.iterdir()):
        if _is_closed(path):
            raise PermissionError(errno.EACCES, "may not be read by others", str(path))


@cache
def _closed_sources() -> tuple[Path, ...]:
    """Return the machine's files that other users may not read. Cached: it would cost each start 0.2 ms."""
    return tuple(source.here for source in _sources(this_machine()) if _is_closed(source.here))


def _is_closed(path: Path) -> bool:
    return path.exists() and not path.stat().st_mode & stat.S_IROTH


def _root(sources: list[ReadOnlyPath], machine: Machine) -> list[str]:
    """Return the options for all that a bot sees of this machine, except its file systems in memory."""
    return [
        *_system(),
        *(word for path in _parents(sources) for word in ("--perms", "0755", "--dir", path)),
        *(word for source in sources for word in ("--ro-bind", str(source.here), source.inside)),
        *(word for path in _hidden(sources, machine) for word in ("--tmpfs", path, "--remount-ro", path)),
        *("--proc", "/proc", "--dev", "/dev"),
        # PreforkedSandbox bots would share one set of terminals. No bot needs them.
        *("--tmpfs", TERMINALS, "--remount-ro", TERMINALS),
        *("--tmpfs", FILES_COUNTERS, "--remount-ro", FILES_COUNTERS),
    ]


def _launcher(bot: BotFolder, user: User, machine: Machine, others: int) -> list[str]:
    """Return the command of the launcher, with its walls and limits, followed by the bot's command."""
    command = command_line(bot, machine.interpreter)
    interpreter = str(machine.interpreter)
    is_script = len(command) > 1 and command[0] == interpreter and not command[1].startswith("-")
    words = [interpreter, *(() if is_script else ("-I", "-S")), START]
    if user.number is not None:
        words.append(f"user={user.number}")
    if is_script:
        words.append("script=yes")
    bounds = [f"{name}={value}" for name, value in resource_limits(bot.limits, others)]
    if (version := host_machine.landlock_version()) > 0:
        bounds += [f"landlock={version}", *(f"{name}={path}" for name, path in places(machine))]
    return [*words, *bounds, "--", *command]


@cache
def places(machine: Machine) -> list[tuple[str, str]]:
    """Return the paths that Landlock allows, as a second wall: all mounts, writable only where they should be."""
    # Links are left out: their targets are allowed anyway.
    libraries = [f"/{name}" for name in LIBRARIES if not Path("/", name).is_symlink()]
    system = ("/usr", *libraries, "/etc", "/proc", str(machine.base))
    return [
        ("list", "/"),
        *(("read", path) for path in (*system, "/arena", "/run", BOT)),
        ("device", "/dev"),
        *(("write", path) for path in (SCRATCH, SHARED_MEMORY)),
    ]


def packages_inside(machine: Machine) -> list[str]:
    """Return the folders in which a bot finds the machine's packages."""
    return [f"{PACKAGES}/{number}" for number in range(len(machine.packages))]


def _system() -> list[str]:
    """Return the options for the machine's own programs and libraries."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in LIBRARIES:
        path = Path("/") / name
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    words += ["--perms", "0755", "--dir", "/etc"]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        words += ["--ro-bind-try", name, name]
    return words


def _sources(machine: Machine) -> list[ReadOnlyPath]:
    """Return all that every bot sees of this machine besides the system's programs and libraries."""
    sources = [
        *(ReadOnlyPath(*pair) for pair in zip(machine.packages, packages_inside(machine), strict=True)),
        *(ReadOnlyPath(PROJECT / path, f"{CODE}/{path}") for path in importable()),
        *(ReadOnlyPath(path, f"{CODE}/{path.name}") for path in outside_code()),
        ReadOnlyPath(LAUNCHER, START),
    ]
    if not machine.base.is_relative_to("/usr"):
        # At its own path: an interpreter may contain the path of its libraries.
        sources.insert(0, ReadOnlyPath(machine.base, str(machine.base)))
    return sources


def _hidden(sources: list[ReadOnlyPath], machine: Machine) -> list[str]:
    """Return the folders inside mounted ones that bots must not see: foreign packages, the referee, other bots."""
    rooms = [PROJECT / name for name in ("referee", "arena", "bots", "tests")]
    return [
        str(source.inside / path.relative_to(source.here))
        for source in (ReadOnlyPath(Path("/usr"), "/usr"), *sources)
        for path in (*rooms, *machine.foreign)
        if path.is_relative_to(source.here) and path.is_dir()
    ]


def _parents(sources: list[ReadOnlyPath]) -> list[str]:
    """Return the parents of all mount points.

    They are created first: bubblewrap's own would admit only their owner.
    """
    return sorted({str(parent) for source in sources for parent in list(Path(source.inside).parents)[:-1]})


def resource_limits(limits: Limits, others: int) -> list[tuple[str, int]]:
    """Return the limits of each process, and the number of processes, which counts inside the sandbox.

    Args:
        limits: the bot's limits.
        others: the number of processes that the bot's user may have besides the bot's own.
    """
    words = [
        ("AS", (limits.address_space_mb or limits.memory_mb) * MEGABYTE),
        ("NPROC", limits.processes + others),
        ("NOFILE", limits.files),
        ("FSIZE", limits.scratch_mb * MEGABYTE),
        ("SIGPENDING", SIGNALS),
        *((name, 0) for name in ("CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO")),
    ]
    return words if limits.cpu_seconds is None else [*words, ("CPU", limits.cpu_seconds)]
