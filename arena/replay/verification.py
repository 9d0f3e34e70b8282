"""Verifies transcripts, one or many at once: their hashes, and whether the rules reproduce them."""

import gc
import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import UNSET

from arena.errors import WrongUse
from arena.event_loop import GARBAGE
from arena.processes import made_in_processes
from referee.match import BotIdentity, Header, SeatHeader
from referee.transcript import (
    BadTermsError,
    Broken,
    Differs,
    Replayed,
    TranscriptError,
    TranscriptReading,
    Verified,
    check_seat_terms,
    replay,
)

MOST_FILES = 1_000_000
"""Most transcripts per command, because their names are held in memory."""
ENDING = ".jsonl"
BATCH = 16
"""Most files per order to a process."""
AHEAD = 2
"""Batches per process that are queued ahead of their results."""
WORTH_PROCESSES = 16 * 1024 * 1024
"""Least total bytes for several processes.

Starting one takes half a second, in which it could verify half of this.
"""

Found = dict[str, Any]
"""Result for one transcript, as plain values: `transcript`, `holds`, and its content or the error."""


def proved(transcript: Path) -> tuple[Verified, Replayed | None]:
    """Verify a transcript in one pass: its hashes and, for a whole match, that the rules reproduce every line."""
    reading = TranscriptReading(transcript)
    records = iter(reading)
    header = next(records)
    if isinstance(header, Header):
        replayed = replay(chain([header], records))
        return reading.verified(), replayed
    if isinstance(header, SeatHeader):
        try:
            check_seat_terms(header)
        except BadTermsError as error:
            raise Differs(1, str(error)) from None
    deque(records, maxlen=0)
    return reading.verified(), None


def found(transcript: Path, verified: Verified, replayed: Replayed | None) -> Found:
    """Return the result for a verified transcript."""
    header = verified.header
    said = {
        "transcript": path_text(transcript),
        "holds": True,
        "lines": verified.lines,
        "head": verified.head,
        "match": header.match,
        "game": header.game,
        "variant": header.variant,
    }
    if not isinstance(header, Header):
        bot = header.bot
        own = {"bot": bot.name, "manifest": bot.manifest_text, "remote": _is_remote(bot)}
        return {**said, "seat": header.seat, **own}
    result = dict.fromkeys(("conduct", "outcome", "void"))
    if replayed and replayed.match.ended:
        result = {name: getattr(replayed.match.ended, name) for name in result}
    return {
        **said,
        "seed": header.seed,
        "bots": [bot.name for bot in header.bots],
        "manifests": [bot.manifest_text for bot in header.bots],
        "remote": [seat for seat, bot in enumerate(header.bots) if _is_remote(bot)],
        "debugged": [seat for seat, bot in enumerate(header.bots) if bot.debugged is True],
        "isolation": header.isolation,
        **result,
    }


def not_held(transcript: Path, line: int | None, error: str) -> Found:
    """Return the result for a transcript that fails; `line` is None if the fault is in no particular line."""
    return {"transcript": path_text(transcript), "holds": False, "line": line, "error": error}


def path_text(path: Path) -> str:
    r"""Return a path as text; octets of it that are not UTF-8 are written as `\xNN`."""
    return os.fsencode(path).decode(errors="backslashreplace")


def transcripts_in(given: Sequence[Path]) -> list[Path]:
    """Return the files in `given` and all transcripts in its folders, each once.

    Raises:
        WrongUse: a file or folder is missing, a folder is unreadable or has no transcript, or there are too many.
    """
    files: dict[Path, None] = {}
    for path in given:
        before = len(files)
        for file in _in_folder(path) if path.is_dir() else (path,):
            files[file] = None
            if len(files) > MOST_FILES:
                raise WrongUse(f"{path}: with it there are more than {MOST_FILES:,} transcripts")
        if not path.exists():
            raise WrongUse(f"{path}: there is no such file")
        if len(files) == before and path.is_dir() and not any(path in file.parents for file in files):
            raise WrongUse(f"{path}: no transcript (*{ENDING}) is in it")
    return list(files)


def _in_folder(folder: Path) -> Iterator[Path]:
    def cannot(error: OSError) -> None:
        raise WrongUse(f"{error.filename}: cannot be read: {error.strerror}")

    for where, folders, names in os.walk(folder, onerror=cannot):
        folders.sort()
        yield from (Path(where, name) for name in sorted(names) if name.endswith(ENDING))


def check_files(files: Sequence[Path], jobs: int | None) -> Iterator[Found]:
    """Yield the result for each file, in order. No file can keep the others from being verified.

    Args:
        files: their paths.
        jobs: number of processes; None: as many as there are processors, if the files are large enough.
    """
    if jobs is None:
        jobs = 1
        if _bytes_of(files) >= WORTH_PROCESSES:
            jobs = len(os.sched_getaffinity(0))
    if jobs == 1:
        yield from map(checked, files)
        return
    size = max(1, min(BATCH, len(files) // (AHEAD * jobs)))
    batches = [files[at : at + size] for at in range(0, len(files), size)]
    for batch, results in made_in_processes(_checked_batch, batches, jobs, AHEAD):
        if results is not None:
            yield from results
            continue
        # One of these files brings a process to its end.
        for file, result in made_in_processes(checked, batch, 1, 1):
            yield result or not_held(file, None, "the process that verified it was killed")


def _bytes_of(files: Sequence[Path]) -> int:
    """Return the files' total size in bytes, as far as it is known; stop counting at `WORTH_PROCESSES`."""
    total = 0
    for file in files:
        try:
            total += file.stat().st_size
        except OSError:
            continue
        if total >= WORTH_PROCESSES:
            break
    return total


def _checked_batch(files: Sequence[Path]) -> list[Found]:
    gc.set_threshold(*GARBAGE)
    return list(map(checked, files))


def checked(file: Path) -> Found:
    """Return the result for one file, whatever its content."""
    try:
        return found(file, *proved(file))
    except Broken as broken:
        return not_held(file, broken.line, broken.what)
    except Differs as differs:
        return not_held(file, differs.line, str(differs))
    except TranscriptError as error:
        return not_held(file, None, error.what)
    except Exception as error:  # noqa: BLE001 - whatever one file brings about, the others are to be verified
        return not_held(file, None, f"cannot be verified: {type(error).__name__}: {error}"[:300])


def _is_remote(bot: BotIdentity) -> bool:
    """Return whether the bot ran on its author's own machine, outside any sandbox."""
    return bot.remote is not UNSET
