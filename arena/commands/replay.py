"""`arena replay`: verify transcripts by their hashes and the rules, and show their steps."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from arena.errors import AnswerIsNo, WrongUse
from arena.live import Eyes, read_eyes
from arena.quantities import pluralise
from arena.replay import (
    Found,
    Recording,
    check_files,
    found,
    not_held,
    play_back,
    proved,
    recording_of,
    recording_of_seat,
    transcripts_in,
)
from arena.reports import over_text
from arena.terminal import Grid, print_json, progress_bar, progress_console, results_console, show
from arena.viewer import page_of
from referee.linux.files import MODE, write_bytes_whole
from referee.match import SeatHeader
from referee.transcript import Broken, Differs, TranscriptError, Verified, read_transcript, seat_lines

MOST_JOBS = 256
MOST_ROWS = 200
"""Maximum failed transcripts in the table; `--json` has all."""


@click.command("replay")
@click.argument("transcripts", type=click.Path(path_type=Path), nargs=-1, metavar="TRANSCRIPT...")
@click.option("--seat", type=click.IntRange(min=0), help="Print the transcript of this seat alone.")
@click.option(
    "--boards",
    metavar="[host|spectator|SEAT]",
    is_flag=False,
    flag_value="host",
    help="Show every step, as seen by the host, a spectator or a seat; at a terminal with keys, which ? lists.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page that shows every step in a browser. With --boards, from this viewpoint alone.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, MOST_JOBS),
    help="Number of processes that verify.  [default: one per core, for more than a few files]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, one line a transcript.")
def command(
    transcripts: tuple[Path, ...],
    *,
    seat: int | None,
    boards: str | None,
    page: Path | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Verify each TRANSCRIPT: its hashes, and that the rules reproduce every message in it.

    A folder stands for all *.jsonl in it and below. The exit code is 1 if a transcript fails.
    """
    if not transcripts:
        transcripts, boards = (_behind_boards(boards),), "host"
    if boards is not None and (as_json or seat is not None):
        raise WrongUse(
            f"--boards: goes without {'--json' if as_json else '--seat'}; --boards N shows what seat N saw"
        )
    if page is not None and seat is not None:
        raise WrongUse("--html: goes without --seat; --boards N shows what seat N saw")
    if len(transcripts) == 1 and not transcripts[0].is_dir():
        _one(transcripts[0], seat, boards, page, as_json=as_json)
        return
    for option, value in (("--boards", boards), ("--seat", seat), ("--html", page)):
        if value is not None:
            raise WrongUse(f"{option}: is for one transcript, and not for {_listed(transcripts)}")
    _many(transcripts_in(transcripts), jobs, as_json=as_json)


def _listed(transcripts: Sequence[Path]) -> str:
    return f"the folder {transcripts[0]}" if len(transcripts) == 1 else f"{len(transcripts)}"


def _one(transcript: Path, seat: int | None, boards: str | None, page: Path | None, *, as_json: bool) -> None:
    """Verify a transcript and print a summary; then show its steps or write a page of them."""
    try:
        verified, replayed = proved(transcript)
        if seat is not None:
            _write_seat(transcript, seat)
            return
        eyes = None if boards is None else _eyes(boards, verified, transcript)
        said = found(transcript, verified, replayed)
        if as_json:
            print_json(said)
        else:
            _print(said)
        if eyes is None and page is None:
            return
        recording = recording_of(transcript) if replayed is not None else recording_of_seat(transcript)
        if page is not None:
            _write_page(page, page_of(recording, eyes))
        elif eyes is not None:
            _show(recording, eyes)
    except Broken as broken:
        raise _no(transcript, broken.line, broken.what, as_json=as_json) from None
    except Differs as differs:
        raise _no(transcript, differs.line, str(differs), as_json=as_json) from None
    except TranscriptError as error:
        raise WrongUse(str(error) if error.path else f"{transcript}: {error}") from None


def _write_page(path: Path, text: str) -> None:
    """Write a page atomically. Only its owner can read it, because it may have a match's secrets."""
    try:
        write_bytes_whole(path, text.encode(), MODE)
    except OSError as error:
        raise WrongUse(f"--html: {path}: {error.strerror}") from None


def _eyes(boards: str, verified: Verified, transcript: Path) -> Eyes:
    header = verified.header
    if not isinstance(header, SeatHeader):
        return read_eyes("--boards", boards, len(header.bots))
    if boards != "host" and read_eyes("--boards", boards, header.seats) != header.seat:
        raise WrongUse(f"--boards: {transcript} has only what seat {header.seat} saw")
    return header.seat


def _behind_boards(word: str | None) -> Path:
    """Return the transcript of `--boards FILE`, which click parses as the option's value."""
    if word is None:
        raise click.MissingParameter(param_type="argument", param_hint="'TRANSCRIPT'")
    return Path(word)


def _no(transcript: Path, line: int, what: str, *, as_json: bool) -> AnswerIsNo:
    """Return the error for a failed transcript, after printing its JSON."""
    if as_json:
        print_json(not_held(transcript, line, what))
    return AnswerIsNo(f"{transcript}: {what}")


def _write_seat(transcript: Path, seat: int) -> None:
    """Write one seat's own transcript, which can also be verified."""
    for line in seat_lines(read_transcript(transcript), seat):
        sys.stdout.buffer.write(line)


def _print(said: Found) -> None:
    screen = results_console()
    lines = [
        f"{said['transcript']}: holds, {pluralise(said['lines'], 'line')}",
        f"head {said['head']}",
        f"match {said['match']}, {said['game']} {said['variant']}",
    ]
    if "seat" in said:
        named = f"{said['bot']}{_manifest(said['manifest'])}"
        lines.append(f"the file of seat {said['seat']} alone ({named}): its hashes hold")
    else:
        names = [
            name
            + _manifest(said["manifests"][seat])
            + " (remote)" * (seat in said["remote"])
            + " (debugged)" * (seat in said["debugged"])
            for seat, name in enumerate(said["bots"])
        ]
        lines.append(f"Verified: the rules reproduce every line. Bots: {', '.join(names)}; seed {said['seed']}")
        lines.append(_ending(said))
    for line in lines:
        screen.say(line)


def _manifest(text: str) -> str:
    """Return the suffix of a bot's label: name and version in its bot.toml, if the name differs."""
    return f" (manifest: {text})" if text else ""


def _ending(said: Found) -> str:
    if said["void"] is not None:
        return f"void: {said['void']}"
    places = ", then ".join(
        " and ".join(said["bots"][seat] for seat in group) for group in said["outcome"].ranking
    )
    return over_text(said["outcome"].reason, places)


def _show(recording: Recording, eyes: Eyes) -> None:
    """Show the steps, by keys at a terminal, otherwise one after the other."""
    screen = results_console()
    if screen.is_terminal and sys.stdin.isatty():
        play_back(recording, eyes, screen)
        return
    for number in range(len(recording.steps)):
        screen.print()
        for line in recording.lines(number, eyes):
            screen.say(line)
        screen.print(recording.board(number, eyes, plain=not screen.is_terminal), soft_wrap=True)


def _many(files: Sequence[Path], jobs: int | None, *, as_json: bool) -> None:
    """Verify all transcripts, and print the failed ones and the totals."""
    grid = Grid({"transcript": False, "line": True, "why": False})
    failed = 0
    with progress_bar(progress_console(), TimeElapsedColumn(), TimeRemainingColumn(), transient=True) as bar:
        for said in bar.track(check_files(files, jobs), len(files), description="verifying"):
            if as_json:
                print_json(said)
            if said["holds"]:
                continue
            failed += 1
            if failed <= MOST_ROWS:
                line = "" if said["line"] is None else str(said["line"])
                grid.add_row(said["transcript"], line, said["error"].removeprefix(f"line {line}: "))
    screen = results_console()
    if failed and not as_json:
        show(screen, grid)
        if failed > MOST_ROWS:
            screen.say(f"and {failed - MOST_ROWS:,} more; --json lists all")
    if failed:
        do = "does" if failed == 1 else "do"
        raise AnswerIsNo(f"{failed:,} of {pluralise(len(files), 'transcript', ',')} {do} not hold")
    if not as_json:
        screen.say(f"{pluralise(len(files), 'transcript', ',')}: all hold")
