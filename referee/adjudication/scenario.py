"""Scenarios as they are written down, their results, and the strict reading of them. `adjudicate` plays them.

A scenario is one JSON object: `game`, `variant`, `seed`, `options`, `setup` and `steps`. Each step closes one
window: it maps seats (`"0"`) to actions; a seat that is left out or null submitted nothing, and its default is
taken. Where a rule depends on time taken, a step's `elapsed_ms` maps seats to milliseconds.
"""

import re
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from protocol.words import Action, Event, Options, Outcome, Setup
from referee.repeated_keys import RepeatedKeyError, refuse_repeated_keys

MAX_SCENARIO_BYTES = 8 * 1024 * 1024
"""The longest scenario that is read, far above what the longest matches take."""
MAX_STEPS = 100_000
"""The most windows a scenario may close: its result is many times its size and is held in memory."""

NULL = Raw(b"null")
"""The JSON value null, as it stands in what is kept raw. (msgspec does not decode `Raw | None`.)"""

FormT = TypeVar("FormT")


class ScenarioError(ValueError):
    """A scenario that cannot be adjudicated as a whole. The text names the place: `steps[3].elapsed_ms: …`."""


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A match as it is written down. Null counts as left out."""

    game: str | None = None
    variant: str | None = None
    """None: the game's default variant."""
    seed: int | None = None
    """None: 0."""
    options: Raw = NULL
    setup: Raw = NULL
    """Null: drawn from the seed."""
    steps: tuple[dict[str, Raw], ...] | None = None
    """Actions stay raw, for the game's own decoder."""


class Start(Struct, frozen=True, kw_only=True):
    """What is told before the first window closes."""

    public: tuple[Event, ...]
    told: dict[str, tuple[Event, ...]]
    """Only seats that were told something."""


class StepResult(Struct, frozen=True, kw_only=True):
    """What came of one window."""

    window: str
    seats: tuple[int, ...]
    taken: dict[str, Action | None]
    """Every seat of the window to its action in canonical spelling, defaults included."""
    rejected: dict[str, str]
    """Seat to the reason for which its action was turned down."""
    public: tuple[Event, ...]
    told: dict[str, tuple[Event, ...]]
    """Every seat to what only it was told."""


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


class Failed(Struct, frozen=True, kw_only=True):
    """What stands in the place of a result when the scenario as a whole is an error."""

    error: str


def read_scenario(text: bytes) -> Scenario:
    """Decode a scenario strictly.

    Raises:
        ScenarioError: it is too long, not UTF-8, not JSON, names a key twice, or is not of a scenario's form.
    """
    if len(text) > MAX_SCENARIO_BYTES:
        raise ScenarioError(f"scenario: longer than {MAX_SCENARIO_BYTES} bytes")
    if text.startswith(b"\xef\xbb\xbf"):
        raise ScenarioError("scenario: starts with a byte order mark; write plain UTF-8")
    try:
        # The decoder does not look into strings that it skips, such as those of actions it leaves raw.
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
    """Decode a part of a scenario.

    Raises:
        ScenarioError: it is not valid; the text names `place.key[index]`.
    """
    try:
        return msgspec.json.decode(raw, type=form)
    except RecursionError:
        raise ScenarioError(f"{place}: nested too deeply") from None
    except msgspec.MsgspecError as error:
        complaint, _, path = str(error).partition(" - at `$")
        where = re.sub(r"^scenario[.]", "", place + path.removesuffix("`"))
        raise ScenarioError(f"{where}: {complaint}") from None
