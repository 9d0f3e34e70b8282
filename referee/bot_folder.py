"""Bots as they lie on disk: a folder with a bot.toml. Finds one by name, reads it, checks it, hashes its content.

Starting it is `sandbox`'s; folders of another git revision are fetched by `bot_revision`.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from referee.bot_revision import RevisionError, folder_at
from referee.toml_text import TomlError, line_of, read_toml

FILE = "bot.toml"
PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a bot's command is looked for, after its own folder; inside the sandbox as well."""
PYTHON = "python"
"""As a command's first word: the interpreter that the arena runs on."""
IGNORED = frozenset({"__pycache__", ".git"})
"""Folders that are not part of a bot's content."""
FILE_HASH_DIGITS = 12
"""Of a single file's hash are kept: it names what changed, the folder's whole hash says that something did."""
BUILT_IN = Path(__file__).resolve().parent.parent / "bots"
NOT_OFFERED = frozenset({"stress_edge"})
"""Of the built-in bots, those that measure the referee and play no match that anyone would want to see."""

Text = Annotated[str, Meta(min_length=1, max_length=100)]


class BotFolderError(ValueError):
    """A bot that cannot be used as it is. The text is one line: which file, line and field, and what is wrong."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one bot may use: the table `[limits]` of bot.toml."""

    memory_mb: Annotated[int, Meta(ge=64, le=16_384)] = 1_024
    """Memory of all its processes together, where the machine has control groups: level `strict`."""
    address_space_mb: Annotated[int, Meta(ge=64, le=1_048_576)] | None = None
    """Address space of each of its processes; none: `memory_mb`. Some runtimes reserve far more than they use."""
    cpus: Annotated[float, Meta(ge=0.1, le=64)] = 1.0
    """Cores that all its processes together may keep busy, where the machine has control groups."""
    processes: Annotated[int, Meta(ge=4, le=512)] = 64
    """Processes and threads at once. A Python bot has three: itself, and two threads of ZeroMQ."""
    files: Annotated[int, Meta(ge=32, le=4_096)] = 256
    """Open files of each of its processes."""
    scratch_mb: Annotated[int, Meta(ge=1, le=4_096)] = 64
    """Its scratch folder, in memory."""
    cpu_seconds: Annotated[int, Meta(ge=1, le=86_400)] | None = None
    """CPU time of each of its processes; none: what the match's clock leaves it."""
    log_kb: Annotated[int, Meta(ge=4, le=16_384)] = 256
    """How much of its standard output and error is kept: the first half and the last."""


BUILD_LIMITS = Limits(memory_mb=4_096, cpus=2.0, processes=128, files=1_024, scratch_mb=512, cpu_seconds=300)
Transport = Literal["zmq", "stdio"]
"""A ZeroMQ socket, or lines of JSON on standard input and output."""


class BotFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What bot.toml may say."""

    name: Text
    version: Text
    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    """The program and its arguments, run in the bot's folder; `python` is the arena's own interpreter."""
    games: Literal["*"] | tuple[Text, ...]
    """The games it plays, or `"*"` for any."""
    transport: str = "zmq"
    """How its program is spoken to: a `Transport`."""
    build: tuple[tuple[str, ...], ...] = ()
    """Commands that make the program, run once for each content, in a sandbox like the bot's."""
    limits: Limits = Limits()
    build_limits: Limits = BUILD_LIMITS
    """What each build command may use; `scratch_mb` is also the size of the folder that they fill."""


class BotFolder(Struct, frozen=True, kw_only=True):
    """A bot that can be started."""

    given: str
    """How it was asked for; tells two revisions of one bot apart."""
    folder: Path
    """Absolute."""
    name: str
    version: str
    command: tuple[str, ...]
    """As in bot.toml; a program of the bot's own folder is spelled `./program`."""
    games: tuple[str, ...] | None
    """None: any."""
    limits: Limits
    transport: Transport = "zmq"
    build: tuple[tuple[str, ...], ...] = ()
    """As in bot.toml."""
    build_limits: Limits = BUILD_LIMITS
    content: str
    """Hash of all that is in the folder, `sha256:…`."""

    def plays(self, game: str) -> bool:
        """Whether it says that it plays a game."""
        return self.games is None or game in self.games


def find_bot(given: str) -> BotFolder:
    """The bot that a name stands for: a folder, `FOLDER@REVISION` of a git repository, or a built-in bot.

    Raises:
        BotFolderError: there is none, or it cannot be used as it is.
    """
    if Path(given).is_dir():
        return read_bot(Path(given), given=given)
    name, at, revision = given.partition("@")
    if at:
        is_built_in = (BUILT_IN / name).is_dir() and not Path(name).is_dir()
        return _at_revision(BUILT_IN / name if is_built_in else Path(name), revision, given)
    if (BUILT_IN / given / FILE).is_file():
        return read_bot(BUILT_IN / given, given=given)
    raise BotFolderError(f"{given}: is neither a folder nor a built-in bot; built in are {', '.join(built_in())}")


def built_in() -> list[str]:
    """The names of the bots that come with the project, to be offered to whoever looks for one."""
    return sorted({file.parent.name for file in BUILT_IN.glob(f"*/{FILE}")} - NOT_OFFERED)


def read_bot(folder: Path, *, given: str) -> BotFolder:
    """The bot in a folder.

    Raises:
        BotFolderError: bot.toml is missing or says what cannot be, or the folder holds what a bot may not have.
    """
    file = folder / FILE
    try:
        told = read_toml(file, BotFile)
    except TomlError as error:
        raise BotFolderError(str(error)) from None
    if told.transport not in get_args(Transport):
        known = " and ".join(map(repr, get_args(Transport)))
        raise _wrong(file, "transport", f"{told.transport!r} is not known; {known} are")
    games = None if told.games == "*" else tuple(told.games)
    for field, words in {"name": (told.name,), "version": (told.version,), "games": games or ()}.items():
        _check_printable(file, field, words)
    return BotFolder(
        given=given,
        folder=folder.resolve(),
        name=told.name,
        version=told.version,
        command=_command(file, told.command, is_built=bool(told.build)),
        games=games,
        limits=told.limits,
        transport="stdio" if told.transport == "stdio" else "zmq",
        build=told.build,
        build_limits=told.build_limits,
        content=content_hash(folder),
    )


def _check_printable(file: Path, field: str, words: tuple[str, ...]) -> None:
    """These words reach the terminals of all who see the bot in a table: none may hold an escape sequence."""
    for word in words:
        if not word.isprintable():
            raise _wrong(file, field, f"{word!a} has characters that cannot be printed")


def content_hash(folder: Path) -> str:
    """The hash of a folder's content: names, which are executable, and bytes. `sha256:…`.

    Raises:
        BotFolderError: something in it cannot be read, is neither file nor folder, or is a link to outside.
    """
    total = hashlib.sha256()
    for name, kind, content in _files(folder):
        # Lengths keep one file's end from being read as another's beginning.
        total.update(b"%s %d %d\n%s" % (kind, len(name), len(content), name) + content)
    return f"sha256:{total.hexdigest()}"


def file_hashes(folder: Path) -> dict[str, str]:
    """The same for each file by itself, by its name in the folder: to tell which of them changed.

    Raises:
        BotFolderError: as `content_hash`.
    """
    return {
        os.fsdecode(name): hashlib.sha256(kind + content).hexdigest()[:FILE_HASH_DIGITS]
        for name, kind, content in _files(folder)
    }


def _files(folder: Path) -> Iterator[tuple[bytes, bytes, bytes]]:
    """All that is in a folder, in order of names: name, a letter for its kind, and what stands for its bytes."""
    root = folder.resolve()
    for path in sorted(entries(folder), key=lambda path: os.fsencode(path.relative_to(folder))):
        try:
            kind, content = _content(root, path, path.lstat().st_mode)
        except OSError as error:
            raise BotFolderError(f"{path}: cannot be read: {error.strerror}") from None
        yield os.fsencode(path.relative_to(folder)), kind, content


def _content(root: Path, path: Path, mode: int) -> tuple[bytes, bytes]:
    """What stands for one file in the hash: a letter for its kind, and its bytes."""
    if stat.S_ISLNK(mode):
        if not path.resolve().is_relative_to(root):
            raise BotFolderError(f"{path}: is a link to {path.readlink()}, outside the bot's folder")
        return b"l", os.fsencode(path.readlink())
    if not stat.S_ISREG(mode):
        raise BotFolderError(f"{path}: is neither a file nor a folder")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return (b"x" if mode & stat.S_IXUSR else b"f"), digest


def entries(folder: Path) -> list[Path]:
    """All files and links below a folder, without what is ignored."""

    def refuse(error: OSError) -> None:
        raise BotFolderError(f"{error.filename}: cannot be read: {error.strerror}")

    found: list[Path] = []
    for directory, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if name not in IGNORED]
        links = [name for name in folders if Path(directory, name).is_symlink()]
        found += [Path(directory, name) for name in files + links]
    return found


def _command(file: Path, command: tuple[str, ...], *, is_built: bool) -> tuple[str, ...]:
    """The command as it will be run, once it is sure that its program is there, or will be made."""
    program, *arguments = command
    if program == PYTHON:
        script = arguments[0] if arguments else None
        if script and not (is_built or script.startswith("-") or (file.parent / script).is_file()):
            raise _wrong(file, "command", f"{script!r} is no file in {file.parent}")
        return command
    own = file.parent / program
    if own.is_file() and own.resolve().is_relative_to(file.parent.resolve()):
        if not os.access(own, os.X_OK):
            raise _wrong(file, "command", f"{program!r} is not executable; try chmod +x {own}")
        return (f"./{Path(program)}", *arguments)
    if "/" not in program and shutil.which(program, path=PATH):
        return command
    if is_built and not Path(program).is_absolute():
        return (f"./{Path(program)}", *arguments)
    raise _wrong(file, "command", f"{program!r} is neither a file in {file.parent} nor a program in {PATH}")


def _at_revision(folder: Path, revision: str, given: str) -> BotFolder:
    try:
        return read_bot(folder_at(folder, revision), given=given)
    except RevisionError as error:
        raise BotFolderError(f"{given}: {error}") from None


def _wrong(file: Path, field: str, what: str) -> BotFolderError:
    return BotFolderError(f"{file}:{line_of(file.read_text(encoding='utf-8'), field)}: {field}: {what}")
