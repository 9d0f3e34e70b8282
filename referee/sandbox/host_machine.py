"""This machine as bots meet it: the parts that a bot's process gets, and the walls around it.

The parts are interpreter, packages, messages and rules, and environment. In a sandbox they are mounted at neutral
paths; without one, they are used where they are. The walls are those that this machine can put up besides
bubblewrap's namespaces. They are found once, by trying them.
"""

import compileall
import ctypes
import importlib.util
import site
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from protocol.games import GROUP, outside_games
from referee.bot_folder import PATH, PYTHON, BotFolder, Limits
from referee.linux import cgroups, seccomp, systemd_scope

PROJECT = Path(__file__).resolve().parents[2]
"""The folder of protocol, bots, referee and arena: the checkout, or the folder into which they were installed."""

PURE = ("protocol", "referee/__init__.py", "referee/encoding.py", "referee/rules", "referee/games")
"""Messages and rules, which bots may import: this code contains no secret of any match."""
CREATE_RULESET = 444
"""Landlock's system call, which has the same number on all architectures."""
ASK_FOR_VERSION = 1
Isolation = Literal["strict", "standard", "none"]
"""The level of a bot's isolation. `process` describes what each level promises."""


class Machine(Struct, frozen=True, kw_only=True):
    """The paths of a Python bot's parts on this machine."""

    interpreter: Path
    """The real program: a version manager's wrapper would take as long to start as Python itself."""
    base: Path
    """The folder that contains the interpreter's own library."""
    packages: tuple[Path, ...]
    """Folders of installed packages, ZeroMQ and msgspec among them."""
    foreign: tuple[Path, ...]
    """Folders of packages that the interpreter would find but the arena does not use. They are hidden from bots.

    Code in them may run at every start of Python.
    """


@cache
def this_machine() -> Machine:
    """Return the parts of the Python on which the arena itself runs."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    if sys.prefix == sys.base_prefix:
        # Without an environment of its own the arena uses the packages of the machine's owner.
        folders += [*site.getsitepackages(), site.getusersitepackages()]
    base = Path(sys.base_prefix).resolve()
    return Machine(
        interpreter=Path(sys.executable).resolve(),
        base=base,
        packages=_folders(folders),
        foreign=_folders(folder for folder in site.getsitepackages([str(base)]) if folder not in sys.path),
    )


def _folders(names: Iterable[str]) -> tuple[Path, ...]:
    """Return the folders that exist, without duplicates."""
    return tuple(dict.fromkeys(Path(name) for name in names if Path(name).is_dir()))


@cache
def importable() -> tuple[Path, ...]:
    """Return all files and folders of the project that bots may import: messages, rules, kit. No bot's own files.

    Compiled modules are included: a bot could not store them for the next one.
    """
    bots = PROJECT / "bots"
    packages = sorted(file.parent for file in bots.glob("*/__init__.py"))
    if not sys.dont_write_bytecode:
        for folder in (bots, *packages):
            compileall.compile_dir(folder, maxlevels=0, quiet=2)
    compiled = bots / "__pycache__"
    shared = (*sorted(bots.glob("*.py")), *packages, *([compiled] if compiled.is_dir() else []))
    return (*map(Path, PURE), *(path.relative_to(PROJECT) for path in shared))


@cache
def outside_code() -> tuple[Path, ...]:
    """Return code and metadata of other packages' games outside `Machine.packages`, such as editable installs.

    Bots find the rest in the machine's packages.
    """
    machine = this_machine()
    known = {PROJECT, *machine.packages, *(Path(name) for name in sysconfig.get_paths().values())}
    others = [Path(name) for name in sys.path if name and Path(name) not in known and Path(name).is_dir()]
    if not others:
        return ()  # The search below takes longer than a short match.
    found: list[Path] = []
    for game in outside_games():
        with suppress(ImportError, ValueError):  # A game that cannot be imported is refused where it is asked for.
            spec = importlib.util.find_spec(game.module)
            if spec is not None:
                found += [Path(name) for name in spec.submodule_search_locations or [spec.origin or ""]]
    for folder in others:
        for file in folder.glob("*.dist-info/entry_points.txt"):
            if GROUP in file.read_text(errors="replace"):
                found.append(file.parent)
    return tuple(path for path in dict.fromkeys(found) if path.exists() and not _is_inside(path, machine.packages))


def _is_inside(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def link_importable(folder: Path) -> None:
    """Fill an empty folder with links to the importable files: without walls, Python finds nothing else."""
    for path in importable():
        link = folder / path
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(PROJECT / path)
    for path in outside_code():
        (folder / path.name).symlink_to(path)


def environment(
    *, endpoint: str, token: str, scratch: str, python_path: str, kept: bool = False
) -> dict[str, str]:
    """Return a bot's whole environment.

    Args:
        endpoint: its socket as a ZeroMQ endpoint.
        token: the token that its `hello` must contain.
        scratch: the one folder to which it may write.
        python_path: the value of PYTHONPATH.
        kept: whether it must wait for another match after `over`.
    """
    return {
        **({"ARENA_KEPT": "1"} if kept else {}),
        "ARENA_ENDPOINT": endpoint,
        "ARENA_TOKEN": token,
        "PATH": PATH,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": python_path,
        "PYTHONDONTWRITEBYTECODE": "1",
        # Output of a bot that is killed must be in its log, not in a buffer.
        "PYTHONUNBUFFERED": "1",
        # A bot that uses its seed and iterates over sets must play the same match again.
        "PYTHONHASHSEED": "0",
    }


def command_line(bot: BotFolder, interpreter: Path) -> list[str]:
    """Return a bot's command with the real interpreter for `python`, behind the bridge if it speaks by lines."""
    command = with_interpreter(bot.command, interpreter)
    if bot.transport == "zmq":
        return command
    return [str(interpreter), "-P", "-m", "bots.stdio_bridge", bot.name, bot.version, "--", *command]


def with_interpreter(command: tuple[str, ...], interpreter: Path) -> list[str]:
    """Return a command with the real interpreter for `python`."""
    program, *arguments = command
    return [str(interpreter) if program == PYTHON else program, *arguments]


class SandboxWalls(Struct, frozen=True, kw_only=True):
    """The walls of this machine. For each missing one there is a line with the cause and the remedy."""

    no_filter: str | None
    """The reason why system calls cannot be filtered; None: they can."""
    no_groups: str | None
    """The reason why there are no control groups; None: there are."""


@cache
def find_layers() -> SandboxWalls:
    """Return the walls of this machine. Missing ones are reported in the result, not raised."""
    no_filter = no_groups = None
    try:
        seccomp.program()
    except seccomp.NoFilterError as error:
        no_filter = str(error)
    try:
        cgroups.tree()
    except cgroups.NoGroupsError as error:
        no_groups = str(error)
    return SandboxWalls(no_filter=no_filter, no_groups=no_groups)


@cache
def landlock_version() -> int:
    """Return the version of Landlock's interface, from 1; 0 if the kernel has none, or has it disabled."""
    answer: int = ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_FOR_VERSION)
    return max(answer, 0)


def is_in_use() -> bool:
    """Return whether this process has looked for walls, as it does before it starts a bot."""
    return find_layers.cache_info().currsize > 0


def ends_with_login(isolation: Isolation) -> bool:
    """Return whether systemd ends this process, and its bots, some seconds after its user's last logout.

    That is the case in a scope of the user, which this call enters if bots at this level need it.
    """
    if isolation == "none" or not systemd_scope.IS_RUNNING.is_dir():
        return False
    find_layers()
    return systemd_scope.ends_with_login()


def processes_beyond(layers: SandboxWalls) -> int:
    """Return how many processes the bot's user may have besides the bot's own.

    With control groups there are some, so that the group's bound is met first: it counts how often.
    """
    return cgroups.OWN_PROCESSES if layers.no_groups is None else 0


def group_for(limits: Limits) -> cgroups.ControlGroup:
    """Return an empty control group for a bot. Its scratch folders are in memory, and count as such.

    Raises:
        NoGroupsError: this machine has no control groups.
        OSError: the kernel creates no more.
    """
    memory_mb = limits.memory_mb + limits.scratch_mb
    return cgroups.ControlGroup(memory_mb=memory_mb, cpus=limits.cpus, processes=limits.processes)
