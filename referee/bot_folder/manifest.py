"""Bots as they lie on disk: a folder with a bot.toml. Finds one by name, copies its content, reads and checks it.

`content` reads and copies it, `revision` reads it from git, `sandbox` starts it.
"""

import os
import shutil
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, assert_never, get_args

from msgspec import Meta, Struct

from referee.bot_folder.bot_name import BUILT_IN, FILE, LONGEST_PATH, BotName, last_part, read_bot_name
from referee.bot_folder.content import (
    LONGEST_PART,
    ContentError,
    copied,
    copy_of,
    copy_place,
    forbidden_execution,
    is_whole,
)
from referee.bot_folder.revision import RevisionError, revision_items
from referee.bot_folder.strict_toml import TomlError, cut, line_of, read_text, read_toml
from referee.suggestions import did_you_mean

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a bot's command is looked for, after its own folder; inside the sandbox as well."""
PYTHON = "python"
"""As a command's first word: the interpreter that the arena runs on."""
MOST_FILE_BYTES = 64 * 1024
"""The largest bot.toml."""
MOST_COMMAND_BYTES = 16 * 1024
"""The longest command with its arguments. It must fit into one message to the process that forks bots."""
MOST_BESIDE = 1_000
"""Entries of a folder that are looked through for a bot whose name is near a misspelt one."""
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
    build: tuple[Annotated[tuple[str, ...], Meta(min_length=1)], ...] = ()
    """Commands that make the program, run once for each content, in a sandbox like the bot's."""
    keeps: bool = False
    """Whether it can play one match after the other: after `over` it waits to be invited to the next."""
    limits: Limits = Limits()
    build_limits: Limits = BUILD_LIMITS
    """What each build command may use; `scratch_mb` is also the size of the folder that they fill."""


class BotFolder(Struct, frozen=True, kw_only=True):
    """A bot that can be started."""

    given: str
    """How it was asked for; tells two revisions of one bot apart."""
    folder: Path
    """Absolute. The copy of its content that it is run from, or what was built of that."""
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
    keeps: bool = False
    """As in bot.toml."""
    build_limits: Limits = BUILD_LIMITS
    content: str
    """Hash of all that is in the folder that it was found in, `sha256:…`."""

    def plays(self, game: str) -> bool:
        """Whether it says that it plays a game."""
        return self.games is None or game in self.games


def find_bot(given: str | BotName) -> BotFolder:
    """Find the bot that a name stands for: a folder, `FOLDER@REVISION` of a git repository, or a built-in bot.

    Args:
        given: the name, seen from the current folder; or a name that has been read.

    Raises:
        BotFolderError: there is none, or it cannot be used as it is.
    """
    name = read_bot_name(given) if isinstance(given, str) else given
    given = name.given
    path = os.fsencode(given)
    if len(path) > LONGEST_PATH or max(map(len, path.split(b"/"))) > LONGEST_PART:
        raise BotFolderError(f"{given[:100]}…: is longer than the name of any folder")
    match name.kind:
        case "folder" | "sample" if name.revision is not None:
            return _at_revision(name.path, name.revision, given)
        case "folder" | "sample" if name.is_folder:
            return read_bot(name.path, given=given)
        case "folder" | "sample" | "remote" | "console" | "unknown":
            raise BotFolderError(f"{given}: {_no_bot(name)}")
        case _ as unreachable:
            assert_never(unreachable)


def _no_bot(name: BotName) -> str:
    """Return what is wrong with the name of a bot that is not there, and which bot may have been meant."""
    beside, part = _bots_beside(name), last_part(name.given)
    if "/" in name.given:
        return f"there is no such folder; {did_you_mean(part, beside, 'bots beside it')}"
    return f"no folder and no sample bot is called that; {did_you_mean(part, [*built_in(), *beside], 'bots')}"


def _bots_beside(name: BotName) -> list[str]:
    """Return the names of other bots' folders in the folder where a bot was looked for."""
    within = name.path.parent if name.kind == "folder" else name.beside
    try:
        found = [each.name for each in islice(within.iterdir(), MOST_BESIDE) if (each / FILE).is_file()]
    except (OSError, ValueError):
        return []
    return sorted(found)


def built_in() -> list[str]:
    """The names of the bots that come with the project, to be offered to users."""
    return sorted({file.parent.name for file in BUILT_IN.glob(f"*/{FILE}")} - NOT_OFFERED)


def read_bot(folder: Path, *, given: str) -> BotFolder:
    """The bot in a folder, which is copied unless its content has been.

    Raises:
        BotFolderError: bot.toml is missing or says what cannot be, or the folder holds what a bot may not have.
        OSError: the copy cannot be written.
    """
    try:
        # Said before all else, and before anything is copied. What counts is what is in the copy.
        read_text(folder / FILE, most=MOST_FILE_BYTES, follow=False)
        content, copy = copy_of(folder)
    except TomlError as error:
        raise BotFolderError(str(error)) from None
    except ContentError as error:
        raise _unfit(folder, error) from None
    return _read(copy, folder, given, content)


def kept_bot(content: str, *, given: str) -> BotFolder:
    """The bot of a content that has been copied.

    Raises:
        BotFolderError: it is not there, is not as it was made, or cannot be used here.
    """
    if not is_whole(content):
        raise BotFolderError(f"{copy_place(content)}: is not there, or was changed since it was made")
    return _read(copy_place(content), copy_place(content), given, content)


def _read(copy: Path, shown: Path, given: str, content: str) -> BotFolder:
    """The bot whose content was copied, and which is called by the name of the folder that it came from."""
    file = _File(copy, shown)
    try:
        form = read_toml(copy / FILE, BotFile, shown=file.shown)
    except TomlError as error:
        raise BotFolderError(str(error)) from None
    if form.transport not in get_args(Transport):
        known = " and ".join(map(repr, get_args(Transport)))
        raise file.wrong("transport", f"{form.transport!r} is not known; {known} are")
    games = None if form.games in {"*", ("*",)} else tuple(form.games)
    if games is not None and "*" in games:
        raise file.wrong("games", '"*" is every game: it stands alone')
    for field, words in {"name": (form.name,), "version": (form.version,), "games": games or ()}.items():
        _check_printable(file, field, words)
    for command in (form.command, *form.build):
        if sum(len(word.encode()) for word in command) > MOST_COMMAND_BYTES:
            raise file.wrong("command", f"is longer than {MOST_COMMAND_BYTES} bytes")
    return BotFolder(
        given=given,
        folder=copy,
        name=form.name,
        version=form.version,
        command=_command(file, form.command, is_built=bool(form.build)),
        games=games,
        limits=form.limits,
        transport="stdio" if form.transport == "stdio" else "zmq",
        build=form.build,
        keeps=form.keeps,
        build_limits=form.build_limits,
        content=content,
    )


class _File(Struct, frozen=True):
    """A bot.toml: where it is read, and where its author knows it."""

    copy: Path
    folder: Path

    @property
    def shown(self) -> Path:
        """The name that the author knows it by."""
        return self.folder / FILE

    def wrong(self, field: str, what: str) -> BotFolderError:
        """What is wrong with a field."""
        line = line_of((self.copy / FILE).read_text(encoding="utf-8-sig"), field)
        return BotFolderError(f"{self.shown}:{line}: {field}: {cut(what)}")


def _check_printable(file: _File, field: str, words: tuple[str, ...]) -> None:
    """These words reach the terminals of all who see the bot in a table: none may hold an escape sequence."""
    for word in words:
        if not word.isprintable():
            raise file.wrong(field, f"{word!a} has characters that cannot be printed")


def _command(file: _File, command: tuple[str, ...], *, is_built: bool) -> tuple[str, ...]:
    """The command as it will be run, once it is sure that its program is there, or will be made."""
    program, *arguments = command
    if program == PYTHON:
        script = arguments[0] if arguments else None
        if script and not (is_built or script.startswith("-") or _is_file(file.copy / script)):
            raise file.wrong("command", f"{script!r} is not a file in {file.folder}")
        return command
    own = file.copy / program
    if _is_file(own) and own.resolve().is_relative_to(file.copy.resolve()):
        if not os.access(own, os.X_OK):
            why = forbidden_execution(own) or f"is not executable; try chmod +x {file.folder / program}"
            raise file.wrong("command", f"{program!r} {why}")
        return (f"./{Path(program)}", *arguments)
    if "/" not in program and shutil.which(program, path=PATH):
        return command
    if is_built and not Path(program).is_absolute():
        return (f"./{Path(program)}", *arguments)
    raise file.wrong("command", f"{program!r} is neither a file in {file.folder} nor a program in {PATH}")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # No file can have such a name.
        return False


def _at_revision(folder: Path, revision: str, given: str) -> BotFolder:
    shown = Path(f"{folder}@{revision}")
    try:
        with revision_items(folder, revision) as items:
            content, copy = copied(items)
    except RevisionError as error:
        raise BotFolderError(f"{given}: {error}") from None
    except ContentError as error:
        raise _unfit(shown, error) from None
    try:
        read_text(copy / FILE, shown=shown / FILE, most=MOST_FILE_BYTES, follow=False)
    except TomlError as error:
        raise BotFolderError(str(error)) from None
    return _read(copy, shown, given, content)


def _unfit(shown: Path, error: ContentError) -> BotFolderError:
    where = shown / error.name if error.name else shown
    return BotFolderError(f"{where}: {error.what}")
