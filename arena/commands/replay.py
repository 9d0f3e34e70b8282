"""`arena replay`: is a transcript as it was written, and do the rules lead to what it says? Then what happened."""

import sys
from collections import deque
from itertools import chain
from pathlib import Path
from typing import Any

import click
from msgspec import UNSET

from arena.errors import AnswerIsNo, WrongUse
from arena.live import Eyes, Watcher, read_eyes
from arena.quantities import counted
from arena.terminal import print_json, results_console
from referee.match import BotIdentity, Header, SeatHeader
from referee.printable import printable
from referee.rules import Addressed
from referee.transcript import (
    BadTermsError,
    Broken,
    Differs,
    Reading,
    Replayed,
    TranscriptError,
    Verified,
    check_seat_terms,
    read_transcript,
    replay,
    seat_lines,
)


@click.command("replay")
@click.argument("transcript", type=click.Path(path_type=Path), required=False)
@click.option("--seat", type=click.IntRange(min=0), help="Print the transcript of this seat alone.")
@click.option(
    "--boards",
    metavar="[host|spectator|SEAT]",
    is_flag=False,
    flag_value="host",
    help="Show every step, as seen by the host, a spectator or a seat; at a terminal, one at a time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(transcript: Path | None, seat: int | None, boards: str | None, as_json: bool) -> None:
    """Verify TRANSCRIPT: its hashes, and that the rules lead to every message in it.

    The exit code is 1 if the transcript does not hold.
    """
    if transcript is None:
        transcript, boards = _behind_boards(boards), "host"
    if boards is not None and (as_json or seat is not None):
        raise WrongUse(
            f"--boards: goes without {'--json' if as_json else '--seat'}; --boards N has the eyes of seat N"
        )
    try:
        verified, replayed = proved(transcript)
        if seat is not None:
            _write_seat(transcript, seat)
            return
        eyes = (
            None
            if boards is None or replayed is None
            else read_eyes("--boards", boards, len(replayed.header.bots))
        )
        found = _found(transcript, verified, replayed)
        if as_json:
            print_json(found)
        else:
            _print(found)
        if boards is None:
            return
        if replayed is None or eyes is None:
            raise WrongUse(f"{transcript}: one seat's own file has no boards to show")
        _show_boards(transcript, replayed, eyes)
    except Broken as broken:
        raise _no(transcript, broken.line, broken.what, as_json=as_json) from None
    except Differs as differs:
        raise _no(transcript, differs.line, str(differs), as_json=as_json) from None
    except TranscriptError as error:
        raise WrongUse(str(error) if error.path else f"{transcript}: {error}") from None


def proved(transcript: Path) -> tuple[Verified, Replayed | None]:
    """Reads a transcript once: its hashes are verified, and of a whole one the rules must lead to every line."""
    reading = Reading(transcript)
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


def _behind_boards(word: str | None) -> Path:
    """`--boards FILE`: click takes the word after an option for the option's value."""
    if word is None:
        raise click.MissingParameter(param_type="argument", param_hint="'TRANSCRIPT'")
    return Path(word)


def _no(transcript: Path, line: int, what: str, *, as_json: bool) -> AnswerIsNo:
    """It does not hold."""
    if as_json:
        found = {"transcript": str(transcript), "holds": False, "line": line, "error": what}
        print_json(found)
    return AnswerIsNo(f"{transcript}: {what}")


def _write_seat(transcript: Path, seat: int) -> None:
    """One seat's own file, which can be verified like the whole."""
    for line in seat_lines(read_transcript(transcript), seat):
        sys.stdout.buffer.write(line)


def _found(transcript: Path, verified: Verified, replayed: Replayed | None) -> dict[str, Any]:
    """What a transcript that holds says, as plain values."""
    header = verified.header
    found = {
        "transcript": str(transcript),
        "holds": True,
        "lines": verified.lines,
        "head": verified.head,
        "match": header.match,
        "game": header.game,
        "variant": header.variant,
    }
    if not isinstance(header, Header):
        return {**found, "seat": header.seat, "bot": header.bot.name, "remote": _is_remote(header.bot)}
    ended = replayed.match.ended if replayed else None
    return {
        **found,
        "seed": header.seed,
        "bots": [bot.name for bot in header.bots],
        "remote": [seat for seat, bot in enumerate(header.bots) if _is_remote(bot)],
        "debugged": [seat for seat, bot in enumerate(header.bots) if bot.debugged is True],
        "isolation": header.isolation,
        "conduct": ended.conduct if ended else None,
        "outcome": ended.outcome if ended else None,
        "void": ended.void if ended else None,
    }


def _is_remote(bot: BotIdentity) -> bool:
    """Whether nothing shut it in: it ran on its author's own machine."""
    return bot.remote is not UNSET


def _print(found: dict[str, Any]) -> None:
    screen = results_console()
    lines = [
        f"{found['transcript']}: holds, {counted(found['lines'], 'line')}",
        f"head {found['head']}",
        f"match {found['match']}, {found['game']} {found['variant']}",
    ]
    if "seat" in found:
        lines.append(f"the file of seat {found['seat']} alone ({found['bot']}): its hashes hold")
    else:
        names = [
            f"{name} (remote)"
            if seat in found["remote"]
            else f"{name} (debugged)"
            if seat in found["debugged"]
            else name
            for seat, name in enumerate(found["bots"])
        ]
        lines.append(f"the rules lead to every line of it: {', '.join(names)}, seed {found['seed']}")
        lines.append(_ending(found))
    for line in lines:
        screen.say(line)


def _ending(found: dict[str, Any]) -> str:
    if found["void"] is not None:
        return f"void: {found['void']}"
    places = ", then ".join(
        " and ".join(found["bots"][seat] for seat in group) for group in found["outcome"].ranking
    )
    return f"over ({found['outcome'].reason}): {places}"


def _show_boards(transcript: Path, replayed: Replayed, eyes: Eyes) -> None:
    """Goes through the match once more, board by board."""
    names = [printable(bot.name) for bot in replayed.header.bots]
    screen = results_console()
    watcher = Watcher(screen, eyes, names)
    stepwise = screen.is_terminal and sys.stdin.isatty()

    def step(replayed: Replayed, addressed: tuple[Addressed, ...]) -> None:
        watcher(replayed.table, addressed)
        if stepwise and click.prompt("Enter: next, q: quit", default="", show_default=False, err=True) == "q":
            raise click.exceptions.Exit(0)

    replay(read_transcript(transcript), step)
