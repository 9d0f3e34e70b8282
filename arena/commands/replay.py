"""`arena replay`: verify transcripts by their hashes and the rules, and show their steps."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import click
from msgspec import Meta, Struct
from msgspec.structs import replace
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from arena.errors import AnswerIsNo, WrongUse
from arena.live import Eyes, read_eyes
from arena.options import NotNegative, option, options
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
from arena.viewer import VideoOptions, page_of, video_form, video_of, video_steps
from referee.linux.files import MODE, write_bytes_whole
from referee.match import SeatHeader
from referee.transcript import Broken, Differs, TranscriptError, Verified, read_transcript, seat_lines

MOST_JOBS = 256
MOST_ROWS = 200
"""Maximum failed transcripts in the table; `--json` has all."""


class ReplayOptions(Struct, frozen=True, kw_only=True):
    """Options of a replay."""

    seat: Annotated[NotNegative | None, option("Print the transcript of this seat alone.")] = None
    boards: Annotated[
        str | None,
        option(
            "Show every step, as seen by the host, a spectator or a seat; at a terminal with keys, which ? lists.",
            metavar="[host|spectator|SEAT]",
            is_flag=False,
            flag_value="host",
        ),
    ] = None
    html: Annotated[
        Path | None,
        option(
            "Write a page that shows every step in a browser. With --boards, from this viewpoint alone.",
            type=click.Path(dir_okay=False, path_type=Path),
        ),
    ] = None
    video: Annotated[
        Path | None,
        option(
            "Write a video of all steps: OUT.gif or OUT.webp. With --boards, from this viewpoint. Needs the extra"
            " 'pictures'.",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="OUT",
        ),
    ] = None
    speed: Annotated[
        Annotated[float, Meta(ge=0.1, le=50)], option("Steps per second of the video.", show_default=True)
    ] = 1.5
    jobs: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_JOBS)] | None,
        option("Number of processes that verify.  [default: one per core, for more than a few files]"),
    ] = None
    as_json: Annotated[bool, option("Print the result as JSON, one line a transcript.", "--json")] = False


@click.command("replay")
@click.argument("transcripts", type=click.Path(path_type=Path), nargs=-1, metavar="TRANSCRIPT...")
@options(ReplayOptions)
def command(transcripts: tuple[Path, ...], *, asked: ReplayOptions) -> None:
    """Verify each TRANSCRIPT: its hashes, and that the rules reproduce every message in it.

    A folder stands for all *.jsonl in it and below. The exit code is 1 if a transcript fails.
    """
    if not transcripts:
        # Click takes the transcript of `--boards FILE` for the option's value.
        if asked.boards is None:
            raise click.MissingParameter(param_type="argument", param_hint="'TRANSCRIPT'")
        transcripts, asked = (Path(asked.boards),), replace(asked, boards="host")
    boards, seat = asked.boards, asked.seat
    if boards is not None and asked.as_json:
        raise WrongUse("--boards: goes without --json; --boards N shows what seat N saw")
    for flag, value in (("--boards", boards), ("--html", asked.html), ("--video", asked.video)):
        if value is not None and seat is not None:
            raise WrongUse(f"{flag}: goes without --seat; --boards N shows what seat N saw")
    if len(transcripts) == 1 and not transcripts[0].is_dir():
        _one(transcripts[0], asked)
        return
    for flag in ("boards", "seat", "html", "video"):
        if getattr(asked, flag) is not None:
            raise WrongUse(f"--{flag}: is for one transcript, and not for {_listed(transcripts)}")
    _many(transcripts_in(transcripts), asked.jobs, as_json=asked.as_json)


def _listed(transcripts: Sequence[Path]) -> str:
    if len(transcripts) == 1:
        return f"the folder {transcripts[0]}"
    return f"{len(transcripts)}"


def _one(transcript: Path, asked: ReplayOptions) -> None:
    """Verify a transcript and print a summary; then show its steps or write a page of them."""
    eyes, form = None, ""
    if asked.video is not None:
        form = video_form(asked.video)
    with _failures(transcript, as_json=asked.as_json):
        verified, replayed = proved(transcript)
        if asked.seat is not None:
            # One seat's own transcript, which can also be verified.
            sys.stdout.buffer.writelines(seat_lines(read_transcript(transcript), asked.seat))
            return
        if asked.boards is not None:
            eyes = _eyes(asked.boards, verified, transcript)
        said = found(transcript, verified, replayed)
        if asked.as_json:
            print_json(said)
        else:
            _print(said)
        if eyes is None and asked.html is None and asked.video is None:
            return
        record = recording_of_seat if replayed is None else recording_of
        recording = record(transcript)
        if asked.html is not None:
            _write_file("--html", asked.html, page_of(recording, eyes).encode())
        if asked.video is not None:
            video = _video(recording, eyes, VideoOptions(form=form, speed=asked.speed))
            _write_file("--video", asked.video, video)
        if eyes is not None and asked.html is None and asked.video is None:
            _show(recording, eyes)


@contextmanager
def _failures(transcript: Path, *, as_json: bool) -> Iterator[None]:
    """Convert what is wrong with a transcript to the command's exits, and print it as JSON if asked for."""
    try:
        yield
    except (Broken, Differs) as error:
        what = str(error)
        if isinstance(error, Broken):
            what = error.what
        if as_json:
            print_json(not_held(transcript, error.line, what))
        raise AnswerIsNo(f"{transcript}: {what}") from None
    except TranscriptError as error:
        if error.path:
            raise WrongUse(str(error)) from None
        raise WrongUse(f"{transcript}: {error}") from None


def _video(recording: Recording, eyes: Eyes | None, options: VideoOptions) -> bytes:
    """Return a video of the steps, and show the progress."""
    steps = len(video_steps(len(recording.steps)))
    with progress_bar(progress_console(), TimeElapsedColumn(), TimeRemainingColumn(), transient=True) as bar:
        task = bar.add_task("frames", total=steps)
        only = "host" if eyes is None else eyes
        return video_of(recording, only, options, lambda: bar.advance(task))


def _write_file(flag: str, path: Path, content: bytes) -> None:
    """Write a file atomically. Only its owner can read it, because it may have a match's secrets."""
    try:
        write_bytes_whole(path, content, MODE)
    except OSError as error:
        raise WrongUse(f"{flag}: {path}: {error.strerror}") from None


def _eyes(boards: str, verified: Verified, transcript: Path) -> Eyes:
    header = verified.header
    if not isinstance(header, SeatHeader):
        return read_eyes("--boards", boards, len(header.bots))
    if boards != "host" and read_eyes("--boards", boards, header.seats) != header.seat:
        raise WrongUse(f"--boards: {transcript} has only what seat {header.seat} saw")
    return header.seat


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
        names = []
        for seat, name in enumerate(said["bots"]):
            named = f"{name}{_manifest(said['manifests'][seat])}"
            for mark in ("remote", "debugged"):
                if seat in said[mark]:
                    named += f" ({mark})"
            names.append(named)
        lines.append(f"Verified: the rules reproduce every line. Bots: {', '.join(names)}; seed {said['seed']}")
        lines.append(_ending(said))
    for line in lines:
        screen.say(line)


def _manifest(text: str) -> str:
    """Return the suffix of a bot's label: name and version in its bot.toml, if the name differs."""
    if text:
        return f" (manifest: {text})"
    return ""


def _ending(said: Found) -> str:
    if said["void"] is not None:
        return f"void: {said['void']}"
    groups = [" and ".join(map(said["bots"].__getitem__, group)) for group in said["outcome"].ranking]
    return over_text(said["outcome"].reason, ", then ".join(groups))


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
                line = str(said["line"] or "")
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
