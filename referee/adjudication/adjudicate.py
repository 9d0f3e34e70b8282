"""Adjudicates scenarios: plays the match that a scenario describes, without a bot or a clock.

`adjudicate` is the pure core, `adjudicate_line` reads and writes JSON, and `adjudicate_stream` handles many lines.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, BinaryIO, TypeVar

from msgspec import Meta, Raw

from protocol.codec import encode
from protocol.words import Action, Event
from referee.adjudication.scenario import (
    MAX_SCENARIO_BYTES,
    NULL,
    Adjudged,
    FailedScenario,
    Next,
    Scenario,
    ScenarioError,
    Start,
    StepResult,
    decode_part,
    read_scenario,
)
from referee.games import GAMES
from referee.match import LONGEST_MS
from referee.rules import Addressed, BadSetupError, Deal, AnyGame, Illegal, Table, Window

MAX_ERROR_CHARACTERS = 300
"""The maximum length of an error's text, which may quote the scenario."""

Games = Mapping[str, AnyGame]
Milliseconds = Annotated[int, Meta(ge=0, le=LONGEST_MS)]
PresentT = TypeVar("PresentT")


def adjudicate(scenario: Scenario, games: Games = GAMES) -> Adjudged:
    """Play a scenario.

    Raises:
        ScenarioError: the scenario as a whole is wrong. A rejected action is part of the result instead.
    """
    steps = _present(scenario.steps, "steps")
    table = _deal(scenario, games)
    results = [_close_window(table, step, f"steps[{index}]") for index, step in enumerate(steps)]
    return Adjudged(
        game=table.game.name,
        variant=table.deal.variant,
        seed=table.deal.seed,
        options=table.options,
        setup=table.setup,
        steps=tuple(results),
        start=Start(
            public=_events_for(None, table.start),
            told={seat: events for seat, events in _by_seat(table, table.start).items() if events},
        ),
        next=Next(window=table.window.name, seats=_seats(table.window)) if table.window else None,
        outcome=table.outcome,
    )


def adjudicate_line(line: bytes, games: Games = GAMES) -> bytes:
    """Return the result of a JSON scenario, or `{"error": "…"}`, as JSON without a newline."""
    try:
        return encode(adjudicate(read_scenario(line), games))
    except ScenarioError as error:
        text = str(error)
        return encode(FailedScenario(error=text[:MAX_ERROR_CHARACTERS] + "…" * (len(text) > MAX_ERROR_CHARACTERS)))


def adjudicate_stream(lines: BinaryIO, out: BinaryIO, games: Games = GAMES) -> int:
    """Adjudicate one scenario per line; write one result per line, each flushed before the next line is read.

    Blank lines are skipped. An error takes the place of its scenario's result and does not end the stream.

    Returns:
        The number of scenarios that were errors.
    """
    errors = 0
    for line in _lines(lines):
        result = adjudicate_line(line, games)
        errors += result.startswith(b'{"error":')
        out.write(result + b"\n")
        out.flush()
    return errors


def _deal(scenario: Scenario, games: Games) -> Table:
    name = _present(scenario.game, "game")
    if name not in games:
        raise ScenarioError(f'game: there is no "{name}"; there are {", ".join(games)}')
    game = games[name]
    variants = [variant.name for variant in game.variants]
    variant = variants[0] if scenario.variant is None else scenario.variant
    if variant not in variants:
        raise ScenarioError(f'variant: {name} has no "{variant}"; it has {", ".join(variants)}')
    try:
        return Table(game, Deal(variant, scenario.seed or 0, _given(scenario.options), _given(scenario.setup)))
    except BadSetupError as error:
        raise ScenarioError(str(error)) from None


def _close_window(table: Table, step: dict[str, Raw], place: str) -> StepResult:
    window = table.window
    if window is None:
        raise ScenarioError(f"{place}: the match was over after {table.number} steps")
    actions, rejected = _submissions(table, step, place)
    elapsed = _elapsed(table, step.get("elapsed_ms"), f"{place}.elapsed_ms") if window.timed else {}
    seats = _seats(window)
    told: list[Addressed] = []
    for seat in seats:
        told += table.submit(seat, actions.get(seat), elapsed.get(str(seat), 0))
    taken = table.results()
    told += table.close(taken)
    return StepResult(
        window=window.name,
        seats=seats,
        taken={str(seat): part.action for seat, part in enumerate(taken) if part},
        rejected=rejected,
        public=_events_for(None, told),
        told=_by_seat(table, told),
    )


def _submissions(table: Table, step: dict[str, Raw], place: str) -> tuple[dict[int, Action], dict[str, str]]:
    """Return a step's legal actions by seat, ascending, and the reasons for rejecting the others.

    All are read before any is answered: as in play, a seat's action cannot depend on another's answer.
    """
    _check_seats(table, step.keys() - {"elapsed_ms"}, place)
    actions: dict[int, Action] = {}
    rejected: dict[str, str] = {}
    for seat in range(table.seats):
        raw = _given(step.get(str(seat), NULL))
        if raw is not None:
            try:
                actions[seat] = table.read(seat, raw)
            except Illegal as illegal:
                rejected[str(seat)] = illegal.reason
    return actions, rejected


def _elapsed(table: Table, given: Raw | None, place: str) -> dict[str, int]:
    """Return the milliseconds that each seat used, for rules that depend on time; omitted seats are absent."""
    if given is None:
        return {}
    elapsed = decode_part(given, dict[str, Milliseconds], place)
    _check_seats(table, elapsed, place)
    return elapsed


def _check_seats(table: Table, keys: Iterable[str], place: str) -> None:
    for key in sorted(set(keys) - set(map(str, range(table.seats)))):
        raise ScenarioError(f'{place}: seat "{key}" is unknown; the seats are "0" to "{table.seats - 1}"')


def _seats(window: Window) -> tuple[int, ...]:
    return tuple(owed.seat for owed in window.owed)


def _events_for(seat: int | None, told: Iterable[Addressed]) -> tuple[Event, ...]:
    return tuple(each.event for each in told if each.seat == seat)


def _by_seat(table: Table, told: Iterable[Addressed]) -> dict[str, tuple[Event, ...]]:
    return {str(seat): _events_for(seat, told) for seat in range(table.seats)}


def _given(raw: Raw) -> Raw | None:
    return None if raw == NULL else raw


def _present(value: PresentT | None, key: str) -> PresentT:
    if value is None:
        raise ScenarioError(f"{key}: missing")
    return value


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Yield the lines that are not blank, without their ends; cut lines that are too long just past the limit."""
    while line := source.readline(MAX_SCENARIO_BYTES + 2):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = source.readline(MAX_SCENARIO_BYTES)
        scenario = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(scenario) > MAX_SCENARIO_BYTES or scenario.strip():
            yield scenario
