"""Bubblewrap's command line for a bot: what is mounted where, which namespaces, which limits.

The order is bubblewrap's: later mounts lie over earlier ones.
"""

import os
import shutil
from itertools import count
from pathlib import Path

from msgspec import Struct

from referee.bot_environment import PROJECT, Machine, command_line, shared_modules, this_machine
from referee.bot_folder import BotFolder, Limits

BOT = "/bot"
SCRATCH = "/tmp"  # noqa: S108 - a bot's own, in memory
SOCKETS = "/run/arena"
CODE = "/arena/code"
PACKAGES = "/arena/packages"
STAGE = Path("/mnt")
"""Where root lays out what the bot's user could not reach otherwise; only the sandbox's own processes see that."""
MEGABYTE = 1024 * 1024
SHARED_MEMORY_BYTES = 4 * MEGABYTE
"""Of /dev/shm: enough for Python's semaphores."""
INSIDE_ID = "1000"
"""User and group as a bot sees them, whoever they are outside."""
FIRST_USER = 0x7000_0000
"""Root's bots run as users from here on, whom no system hands out."""
USERS = 1 << 24
GATE = 'echo >&0 && read -r go && exec "$@" </dev/null'
"""Holds the bot's program back until we have answered: by then we know whom to kill, and our end will be its end.

Without us nothing is read, and the program never starts.
"""

_users = count(os.getpid() * 64)


class Source(Struct, frozen=True):
    """A file or folder of this machine that the bot sees, read-only."""

    here: Path
    inside: str


def arguments(bot: BotFolder, line: Path, info: int) -> list[str]:
    """The command line. As root it begins with a stage on which root's privileges end.

    Args:
        bot: whom to start.
        line: the socket's file, in a folder that holds nothing else.
        info: descriptor to which bubblewrap writes who the sandbox's first process is.

    Raises:
        FileNotFoundError: bubblewrap, or setpriv where it is needed, is not installed.
    """
    machine = this_machine()
    sources = _sources(bot, line, machine)
    hidden = _hidden(sources)
    outermost = [_program("bwrap"), "--die-with-parent", "--info-fd", str(info)]
    if os.geteuid() == 0:
        staged = _staged(sources)
        outermost = [*outermost, *_stage(sources, staged), *_user(line), _program("bwrap"), "--die-with-parent"]
        sources = staged
    return [
        *outermost,
        *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", INSIDE_ID, "--gid", INSIDE_ID),
        *("--hostname", "bot", "--new-session"),
        *_system(),
        *(word for source in sources for word in ("--ro-bind", str(source.here), source.inside)),
        *(word for path in hidden for word in ("--size", "4096", "--tmpfs", path)),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"),  # noqa: S108 - a bot's own
        *("--size", str(bot.limits.scratch_mb * MEGABYTE), "--perms", "1777", "--tmpfs", SCRATCH),
        # What holds the mounts together is memory too, and would have no bound.
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", BOT, "--"),
        *("sh", "-c", GATE, "sh", "prlimit", *_limits(bot.limits), "--"),
        *command_line(bot.command, machine.interpreter),
    ]


def packages_inside(machine: Machine) -> list[str]:
    """Where a bot finds the machine's packages."""
    return [f"{PACKAGES}/{number}" for number in range(len(machine.packages))]


def _system() -> list[str]:
    """The machine's own programs and libraries, and no more of it."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/") / name
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for name in ("/etc/ld.so.cache", "/etc/alternatives"):
        words += ["--ro-bind-try", name, name]
    return words


def _sources(bot: BotFolder, line: Path, machine: Machine) -> list[Source]:
    """What this bot sees of this machine beside the system's own."""
    sources = [
        *(Source(*pair) for pair in zip(machine.packages, packages_inside(machine), strict=True)),
        Source(PROJECT / "protocol", f"{CODE}/protocol"),
        *(Source(path, f"{CODE}/bots/{path.name}") for path in shared_modules()),
        Source(bot.folder, BOT),
        # Read-only too: that is no hindrance to connecting, and it leaves nothing behind on our disk.
        Source(line.parent.resolve(), SOCKETS),
    ]
    if not machine.base.is_relative_to("/usr"):
        # At its own place: an interpreter may have its libraries' place written into it.
        sources.insert(0, Source(machine.base, str(machine.base)))
    return sources


def _hidden(sources: list[Source]) -> list[str]:
    """The judge's rooms and other bots, where they lie within what is mounted (installed as packages; in /usr)."""
    rooms = [PROJECT / name for name in ("referee", "arena", "bots", "tests")]
    seen = [Source(Path("/usr"), "/usr"), *sources]
    return [
        str(source.inside / room.relative_to(source.here))
        for source in seen
        for room in rooms
        if room.is_relative_to(source.here) and room.is_dir()
    ]


def _staged(sources: list[Source]) -> list[Source]:
    """The same sources, as they stand on the stage."""
    return [Source(STAGE / str(number), source.inside) for number, source in enumerate(sources)]


def _stage(sources: list[Source], staged: list[Source]) -> list[str]:
    """What root does first: it lays the sources out where a user without rights can come at them.

    Root itself would be no good as a bot: the kernel limits no number of its processes. And a user could come at
    nothing that lies in root's own folders. The stage has processes of its own as well: the kernel tells another
    user's processes nothing of root's death, but a first process that is root's hears of it and takes all along.
    """
    words = ["--unshare-pid", "--dev-bind", "/", "/", "--tmpfs", str(STAGE)]
    for source, stand in zip(sources, staged, strict=True):
        words += ["--ro-bind", str(source.here), str(stand.here)]
    return [*words, "--"]


def _user(line: Path) -> list[str]:
    """Gives the socket to a user that no other bot has, and becomes that user."""
    user = FIRST_USER + next(_users) % USERS
    for path in (line.parent, line):
        if path.exists():
            os.chown(path, user, user)
    return [_program("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]


def _limits(limits: Limits) -> list[str]:
    """For each process, but for the number of them, which is the sandbox's: it is set inside to count inside."""
    words = [
        f"--as={limits.memory_mb * MEGABYTE}",
        f"--nproc={limits.processes}",
        f"--nofile={limits.files}",
        f"--fsize={limits.scratch_mb * MEGABYTE}",
        "--core=0",
        "--memlock=0",
        "--msgqueue=0",
    ]
    return words if limits.cpu_seconds is None else [*words, f"--cpu={limits.cpu_seconds}"]


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(2, "is not installed", name)
    return found
