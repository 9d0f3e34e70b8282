"""A player of scripts against the real host, match, window and clock, over memory lines and in virtual time.

It only records its actions and the messages that it receives; `check` compares them with the rules.
"""

import heapq
import math
from collections import defaultdict
from typing import assert_never

import trio
from msgspec import Raw
from trio.testing import MockClock

from protocol.codec import decode_server_message, encode
from protocol.messages import (
    PROTOCOL,
    Accepted,
    ClientMessage,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    Note,
    Opened,
    Over,
    Pause,
    Paused,
    Rejected,
    Resumed,
    Submit,
    Undo,
    Welcome,
)
from referee.match import Ended, Record, WindowTime
from referee.proofs.fuzzing import drill
from referee.proofs.fuzzing.rules_of_time import PER_MS
from referee.proofs.fuzzing.script import (
    AnyAct,
    Asks,
    Babbles,
    Did,
    Edge,
    Forgoes,
    Leaves,
    Notes,
    Pauses,
    ReceivedMessage,
    Resumes,
    Returns,
    Script,
    ScriptStep,
    Stalls,
    Submits,
    Trace,
    Undoes,
)

MICROSECONDS = 1_000_000
NO_MESSAGE = b"?"
STEPS_AT_ONE_MOMENT = 2_000
"""Number of steps at one moment after which the referee counts as caught in an endless loop."""
FRAMES = Submits | Undoes | Forgoes | Babbles | Notes
"""Acts that are frames of a bot and change no clock: they may arrive while the referee sleeps."""
Place = tuple[Edge, int, int]
"""An edge, its seat and its number."""


class Circle(Exception):  # noqa: N818 - a failure of the referee, not an error of ours
    """An endless loop of the referee in which no time passes."""


class Driver:
    """A run of one script."""

    def __init__(self, script: Script, clock: MockClock) -> None:
        self._script = script
        self._clock = clock
        self._records: list[Record] = []
        self._ended: int | None = None
        self._did: list[Did] = []
        self._heard: list[list[ReceivedMessage]] = [[] for _ in range(script.seats)]
        self._opened = [0] * script.seats
        self._closed = [0] * script.seats
        self._alive = [True] * script.seats
        self._waiting: dict[Place, list[ScriptStep]] = defaultdict(list)
        self._by_time: list[tuple[int, int, int, AnyAct]] = []
        """Heap of acts that are due at a moment: (moment, number, seat, act)."""
        self._by_reading: list[tuple[int, int, int, AnyAct]] = []
        """Heap of acts that are due at a reading of the match's stopwatch: (reading, number, seat, act)."""
        self._number = 0
        self._paused_at: int | None = None
        self._paused = 0
        """Microseconds of all earlier pauses together."""
        self._pauses = 0
        self._taken_moments: set[int] = set()
        self._busy = (0, 0)
        self._sleep = trio.CancelScope()
        self._match, self._host, self._lines = drill.set_up(script, self._record, self._look, self._started_again)
        self._tokens = drill.tokens(script)

    async def run(self) -> Trace:
        """Play the script to the end of its match, or until long after the latest expected end."""
        self._zero = trio.current_time()
        self._prepare()
        failure = None
        with trio.move_on_at(self._zero + self._horizon() / MICROSECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._take_steps)
                try:
                    await self._host.run(self._match)
                except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - any exception is the finding
                    failure = repr(error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error)
                nursery.cancel_scope.cancel()
        return Trace(
            did=tuple(self._did),
            heard=tuple(map(tuple, self._heard)),
            windows=tuple(record for record in self._records if isinstance(record, WindowTime)),
            ended=self._ended,
            failure=failure,
        )

    def _record(self, record: Record) -> None:
        self._records.append(record)
        if isinstance(record, Ended):
            self._ended = self._now

    @property
    def _now(self) -> int:
        return round((trio.current_time() - self._zero) * MICROSECONDS)

    # The schedule of acts.

    def _prepare(self) -> None:
        self._taken_moments.add(self._script.startup_ms * PER_MS)
        for seat, at in enumerate(self._script.hello):
            if at is not None:
                self._at(at, seat, Returns())
        for step in self._script.steps:
            edge = step.when
            self._waiting[edge.edge, edge.seat, edge.number].append(step)
        self._reached("start", 0, 0, 0)

    def _horizon(self) -> int:
        script = self._script
        each = script.main_ms + script.bronstein_ms + script.seats * script.increment_ms
        windows = len(script.windows) * each + script.seats * script.reserve_ms
        startups = script.startup_ms * (1 + script.seats * script.restarts)
        pauses = script.seats * script.pauses * script.pause_ms
        held = sum(step.act.ticks for step in script.steps if isinstance(step.act, Pauses | Stalls))
        return (windows + startups + pauses + 1_000) * PER_MS + 2 * held

    def _at(self, moment: int, seat: int, act: AnyAct) -> None:
        self._number += 1
        heapq.heappush(self._by_time, (max(moment, self._now), self._number, seat, act))

    def _at_reading(self, reading: int, seat: int, act: AnyAct) -> None:
        self._number += 1
        heapq.heappush(self._by_reading, (max(reading, self._reading), self._number, seat, act))

    @property
    def _reading(self) -> int:
        if self._paused_at is None:
            return self._now - self._paused
        return self._paused_at - self._paused

    def _reached(self, edge: Edge, seat: int, number: int, at: int) -> None:
        """Schedule the steps that wait for an edge, whose time is now known."""
        for step in self._waiting.pop((edge, seat, number), ()):
            if edge in {"opened", "main", "reserve"}:
                self._at_reading(at + step.when.ticks, step.seat, step.act)
            else:
                self._at(at + step.when.ticks, step.seat, step.act)

    def _next_due(self) -> int | None:
        due = []
        if self._by_time:
            due.append(self._by_time[0][0])
        if self._by_reading and self._paused_at is None:
            due.append(self._by_reading[0][0] + self._paused)
        return min(due, default=None)

    def _pop(self, due: int) -> tuple[int, AnyAct]:
        heap = self._by_reading
        if self._by_time and self._by_time[0][0] == due:
            heap = self._by_time
        _, _, seat, act = heapq.heappop(heap)
        return seat, act

    # Acts.

    async def _take_steps(self) -> None:
        while True:
            due = self._next_due()
            if due is None or due > self._now:
                deadline = math.inf if due is None else self._zero + due / MICROSECONDS
                with trio.CancelScope(deadline=deadline) as self._sleep:
                    await trio.sleep_forever()
                continue
            seat, act = self._pop(due)
            if isinstance(act, FRAMES):
                self._say(due, seat, act)
            elif self._now in self._taken_moments:
                # Two acts at one moment could reach the referee in either order, and both would be right.
                self._at(self._now + 1, seat, act)
            else:
                self._taken_moments.add(self._now)
                await self._change_clocks(seat, act)

    async def _change_clocks(self, seat: int, act: AnyAct) -> None:
        match act:
            case Stalls(ticks=ticks):
                self._note(self._now, seat, act)
                self._clock.jump(ticks / MICROSECONDS)
                self._taken_moments.add(self._now)
            case Resumes():
                self._note(self._now, seat, act)
                self._host.order(pause=False)
            case Pauses(ticks=ticks):
                self._note(self._now, seat, act)
                self._host.order(pause=True)
                self._at(self._now + ticks, seat, Resumes())
            case Leaves() if self._alive[seat]:
                self._alive[seat] = False
                await self._host.left(seat, act.code)
                self._note(self._now, seat, act)
                self._taken_moments.add(self._now + self._script.startup_ms * PER_MS)
                if act.back is not None:
                    self._at(self._now + act.back, seat, Returns())
            case Asks() | Returns():
                self._say(self._now, seat, act)
            case Submits() | Undoes() | Forgoes() | Babbles() | Notes() | Leaves():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _say(self, due: int, seat: int, act: AnyAct) -> None:
        if self._alive[seat]:
            line = self._lines[seat]
            # A line's stamps never decrease: a frame read after a stall follows the referee's earlier actions.
            at = max(self._zero + due / MICROSECONDS, line.stamped)
            self._note(round((at - self._zero) * MICROSECONDS), seat, act)
            line.say(self._frame(seat, act), at=at)

    def _frame(self, seat: int, act: AnyAct) -> bytes:
        said: ClientMessage
        match act:
            case Submits():
                said = Submit(window=act.window, action=drill.action(self._script, act), final=act.final)
            case Undoes():
                said = Undo(window=act.window)
            case Forgoes():
                said = Submit(window=act.window, action=Raw(b"null"), final=True)
            case Asks():
                said = Pause()
            case Returns():
                said = Hello(token=self._tokens[seat], name="fuzz", version="1", protocol=PROTOCOL)
            case Notes():
                said = Note(text="a note")
            case Babbles() | Leaves() | Pauses() | Resumes() | Stalls():
                return NO_MESSAGE
            case _ as unreachable:
                assert_never(unreachable)
        return encode(said)

    def _note(self, at: int, seat: int, act: AnyAct) -> None:
        self._did.append(
            Did(at=at, told=self._now, seat=seat, act=act, opened=self._opened[seat], closed=self._closed[seat])
        )

    def _started_again(self, seat: int) -> None:
        self._alive[seat] = True

    # Messages of the referee.

    def _look(self) -> None:
        """Read all messages of the referee after each of its steps."""
        now = self._now
        moment, steps = self._busy
        self._busy = (now, steps + 1 if moment == now else 0)
        if steps > STEPS_AT_ONE_MOMENT:
            raise Circle(f"{steps} steps of the referee at {now} µs")
        for seat, line in enumerate(self._lines):
            while (frame := line.hear_nowait()) is not None:
                message = decode_server_message(frame)
                self._heard[seat].append(ReceivedMessage(now, message))
                match message:
                    case Opened():
                        self._window_opens(seat, message)
                    case Closed():
                        self._closed[seat] += 1
                    case Paused():
                        self._pause_begins(now, message)
                    case Resumed() if self._paused_at is not None:
                        self._pause_ends(now)
                    case (
                        Invited()
                        | Welcome()
                        | EventMessage()
                        | Accepted()
                        | Rejected()
                        | Resumed()
                        | Over()
                        | Faulted()
                    ):
                        pass
                    case _ as unreachable:
                        assert_never(unreachable)
        due = self._next_due()
        if due is not None:
            self._sleep.deadline = min(self._sleep.deadline, self._zero + due / MICROSECONDS)

    def _window_opens(self, seat: int, window: Opened) -> None:
        self._opened[seat] = max(self._opened[seat], window.id + 1)
        reading = self._reading
        # Bots receive whole milliseconds of reserve; the exact value is needed to act within a tick of its end.
        reserve = self._match.seats[seat].reserve
        main = reading + window.main_ms * PER_MS
        self._reached("opened", seat, window.id, reading)
        self._reached("main", seat, window.id, main)
        self._reached("reserve", seat, window.id, main + reserve)

    def _pause_begins(self, now: int, message: Paused) -> None:
        if self._paused_at is not None:
            return
        self._paused_at = now
        if message.reason != "operator":
            self._taken_moments.add(now + self._script.pause_ms * PER_MS)
        self._pauses += 1
        self._reached("paused", 0, self._pauses - 1, now)

    def _pause_ends(self, now: int) -> None:
        assert self._paused_at is not None  # noqa: S101 - checked by the caller
        self._paused += now - self._paused_at
        self._paused_at = None
        self._reached("resumed", 0, self._pauses - 1, now)


def play_all(scripts: list[Script]) -> list[Trace]:
    """Play scripts one after the other, in one run of trio's loop. The same scripts give the same traces."""
    clock = MockClock(autojump_threshold=0)
    return trio.run(_play_all, scripts, clock, clock=clock)


async def _play_all(scripts: list[Script], clock: MockClock) -> list[Trace]:
    return [await play(script, clock) for script in scripts]


async def play(script: Script, clock: MockClock) -> Trace:
    """Play a script under the running loop's clock."""
    # Trio draws the order of tasks that are due at one moment, but a script must play the same each time.
    trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]  # noqa: SLF001
    trio._core._run._r.seed(script.order)  # noqa: SLF001
    return await Driver(script, clock).run()
