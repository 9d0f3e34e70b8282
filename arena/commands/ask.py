"""`arena ask`: put a recorded decision to a bot, outside the sandbox and without a clock."""

import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import click
import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from arena import event_loop
from arena.config import BotCaps, find_entry, label_of, say_link
from arena.errors import NO, WrongUse, errors_as_exits
from arena.live import at_terminal, in_place, presses, under_pdb
from arena.reports import all_compared, compared_lines
from arena.terminal import print_json, results_console, say
from arena.workers import ready
from referee.bot_folder import MEGABYTE, BotFolder, BotFolderError, read_bot_name
from referee.host import Interviewed, Question, Questionnaire, ask_at_terminal, questions_of
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


@click.command("ask")
@click.argument("bot")
@click.argument("transcript", type=click.Path(path_type=Path))
@click.option(
    "--seat",
    type=click.IntRange(min=0),
    help="Whose decision.  [default: the seat of the bot of this name; a seat's own file has one]",
)
@click.option(
    "--window",
    type=click.IntRange(min=0),
    help="Which decision, by its number in the seat's windows.  "
    "[default: the first that took the default or had a message refused, else the last]",
)
@click.option("--all", "all_windows", is_flag=True, help="Every decision of the seat.")
@click.option(
    "--pdb",
    "use_pdb",
    is_flag=True,
    help="Run a Python bot under pdb: it stops in its decision, and where it fails.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    bot: str,
    transcript: Path,
    *,
    seat: int | None,
    window: int | None,
    all_windows: bool,
    use_pdb: bool,
    as_json: bool,
) -> int:
    """Put a decision of TRANSCRIPT to BOT again, and show its answer beside the recorded one.

    BOT runs outside the sandbox, at this terminal, and without a clock: breakpoint() works in it. It gets
    everything that came before, and makes all earlier decisions. TRANSCRIPT is a whole one or a seat's own.

    The exit code is 0 if the answers are the same, and 1 if one differs or is missing.
    """
    if all_windows and window is not None:
        raise WrongUse("--all: cannot be combined with --window")
    try:
        found, asked = _read(bot, transcript, seat)
    except Differs as differs:
        raise WrongUse(f"{transcript}: {differs}") from None
    except TranscriptError as error:
        raise WrongUse(str(error) if error.path else f"{transcript}: {error}") from None
    windows = [question.opened.id for question in asked.questions]
    chosen = windows if all_windows else [_chosen(asked, window)]
    asked = _cut(asked, chosen[-1])
    found = in_place(*ready([found], "none"))
    if use_pdb:
        found = under_pdb(found, chosen)
    if not as_json:
        results_console().say(f"{transcript}, seat {asked.welcome.seat} of {asked.welcome.game}")
    with at_terminal(found, as_json=as_json) as terminal:
        interviewed = event_loop.run(partial(_ask, found, asked, terminal), ctrl_c=presses(found))
    compared = [each for each in all_compared(asked.questions, interviewed) if each.window in chosen]
    if as_json:
        which = {"transcript": str(transcript), "seat": asked.welcome.seat, "bot": found.given}
        print_json({**which, "windows": msgspec.to_builtins(compared), "gone": interviewed.gone})
    else:
        screen = results_console()
        for each in compared:
            for line in compared_lines(each, len(windows)):
                screen.say(line)
    return 0 if all(each.same for each in compared) else NO


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
        dealt(header) if isinstance(header, Header) else check_seat_terms(header)
    except BadTermsError as error:
        raise Differs(1, str(error)) from None
    name = read_bot_name(bot)
    say_link(name)
    try:
        found = find_entry(name, header.game, BotCaps())
    except BotFolderError as error:
        raise WrongUse(str(error)) from None
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
        own = [each.name if each.manifest is UNSET else each.manifest for each in header.bots]
        seats = [seat for seat, name in enumerate(own) if name == bot.name]
    if len(seats) != 1:
        there = ", ".join(f"{seat} {each.name[:LONGEST_NAME]}" for seat, each in enumerate(header.bots))
        many = "no seat has" if not seats else "more than one seat has"
        raise WrongUse(f"--seat: which one? {many} a bot called {label}; the seats are {there}")
    return seats[0]


def _chosen(asked: Questionnaire, window: int | None) -> int:
    """Return the number of the window to ask about."""
    windows = [question.opened.id for question in asked.questions]
    if window is None:
        return next((each.opened.id for each in asked.questions if _was_lost(each)), windows[-1])
    if window not in windows:
        raise WrongUse(
            f"--window: this seat has no window {window}; its windows are {windows[0]} to {windows[-1]}"
        )
    return window


def _was_lost(question: Question) -> bool:
    return bool(question.closed is None or question.closed.by_default or question.refused)


def _cut(asked: Questionnaire, last: int) -> Questionnaire:
    """Return the questions up to a window, without the messages after it."""
    *before, end = [question for question in asked.questions if question.opened.id <= last]
    return replace(asked, questions=[*before, replace(end, told=[])])


async def _ask(bot: BotFolder, asked: Questionnaire, terminal: Terminal) -> Interviewed:
    with tempfile.TemporaryDirectory(prefix="arena-") as folder, errors_as_exits():
        async with open_wire() as wire:
            return await ask_at_terminal(bot, asked, terminal, log=Path(folder) / "bot.log", wire=wire)
