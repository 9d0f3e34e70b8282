"""The format of a script, the trace of a played one, and a seeded generator of scripts.

A script has the terms of a match, and the timed acts of bots, operator and network. Steps are timed from the edges
of windows, not from the start of the match: removing a step leaves the others at their edges. Therefore scripts
can be shrunk, and people can read the result. One tick is one microsecond, the unit of the referee's clock.

A trace has all acts, and all that the referee did. Its times are whole microseconds since the match's zero.

In a drawn script, bots, operator and network act near every edge of every window. The messages of a bot are drawn
first. Then the network loses, doubles, delays and reorders them.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from random import Random
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from protocol.codec import RepeatedKeyError, refuse_repeated_keys
from protocol.messages import ServerMessage
from referee.match import WindowTime

MAX_SCRIPT_BYTES = 8 * 1024 * 1024
LONGEST_TICKS = 10**11
"""Ticks of about a day. Sums over a script then stay exact to the tick on trio's clock, which is a float."""
Ticks = Annotated[int, Meta(ge=0, le=LONGEST_TICKS)]
FromEdge = Annotated[int, Meta(ge=-LONGEST_TICKS, le=LONGEST_TICKS)]
Milliseconds = Annotated[int, Meta(ge=0, le=LONGEST_TICKS // 1_000)]
Number = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A count or an index; a negative one refers to nothing."""
Seats = Annotated[int, Meta(ge=1, le=16)]
Few = Annotated[int, Meta(ge=0, le=1_000)]

Edge = Literal["start", "opened", "main", "reserve", "paused", "resumed"]
"""The zero of a step's time: the start of the match; the opening of a window, the end of its main time or of its
reserve (these three stop in a pause, as the match's clocks do); the start or the end of a pause."""
KINDS = {"drill": ("turn", "sealed", "asked"), "mist": ("turn",)}
"""Names of the windows that a script may have, keyed by game."""
MIST_SEATS = 2


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A moment relative to an edge.

    If the edge never occurs, as for a window that never opens, the step is skipped.
    """

    edge: Edge
    seat: Number = 0
    number: Number = 0
    """Index of the seat's window or of the match's pause, from 0."""
    ticks: FromEdge = 0
    """Microseconds after the edge; before it, if negative."""


class Act(Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True, omit_defaults=True):
    """The act of a step."""


class Submits(Act, frozen=True, tag="submit"):
    """A bot submits. `choice` distinguishes submissions if the game does; `legal`: whether the rules accept it."""

    window: Number
    choice: Number = 1
    final: bool = True
    legal: bool = True


class Undoes(Act, frozen=True, tag="undo"):
    """A bot withdraws its submission."""

    window: Number


class Forgoes(Act, frozen=True, tag="forgo"):
    """A bot submits the default as final."""

    window: Number


class Asks(Act, frozen=True, tag="ask"):
    """A bot requests a pause."""


class Returns(Act, frozen=True, tag="hello"):
    """A bot sends its hello again, as after a lost connection."""


class Babbles(Act, frozen=True, tag="babble"):
    """A bot sends bytes that are no message."""


class Notes(Act, frozen=True, tag="note"):
    """A bot sends a note for the transcript."""


class Leaves(Act, frozen=True, tag="leave"):
    """A bot's process exits. After a restart, it sends its hello `back` ticks later; None: never."""

    code: Number = 0
    back: Ticks | None = None


class Pauses(Act, frozen=True, tag="pause"):
    """The operator pauses the match for that number of ticks, or until it is resumed."""

    ticks: Ticks


class Resumes(Act, frozen=True, tag="resume"):
    """The operator resumes the match, even if a bot paused it."""


class Stalls(Act, frozen=True, tag="stall"):
    """The referee sleeps for that number of ticks. Frames that arrive during the sleep have their true stamps."""

    ticks: Ticks


AnyAct = Submits | Undoes | Forgoes | Asks | Returns | Babbles | Notes | Leaves | Pauses | Resumes | Stalls


class ScriptStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One act with its time."""

    when: When
    seat: Number = 0
    """The seat of the acting bot; ignored if the operator or the referee's machine acts."""
    act: AnyAct


class Planned(Struct, frozen=True, forbid_unknown_fields=True):
    """A window of the match with its seats. `kind` is its name in the game."""

    kind: str
    seats: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=16)]


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The terms of a match, and all acts in it."""

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
    """Tick at which each bot sends its hello, indexed by seat; None: never."""
    order: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """Seed of the order of tasks that are due at the same moment."""
    steps: Annotated[tuple[ScriptStep, ...], Meta(max_length=100_000)] = ()


class BadScriptError(ValueError):
    """A file contains no valid script. The text names the place."""


def read_script(text: bytes) -> Script:
    """Decode a script from JSON. Raise BadScriptError if it is not valid, or names a seat that does not exist."""
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
    """Return a script as the text of a file: its terms, then one step per line."""
    content: dict[str, Any] = msgspec.to_builtins(script)
    steps = content.pop("steps", [])
    terms = [f"  {_json(key)}: {_json(value)}" for key, value in content.items()]
    lines = ",\n".join(f"    {_json(step)}" for step in steps)
    return "{\n" + ",\n".join([*terms, '  "steps": [\n' + lines + "\n  ]"]) + "\n}\n"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class Did(Struct, frozen=True, kw_only=True):
    """A step that was carried out."""

    at: int
    """Time of the act; of a frame, its arrival."""
    told: int
    """Time at which the referee could notice the act: later, if it slept."""
    seat: int
    act: AnyAct
    opened: int
    """Number of windows that had been sent to the seat by then."""
    closed: int
    """Number of windows whose close the seat had received by then."""


class ReceivedMessage(Struct, frozen=True):
    """A message that a seat received."""

    at: int
    message: ServerMessage


class Trace(Struct, frozen=True, kw_only=True):
    """All that happened in one match."""

    did: tuple[Did, ...]
    """Acts in the order in which the referee could notice them."""
    heard: tuple[tuple[ReceivedMessage, ...], ...]
    windows: tuple[WindowTime, ...]
    """The referee's own record of each window."""
    ended: int | None
    """Time of the match's end; None: it had not ended long after the latest expected end."""
    failure: str | None = None


WINDOWS = 24
"""Number of windows per match."""
NEAR = (-1, 0, 1)
BACK = (0, 5, 5_000, 15_000, 19_999, 20_001, None)
"""Ticks from a bot's exit to its next hello after a restart, some of them close to the start-up time."""
MIST, FIXED, BUDGET = 0.1, 0.15, 0.15
"""Shares of matches: of Mist, of fixed length, and without main time (of the others)."""
NEVER, LATE = 0.01, 0.2
"""Shares of bots, summed up: those that send no hello, and those that may send it late."""
LOST, SWAPPED, DOUBLED = 0.05, 0.1, 0.2
"""Shares of messages, summed up: lost, swapped with the message before, delivered twice."""
SUBMITS, UNDOES, FORGOES, BABBLES = 68, 84, 92, 96
"""Shares of the kinds of messages in percent, summed up; the others are notes."""
CURRENT, LEGAL, FINAL = 0.9, 0.9, 0.5
"""Probabilities that a message is about the open window, and that a submission is legal, and final."""
ANYWHERE, CALM, LEAVING = 0.4, 0.5, 0.1
"""Probabilities that a step is far from an edge, that a window has no misfortune, and that bots of a match without
restarts leave."""


def draw_script(seed: str) -> Script:
    """Draw the script of one match."""
    rng = Random(seed)
    if rng.random() < MIST:
        game: Literal["drill", "mist"] = "mist"
        seats = MIST_SEATS
        windows = tuple(Planned("turn", (number % MIST_SEATS,)) for number in range(WINDOWS))
    else:
        game, seats = "drill", rng.choice((1, 2, 2, 3, 4))
        windows = tuple(_planned(rng, seats) for _ in range(WINDOWS))
    restarts = rng.choice((0, 0, 4))
    startup_ms = 20
    pacing: Literal["prompt", "fixed"] = "prompt"
    if rng.random() < FIXED:
        pacing = "fixed"
    if pacing == "prompt" and rng.random() < BUDGET:
        main_ms, reserve_ms = 0, rng.choice((20, 50, 400))
    else:
        main_ms, reserve_ms = rng.choice((1, 10, 40)), rng.choice((0, 0, 5, 50, 400))
    script = Script(
        game=game,
        seats=seats,
        windows=windows,
        main_ms=main_ms,
        reserve_ms=reserve_ms,
        increment_ms=rng.choice((0, 0, 0, 3, 20)),
        bronstein_ms=rng.choice((0, 0, 0, 2, 30)),
        pacing=pacing,
        pauses=rng.choice((0, 0, 1, 3)),
        pause_ms=rng.choice((1, 5, 30)),
        startup_ms=startup_ms,
        fault="restart" if restarts else "default",
        restarts=restarts,
        hello=tuple(_hello(rng, startup_ms) for _ in range(seats)),
        order=rng.randrange(1 << 30),
    )
    return replace(script, steps=tuple(_steps(rng, script)))


def _planned(rng: Random, seats: int) -> Planned:
    kind = rng.choice(KINDS["drill"])
    if kind == "turn":
        return Planned(kind, (rng.randrange(seats),))
    return Planned(kind, tuple(sorted(rng.sample(range(seats), rng.randint(1, seats)))))


def _hello(rng: Random, startup_ms: int) -> int | None:
    drawn = rng.random()
    if drawn < NEVER:
        return None
    if drawn < LATE:
        return rng.choice((0, 0, 0, 1, 777, startup_ms * 1000 + rng.choice(NEAR)))
    return 0


def _steps(rng: Random, script: Script) -> Iterator[ScriptStep]:
    numbers = [0] * script.seats
    mix = _mix(rng, script)
    for window in script.windows:
        for seat in window.seats:
            yield from _part(rng, script, seat, numbers[seat])
        seat = rng.choice(window.seats)
        yield from _misfortune(rng, script, mix, seat, numbers[seat])
        for each in window.seats:
            numbers[each] += 1


def _part(rng: Random, script: Script, seat: int, number: int) -> Iterator[ScriptStep]:
    """Yield a bot's messages in one of its windows, as the network delivers them."""
    meant = [
        ScriptStep(when=_when(rng, script, seat, number), seat=seat, act=_said(rng, number))
        for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3, 5)))
    ]
    for place, step in enumerate(meant):
        fate = rng.random()
        if fate < LOST:
            continue
        if fate < SWAPPED:
            yield replace(step, act=meant[place - 1].act)
            yield replace(meant[place - 1], act=step.act)
            continue
        yield step
        if fate < DOUBLED:
            later = rng.choice((0, 1, script.main_ms * 1000, rng.randrange(100_000)))
            yield replace(step, when=replace(step.when, ticks=step.when.ticks + later))


def _said(rng: Random, number: int) -> AnyAct:
    drawn = rng.randrange(100)
    window = number
    if rng.random() >= CURRENT:
        window += rng.choice((-2, -1, 1))
    if drawn < SUBMITS:
        final = rng.random() < FINAL
        return Submits(window=window, choice=rng.randrange(1000), final=final, legal=rng.random() < LEGAL)
    if drawn < UNDOES:
        return Undoes(window=window)
    if drawn < FORGOES:
        return Forgoes(window=window)
    if drawn < BABBLES:
        return Babbles()
    return Notes()


def _when(rng: Random, script: Script, seat: int, number: int) -> When:
    """Draw a moment near an edge, or anywhere in a window."""
    edge: Edge = rng.choice(("opened", "opened", "main", "main", "reserve", "paused", "resumed"))
    if edge in {"paused", "resumed"}:
        return When(edge=edge, number=rng.randrange(1 + number // 2), ticks=rng.choice((0, 1, 2, 500)))
    ticks = rng.choice(NEAR)
    if rng.random() < ANYWHERE:
        ticks = rng.randrange(script.main_ms * 1000 or 10_000) * rng.choice((-1, 1))
    if edge == "opened":
        ticks = abs(ticks)
    return When(edge=edge, seat=seat, number=number, ticks=ticks)


def _mix(rng: Random, script: Script) -> list[int]:
    """Draw the weights of the misfortunes of a match: few kinds, but often (Groce et al.: Swarm testing, 2012)."""
    mix = [rng.choice((0, 0, 1, 4)) for _ in range(5)]
    if script.restarts:
        return [*mix, rng.choice((0, 2, 4))]
    return [*mix, rng.random() < LEAVING]


def _misfortune(rng: Random, script: Script, mix: list[int], seat: int, number: int) -> Iterator[ScriptStep]:
    if rng.random() < CALM or not any(mix):
        return
    length = rng.choice((1, 100, 3_000, script.main_ms * 1000 or 10_000, 70_000))
    leaves = Leaves(code=rng.randrange(2), back=rng.choice(BACK))
    acts: tuple[AnyAct, ...] = (Pauses(ticks=length), Resumes(), Asks(), Stalls(ticks=length), Returns(), leaves)
    (act,) = rng.choices(acts, mix)
    yield ScriptStep(when=_when(rng, script, seat, number), seat=seat, act=act)
