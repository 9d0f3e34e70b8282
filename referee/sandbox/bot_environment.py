"""What a bot's process is given on this machine: its interpreter, the packages, our words, its environment.

Under a sandbox these lie at neutral places of its own; without one, where they are.
"""

import compileall
import site
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct

from referee.bot_folder import PATH, PYTHON, BotFolder

PROJECT = Path(__file__).resolve().parents[2]
"""Where protocol, bots, referee and arena lie: the checkout, or the packages' folder they were installed into."""

PURE = ("protocol", "referee/__init__.py", "referee/rules", "referee/games")
"""The words and the rules, which bots may import: code that holds no secret of any match."""


class Machine(Struct, frozen=True, kw_only=True):
    """Where a Python bot's parts are on this machine."""

    interpreter: Path
    """The real program: a version manager's stand-in would take as long to start as Python itself."""
    base: Path
    """The interpreter's own library lies below it."""
    packages: tuple[Path, ...]
    """Folders of installed packages, ZeroMQ's and msgspec's among them."""
    foreign: tuple[Path, ...]
    """Folders of packages that the interpreter would find and the arena does not use: no bot's business either.

    What lies there may also run at every start of Python.
    """


@cache
def this_machine() -> Machine:
    """The parts of the Python that the arena itself runs on."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    if sys.prefix == sys.base_prefix:
        # Without an environment of its own the arena finds its packages where the machine's owner put them.
        folders += [*site.getsitepackages(), site.getusersitepackages()]
    base = Path(sys.base_prefix).resolve()
    return Machine(
        interpreter=Path(sys.executable).resolve(),
        base=base,
        packages=_folders(folders),
        foreign=_folders(folder for folder in site.getsitepackages([str(base)]) if folder not in sys.path),
    )


def _folders(names: Iterable[str]) -> tuple[Path, ...]:
    """Those that are there, each once."""
    return tuple(dict.fromkeys(Path(name) for name in names if Path(name).is_dir()))


@cache
def importable() -> tuple[Path, ...]:
    """All of the project that bots may import, as files and folders below it: words, rules, kit. No bot's own.

    With what bots share goes what Python has compiled of it: no bot could keep that for the next one.
    """
    bots = PROJECT / "bots"
    if not sys.dont_write_bytecode:
        compileall.compile_dir(bots, maxlevels=0, quiet=2)
    compiled = bots / "__pycache__"
    shared = (*sorted(bots.glob("*.py")), *([compiled] if compiled.is_dir() else []))
    return (*map(Path, PURE), *(path.relative_to(PROJECT) for path in shared))


def link_importable(folder: Path) -> None:
    """Puts links to it into an empty folder. Without walls, Python finds nothing else of the project."""
    for path in importable():
        link = folder / path
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(PROJECT / path)


def environment(
    *, endpoint: str, token: str, scratch: str, python_path: str, kept: bool = False
) -> dict[str, str]:
    """All of a bot's environment.

    Args:
        endpoint: where its socket is, as ZeroMQ spells it.
        token: what its `hello` must carry.
        scratch: the one folder it may write to.
        python_path: where Python finds packages and our words.
        kept: whether it is to wait for another match after `over`.
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
        # What a bot printed before it was killed is in its log, not in a buffer.
        "PYTHONUNBUFFERED": "1",
        # A bot that draws from the seed it is given, and walks through sets, plays the same match again.
        "PYTHONHASHSEED": "0",
    }


def command_line(bot: BotFolder, interpreter: Path) -> list[str]:
    """A bot's command with the real interpreter for `python`, behind the bridge if it speaks by lines."""
    command = with_interpreter(bot.command, interpreter)
    if bot.transport == "zmq":
        return command
    return [str(interpreter), "-P", "-m", "bots.stdio_bridge", bot.name, bot.version, "--", *command]


def with_interpreter(command: tuple[str, ...], interpreter: Path) -> list[str]:
    """A command with the real interpreter for `python`."""
    program, *arguments = command
    return [str(interpreter) if program == PYTHON else program, *arguments]
