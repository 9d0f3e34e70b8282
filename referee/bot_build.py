"""Makes a bot's program by the `build` commands of its bot.toml: once a content, in a sandbox like the bot's.

The commands work on a copy of the folder in the sandbox's memory. What they leave there comes out as one archive,
through a pipe, is read with suspicion, and is kept in a cache under the hash of the folder that it was made from.
Nothing they do reaches this machine otherwise, and there is no network: what a build needs lies in the folder.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from msgspec.structs import replace

from referee import bare, bubblewrap
from referee.archive import ArchiveError, unpack
from referee.bot_environment import PROJECT, environment, this_machine, with_interpreter
from referee.bot_folder import BotFolder, BotFolderError
from referee.bot_revision import cache_folder
from referee.bubblewrap_arguments import SCRATCH
from referee.plan import Isolation
from referee.printable import printable

MEGABYTE = 1024 * 1024
BUILD_SECONDS = 600
"""A build that takes longer is ended."""
LAST_LINES = 5
"""Of a failed build's output, in the error."""
LOG_BYTES = 256 * 1024
"""Of a build's output that are kept, the last ones."""
OUT = 9
TO_SHELL = f"""
import os, sys
out = int(sys.argv[1])
if out != {OUT}:
    os.dup2(out, {OUT})
    os.close(out)
os.execvp("sh", ["sh", "-c", sys.argv[2]])
"""
"""A plain shell knows no descriptors of two digits."""
WORKSHOP = "build"
"""The folder in the sandbox's scratch that the commands work in."""


def built(bot: BotFolder, isolation: Isolation) -> BotFolder:
    """The bot with its program made: itself if it has nothing to build, else with the cached folder as its own.

    Args:
        bot: as `bot_folder.find_bot` gives it.
        isolation: as for its matches; `none` builds without a sandbox.

    Raises:
        BotFolderError: a command failed, took too long or made too much; or what they made has no program.
        OSError: the cache cannot be written, or no process is to be had.
    """
    if not bot.build:
        return bot
    wanted = built_folder(bot)
    if not wanted.is_dir():
        wanted.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix="making-", dir=wanted.parent))
        try:
            _make(bot, isolation, making)
            making.chmod(0o755)
            try:
                making.rename(wanted)
            except OSError:
                # Somebody else may have been faster: a folder that is not empty is never replaced.
                if not wanted.is_dir():
                    raise
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return _checked(replace(bot, folder=wanted, build=()))


def built_folder(bot: BotFolder) -> Path:
    """Where what is built of a bot's content is kept; not there before it is built."""
    return cache_folder() / "built" / bot.content.removeprefix("sha256:")


def _checked(bot: BotFolder) -> BotFolder:
    program = bot.folder / bot.command[0]
    if bot.command[0].startswith("./") and not os.access(program, os.X_OK):
        what = "is not executable" if program.exists() else "was not made"
        raise BotFolderError(f"{bot.given}: build: {bot.command[0]} {what}")
    return bot


def _make(bot: BotFolder, isolation: Isolation, into: Path) -> None:
    """Runs the commands; what they made lies in `into`."""
    most = bot.build_limits.scratch_mb * MEGABYTE
    with tempfile.TemporaryFile() as archive, tempfile.TemporaryFile() as log:
        theirs, ours = os.pipe()
        reader = Thread(target=_keep, args=(theirs, archive, most))
        reader.start()
        try:
            code = (_run_bare if isolation == "none" else _run_sandboxed)(bot, ours, log.fileno())
        except subprocess.TimeoutExpired:
            raise BotFolderError(f"{bot.given}: build: takes more than {BUILD_SECONDS} seconds") from None
        finally:
            os.close(ours)
            reader.join()
        if code != 0:
            raise BotFolderError(f"{bot.given}: build: {_last_words(log.fileno(), code)}")
        if archive.tell() > most:
            raise BotFolderError(
                f"{bot.given}: build: makes more than build_limits.scratch_mb = {most // MEGABYTE}"
            )
        archive.seek(0)
        try:
            unpack(archive, into, mode="r:", most=most)
        except (ArchiveError, OSError) as error:
            raise BotFolderError(f"{bot.given}: build: what it made cannot be kept: {error}") from None


def _keep(pipe: int, archive: IO[bytes], most: int) -> None:
    """Takes what comes through the pipe, to its end; what is more than allowed is only counted as more."""
    with open(pipe, "rb", buffering=0) as source:
        while block := source.read(MEGABYTE):
            if archive.tell() <= most:
                archive.write(block)


def _steps(bot: BotFolder, scratch: str, out: int) -> list[str]:
    """Copies the folder, runs the commands there, archives what is there then; as a command line."""
    interpreter = this_machine().interpreter
    commands = [shlex.join(with_interpreter(command, interpreter)) for command in bot.build]
    workshop = shlex.quote(f"{scratch}/{WORKSHOP}")
    steps = [f"cp -R . {workshop}", f"cd {workshop}", *(f"{command} {OUT}>&-" for command in commands)]
    script = " && ".join([*steps, f"exec tar -cf - --exclude=__pycache__ . >&{OUT}"])
    return [str(interpreter), "-I", "-S", "-c", TO_SHELL, str(out), script]


def _run_sandboxed(bot: BotFolder, out: int, log: int) -> int:
    """Runs the commands; the exit code. `out` and `log` are descriptors."""
    builder = replace(
        bot,
        command=tuple(_steps(bot, SCRATCH, out)),
        limits=bot.build_limits,
        transport="zmq",
    )
    told = environment(endpoint="", token="", scratch=SCRATCH, python_path=bubblewrap.python_path())
    with tempfile.TemporaryDirectory() as folder:
        line = Path(folder, "none.sock")
        return bubblewrap.run(builder, line, told, log, kept=[out], seconds=BUILD_SECONDS)


def _run_bare(bot: BotFolder, out: int, log: int) -> int:
    """The same without a sandbox: in a folder of its own, with limits for each process."""
    machine = this_machine()
    with tempfile.TemporaryDirectory(prefix="build-") as scratch:
        told = environment(
            endpoint="",
            token="",
            scratch=scratch,
            python_path=":".join([str(PROJECT), *map(str, machine.packages)]),
        )
        process = subprocess.Popen(  # noqa: S603 - as a bot is started
            [*bare.launcher(bot.build_limits), *_steps(bot, scratch, out)],
            env=told,
            cwd=bot.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[out],
            start_new_session=True,
        )
        try:
            return process.wait(BUILD_SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _last_words(log: int, code: int) -> str:
    """The end of what a failed build printed, on one line."""
    size = os.fstat(log).st_size
    text = os.pread(log, LOG_BYTES, max(0, size - LOG_BYTES)).decode(errors="replace")
    said = " | ".join(printable(line.strip()) for line in text.splitlines()[-LAST_LINES:] if line.strip())
    ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{ended}: {said}" if said else ended
