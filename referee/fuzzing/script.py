"""The words of a script: a match's terms, and when its bots, its operator and the network do what. Plain data.

Steps are timed from the edges of windows, not from the match's beginning: a step that is left out moves no other
away from the edge it aims at, so that scripts can be shrunk, and people can read what is left. One tick is one
microsecond, the unit of the referee's clock.
"""

from typing import Any, Literal

import msgspec
from msgspec import Struct

Edge = Literal["start", "opened", "main", "reserve", "paused", "resumed"]
"""What a step is timed from: the match's zero; a window's opening, the end of its main time, of its reserve (these
three stand still in a pause, as the match's clocks do); the beginning or the end of a pause."""


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A moment. One that never comes (a window that never opens) leaves its step out."""

    edge: Edge
    seat: int = 0
    """Whose window."""
    number: int = 0
    """Which window of that seat, or which pause of the match, from 0."""
    ticks: int = 0
    """So many microseconds after the edge; before it, if negative."""


class Act(Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True, omit_defaults=True):
    """What happens at a step."""


class Submits(Act, frozen=True, tag="submit"):
    """A bot submits. `choice` tells submissions apart, where the game does; `legal`: whether the rules take it."""

    window: int
    choice: int = 1
    final: bool = True
    legal: bool = True


class Undoes(Act, frozen=True, tag="undo"):
    """A bot withdraws its submission."""

    window: int


class Forgoes(Act, frozen=True, tag="forgo"):
    """A bot takes the default, for good."""

    window: int


class Asks(Act, frozen=True, tag="ask"):
    """A bot asks for a pause."""


class Returns(Act, frozen=True, tag="hello"):
    """A bot says hello again, as one that has lost its connection."""


class Babbles(Act, frozen=True, tag="babble"):
    """A bot says what is no message."""


class Notes(Act, frozen=True, tag="note"):
    """A bot says something for the transcript."""


class Leaves(Act, frozen=True, tag="leave"):
    """A bot's process ends. Started again, it says hello after so many ticks; None: never."""

    code: int = 0
    back: int | None = None


class Pauses(Act, frozen=True, tag="pause"):
    """The operator stops the clocks for so many ticks, or until they are let go on."""

    ticks: int


class Resumes(Act, frozen=True, tag="resume"):
    """The operator lets the clocks go on, whoever stopped them."""


class Stalls(Act, frozen=True, tag="stall"):
    """The referee sleeps for so many ticks. What arrives meanwhile bears its true time of arrival."""

    ticks: int


AnyAct = Submits | Undoes | Forgoes | Asks | Returns | Babbles | Notes | Leaves | Pauses | Resumes | Stalls


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that happens."""

    when: When
    seat: int = 0
    """Whose bot does it; of no account where it is the operator or the referee's machine."""
    act: AnyAct


class Planned(Struct, frozen=True, forbid_unknown_fields=True):
    """A window of the match: which seats owe an answer. `kind` is its name in the game."""

    kind: str
    seats: tuple[int, ...]


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A match to be played under these terms, and what happens in it."""

    game: Literal["drill", "mist"] = "drill"
    seats: int
    windows: tuple[Planned, ...]
    main_ms: int
    """0: the reserve is a budget for the match."""
    reserve_ms: int = 0
    increment_ms: int = 0
    bronstein_ms: int = 0
    pacing: Literal["prompt", "fixed"] = "prompt"
    pauses: int = 0
    pause_ms: int = 10
    startup_ms: int = 100
    fault: Literal["default", "restart"] = "default"
    restarts: int = 0
    hello: tuple[int | None, ...]
    """By seat: the tick at which its bot says hello; None: never."""
    order: int = 0
    """Seeds the order in which tasks run that are due at the same moment."""
    steps: tuple[Step, ...] = ()


class BadScriptError(ValueError):
    """A file that holds no script. The text names the place."""


def read_script(text: bytes) -> Script:
    """A script from its JSON.

    Raises:
        BadScriptError: it is none, or speaks of seats that it does not have.
    """
    try:
        script = msgspec.json.decode(text, type=Script)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadScriptError(str(error)) from None
    if len(script.hello) != script.seats:
        raise BadScriptError(f"hello: {len(script.hello)} times for {script.seats} seats")
    seats = range(script.seats)
    for number, window in enumerate(script.windows):
        if not window.seats or any(seat not in seats for seat in window.seats):
            raise BadScriptError(f"windows[{number}].seats: some of {list(seats)} are to be named")
    for number, step in enumerate(script.steps):
        if step.seat not in seats or step.when.seat not in seats:
            raise BadScriptError(f"steps[{number}]: there is no such seat")
    return script


def script_text(script: Script) -> str:
    """A script as a file: its terms, then a step a line."""
    content: dict[str, Any] = msgspec.to_builtins(script)
    steps = content.pop("steps", [])
    terms = [f"  {_json(key)}: {_json(value)}" for key, value in content.items()]
    lines = ",\n".join(f"    {_json(step)}" for step in steps)
    return "{\n" + ",\n".join([*terms, '  "steps": [\n' + lines + "\n  ]"]) + "\n}\n"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
