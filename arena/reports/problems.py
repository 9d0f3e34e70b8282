"""Where in its own files a bot went wrong, for annotations in CI. Pure but for a look whether a file is there."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from arena.quantities import counted
from arena.reports.bots import MOST_CAUSES
from arena.statistics import BotReport
from referee.bot_folder import BotFolder
from referee.printable import printable

_PLACE = re.compile(r"\(([^()\s:]{1,200}):(\d{1,7})\)")
"""The kit's `(bot.py:21)` at the end of an error."""
_COMPILER = re.compile(r"(?:^|\s)([^()\s:]{1,200}):(\d{1,7})(?::\d+)?: ")
"""A compiler's `bot.c:21:5: error`."""
LONGEST = 500
"""Characters of a problem's text."""


class Problem(Struct, frozen=True, kw_only=True):
    """Something that went wrong with a bot."""

    bot: str
    """Its label."""
    text: str
    """On one line, printable."""
    file: str | None = None
    """Where, as seen from the current folder; None: unknown, or not in the bot's folder."""
    line: int | None = None


def problem(label: str, bot: BotFolder, text: str) -> Problem:
    """Return a problem with the place that its text names, if the bot's folder has such a file."""
    said = printable(text)[:LONGEST]
    for found in (*_PLACE.finditer(text), *_COMPILER.finditer(text)):
        file = _file_in(bot, found[1])
        if file is not None:
            return Problem(bot=label, text=said, file=file, line=int(found[2]))
    return Problem(bot=label, text=said)


def problems_of(label: str, bot: BotFolder, report: BotReport) -> list[Problem]:
    """What went wrong with a bot, the most frequent first: why it was lost, and what its last error was."""
    return [problem(label, bot, text) for text in _texts(report)]


def _texts(report: BotReport) -> Iterator[str]:
    of_all = f"of {counted(report.matches, 'match', ',')}"
    for loss in report.losses[:MOST_CAUSES]:
        never = "never started: " if loss.never_started else ""
        last = f"; last line: {loss.last_line}" if loss.last_line and loss.last_line not in loss.cause else ""
        yield f"{never}{loss.cause} in {loss.matches:,} {of_all}{last}"
    if not report.losses and report.total.asked_default and report.total.last_line:
        windows = counted(report.total.asked_default, "window", ",")
        yield f"asked for the default in {windows}; last line: {report.total.last_line}"


def _file_in(bot: BotFolder, name: str) -> str | None:
    """Return the path of a bot's file, if the bot is a folder below the current one that has it."""
    with suppress(OSError, ValueError):
        folder = Path(bot.given).resolve(strict=True)
        file = (folder / name).resolve(strict=True)
        if file.is_file() and file.is_relative_to(folder):
            return str(file.relative_to(Path.cwd().resolve()))
    return None


def problems_json(found: Sequence[Problem]) -> list[dict[str, str | int | None]]:
    """For programs."""
    return [{"bot": each.bot, "text": each.text, "file": each.file, "line": each.line} for each in found]
