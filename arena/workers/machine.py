"""This machine: the code that it runs, the matches that it can play at once, and its preparation for them."""

import os
import platform
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec

import protocol
import referee
from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.quantities import pluralise
from arena.terminal import progress_console
from referee.bot_folder import (
    BUILT_IN,
    FILE_HASH_DIGITS,
    BotFolder,
    BotFolderError,
    cache_folder,
    content_hash,
    file_hashes,
    last_part,
)
from referee.host import files_allowed, files_needed, processes_left, processes_needed, too_long_for_sockets
from referee.linux.files import read_regular, write_bytes_whole
from referee.linux.processes import children_cpu_seconds
from referee.sandbox import BuildError, Isolation, SandboxError, built, demand, is_built, kept_from, log_of

ROOMS = ("schedule", "statistics", "regression")
"""The arena's packages that affect results or their evaluation."""


def own_content() -> str:
    """Return a hash of the code that affects results and of the modules that built-in bots share.

    The version number would not distinguish two commits.
    """
    total = sha256()
    for folder in _folders().values():
        total.update(content_hash(folder).encode())
    for module in _shared_by_bots():
        total.update(bytes(module.relative_to(BUILT_IN)) + b"\n" + module.read_bytes())
    return f"sha256:{total.hexdigest()}"


def own_files() -> dict[str, str]:
    """Return the first digits of each file's hash by path, for the same code as `own_content`."""
    own = {
        f"{place}/{name}": digest
        for place, folder in _folders().items()
        for name, digest in file_hashes(folder).items()
    }
    for module in _shared_by_bots():
        digest = sha256(module.read_bytes()).hexdigest()
        own[f"{BUILT_IN.name}/{module.relative_to(BUILT_IN)}"] = digest[:FILE_HASH_DIGITS]
    return own


def _folders() -> dict[str, Path]:
    """Return the folders of code that affects results, by their place in the project."""
    home = Path(__file__).resolve().parents[1]
    packages = {package.__name__: Path(package.__path__[0]) for package in (protocol, referee)}
    return packages | {f"{home.name}/{room}": home / room for room in ROOMS}


def _shared_by_bots() -> list[Path]:
    """Return the modules that built-in bots share: those of `bots` and of its packages, not of a bot's folder."""
    packages = [file.parent for file in BUILT_IN.glob("*/__init__.py")]
    return sorted(module for folder in (BUILT_IN, *packages) for module in folder.glob("*.py"))


MAX_LOG_BYTES = 1_000_000
BUILD_LOG = "build.log"
"""Name of a build's log in its report."""
MAX_CALIBRATION_BYTES = 64 * 1024
MAX_CONCURRENCY = 100_000
"""Upper limit of concurrent matches and of processes, higher than any machine can run."""


def cores() -> int:
    """Return the number of cores that the arena may use."""
    return len(os.sched_getaffinity(0))


def matches_at_once() -> int:
    """Return the default of `--concurrency`: the calibrated number of matches, or else one match per core."""
    return calibrated() or cores()


def calibrated() -> int | None:
    """Return the number of matches that `arena stress --calibrate` found safe on this machine, or None."""
    try:
        kept = msgspec.json.decode(read_regular(_calibration(), MAX_CALIBRATION_BYTES), type=Calibration)
    except (OSError, msgspec.MsgspecError):
        return None
    # Another machine may share the home folder and has its own limit.
    return kept.concurrency if kept.machine == _machine() else None


class Calibration(msgspec.Struct):
    """The number of concurrent matches that a machine can safely run."""

    machine: str
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=MAX_CONCURRENCY)]


def keep_calibration(concurrency: int) -> Path:
    """Store the safe number of matches on this machine for `matches_at_once`, and return the file's path."""
    file = _calibration()
    file.parent.mkdir(parents=True, exist_ok=True)
    found = Calibration(machine=_machine(), concurrency=concurrency)
    write_bytes_whole(file, msgspec.json.encode(found) + b"\n")
    return file


def own_cores(processes: int) -> list[frozenset[int]]:
    """Return disjoint sets of cores of equal size, one set per referee process.

    Cores that remain are left to the arena's own process and to other programs.
    """
    free = sorted(os.sched_getaffinity(0), key=lambda core: (_physical(core), core))
    each = len(free) // processes
    return [frozenset(free[number * each : (number + 1) * each]) for number in range(processes)]


def _physical(core: int) -> int:
    """Return the lowest-numbered core that shares a physical core with this one.

    Hardware threads of one physical core slow each other down, so one process should have all of them.
    """
    try:
        siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text()
        return int(re.split("[,-]", siblings)[0])
    except (OSError, ValueError):
        return core


def _calibration() -> Path:
    return cache_folder() / "capacity.json"


def _machine() -> str:
    return f"{platform.node()}, {cores()} cores"


def shares(matches: int, *, concurrency: int, workers: int | None) -> list[int]:
    """Return the number of concurrent matches of each referee process.

    Args:
        matches: Number of matches to play; there are never more processes than matches.
        concurrency: Maximum number of concurrent matches in all processes together.
        workers: Maximum number of processes; None allows one per core.
    """
    at_once = max(1, min(concurrency, matches))
    count = min(workers or cores(), at_once)
    return [at_once // count + (number < at_once % count) for number in range(count)]


HERE = frozenset({".", "./", "..", "../"})
"""Relative paths that do not name a bot; the name of the folder is shown instead."""


def ready(
    bots: Iterable[BotFolder], isolation: Isolation, failed: dict[int, str] | None = None
) -> list[BotFolder]:
    """Return the bots with their programs built.

    Each build is reported on the terminal, because it may be slow.

    Args:
        bots: Bots to build.
        isolation: Isolation of the sandbox that they are built in.
        failed: Filled with the reason for each failed build, by the bot's index in `bots`; that bot is returned
            unchanged. If None, the first failed build raises `WrongUse`.

    Raises:
        WrongUse: a build failed, and `failed` is None.
        MachineCannot: there is no disk space for the build, or no sandbox to build in.
    """
    found = []
    for number, bot in enumerate(bots):
        try:
            found.append(_ready(bot, isolation))
        except WrongUse as error:
            if failed is None:
                raise
            failed[number] = error.format_message().removeprefix(f"{bot.given}: ")
            found.append(bot)
    return found


class BuildReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a build."""

    complaint: str
    """Why it failed; empty: it succeeded."""
    log: bytes
    """The start of what it printed."""
    cpu_seconds: float


def build_here(bot: BotFolder, isolation: Isolation) -> BuildReport:
    """Build a bot on this machine, and report on it.

    Raises:
        MachineCannot: as `ready`.
    """
    before = children_cpu_seconds()
    failed: dict[int, str] = {}
    log = log_of(bot, isolation)
    ready([bot], isolation, failed)
    printed = b""
    with suppress(OSError):
        printed = read_regular(log, MAX_LOG_BYTES, follow=False)
    return BuildReport(
        complaint=failed.get(0, "").replace(str(log), BUILD_LOG),
        log=printed,
        cpu_seconds=children_cpu_seconds() - before,
    )


def _ready(bot: BotFolder, isolation: Isolation) -> BotFolder:
    if not bot.build:
        return bot
    if not is_built(bot, isolation):
        name = last_part(bot.given) if bot.given in HERE else bot.given
        progress_console().say(f"building {name}")
    try:
        demand(isolation)
        return built(bot, isolation)
    except BuildError as error:
        for line in error.said:
            progress_console().say(f"  {line}")
        raise WrongUse(str(error)) from None
    except BotFolderError as error:
        raise WrongUse(str(error)) from None
    except SandboxError as error:
        raise MachineCannot(str(error)) from None
    except OSError as error:
        raise cannot_write(log_of(bot, isolation).parent, error) from None


def demand_room(
    bots: Iterable[BotFolder], isolation: Isolation, *, seats: int, shares: Sequence[int], of_worker: bool = True
) -> None:
    """Raise `MachineCannot` if this machine lacks resources for the matches.

    Otherwise bots would be charged for the lack, or matches would become void.

    Args:
        bots: Bots that play.
        isolation: Isolation of their sandboxes.
        seats: Number of seats in a match.
        shares: Number of concurrent matches per playing process.
        of_worker: Whether matches are played by worker processes instead of this process.

    Raises:
        MachineCannot: a resource is too small; the text says how much is needed.
    """
    try:
        too_long = too_long_for_sockets(of_worker=of_worker)
    except OSError as error:
        raise MachineCannot(f"TMPDIR: no folder for temporary files can be written: {error.strerror}") from None
    if too_long is not None:
        raise MachineCannot(too_long)
    bots = tuple(bots)
    for bot in bots:
        if lack := kept_from(bot.limits, isolation):
            raise MachineCannot(f"{bot.given}: {lack}")
    at_once, allowed = max(shares, default=1), files_allowed()
    needed = max(files_needed(at_once, seats), *[bot.limits.files for bot in bots], 0)
    if allowed is not None and needed > allowed:
        raise MachineCannot(
            f"{_matches(at_once, seats)} in one process need {needed} open files, and this machine allows "
            f"{allowed}: ulimit -Hn {needed}, or fewer at once{_concurrency(at_once)}"
        )
    of_bot = max([bot.limits.processes for bot in bots], default=0)
    wanted, left = processes_needed(sum(shares), seats, len(shares), of_bot), processes_left()
    if isolation != "none" and left is not None and wanted > left[0]:
        room, bound = max(0, left[0]), left[1]
        raise MachineCannot(
            f"{_matches(sum(shares), seats)} may have {wanted} processes and threads, and there is room for "
            f"{room} more ({bound}): raise that, play fewer at once{_concurrency(sum(shares))}, or lower "
            "`processes` in the limits of the bots"
        )


def _matches(at_once: int, seats: int) -> str:
    return f"{pluralise(at_once, 'match')} of {pluralise(seats, 'bot')} at once"


def _concurrency(at_once: int) -> str:
    return " (--concurrency)" if at_once > 1 else ""
