"""An examination: all attempts against one level of isolation, and their results.

The program that makes the attempts is started as every bot is, along with another bot. It writes the result of
each attempt to its log; this module checks whether anything arrived outside or remained after the end.
"""

import secrets
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise, starmap
from types import FrameType
from typing import Literal

import trio
from msgspec import Struct

from referee.linux.shortage import unwrapped
from referee.proofs.escapes.fixture import (
    CPUS,
    GLANCE_SECONDS,
    ExaminationError,
    Fixture,
    How,
    TargetBot,
    open_fixture,
    start,
    target,
    victim_command,
)
from referee.proofs.escapes.host_snapshot import (
    Layer,
    look_at,
    namespace_of,
    number_outside,
    processes_of_bot,
    processes_of_start,
    snapshot_of,
    used_between,
    used_seconds,
)
from referee.proofs.escapes.inside.attempt import Scene
from referee.proofs.escapes.inside.limits import NOTHING_LEFT, idle_seconds, remove_segments
from referee.proofs.escapes.inside.running import IN_ORDER, LAST
from referee.sandbox import PROJECT, Isolation

PATIENCE_SECONDS = 90.0
SHOW_SECONDS = 3.0
"""Longest wait until the processes left behind are visible."""
NAME_LETTERS = 15
"""Number of letters of a process's name that the kernel stores."""
FREEZING = "burns-in-the-others-turn"
FREE_SECONDS, FROZEN_SECONDS = 0.2, 0.5
NEARLY_NONE = 0.1
"""Share of the frozen time that a bot may seem to use: the kernel counts in hundredths of a second."""
FORSAKEN = "outlives-a-killed-referee"
FORSAKEN_SECONDS = 20.0
"""Longest wait for the bot of a killed referee to end."""
AGAIN = 3
"""Number of times that attempts are repeated if the machine was too busy."""
QUIET_SECONDS, QUIET_LOOK_SECONDS = 20.0, 0.5
"""Longest wait each time for a less busy machine, and the length of each measurement."""
Told = Callable[[int, int], None]
"""A function that receives the number of attempts made, and the number of all attempts."""
Waits = Callable[[tuple[str, ...]], None]
"""A function that receives the names of attempts for which the machine was too busy, before they are repeated."""


Result = Literal["held", "escaped", "not tried", "too busy", "failed"]
"""Result of an attempt. `not tried`: the machine has nothing to attack. `too busy`: the machine was too busy to
decide. `failed`: the attempt itself has a fault."""


class EscapeFinding(Struct, frozen=True, kw_only=True):
    """The result of one attempt to get past a layer."""

    layer: str
    in_force: bool | None
    attempt: str
    what: str
    result: Result
    promised: bool
    """True if the level promises that the attempt fails."""
    evidence: str

    @property
    def is_proved(self) -> bool:
        """True if the layer held, or the level does not promise it."""
        return not self.promised or self.result in {"held", "not tried"}


class ExaminationReport(Struct, frozen=True, kw_only=True):
    """One examination."""

    isolation: Isolation
    warm: bool
    layers: tuple[Layer, ...]
    findings: tuple[EscapeFinding, ...]

    @property
    def holds(self) -> bool:
        """True if every promise of the level held."""
        return all(finding.is_proved for finding in self.findings)


FILTER = "system-call filter"
ONLY_STRICT = frozenset({FILTER, "memory group", "processor group"})
"""Layers that `standard` does not guarantee: the filter of system calls, and limits on the sum of a bot's
processes."""


def guaranteed(isolation: Isolation, *, has_filter: bool) -> frozenset[str]:
    """Return the names of the attempts that must fail.

    `standard` does not require a filter of system calls, but if there is one, it must hold.
    """
    if isolation == "none":
        return frozenset()
    layers = {attempt.layer for attempt in IN_ORDER}
    if isolation == "standard":
        layers -= ONLY_STRICT
    if has_filter:
        layers.add(FILTER)
    return frozenset(attempt.name for attempt in IN_ORDER if attempt.layer in layers)


async def examine(
    how: How, told: Told = lambda _made, _all: None, waits: Waits = lambda _attempts: None
) -> ExaminationReport:
    """Make all attempts. Call it from the main thread.

    Args:
        how: the level of isolation; with `none`, most attempts escape, within their own limits.
        told: called with the progress.
        waits: called when attempts wait for a less busy machine.

    Raises:
        SandboxError: this machine does not support that isolation.
        ExaminationError: the program that makes the attempts did not run.
        OSError: the machine has run out of a resource.
    """
    with open_fixture() as fixture, _signals() as signalled:
        examination = Examination(fixture, how, told, waits)
        try:
            with unwrapped():
                async with trio.open_nursery() as nursery:
                    await examination.run(nursery)
                    nursery.cancel_scope.cancel()
        finally:
            remove_segments(fixture.scene)
        if signalled:
            examination.got_out["signals-others"] = "the referee was signalled"
        return ExaminationReport(
            isolation=how.isolation,
            warm=how.warm,
            layers=examination.layers,
            findings=tuple(examination.findings()),
        )


class Examination:
    """One examination, from its first bot to its findings."""

    def __init__(self, fixture: Fixture, how: How, told: Told, waits: Waits = lambda _attempts: None) -> None:
        self.fixture = fixture
        self.how = how
        self.told = told
        self.waits = waits
        self.layers: tuple[Layer, ...] = ()
        self.said: dict[str, tuple[str, str]] = {}
        """Result and evidence that the program reported, keyed by attempt."""
        self.got_out: dict[str, str] = {}
        """Evidence on the host of attempts that escaped, keyed by attempt."""
        self.seen_outside: dict[str, str] = {}
        """Evidence on the host of attempts that did not escape, keyed by attempt."""

    async def run(self, nursery: trio.Nursery) -> None:
        """Start the neighbour, then the attempts; start them again if a layer killed the whole bot."""
        neighbour = await start(nursery, self.fixture.place("neighbour"), self.fixture.bait, self.how)
        scene = await self._with(neighbour)
        while len(self.said) < len(IN_ORDER):
            before = len(self.said)
            await self._attempts(nursery, replace(scene, done=tuple(self.said)))
            if len(self.said) == before:
                break
        await self.make_again(nursery, scene)
        if self.said.get(FORSAKEN, ("",))[0] == "sent":
            await self._forsake()
        if not await neighbour.goes_on():
            raise ExaminationError("the other bot ended before the attempts at it were over")
        if neighbour.said["signalled"]:
            self.got_out["signals-others"] = "the other bot was signalled"
        self.got_out |= self.fixture.arrivals()
        await neighbour.process.kill()

    async def make_again(self, nursery: trio.Nursery, scene: Scene) -> None:
        """Repeat the attempts for which the machine was too busy, when it is less busy."""
        for _ in range(AGAIN):
            busy = {name: said for name, said in self.said.items() if said[0] == "too busy"}
            if not busy:
                break
            self.waits(tuple(busy))
            await _less_busy()
            for name in busy:
                del self.said[name]
            await self._attempts(nursery, replace(scene, done=tuple(self.said)))
            self.said = busy | self.said

    def findings(self) -> Iterator[EscapeFinding]:
        """Yield a finding for each attempt."""
        in_force = {layer.layer: layer.in_force for layer in self.layers}
        must_hold = guaranteed(self.how.isolation, has_filter=in_force[FILTER] is True)
        for attempt in IN_ORDER:
            result, evidence = self._result(attempt.name)
            yield EscapeFinding(
                layer=attempt.layer,
                in_force=in_force[attempt.layer],
                attempt=attempt.name,
                what=attempt.what,
                result=result,
                promised=attempt.name in must_hold,
                evidence=evidence,
            )

    def _result(self, name: str) -> tuple[Result, str]:
        """Return the result of an attempt, from the program's report and the evidence on the host."""
        result, evidence = self.said.get(name, ("failed", "the attempt was not made"))
        if name in self.got_out:
            return "escaped", f"{evidence}; {self.got_out[name]}"
        match result:
            case "held" | "escaped" | "not tried" | "too busy":
                return result, evidence
            case "sent":
                return "held", f"{evidence}; {self.seen_outside.get(name, 'it had no effect outside')}"
            case _:
                return "failed", evidence

    async def _with(self, neighbour: TargetBot) -> Scene:
        """Return the scene, extended by the targets in the other bot."""
        told = await neighbour.first("process")
        pid = _outside(neighbour, self.fixture.bait, told["process"])
        scene = self.fixture.scene
        other = target("the other bot", pid, told["address"])
        return replace(scene, targets=(*scene.targets, other), other_scratch=told["scratch"])

    async def _attempts(self, nursery: trio.Nursery, scene: Scene) -> None:
        token = secrets.token_hex(16)
        attacker = await start(nursery, self.fixture.place("attacker", scene), token, self.how)
        seen = (await attacker.first("seen"))["seen"]
        pid = _outside(attacker, token, seen["process"])
        if not self.layers:
            self.layers = look_at(snapshot_of(pid, seen))
        namespace = namespace_of(pid, "pid")
        with trio.move_on_after(PATIENCE_SECONDS):
            await self._hear(attacker, token)
        if namespace == namespace_of("self", "pid"):
            namespace = None  # It is shared.
        await self._end(attacker, token, namespace, left=set(LAST) - set(scene.done))

    async def _hear(self, attacker: TargetBot, token: str) -> None:
        """Record the result of each attempt, until all are made or the bot has exited."""
        said = attacker.said
        goes_on = True
        while True:
            if said["freeze"] and not {FREEZING} & {*self.seen_outside, *self.got_out, *self.said}:
                await self._freeze(attacker, token)
            for told in said["end"]:
                self.said.setdefault(told["end"], (told["result"], told["evidence"]))
            self.told(len(self.said), len(IN_ORDER))
            if said["done"] or not goes_on:
                break
            goes_on = await attacker.goes_on()
        if not said["done"] and said["begin"]:
            begun = said["begin"][-1]
            self.said.setdefault(begun["begin"], _ended_within(attacker, begun))

    async def _freeze(self, attacker: TargetBot, token: str) -> None:
        """Freeze the bot as in the other's turn, and measure its processor time while it is frozen."""

        def look() -> dict[int, float]:
            return used_seconds(processes_of_start(token, attacker.folder))

        looks = [look()]
        await trio.sleep(FREE_SECONDS)
        looks.append(look())
        attacker.process.freeze()
        await trio.sleep(FREE_SECONDS)
        looks.append(look())
        idle = idle_seconds()
        await trio.sleep(FROZEN_SECONDS)
        idle = (idle_seconds() - idle) / FROZEN_SECONDS
        looks.append(look())
        attacker.process.thaw()
        await trio.sleep(FREE_SECONDS)
        looks.append(look())
        before, _, frozen, after = starmap(used_between, pairwise(looks))
        told = (
            f"{before:.2g} s in {FREE_SECONDS} s, frozen {frozen:.2g} s in {FROZEN_SECONDS} s, then {after:.2g} s"
        )
        if frozen > NEARLY_NONE * FROZEN_SECONDS:
            self.got_out[FREEZING] = told
        elif min(before, after) > 0:
            self.seen_outside[FREEZING] = told
        elif idle < NOTHING_LEFT:
            self.said[FREEZING] = ("too busy", f"cannot be tested now: {told}")
        else:
            self.said[FREEZING] = ("failed", f"it used no processor time when it was allowed to: {told}")

    async def _end(self, attacker: TargetBot, token: str, namespace: str | None, left: set[str]) -> None:
        """Kill the bot, and check whether processes that it left behind existed before and still exist."""

        def staying() -> set[str]:
            names = processes_of_bot(token, self.fixture.mark, namespace).values()
            return {name for name in LAST if name[:NAME_LETTERS] in names}

        left = {name for name in left if self.said.get(name, ("",))[0] == "sent"}
        with trio.move_on_after(SHOW_SECONDS):
            while staying() < left and await attacker.goes_on():
                pass
        before = staying()
        await attacker.process.kill()
        for name in left:
            if name not in before:
                self.said[name] = ("failed", f"{self.said[name][1]}, and was not seen at the end of the match")
        self.got_out |= dict.fromkeys(staying(), "it was there after the end")

    async def _forsake(self) -> None:
        """Kill a referee while its bot is frozen, and count the remaining processes of the bot."""
        place, token = self.fixture.place("forsaken"), secrets.token_hex(16)
        with subprocess.Popen(  # noqa: ASYNC220, S603 - our own interpreter, and our own words
            victim_command(place, self.how), cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as referee:
            assert referee.stdin is not None  # noqa: S101 - they are pipes
            assert referee.stdout is not None  # noqa: S101
            referee.stdin.write(f"{token}\n")
            referee.stdin.flush()
            frozen = await trio.to_thread.run_sync(referee.stdout.readline)
            bots = processes_of_start(token, place.bot.folder)
            referee.kill()
        if not frozen or not bots:
            self.said[FORSAKEN] = ("failed", "the referee that was to be killed had no bot")
            return
        with trio.move_on_after(FORSAKEN_SECONDS):
            while processes_of_start(token, place.bot.folder):  # noqa: ASYNC110 - the kernel ends them
                await trio.sleep(GLANCE_SECONDS)
        left = len(processes_of_start(token, place.bot.folder))
        self.seen_outside[FORSAKEN] = f"{left} of {len(bots)} processes were left"
        if left:
            self.got_out[FORSAKEN] = f"{self.seen_outside[FORSAKEN]} after {FORSAKEN_SECONDS:g} s"


async def _less_busy() -> None:
    """Wait until enough processors are idle for a bot's whole share and some more; at most `QUIET_SECONDS`."""
    with trio.move_on_after(QUIET_SECONDS):
        idle = 0.0
        while idle < CPUS + 2 * NOTHING_LEFT:
            before = idle_seconds()
            await trio.sleep(QUIET_LOOK_SECONDS)
            idle = (idle_seconds() - before) / QUIET_LOOK_SECONDS


def _ended_within(attacker: TargetBot, begun: dict[str, str]) -> tuple[str, str]:
    if attacker.exit is None or attacker.exit >= 0:
        return "failed", f"the program ended by itself: {attacker.complaint}"
    having = ""
    for told in attacker.in_order[attacker.in_order.index(begun) :]:
        if "got" in told:
            having = f", having got {told['got']}"
    return "held", f"the whole bot was ended by signal {-attacker.exit}{having}"


def _outside(bot: TargetBot, token: str, inside: int) -> int:
    pid = number_outside(processes_of_start(token, bot.folder), inside)
    if pid is None:
        raise ExaminationError("the process of a bot that was started cannot be found on this machine")
    return pid


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect the SIGURG signals that reach this process; no other program sends them, and they are harmless."""
    found: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        found.append(number)

    before = signal.signal(signal.SIGURG, note)
    try:
        yield found
    finally:
        signal.signal(signal.SIGURG, before)
