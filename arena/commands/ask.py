"""`arena ask`: put a recorded decision to a bot, outside the sandbox and without a clock."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena import event_loop
from arena.config import BotCaps, find_entry, label_of, say_link
from arena.errors import DONE, NO, WrongUse, as_wrong_use, errors_as_exits
from arena.live import at_terminal, in_place, presses, under_pdb
from arena.options import JsonOption, NotNegative, option, options
from arena.reports import all_compared, compared_lines
from arena.terminal import print_json, results_console, say
from arena.workers import ready
from referee.bot_folder import MEGABYTE, BotFolder, BotFolderError, read_bot_name
from referee.host import AskedWindow, Interviewed, Questionnaire, ask_at_terminal, questions_of
from referee.match import Header, SeatHeader
from referee.sandbox import Terminal
from referee.transcript import (
    BadTermsError,
    Differs,
    TranscriptError,
    check_seat_terms,
    dealt,
    read_transcript,
)
from referee.wire import open_wire

MOST_MEGABYTES = 64
"""Maximum size of a transcript. Those of long matches have a few megabytes."""
LONGEST_NAME = 40
"""Maximum characters shown of each name in a list of all seats."""


class AskOptions(Struct, frozen=True, kw_only=True):
    """Options of a question."""

    seat: Annotated[
        NotNegative | None,
        option("Whose decision.  [default: the seat of the bot of this name; a seat's own file has one]"),
    ] = None
    window: Annotated[
        NotNegative | None,
        option(
            "Which decision, by its number in the seat's windows.  "
            "[default: the first that took the default or had a message refused, else the last]"
        ),
    ] = None
    all_windows: Annotated[bool, option("Every decision of the seat.", "--all")] = False
    use_pdb: Annotated[
        bool, option("Run a Python bot under pdb: it stops in its decision, and where it fails.", "--pdb")
    ] = False
    as_json: JsonOption = False


@click.command("ask")
@click.argument("bot")
@click.argument("transcript", type=click.Path(path_type=Path))
@options(AskOptions, "given")
def command(bot: str, transcript: Path, *, given: AskOptions) -> int:
    """Put a decision of TRANSCRIPT to BOT again, and show its answer beside the recorded one.

    BOT runs outside the sandbox, at this terminal, and without a clock: breakpoint() works in it. It gets
    everything that came before, and makes all earlier decisions. TRANSCRIPT is a whole one or a seat's own.

    The exit code is 0 if the answers are the same, and 1 if one differs or is missing.
    """
    if given.all_windows and given.window is not None:
        raise WrongUse("--all: cannot be combined with --window")
    with _transcript_errors(transcript):
        found, asked = _read(bot, transcript, given.seat)
    windows = [question.opened.id for question in asked.questions]
    chosen = [_chosen(asked, given.window)] if not given.all_windows else windows
    asked = _cut(asked, chosen[-1])
    found = in_place(*ready([found], "none"))
    if given.use_pdb:
        found = under_pdb(found, chosen)
    if not given.as_json:
        results_console().say(f"{transcript}, seat {asked.welcome.seat} of {asked.welcome.game}")
    with at_terminal(found, as_json=given.as_json) as terminal:
        interviewed = event_loop.run(partial(_ask, found, asked, terminal), ctrl_c=presses(found))
    compared = [each for each in all_compared(asked.questions, interviewed) if each.window in chosen]
    if given.as_json:
        which = {"transcript": str(transcript), "seat": asked.welcome.seat, "bot": found.given}
        print_json({**which, "windows": msgspec.to_builtins(compared), "gone": interviewed.gone})
    else:
        screen = results_console()
        for each in compared:
            for line in compared_lines(each, len(windows)):
                screen.say(line)
    if all(each.same for each in compared):
        return DONE
    return NO


@contextmanager
def _transcript_errors(transcript: Path) -> Iterator[None]:
    """Convert what is wrong with a transcript to wrong use of the command."""
    try:
        yield
    except Differs as differs:
        raise WrongUse(f"{transcript}: {differs}") from None
    except TranscriptError as error:
        if error.path:
            raise WrongUse(str(error)) from None
        raise WrongUse(f"{transcript}: {error}") from None


def _read(bot: str, transcript: Path, seat: int | None) -> tuple[BotFolder, Questionnaire]:
    """Return the bot and its questions. Raises as `questions_of`."""
    with suppress(OSError):  # The reader reports the error.
        if transcript.stat().st_size > MOST_MEGABYTES * MEGABYTE:
            raise WrongUse(
                f"{transcript}: is larger than {MOST_MEGABYTES} MB: all its questions would be in memory"
            )
    header = next(read_transcript(transcript))
    assert isinstance(header, Header | SeatHeader)  # noqa: S101 - the reader has looked
    try:
        if isinstance(header, Header):
            dealt(header)
        else:
            check_seat_terms(header)
    except BadTermsError as error:
        raise Differs(1, str(error)) from None
    name = read_bot_name(bot)
    say_link(name)
    with as_wrong_use(BotFolderError):
        found = find_entry(name, header.game, BotCaps())
    if isinstance(header, Header) and seat is None:
        seat = _seat_of(found, label_of(bot), header)
    say(f"reading {transcript}")
    asked = questions_of(read_transcript(transcript), seat)
    if asked is None or not asked.questions:
        raise WrongUse(f"{transcript}: the bot of this seat was asked nothing")
    return found, asked


def _seat_of(bot: BotFolder, label: str, header: Header) -> int:
    """Return the one seat with a bot of this label, or else the one whose bot has this name in its bot.toml."""
    seats = [seat for seat, each in enumerate(header.bots) if each.name == label]
    if not seats:
        seats = [seat for seat, each in enumerate(header.bots) if bot.name == (each.manifest or each.name)]
    if len(seats) != 1:
        there = ", ".join(f"{seat} {each.name[:LONGEST_NAME]}" for seat, each in enumerate(header.bots))
        many = "no seat has" if not seats else "more than one seat has"
        raise WrongUse(f"--seat: which one? {many} a bot called {label}; the seats are {there}")
    return seats[0]


def _chosen(asked: Questionnaire, window: int | None) -> int:
    """Return the number of the window to ask about."""
    windows = [question.opened.id for question in asked.questions]
    if window is None:
        lost = next(filter(_was_lost, asked.questions), asked.questions[-1])
        return lost.opened.id
    if window not in windows:
        raise WrongUse(
            f"--window: this seat has no window {window}; its windows are {windows[0]} to {windows[-1]}"
        )
    return window


def _was_lost(question: AskedWindow) -> bool:
    return bool(question.closed is None or question.closed.by_default or question.refused)


def _cut(asked: Questionnaire, last: int) -> Questionnaire:
    """Return the questions up to a window, without the messages after it."""
    *before, end = [question for question in asked.questions if question.opened.id <= last]
    return replace(asked, questions=[*before, replace(end, told=[])])


async def _ask(bot: BotFolder, asked: Questionnaire, terminal: Terminal) -> Interviewed:
    with tempfile.TemporaryDirectory(prefix="arena-") as folder, errors_as_exits():
        async with open_wire() as wire:
            return await ask_at_terminal(bot, asked, terminal, log=Path(folder) / "bot.log", wire=wire)
