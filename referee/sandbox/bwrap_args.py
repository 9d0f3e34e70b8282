"""Bubblewrap's command line for a bot: its mounts, namespaces and limits.

The order matters to bubblewrap: later mounts cover earlier ones.
"""

import errno
import os
import stat
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct

from referee.bot_folder import MEGABYTE, BotFolder, Limits
from referee.sandbox import levels
from referee.sandbox.bot_environment import (
    PROJECT,
    Machine,
    command_line,
    importable,
    outside_code,
    this_machine,
)
from referee.sandbox.bwrap_user import OWN_USER, ROOTS_NAMESPACE, STARTERS_NAMESPACE, User, program, roots_user

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


class Source(Struct, frozen=True):
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
        Source(bot.folder, BOT),
        # Read-only too: the bot can still connect, but leaves nothing on the machine's disk.
        Source(line.parent.resolve(), SOCKETS),
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
        *_root([*_sources(machine), Source(STARTER, STARTER_INSIDE)], machine),
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


def _root(sources: list[Source], machine: Machine) -> list[str]:
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
    if (version := levels.landlock_version()) > 0:
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


def _sources(machine: Machine) -> list[Source]:
    """Return all that every bot sees of this machine besides the system's programs and libraries."""
    sources = [
        *(Source(*pair) for pair in zip(machine.packages, packages_inside(machine), strict=True)),
        *(Source(PROJECT / path, f"{CODE}/{path}") for path in importable()),
        *(Source(path, f"{CODE}/{path.name}") for path in outside_code()),
        Source(LAUNCHER, START),
    ]
    if not machine.base.is_relative_to("/usr"):
        # At its own path: an interpreter may contain the path of its libraries.
        sources.insert(0, Source(machine.base, str(machine.base)))
    return sources


def _hidden(sources: list[Source], machine: Machine) -> list[str]:
    """Return the folders inside mounted ones that bots must not see: foreign packages, the referee, other bots."""
    rooms = [PROJECT / name for name in ("referee", "arena", "bots", "tests")]
    return [
        str(source.inside / path.relative_to(source.here))
        for source in (Source(Path("/usr"), "/usr"), *sources)
        for path in (*rooms, *machine.foreign)
        if path.is_relative_to(source.here) and path.is_dir()
    ]


def _parents(sources: list[Source]) -> list[str]:
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
