"""The JSON form of scenarios and results, and a strict reader. `adjudicate` plays them.

A scenario is one JSON object: `game`, `variant`, `seed`, `options`, `setup` and `steps`. Each step closes one
window: it maps seats (`"0"`) to actions. A seat that is absent or null submitted nothing, so that its default
applies. Where a rule depends on elapsed time, a step's `elapsed_ms` maps seats to milliseconds.
"""

import re
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from protocol.words import Action, Event, Options, Outcome, Setup
from referee.strict_json import RepeatedKeyError, refuse_repeated_keys

MAX_SCENARIO_BYTES = 8 * 1024 * 1024
"""The maximum length of a scenario, far above that of the longest matches."""
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
    scenario = decode_part(text, Scenario, "scenario")
    try:
        refuse_repeated_keys(text)
    except RecursionError:
        raise ScenarioError("scenario: nested too deeply") from None
    except RepeatedKeyError as error:
        raise ScenarioError(f"scenario: {error}") from None
    if len(scenario.steps or ()) > MAX_STEPS:
        raise ScenarioError(f"steps: more than {MAX_STEPS}")
    return scenario


def decode_part(raw: bytes | Raw, form: type[FormT], place: str) -> FormT:
    """Decode a part of a scenario. Raise ScenarioError, whose text is `place.key[index]: …`."""
    try:
        return msgspec.json.decode(raw, type=form)
    except RecursionError:
        raise ScenarioError(f"{place}: nested too deeply") from None
    except msgspec.MsgspecError as error:
        complaint, _, path = str(error).partition(" - at `$")
        where = re.sub(r"^scenario[.]", "", place + path.removesuffix("`"))
        raise ScenarioError(f"{where}: {complaint}") from None
