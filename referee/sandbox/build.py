"""Builds a bot's program by the `build` commands of its bot.toml: once per content, in a sandbox like the bot's.

The commands work on a copy of the folder in the sandbox's memory. When all their processes have ended, the result
is copied by `content`'s rules into a cache, not by a process of theirs. There is no network: all that a build
needs is in the folder. A result is used again only if everything that the commands saw is the same, as far as that
is known, and only if it has not been changed since.
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
    remove,
)
from referee.display_text import printable
from referee.linux.files import locked
from referee.linux.processes import signal_name
from referee.linux.shortage import SHORTAGES
from referee.sandbox import build_process
from referee.sandbox.build_process import BuildResult
from referee.sandbox.host_machine import PROJECT, Isolation, importable, outside_code, this_machine

BUILD_SECONDS = 600
"""Seconds after which a build is killed."""
SHOWN_LINES = 20
"""Number of lines shown of a failed build's output."""
LONGEST_LINE = 500
"""The most characters of such a line."""
RESULT = "result"
"""Name of the result's folder until it is moved into the cache."""
_ERROR = re.compile(r"\berror(\[\w+\])?:|Error:", re.IGNORECASE)
"""The words with which compilers and interpreters introduce errors."""


class BuildError(BotFolderError):
    """A build failed. The text is one line, which names the log."""

    def __init__(self, text: str, said: list[str]) -> None:
        super().__init__(text)
        self.said = said
        """The important lines of its output, each fit for a terminal."""


def built(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """Return the bot with its program built: itself if it has nothing to build, else with the cached folder.

    Args:
        bot: a bot from `bot_folder.find_bot`.
        isolation: the level of its matches; `none` builds without a sandbox.

    Raises:
        BuildError: a command failed, took too long or wrote too much.
        BotFolderError: the result has no program, or was changed since; or others may write to the cache.
        SandboxError: there is no sandbox for the build.
        OSError: the cache cannot be written, or no process can be started.
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
    """Return whether the result of a bot's build is in the cache."""
    return _found(_key(bot, isolation)) is not None


def log_of(bot: BotFolder, isolation: Isolation) -> Path:
    """Return the path of the log of a bot's last build."""
    return _key(bot, isolation).with_suffix(".log")


def discard_build(bot: BotFolder, isolation: Isolation) -> None:
    """Remove the result and the log of a bot's build, if there are any. No process may use them."""
    key = _key(bot, isolation)
    for made in key.parent.glob(f"{key.name}*"):
        remove(made)


def _key(bot: BotFolder, isolation: Isolation) -> Path:
    """Return the common prefix of the paths of a build's log and result.

    Levels do not share a result: bots may change one that was built without a sandbox.
    """
    seen = (bot.content, bot.build, bot.build_limits, isolation, _toolchain())
    return cache_folder() / "built" / hashlib.sha256(msgspec.json.encode(seen)).hexdigest()


@cache
def _toolchain() -> tuple[str, ...]:
    """Return all that a build sees of this machine: interpreter, packages, kit, rules, the C library's version."""
    from importlib.metadata import distributions  # noqa: PLC0415 - only bots that are built wait for it

    machine = this_machine()
    packages = {f"{each.name} {each.version}" for each in distributions(path=[*map(str, machine.packages)])}
    sources = [*(PROJECT / path for path in importable()), *outside_code()]
    code = {each for path in sources for each in (path, *path.rglob("*.py"))}
    files = set()
    for path in code:
        if path.suffix == ".py":
            name = path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path
            files.add(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
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
    """Return the cached result, if there is one. Its name ends with its digest."""
    return min(key.parent.glob(f"{key.name}-*"), default=None)


def _settled(made: Path, digest: str, key: Path) -> Path:
    """Move a result into the cache, and return its path; if another one is there by now, return that."""
    with locked(key.parent):
        return _found(key) or made.rename(key.with_name(f"{key.name}-{digest}"))


def _is_as_made(bot: BotFolder, folder: Path) -> bool:
    try:
        return folder.name.endswith(_digest(content_hash(folder, most=_most(bot))))
    except ContentError:
        return False


def _most(bot: BotFolder) -> int:
    """Return the largest result of a build in bytes."""
    return bot.build_limits.scratch_mb * MEGABYTE


def _digest(content: str) -> str:
    return content.removeprefix("sha256:")


def _make(bot: BotFolder, isolation: Isolation, into: Path) -> str:
    """Run the commands, copy the result to the folder `RESULT` of `into`, and return its digest."""
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


def _keep(bot: BotFolder, ended: BuildResult, result: Path) -> str:
    """Copy the result of a build, and return its digest."""
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
        if isinstance(error, OSError) and error.errno in SHORTAGES:
            raise
        raise BotFolderError(f"{bot.given}: build: what it made cannot be kept: {error}") from None


def _complaint(bot: BotFolder, ended: BuildResult) -> str | None:
    """Return the reason why a build failed; None: it succeeded."""
    limits = bot.build_limits
    match ended:
        case BuildResult(code=0):
            return None
        case BuildResult(code=None):
            return f"takes more than {BUILD_SECONDS} seconds"
        case BuildResult(is_memory_up=True):
            return f"uses more than build_limits.memory_mb = {limits.memory_mb}"
        case BuildResult(is_scratch_full=True):
            return f"makes more than build_limits.scratch_mb = {limits.scratch_mb}"
        case BuildResult(code=int(code)) if code < 0:
            return f"ended by {signal_name(-code)}{_limit_of(bot, -code)}"
        case _:
            wanted = f"; it wanted more processes than build_limits.processes = {limits.processes}"
            return f"exit code {ended.code}{wanted if ended.has_met_process_bound else ''}"


def _limit_of(bot: BotFolder, number: int) -> str:
    """Return the limit that may have caused a signal, as text."""
    seconds = bot.build_limits.cpu_seconds
    if number in {signal.SIGXCPU, signal.SIGKILL} and seconds is not None:
        return f", as a process is that uses more than build_limits.cpu_seconds = {seconds}"
    return ""


def _telling(output: str) -> list[str]:
    """Return the important lines of a failed build's output: its end, and its first error if that is earlier."""
    lines = [printable(line.rstrip())[:LONGEST_LINE] for line in output.splitlines() if line.strip()]
    first = next((number for number, line in enumerate(lines) if _ERROR.search(line)), len(lines))
    if first >= len(lines) - SHOWN_LINES:
        return lines[-SHOWN_LINES:]
    half = SHOWN_LINES // 2
    begin = max(0, first - 1)
    return [*lines[begin : begin + half], "[…]", *lines[-half:]]
