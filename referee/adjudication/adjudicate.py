"""Adjudicates scenarios: plays the match that a scenario describes, without a bot or a clock.

A scenario is one JSON object: `game`, `variant`, `seed`, `options`, `setup` and `steps`. Each step closes one
window: it maps seats (`"0"`) to actions. A seat that is absent or null submitted nothing, so that its default
applies. Where a rule depends on elapsed time, a step's `elapsed_ms` maps seats to milliseconds.

`adjudicate` is the pure core, `adjudicate_line` reads and writes JSON, and `adjudicate_stream` handles many lines.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, BinaryIO, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct

from protocol.codec import RepeatedKeyError, encode, is_deeper, refuse_repeated_keys
from protocol.words import Action, Event, Options, Outcome, Setup
from referee.games import GAMES
from referee.match import LONGEST_MS
from referee.rules import Addressed, AnyGame, BadSetupError, Deal, Illegal, Table

MAX_SCENARIO_BYTES = 8 * 1024 * 1024
"""The maximum length of a scenario, far above that of the longest matches."""
MOST_LEVELS = 200
"""The deepest nesting of a scenario. Python's own bound depends on its version and the stack."""
MAX_STEPS = 100_000
"""The maximum number of steps: the result is many times longer than the scenario and is held in memory."""

NULL = Raw(b"null")
"""The JSON value null in a raw field. (msgspec does not decode `Raw | None`.)"""

FormT = TypeVar("FormT")


class ScenarioError(ValueError):
    """A scenario cannot be adjudicated as a whole. The text names the place: `steps[3].elapsed_ms: …`."""


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A description of a match. Null means the same as an absent field."""

    game: str | None = None
    variant: str | None = None
    """None: the game's default variant."""
    seed: int | None = None
    """None: 0."""
    options: Raw = NULL
    setup: Raw = NULL
    """Null: drawn from the seed."""
    steps: tuple[dict[str, Raw], ...] | None = None
    """One dict per window; actions are raw for the game's own decoder."""


class Start(Struct, frozen=True, kw_only=True):
    """Events sent before the first window closes."""

    public: tuple[Event, ...]
    told: dict[str, tuple[Event, ...]]
    """The private events of each seat that received any."""


class StepResult(Struct, frozen=True, kw_only=True):
    """The result of one window."""

    window: str
    seats: tuple[int, ...]
    taken: dict[str, Action | None]
    """The canonical action of each seat in the window, defaults included."""
    rejected: dict[str, str]
    """The reason for rejecting a seat's action, by seat."""
    public: tuple[Event, ...]
    told: dict[str, tuple[Event, ...]]
    """The private events of every seat."""


class Next(Struct, frozen=True, kw_only=True):
    """The window that waits for the next step."""

    window: str
    seats: tuple[int, ...]


class Adjudged(Struct, frozen=True, kw_only=True):
    """A scenario's result."""

    game: str
    variant: str
    seed: int
    options: Options
    setup: Setup
    steps: tuple[StepResult, ...]
    start: Start
    next: Next | None
    outcome: Outcome | None


class FailedScenario(Struct, frozen=True, kw_only=True):
    """The result of a scenario that is an error as a whole."""

    error: str


def read_scenario(text: bytes) -> Scenario:
    """Decode a scenario strictly.

    Raises:
        ScenarioError: it is too long, not UTF-8, not JSON, repeats a key, or does not have a scenario's form.
    """
    if len(text) > MAX_SCENARIO_BYTES:
        raise ScenarioError(f"scenario: longer than {MAX_SCENARIO_BYTES} bytes")
    if text.startswith(b"\xef\xbb\xbf"):
        raise ScenarioError("scenario: starts with a byte order mark; write plain UTF-8")
    try:
        # The decoder does not check strings inside raw values, such as actions.
        text.decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"scenario: not UTF-8 at byte {error.start}") from None
    if is_deeper(text, MOST_LEVELS):
        raise ScenarioError("scenario: nested too deeply")
    scenario = decode_part(text, Scenario, "scenario")
    try:
        refuse_repeated_keys(text)
    except RepeatedKeyError as error:
        raise ScenarioError(f"scenario: {error}") from None
    if len(scenario.steps or ()) > MAX_STEPS:
        raise ScenarioError(f"steps: more than {MAX_STEPS}")
    return scenario


def decode_part(raw: bytes | Raw, form: type[FormT], place: str) -> FormT:
    """Decode a part of a scenario. Raise ScenarioError, whose text is `place.key[index]: …`."""
    try:
        return msgspec.json.decode(raw, type=form)
    except msgspec.MsgspecError as error:
        complaint, _, path = str(error).partition(" - at `$")
        where = re.sub(r"^scenario[.]", "", place + path.removesuffix("`"))
        raise ScenarioError(f"{where}: {complaint}") from None


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
        next=Next(window=table.window.name, seats=table.window.seats) if table.window else None,
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
    elapsed = _elapsed(table, step.get("elapsed_ms"), f"{place}.elapsed_ms")
    told: list[Addressed] = []
    for seat in window.seats:
        told += table.submit(seat, actions.get(seat), elapsed.get(str(seat), 0))
    taken = table.results()
    told += table.close(taken)
    return StepResult(
        window=window.name,
        seats=window.seats,
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
    if given is None or table.window is None or not table.window.timed:
        return {}
    elapsed = decode_part(given, dict[str, Milliseconds], place)
    _check_seats(table, elapsed, place)
    return elapsed


def _check_seats(table: Table, keys: Iterable[str], place: str) -> None:
    for key in sorted(set(keys) - set(map(str, range(table.seats)))):
        raise ScenarioError(f'{place}: seat "{key}" is unknown; the seats are "0" to "{table.seats - 1}"')


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
