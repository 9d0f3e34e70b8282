"""A seeded generator of scripts, in which bots, operator and network act near every edge of every window.

The messages of a bot are drawn first. Then the network loses, doubles, delays and reorders them.
"""

from collections.abc import Iterator
from random import Random
from typing import Literal

from msgspec.structs import replace

from referee.proofs.fuzzing.script import (
    AnyAct,
    Asks,
    Babbles,
    Edge,
    Forgoes,
    Leaves,
    Notes,
    Pauses,
    Planned,
    Resumes,
    Returns,
    Script,
    ScriptStep,
    Stalls,
    Submits,
    Undoes,
    When,
)

WINDOWS = 24
"""Number of windows per match."""
NEAR = (-1, 0, 1)
BACK = (0, 5, 5_000, 15_000, 19_999, 20_001, None)
"""Ticks from a bot's exit to its next hello after a restart, some of them close to the start-up time."""


def draw_script(seed: str) -> Script:
    """Draw the script of one match."""
    luck = Random(seed)
    mist = luck.random() < 0.1  # noqa: PLR2004 - one in ten
    seats = 2 if mist else luck.choice((1, 2, 2, 3, 4))
    windows = tuple(_planned(luck, seats, number, mist=mist) for number in range(WINDOWS))
    restarts = luck.choice((0, 0, 4))
    startup_ms = 20
    pacing: Literal["prompt", "fixed"] = "fixed" if luck.random() < 0.15 else "prompt"  # noqa: PLR2004
    budget = pacing == "prompt" and luck.random() < 0.15  # noqa: PLR2004 - a match in seven has no main time
    script = Script(
        game="mist" if mist else "drill",
        seats=seats,
        windows=windows,
        main_ms=0 if budget else luck.choice((1, 10, 40)),
        reserve_ms=luck.choice((20, 50, 400) if budget else (0, 0, 5, 50, 400)),
        increment_ms=luck.choice((0, 0, 0, 3, 20)),
        bronstein_ms=luck.choice((0, 0, 0, 2, 30)),
        pacing=pacing,
        pauses=luck.choice((0, 0, 1, 3)),
        pause_ms=luck.choice((1, 5, 30)),
        startup_ms=startup_ms,
        fault="restart" if restarts else "default",
        restarts=restarts,
        hello=tuple(_hello(luck, startup_ms) for _ in range(seats)),
        order=luck.randrange(1 << 30),
    )
    return replace(script, steps=tuple(_steps(luck, script)))


def _planned(luck: Random, seats: int, number: int, *, mist: bool) -> Planned:
    if mist:
        return Planned("turn", (number % 2,))
    kind = luck.choice(("turn", "sealed", "asked"))
    who = [luck.randrange(seats)] if kind == "turn" else luck.sample(range(seats), luck.randint(1, seats))
    return Planned(kind, tuple(sorted(who)))


def _hello(luck: Random, startup_ms: int) -> int | None:
    drawn = luck.random()
    if drawn < 0.01:  # noqa: PLR2004 - hardly ever
        return None
    return luck.choice((0, 0, 0, 1, 777, startup_ms * 1000 + luck.choice(NEAR))) if drawn < 0.2 else 0  # noqa: PLR2004


def _steps(luck: Random, script: Script) -> Iterator[ScriptStep]:
    numbers = [0] * script.seats
    mix = _mix(luck, script)
    for window in script.windows:
        for seat in window.seats:
            yield from _part(luck, script, seat, numbers[seat])
        seat = luck.choice(window.seats)
        yield from _misfortune(luck, script, mix, seat, numbers[seat])
        for each in window.seats:
            numbers[each] += 1


def _part(luck: Random, script: Script, seat: int, number: int) -> Iterator[ScriptStep]:
    """Yield a bot's messages in one of its windows, as the network delivers them."""
    meant = [
        ScriptStep(when=_when(luck, script, seat, number), seat=seat, act=_said(luck, number))
        for _ in range(luck.choice((0, 1, 1, 1, 1, 2, 2, 3, 5)))
    ]
    for place, step in enumerate(meant):
        fate = luck.random()
        if fate < 0.05:  # noqa: PLR2004 - lost
            continue
        if fate < 0.1:  # noqa: PLR2004 - swapped with the message before it
            yield replace(step, act=meant[place - 1].act)
            yield replace(meant[place - 1], act=step.act)
            continue
        yield step
        if fate < 0.2:  # noqa: PLR2004 - doubled, the second time perhaps much later
            later = luck.choice((0, 1, script.main_ms * 1000, luck.randrange(100_000)))
            yield replace(step, when=replace(step.when, ticks=step.when.ticks + later))


def _said(luck: Random, number: int) -> AnyAct:
    drawn = luck.randrange(100)
    window = number if luck.random() < 0.9 else number + luck.choice((-2, -1, 1))  # noqa: PLR2004 - a stale one
    if drawn < 68:  # noqa: PLR2004 - of a hundred
        final = luck.random() < 0.5  # noqa: PLR2004
        return Submits(window=window, choice=luck.randrange(1000), final=final, legal=luck.random() < 0.9)  # noqa: PLR2004
    if drawn < 84:  # noqa: PLR2004
        return Undoes(window=window)
    if drawn < 92:  # noqa: PLR2004
        return Forgoes(window=window)
    return Babbles() if drawn < 96 else Notes()  # noqa: PLR2004


def _when(luck: Random, script: Script, seat: int, number: int) -> When:
    """Draw a moment near an edge, or anywhere in a window."""
    edge: Edge = luck.choice(("opened", "opened", "main", "main", "reserve", "paused", "resumed"))
    if edge in {"paused", "resumed"}:
        return When(edge=edge, number=luck.randrange(1 + number // 2), ticks=luck.choice((0, 1, 2, 500)))
    ticks = luck.choice(NEAR)
    if luck.random() < 0.4:  # noqa: PLR2004 - anywhere
        ticks = luck.randrange(script.main_ms * 1000 or 10_000) * luck.choice((-1, 1))
    return When(edge=edge, seat=seat, number=number, ticks=abs(ticks) if edge == "opened" else ticks)


def _mix(luck: Random, script: Script) -> list[int]:
    """Draw the weights of the misfortunes of a match: few kinds, but often (Groce et al.: Swarm testing, 2012)."""
    mix = [luck.choice((0, 0, 1, 4)) for _ in range(5)]
    return [*mix, luck.choice((0, 2, 4)) if script.restarts else luck.random() < 0.1]  # noqa: PLR2004


def _misfortune(luck: Random, script: Script, mix: list[int], seat: int, number: int) -> Iterator[ScriptStep]:
    if luck.random() < 0.5 or not any(mix):  # noqa: PLR2004
        return
    length = luck.choice((1, 100, 3_000, script.main_ms * 1000 or 10_000, 70_000))
    leaves = Leaves(code=luck.randrange(2), back=luck.choice(BACK))
    acts: tuple[AnyAct, ...] = (Pauses(ticks=length), Resumes(), Asks(), Stalls(ticks=length), Returns(), leaves)
    (act,) = luck.choices(acts, mix)
    yield ScriptStep(when=_when(luck, script, seat, number), seat=seat, act=act)
