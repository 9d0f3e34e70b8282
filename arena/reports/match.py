"""What came of one match, as people read it and as programs do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from arena.quantities import duration
from arena.reports.bots import usage_json, usage_table
from arena.tables import Grid, show
from arena.terminal import results_console
from protocol.words import Outcome
from referee.host import Result
from referee.match import sentences

USUAL_ENDS = frozenset({"decided", "discovered", "finished", "full", "rounds", "titles"})
"""Reasons of outcomes that say no more than that the match was played to its end."""


def show_match(result: Result, names: Sequence[str], *, usage: bool = False) -> None:
    """The result, one line a seat; then what went wrong, and where to read it. `usage`: and what the bots used."""
    outcome = result.outcome
    if outcome is None:
        raise AssertionError("a void attempt is not printed")
    screen = results_console()
    figures = _figures(outcome, len(names))
    table = Grid(
        {"seat": True, "bot": False, "place": True}
        | {name: isinstance(next(iter(by_seat.values())), int) for name, by_seat in figures.items()}
        | {"conduct": False, "windows": True, "defaults": True, "refused": True, "charged": True}
    )
    places = {seat: place for place, group in enumerate(outcome.ranking, start=1) for seat in group}
    for seat, name in enumerate(names):
        table.add_row(
            str(seat),
            name,
            str(places[seat]),
            *(str(by_seat.get(seat, "-")) for by_seat in figures.values()),
            result.conduct[seat].value,
            str(result.windows[seat]),
            str(result.defaults[seat]),
            str(result.refused[seat]) if result.refused else "-",
            duration(result.charged_us[seat]),
        )
    show(screen, table)
    if usage:
        screen.print()
        show(screen, usage_table(names, result.reports))
        screen.print()
    if end := unusual_end(outcome.reason):
        screen.say(f"ended by: {end}")
    for seat in range(len(result.reports)):
        said = _said(result, seat)
        if said:
            logs = [f"log: {log}" for log in logs_of(result, seat)]
            screen.say(f"{names[seat]}, seat {seat}: {'; '.join([*said, *logs])}")
    screen.say(f"transcript: {result.transcript} {result.head}")


def unusual_end(reason: str) -> str:
    """Return why a match ended, in words; nothing, if it ended as matches of its game do."""
    return "" if reason in USUAL_ENDS else reason.replace("_", " ")


def over_text(reason: str, places: str) -> str:
    """Return how a match ended: the places, after why it ended where that is unusual."""
    end = unusual_end(reason)
    return f"over ({end}): {places}" if end else f"over: {places}"


def _figures(outcome: Outcome, seats: int) -> dict[str, dict[int, Any]]:
    """The columns behind the places: scores and what the game counts or gives to single seats, by seat."""
    found = {"score": outcome.scores or {}, "tokens": outcome.tokens, "garnets": outcome.garnets}
    detail = msgspec.to_builtins(outcome.detail)
    if isinstance(detail, dict):
        found |= {name: value for name, value in detail.items() if _are_numbers(value)}
    keys = {str(seat) for seat in range(seats)}
    columns = {
        name: {int(key): each for key, each in by_seat.items() if key in keys} for name, by_seat in found.items()
    }
    if isinstance(detail, dict) and isinstance(claims := detail.get("claims"), dict):
        columns["title"] = {claim["seat"]: title for title, claim in claims.items()}
    return {name: by_seat for name, by_seat in columns.items() if by_seat}


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, int) for each in value.values())


def match_json(result: Result) -> dict[str, Any]:
    """The result with, by seat, what went wrong in words, what the bot used, and the paths of its logs.

    There is a log of each start of a bot that wrote something.
    """
    seats = range(len(result.reports))
    return {
        **msgspec.to_builtins(result),
        "said": [_said(result, seat) for seat in seats],
        "usage": [usage_json(result.reports[seat]) for seat in seats],
        "logs": [[str(log) for log in logs_of(result, seat)] for seat in range(len(result.conduct))],
    }


def _said(result: Result, seat: int) -> list[str]:
    """What went wrong for a seat's bot."""
    return sentences(result.reports[seat], windows=result.windows[seat], refused=result.refused[seat])


def logs_of(result: Result, seat: int) -> list[Path]:
    """The logs of a seat's bot, as `referee.host.one_match` names them; none where it wrote nothing."""
    transcript = Path(result.transcript)
    starts = transcript.parent.glob(f"{transcript.stem}.seat-{seat}.start-*.log")
    first = transcript.with_suffix(f".seat-{seat}.log")
    return [*([first] if first.exists() else []), *sorted(starts)]
