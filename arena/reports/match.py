"""What came of one match, as people read it and as programs do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from arena.quantities import duration
from arena.tables import Grid, show
from arena.terminal import results_console
from protocol.words import Outcome
from referee.host import Result
from referee.match import sentences


def show_match(result: Result, names: Sequence[str]) -> None:
    """The result, one line a seat; then where to read what went wrong."""
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
    screen.say(f"over: {outcome.reason}")
    for seat, report in enumerate(result.reports):
        said = sentences(report, windows=result.windows[seat], refused=result.refused[seat])
        if said:
            logs = [f"log: {log}" for log in _logs(result, seat)]
            screen.say(f"{names[seat]}, seat {seat}: {'; '.join([*said, *logs])}")
    screen.say(f"transcript: {result.transcript} {result.head}")


def _figures(outcome: Outcome, seats: int) -> dict[str, dict[int, Any]]:
    """The columns behind the places: scores and what the game counts or gives to single seats, by seat."""
    found = {"score": outcome.scores or {}, "tokens": outcome.tokens, "garnets": outcome.garnets}
    detail = msgspec.to_builtins(outcome.detail)
    if isinstance(detail, dict):
        found |= {name: value for name, value in detail.items() if _are_numbers(value)}
    columns = {
        name: {int(key): each for key, each in by_seat.items() if key in set(map(str, range(seats)))}
        for name, by_seat in found.items()
    }
    if isinstance(detail, dict) and isinstance(claims := detail.get("claims"), dict):
        columns["title"] = {claim["seat"]: title for title, claim in claims.items()}
    return {name: by_seat for name, by_seat in columns.items() if by_seat}


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, int) for each in value.values())


def match_json(result: Result) -> dict[str, Any]:
    """The result with the paths of the bots' logs, by seat: of each start of a bot that wrote something."""
    logs = [[str(log) for log in _logs(result, seat)] for seat in range(len(result.conduct))]
    return {**msgspec.to_builtins(result), "logs": logs}


def _logs(result: Result, seat: int) -> list[Path]:
    """As `referee.host.one_match` names them; there is none where a bot wrote nothing."""
    transcript = Path(result.transcript)
    starts = transcript.parent.glob(f"{transcript.stem}.seat-{seat}.start-*.log")
    first = transcript.with_suffix(f".seat-{seat}.log")
    return [*([first] if first.exists() else []), *sorted(starts)]
