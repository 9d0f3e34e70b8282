"""The words of a script: a match's terms, and when its bots, its operator and the network do what. Plain data.

Steps are timed from the edges of windows, not from the match's beginning: a step that is left out moves no other
away from the edge it aims at, so that scripts can be shrunk, and people can read what is left. One tick is one
microsecond, the unit of the referee's clock.
"""

from codecs import BOM_UTF8
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from referee.repeated_keys import RepeatedKeyError, refuse_repeated_keys

MAX_SCRIPT_BYTES = 8 * 1024 * 1024
LONGEST_TICKS = 10**11
"""A day: added up over a script, times stay exact to the tick on trio's clock, which counts seconds as a float."""
Ticks = Annotated[int, Meta(ge=0, le=LONGEST_TICKS)]
FromEdge = Annotated[int, Meta(ge=-LONGEST_TICKS, le=LONGEST_TICKS)]
Milliseconds = Annotated[int, Meta(ge=0, le=LONGEST_TICKS // 1_000)]
Number = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""Counts something, or stands for it; below zero what there never is."""
Seats = Annotated[int, Meta(ge=1, le=16)]
Few = Annotated[int, Meta(ge=0, le=1_000)]

Edge = Literal["start", "opened", "main", "reserve", "paused", "resumed"]
"""What a step is timed from: the match's zero; a window's opening, the end of its main time, of its reserve (these
three stand still in a pause, as the match's clocks do); the beginning or the end of a pause."""


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A moment. One that never comes (a window that never opens) leaves its step out."""

    edge: Edge
    seat: Number = 0
    number: Number = 0
    """Which window of that seat, or which pause of the match, from 0."""
    ticks: FromEdge = 0
    """So many microseconds after the edge; before it, if negative."""


class Act(Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True, omit_defaults=True):
    """What happens at a step."""


class Submits(Act, frozen=True, tag="submit"):
    """A bot submits. `choice` tells submissions apart, where the game does; `legal`: whether the rules take it."""

    window: Number
    choice: Number = 1
    final: bool = True
    legal: bool = True


class Undoes(Act, frozen=True, tag="undo"):
    """A bot withdraws its submission."""

    window: Number


class Forgoes(Act, frozen=True, tag="forgo"):
    """A bot takes the default, for good."""

    window: Number


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

    code: Number = 0
    back: Ticks | None = None


class Pauses(Act, frozen=True, tag="pause"):
    """The operator stops the clocks for so many ticks, or until they are let go on."""

    ticks: Ticks


class Resumes(Act, frozen=True, tag="resume"):
    """The operator lets the clocks go on, whoever stopped them."""


class Stalls(Act, frozen=True, tag="stall"):
    """The referee sleeps for so many ticks. What arrives meanwhile bears its true time of arrival."""

    ticks: Ticks


AnyAct = Submits | Undoes | Forgoes | Asks | Returns | Babbles | Notes | Leaves | Pauses | Resumes | Stalls


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that happens."""

    when: When
    seat: Number = 0
    """Whose bot does it; of no account where it is the operator or the referee's machine."""
    act: AnyAct


class Planned(Struct, frozen=True, forbid_unknown_fields=True):
    """A window of the match: which seats owe an answer. `kind` is its name in the game."""

    kind: str
    seats: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=16)]


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A match to be played under these terms, and what happens in it."""

    game: Literal["drill", "mist"] = "drill"
    seats: Seats
    windows: Annotated[tuple[Planned, ...], Meta(max_length=1_000)]
    main_ms: Milliseconds
    """0: the reserve is a budget for the match."""
    reserve_ms: Milliseconds = 0
    increment_ms: Milliseconds = 0
    bronstein_ms: Milliseconds = 0
    pacing: Literal["prompt", "fixed"] = "prompt"
    pauses: Few = 0
    pause_ms: Milliseconds = 10
    startup_ms: Annotated[int, Meta(ge=1, le=LONGEST_TICKS // 1_000)] = 100
    fault: Literal["default", "restart"] = "default"
    restarts: Few = 0
    hello: tuple[Ticks | None, ...]
    """By seat: the tick at which its bot says hello; None: never."""
    order: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """Seeds the order in which tasks run that are due at the same moment."""
    steps: Annotated[tuple[Step, ...], Meta(max_length=100_000)] = ()


KINDS = {"drill": ("turn", "sealed", "asked"), "mist": ("turn",)}
"""Game to the windows that a script of it may have."""
MIST_SEATS = 2


class BadScriptError(ValueError):
    """A file that holds no script. The text names the place."""


def read_script(text: bytes) -> Script:
    """A script from its JSON. Raises BadScriptError where it is none, or names seats that it does not have."""
    text = text.removeprefix(BOM_UTF8)
    try:
        text.decode()
        script = msgspec.json.decode(text, type=Script)
        refuse_repeated_keys(text)
    except RecursionError:
        raise BadScriptError("nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RepeatedKeyError) as error:
        raise BadScriptError(str(error)) from None
    _check(script)
    return script


def _check(script: Script) -> None:
    if not script.windows:
        raise BadScriptError("windows: none")
    if len(script.hello) != script.seats:
        raise BadScriptError(f"hello: {len(script.hello)} times for {script.seats} seats")
    seats = range(script.seats)
    if script.game == "mist" and script.seats != MIST_SEATS:
        raise BadScriptError(f"seats: mist has {MIST_SEATS}")
    for number, window in enumerate(script.windows):
        if any(seat not in seats for seat in window.seats) or list(window.seats) != sorted(set(window.seats)):
            raise BadScriptError(f"windows[{number}].seats: some of {list(seats)}, each once, in order")
        if window.kind not in KINDS[script.game]:
            raise BadScriptError(f"windows[{number}].kind: {script.game} has {', '.join(KINDS[script.game])}")
    for number, step in enumerate(script.steps):
        if step.seat not in seats or step.when.seat not in seats:
            raise BadScriptError(f"steps[{number}]: there is no such seat")


def script_text(script: Script) -> str:
    """A script as a file: its terms, then a step a line."""
    content: dict[str, Any] = msgspec.to_builtins(script)
    steps = content.pop("steps", [])
    terms = [f"  {_json(key)}: {_json(value)}" for key, value in content.items()]
    lines = ",\n".join(f"    {_json(step)}" for step in steps)
    return "{\n" + ",\n".join([*terms, '  "steps": [\n' + lines + "\n  ]"]) + "\n}\n"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
