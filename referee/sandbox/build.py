"""Makes a bot's program by the `build` commands of its bot.toml: once a content, in a sandbox like the bot's.

The commands work on a copy of the folder in the sandbox's memory. When all their processes are gone, what they
left there is copied, by `content`'s rules, into a cache: no process of theirs hands it over. There is no network:
what a build needs lies in the folder. A result is used again only where all that the commands saw is the same, as
far as that is known, and only as it was when it was made.
"""

import hashlib
import os
import platform
import re
import signal
import sys
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from referee.bot_folder import (
    MEGABYTE,
    BotFolder,
    BotFolderError,
    CacheError,
    ContentError,
    cache_folder,
    content_hash,
    copy_into,
    forbidden_execution,
    making,
    private,
)
from referee.linux.folder_lock import locked
from referee.printable import printable
from referee.sandbox import build_process
from referee.sandbox.bot_environment import PROJECT, importable, this_machine
from referee.sandbox.build_process import Ended
from referee.sandbox.levels import Isolation

BUILD_SECONDS = 600
"""A build that takes longer is ended."""
SHOWN_LINES = 20
"""Of a failed build's output."""
LONGEST_LINE = 500
"""Characters of such a line."""
RESULT = "result"
"""The folder of what was made, until it has its place in the cache."""
_ERROR = re.compile(r"\berror(\[\w+\])?:|Error:", re.IGNORECASE)
"""What compilers and interpreters write before what is wrong."""


class BuildError(BotFolderError):
    """A build that failed. The text is one line, which names the log."""

    def __init__(self, text: str, said: list[str]) -> None:
        super().__init__(text)
        self.said = said
        """What matters of its output: lines, each fit for a terminal."""


def built(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """The bot with its program made: itself if it has nothing to build, else with the cached folder as its own.

    Args:
        bot: as `bot_folder.find_bot` gives it.
        isolation: as for its matches; `none` builds without a sandbox.

    Raises:
        BuildError: a command failed, took too long or made too much.
        BotFolderError: what they made has no program, or was changed since; or others may write to the cache.
        SandboxError: there is no sandbox to build it in.
        OSError: the cache cannot be written, or no process is to be had.
    """
    if not bot.build:
        return bot
    key = _key(bot, isolation)
    try:
        private(cache_folder())
        private(key.parent)
    except CacheError as error:
        raise BotFolderError(f"{bot.given}: build: {error}") from None
    folder = _found(key)
    if folder is None:
        with making(key.parent) as made:
            digest = _make(bot, isolation, made)
            folder = _settled(made / RESULT, digest, key)
    if not _is_as_made(bot, folder):
        raise BotFolderError(f"{bot.given}: build: {folder}: was changed since it was made: delete it")
    return _checked(replace(bot, folder=folder, build=()))


def is_built(bot: BotFolder, isolation: Isolation) -> bool:
    """Whether the result of a bot's build is in the cache."""
    return _found(_key(bot, isolation)) is not None


def log_of(bot: BotFolder, isolation: Isolation) -> Path:
    """Where the output of a bot's last build is."""
    return _key(bot, isolation).with_suffix(".log")


def _key(bot: BotFolder, isolation: Isolation) -> Path:
    """What the names of a build's log and result begin with.

    No two levels share a result: what is built without a sandbox, bots may change.
    """
    seen = (bot.content, bot.build, bot.build_limits, isolation, _toolchain())
    return cache_folder() / "built" / hashlib.sha256(msgspec.json.encode(seen)).hexdigest()


@cache
def _toolchain() -> tuple[str, ...]:
    """What a build sees of this machine: interpreter, packages, kit, rules, the C library's version."""
    from importlib.metadata import distributions  # noqa: PLC0415 - only bots that are built wait for it

    machine = this_machine()
    packages = {f"{each.name} {each.version}" for each in distributions(path=[*map(str, machine.packages)])}
    code = {each for path in importable() for each in (PROJECT / path, *(PROJECT / path).rglob("*.py"))}
    files = {
        f"{path.relative_to(PROJECT)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in code
        if path.suffix == ".py"
    }
    system = (platform.machine(), *platform.libc_ver(), sys.version, str(machine.interpreter))
    return (*system, *sorted(packages), *sorted(files))


def _checked(bot: BotFolder) -> BotFolder:
    program = bot.folder / bot.command[0]
    if bot.command[0].startswith("./") and not os.access(program, os.X_OK):
        what = "was not made"
        if os.access(program, os.F_OK):
            what = forbidden_execution(program) or "is not executable"
        raise BotFolderError(f"{bot.given}: build: {bot.command[0][:LONGEST_LINE]} {what}")
    return bot


def _found(key: Path) -> Path | None:
    """The result, if there is one: its name ends with its digest."""
    return min(key.parent.glob(f"{key.name}-*"), default=None)


def _settled(made: Path, digest: str, key: Path) -> Path:
    """Where a result is kept; if several were made at the same time, the first one."""
    with locked(key.parent):
        return _found(key) or made.rename(key.with_name(f"{key.name}-{digest}"))


def _is_as_made(bot: BotFolder, folder: Path) -> bool:
    try:
        return folder.name.endswith(_digest(content_hash(folder, most=_most(bot))))
    except ContentError:
        return False


def _most(bot: BotFolder) -> int:
    """Bytes of what a build may leave."""
    return bot.build_limits.scratch_mb * MEGABYTE


def _digest(content: str) -> str:
    return content.removeprefix("sha256:")


def _make(bot: BotFolder, isolation: Isolation, into: Path) -> str:
    """Runs the commands; the digest of what they made, which is in the folder `RESULT` of `into`."""
    aside, result = into / "aside", into / RESULT
    aside.mkdir()
    result.mkdir()
    result.chmod(0o755)
    log = log_of(bot, isolation)
    ours = into / log.name
    try:
        with build_process.run(bot, isolation, aside=aside, log=ours, seconds=BUILD_SECONDS) as ended:
            if complaint := _complaint(bot, ended):
                said = _telling(ours.read_text(errors="replace"))
                error = next((f": {line.strip()}" for line in (*filter(_ERROR.search, said), *said[-1:])), "")
                raise BuildError(f"{bot.given}: build: {complaint}{error}; its log: {log}", said)
            return _keep(bot, ended, result)
    finally:
        if ours.exists():
            ours.replace(log)


def _keep(bot: BotFolder, ended: Ended, result: Path) -> str:
    """Copies what a build left; its digest."""
    try:
        workshop = os.open(
            build_process.WORKSHOP,
            os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
            dir_fd=ended.scratch,
        )
        try:
            return _digest(copy_into(workshop, result, most=_most(bot)))
        finally:
            os.close(workshop)
    except (ContentError, OSError) as error:
        raise BotFolderError(f"{bot.given}: build: what it made cannot be kept: {error}") from None


def _complaint(bot: BotFolder, ended: Ended) -> str | None:
    """How a build failed, if it did."""
    limits = bot.build_limits
    match ended:
        case Ended(code=0):
            return None
        case Ended(code=None):
            return f"takes more than {BUILD_SECONDS} seconds"
        case Ended(is_memory_up=True):
            return f"uses more than build_limits.memory_mb = {limits.memory_mb}"
        case Ended(is_scratch_full=True):
            return f"makes more than build_limits.scratch_mb = {limits.scratch_mb}"
        case Ended(code=int(code)) if code < 0:
            return f"ended by {_signal(-code)}{_limit_of(bot, -code)}"
        case _:
            wanted = f"; it wanted more processes than build_limits.processes = {limits.processes}"
            return f"exit code {ended.code}{wanted if ended.has_met_process_bound else ''}"


def _signal(number: int) -> str:
    return signal.Signals(number).name if number in list(signal.Signals) else f"signal {number}"


def _limit_of(bot: BotFolder, number: int) -> str:
    """The limit that a signal may have come from."""
    seconds = bot.build_limits.cpu_seconds
    if number in {signal.SIGXCPU, signal.SIGKILL} and seconds is not None:
        return f", as a process is that uses more than build_limits.cpu_seconds = {seconds}"
    return ""


def _telling(output: str) -> list[str]:
    """What matters of a failed build's output: its end, and where its first error stands before that."""
    lines = [printable(line.rstrip())[:LONGEST_LINE] for line in output.splitlines() if line.strip()]
    first = next((number for number, line in enumerate(lines) if _ERROR.search(line)), len(lines))
    if first >= len(lines) - SHOWN_LINES:
        return lines[-SHOWN_LINES:]
    half = SHOWN_LINES // 2
    begin = max(0, first - 1)
    return [*lines[begin : begin + half], "[…]", *lines[-half:]]
