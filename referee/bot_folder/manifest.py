"""Bots on disk: folders with a bot.toml. Finds a bot by name, has its content copied, reads and checks bot.toml.

The name is a folder, `FOLDER@REVISION`, a sample bot's name, `remote:FILE` or `console`. A check of a name and its
later use must mean the same folder. So each name is read once, by `read_bot_name`, and the result is passed on
instead of the text. `content` reads and copies a bot's files, `revision` reads them from git, and `sandbox` starts
the bot.
"""

import os
import shutil
import stat
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, assert_never, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace

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
from referee.display_text import did_you_mean

PATH = "/usr/local/bin:/usr/bin:/bin"
"""The search path for a bot's command, after its own folder; inside the sandbox as well."""
PYTHON = "python"
"""The first word of a command that means the arena's own interpreter."""
MOST_FILE_BYTES = 64 * 1024
"""Maximum bytes of a bot.toml."""
MOST_COMMAND_BYTES = 16 * 1024
"""Maximum bytes of a command with its arguments, which must fit into one message to the process that forks
bots."""
MOST_BESIDE = 1_000
"""Maximum number of a folder's entries that are searched for a bot with a name like a misspelt one."""
NOT_OFFERED = frozenset({"stress_edge"})
"""The built-in bots that are not offered to users, because they only measure the referee."""

Text = Annotated[str, Meta(min_length=1, max_length=100)]
CONSOLE = "console"
"""The name of a person at the terminal."""
REMOTE = "remote:"
"""The prefix of a name for a bot on another machine; the file of its public key follows."""
BUILT_IN = Path(__file__).resolve().parents[2] / "bots"
NEEDING_NETWORK = frozenset({"chat"})
"""Sample bots that need the network, which the sandbox does not give."""
FILE = "bot.toml"
LONGEST_PATH = 4_096
"""Maximum bytes of a bot's name: the kernel's limit for paths."""

Kind = Literal["folder", "sample", "remote", "console", "unknown"]


class BotName(Struct, frozen=True, kw_only=True):
    """A parsed name of a bot."""

    given: str
    """The name for use in this process, where relative paths start from the current folder."""
    kind: Kind
    beside: Path
    """The folder from which a relative path starts."""
    written: Path
    """The path of the folder or key file as written; empty for a sample bot and for a person."""
    path: Path
    """The folder of the bot, or the file of its key."""
    revision: str | None = None
    """The git revision of the folder; None for its present content."""

    @property
    def is_remote(self) -> bool:
        """True if the bot is on another machine and has a key."""
        return self.kind == "remote"

    @property
    def is_folder(self) -> bool:
        """True if the name means the present content of a folder that exists."""
        return self.kind in {"folder", "sample"} and self.revision is None and _is_folder(self.path)

    @property
    def is_link(self) -> bool:
        """True if the path itself is a symbolic link."""
        return self.written != Path() and _is_link(self.path)

    def first_link(self) -> Path | None:
        """Return the first part of the written path that is a symbolic link, or None.

        A user who may write there could let it lead anywhere, and an arena run by root would follow it.
        """
        at = self.beside
        for part in self.written.parts:
            at = at / part
            try:
                mode = at.lstat().st_mode
            except (OSError, ValueError):
                return None  # Nothing exists below a missing part, so a text of thousands of parts ends here.
            if stat.S_ISLNK(mode):
                return at
        return None

    def resolved(self) -> "BotName":
        """Return the same name with an absolute path without links, which means the same in every process."""
        if self.kind not in {"folder", "remote"}:
            return self
        try:
            path = Path(os.path.realpath(self.path))
        except ValueError:  # The path has a NUL, which is reported when it is opened.
            return self
        return replace(
            self, given=_spelled(self.kind, path, self.revision), beside=Path("/"), written=path, path=path
        )


def read_bot_name(text: str, beside: Path | None = None) -> BotName:
    """Read the name of a bot.

    A path is read part by part. If a part is an existing folder, an `@` in it belongs to its name. In the first
    part that is not, the revision starts after the last `@` that follows an existing folder, or else after the
    next `@`. So `in@2026/anna` is a folder if `in@2026` is one, and otherwise the revision `2026/anna` of the
    folder `in`.

    Args:
        text: the name.
        beside: the folder from which relative paths start; None: the current one.
    """
    if text == CONSOLE:
        return BotName(given=text, kind="console", beside=Path(), written=Path(), path=Path())
    if text.startswith(REMOTE):
        return _of_path(text, "remote", beside, Path(text.removeprefix(REMOTE)), None)
    folder, revision = _split(text, beside or Path())
    if folder == "" or "/" in folder or _is_there((beside or Path()) / folder):
        return _of_path(text, "folder", beside, Path(folder), revision)
    sample = BUILT_IN / folder
    if _is_folder(sample) and (revision is not None or (sample / FILE).is_file()):
        return BotName(given=text, kind="sample", beside=Path(), written=Path(), path=sample, revision=revision)
    if revision is not None:  # A folder that was deleted can still be read at a revision.
        return _of_path(text, "folder", beside, Path(folder), revision)
    return BotName(given=text, kind="unknown", beside=beside or Path(), written=Path(), path=Path(folder))


def folder_name(folder: Path) -> BotName:
    """Return the name of a folder with a known path, in which `@` does not start a revision."""
    return BotName(given=str(folder), kind="folder", beside=Path(), written=folder, path=folder)


def is_remote(text: str) -> bool:
    """Return whether a name is that of a bot with a key."""
    return text.startswith(REMOTE)


def last_part(text: str, beside: Path | None = None) -> str:
    """Return the last part of the path in a name, with the revision behind it.

    Only the text counts, since a bot's name must not depend on the files on the disk. But `.` and `..` are
    replaced by the name of their folder.

    Args:
        text: the name.
        beside: the folder from which a relative path starts; None: the current one.
    """
    path = Path(text.removeprefix(REMOTE))
    folder, at, revision = path.name.partition("@")
    if folder in {".", ".."} or not path.name:
        stands_for = os.path.realpath((beside or Path()) / path.parent / folder)
        return f"{Path(stands_for).name}{at}{revision}"
    return path.name


def _of_path(text: str, kind: Kind, beside: Path | None, written: Path, revision: str | None) -> BotName:
    path = (beside or Path()) / written
    given = text if beside is None else _spelled(kind, path, revision)
    return BotName(given=given, kind=kind, beside=beside or Path(), written=written, path=path, revision=revision)


def _spelled(kind: Kind, path: Path, revision: str | None) -> str:
    start = REMOTE if kind == "remote" else ""
    end = "" if revision is None else f"@{revision}"
    return f"{start}{path}{end}"


def _split(text: str, beside: Path) -> tuple[str, str | None]:
    """Return the path in a name, and its revision if it has one."""
    if len(text) > LONGEST_PATH:
        return text, None
    begin = 0
    for slash in (*(at for at, character in enumerate(text) if character == "/"), len(text)):
        if not _is_there(beside / text[:slash]):
            ends = (at for at in range(slash, begin, -1) if text[at : at + 1] == "@")
            end = next((at for at in ends if _is_there(beside / text[:at])), text.find("@", begin))
            return (text, None) if end < 0 else (text[:end], text[end + 1 :])
        begin = slash + 1
    return text, None


def _is_there(path: Path) -> bool:
    """Return whether a path is a folder or a link. Links count so that they are refused later, not misread."""
    return _is_folder(path) or _is_link(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # The name is impossible, or this user has no permission.
        return False


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False


class BotFolderError(ValueError):
    """A bot cannot be used as it is. The text is one line with the file, line, field and fault."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The resource limits of a bot: the table `[limits]` of bot.toml."""

    memory_mb: Annotated[int, Meta(ge=64, le=16_384)] = 1_024
    """Megabytes of memory of the bot's processes together, if the machine has control groups: level `strict`."""
    address_space_mb: Annotated[int, Meta(ge=64, le=1_048_576)] | None = None
    """Megabytes of address space per process; None: `memory_mb`. Some runtimes reserve far more than they use."""
    cpus: Annotated[float, Meta(ge=0.1, le=64)] = 1.0
    """Number of cores that the bot's processes together may use, if the machine has control groups."""
    processes: Annotated[int, Meta(ge=4, le=512)] = 64
    """Number of processes and threads at once. A Python bot has three: itself and two threads of ZeroMQ."""
    files: Annotated[int, Meta(ge=32, le=4_096)] = 256
    """Number of open files per process."""
    scratch_mb: Annotated[int, Meta(ge=1, le=4_096)] = 64
    """Megabytes of the bot's scratch folder, which is in memory."""
    cpu_seconds: Annotated[int, Meta(ge=1, le=86_400)] | None = None
    """Seconds of processor time per process; None: bounded by the match's clock only."""
    log_kb: Annotated[int, Meta(ge=4, le=16_384)] = 256
    """Kilobytes of the bot's standard output and error that are stored: half from the start, half from the end."""


BUILD_LIMITS = Limits(memory_mb=4_096, cpus=2.0, processes=128, files=1_024, scratch_mb=512, cpu_seconds=300)
Transport = Literal["zmq", "stdio"]
"""A ZeroMQ socket, or lines of JSON on standard input and output."""


class BotFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form of bot.toml."""

    name: Text
    version: Text
    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    """The program and its arguments, run in the bot's folder; `python` is the arena's own interpreter."""
    games: Literal["*"] | tuple[Text, ...]
    """The games that the bot plays, or `"*"` for any."""
    transport: str = "zmq"
    """The transport of the bot's messages: a `Transport`."""
    build: tuple[Annotated[tuple[str, ...], Meta(min_length=1)], ...] = ()
    """Commands that build the program, run once per content in a sandbox like the bot's."""
    keeps: bool = False
    """True if the bot can play several matches in a row: after `over` it waits for the next invitation."""
    limits: Limits = Limits()
    build_limits: Limits = BUILD_LIMITS
    """The limits of each build command; `scratch_mb` is also the size of the folder for the result."""


class BotFolder(Struct, frozen=True, kw_only=True):
    """A bot that can be started."""

    given: str
    """The name by which the bot was found; it distinguishes two revisions of one bot."""
    folder: Path
    """The absolute path of the copy of the bot's content from which it runs, or of the folder built from that."""
    name: str
    version: str
    command: tuple[str, ...]
    """The command of bot.toml; a program in the bot's own folder is written `./program`."""
    games: tuple[str, ...] | None
    """The games that the bot plays; None for any."""
    limits: Limits
    transport: Transport = "zmq"
    build: tuple[tuple[str, ...], ...] = ()
    """Commands that build the bot, as bot.toml has them."""
    keeps: bool = False
    """The value of `keeps` in bot.toml."""
    build_limits: Limits = BUILD_LIMITS
    content: str
    """The hash of the content of the bot's original folder, `sha256:…`."""

    def plays(self, game: str) -> bool:
        """Return whether bot.toml lists a game or all games."""
        return self.games is None or game in self.games


def find_bot(given: str | BotName) -> BotFolder:
    """Find a bot by its name: a folder, `FOLDER@REVISION` of a git repository, or a built-in bot.

    Args:
        given: the name, in which relative paths start from the current folder; or a parsed name.

    Raises:
        BotFolderError: there is no such bot, or it cannot be used as it is.
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
    """Return an error text for a bot that does not exist, with a suggestion of similar names."""
    beside, part = _bots_beside(name), last_part(name.given)
    if "/" in name.given:
        return f"there is no such folder; {did_you_mean(part, beside, 'bots beside it')}"
    return f"no folder and no sample bot is called that; {did_you_mean(part, [*built_in(), *beside], 'bots')}"


def _bots_beside(name: BotName) -> list[str]:
    """Return the names of the bots in the folder that was searched for a bot."""
    within = name.path.parent if name.kind == "folder" else name.beside
    try:
        found = [each.name for each in islice(within.iterdir(), MOST_BESIDE) if (each / FILE).is_file()]
    except (OSError, ValueError):
        return []
    return sorted(found)


def built_in() -> list[str]:
    """Return the names of the project's sample bots that are offered to users."""
    return sorted({file.parent.name for file in BUILT_IN.glob(f"*/{FILE}")} - NOT_OFFERED)


def read_bot(folder: Path, *, given: str) -> BotFolder:
    """Return the bot in a folder, after copying its content to the cache if necessary.

    Raises:
        BotFolderError: bot.toml is missing or invalid, or the folder has content that is not allowed.
        OSError: the copy cannot be written.
    """
    try:
        # A missing bot.toml is reported first, before any copy. Later the copy's bot.toml is read.
        read_text(folder / FILE, most=MOST_FILE_BYTES, follow=False)
        content, copy = copy_of(folder)
    except TomlError as error:
        raise BotFolderError(str(error)) from None
    except ContentError as error:
        raise _unfit(folder, error) from None
    return _read(copy, folder, given, content)


def kept_bot(content: str, *, given: str) -> BotFolder:
    """Return the bot whose content has a hash and was copied before.

    Raises:
        BotFolderError: the copy is missing or damaged, or the bot cannot be used here.
    """
    if not is_whole(content):
        raise BotFolderError(f"{copy_place(content)}: is not there, or was changed since it was made")
    return _read(copy_place(content), copy_place(content), given, content)


def _read(copy: Path, shown: Path, given: str, content: str) -> BotFolder:
    """Return the bot in a copy of a content; errors name its original folder, `shown`."""
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
    """A bot.toml, with the folder in which it is read and its original folder, which its author knows."""

    copy: Path
    folder: Path

    @property
    def shown(self) -> Path:
        """The path in the original folder, for errors."""
        return self.folder / FILE

    def wrong(self, field: str, what: str) -> BotFolderError:
        """Return an error about a field."""
        line = line_of((self.copy / FILE).read_text(encoding="utf-8-sig"), field)
        return BotFolderError(f"{self.shown}:{line}: {field}: {cut(what)}")


def _check_printable(file: _File, field: str, words: tuple[str, ...]) -> None:
    """Raise BotFolderError if a word could contain an escape sequence: tables in terminals show these words."""
    for word in words:
        if not word.isprintable():
            raise file.wrong(field, f"{word!a} has characters that cannot be printed")


def _command(file: _File, command: tuple[str, ...], *, is_built: bool) -> tuple[str, ...]:
    """Return the command to run, after checking that its program exists or can be built."""
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
    except OSError:  # The name is impossible.
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
