"""Asks a bot the questions that another one was asked in a match, each at its place, with what was told between.

The bot is started as for a match: the same door, the same sandbox, the same wire. What it answers changes
nothing: after each question it is told what came of that in the match. What is a question is `questions`' to say,
what counts as an answer `interview`'s.
"""

import math
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import trio
from msgspec import Struct

from protocol.messages import Closed, Opened
from referee import sandbox
from referee.bot_folder import BotFolder
from referee.host.interview import Answer, Interview
from referee.host.one_match import END_SECONDS
from referee.host.questions import Greeting, Question, Settled, Step, Telling, questions
from referee.linux.cpu_time import MICROSECONDS
from referee.match import MICROSECONDS_PER_MS, AnyRecord, Policy
from referee.sandbox import Isolation, Process
from referee.unwrapped import unwrapped
from referee.wire import INBOX_FRAMES, TURN_SECONDS, Arrived, Bell, HandedOver, Line, Outgoing, Wire


class Asked(Struct, frozen=True, kw_only=True):
    """One question."""

    opened: Opened
    closed: Closed
    """What came of it in the match."""
    answer: Answer | None
    """The bot's; None: it was gone."""


class Interviewed(Struct, frozen=True):
    """What came of all questions of a match."""

    asked: tuple[Asked, ...]
    """Those that were settled in the match, in order."""
    gone: str = ""
    """Why the bot was not asked to the end; empty if it was."""


async def ask(
    bot: BotFolder,
    records: Iterable[AnyRecord],
    seat: int,
    *,
    policy: Policy,
    isolation: Isolation,
    warm: bool,
    log: Path,
    wire: Wire,
) -> Interviewed:
    """Asks a bot all that the bot of a seat was asked. A seat that never said hello was asked nothing.

    Args:
        bot: whom to ask.
        records: a match's whole transcript; it is proved meanwhile.
        seat: whose place it takes.
        policy: the match's; of it, the start-up time and the bounds on messages.
        isolation: see `sandbox.start`.
        warm: see `sandbox.start`.
        log: see `sandbox.start`.
        wire: the process's lines.

    Raises:
        Differs: the rules do not lead to what the transcript says.
        TranscriptError: it cannot be read, or is not as it was written.
        SandboxError: the isolation that was asked for cannot be given.
        OSError: the machine has run out of something.
    """
    steps = questions(records, seat)
    greeting = next(steps, None)
    if not isinstance(greeting, Greeting):
        return Interviewed(())
    token = secrets.token_hex(16)
    bell = Bell()
    with unwrapped(), tempfile.TemporaryDirectory(prefix="arena-") as sockets:
        async with trio.open_nursery() as nursery:
            directory = Path(sockets) / "bot"
            directory.mkdir(mode=0o700)
            line = wire.open_line(nursery, bell, directory)
            process = await sandbox.start(
                nursery, bot, line=line.path, token=token, isolation=isolation, log=log, warm=warm
            )
            conversation = Conversation(greeting, line, bell, token=token, policy=policy)
            nursery.start_soon(_follow, process, conversation)
            found = await conversation.run(steps)
            await _dismiss(process, line)
            nursery.cancel_scope.cancel()
    return found


async def _follow(process: Process, conversation: "Conversation") -> None:
    await conversation.left(await process.wait())


async def _dismiss(process: Process, line: Line) -> None:
    """All has been asked: the bot ends by itself, or is ended."""
    line.hang_up()
    with trio.move_on_after(END_SECONDS):
        await process.wait()
    await process.kill()


class Conversation:
    """One bot at its line, from its start to the last question. Its zero is when it is made."""

    def __init__(self, greeting: Greeting, line: Line, bell: Bell, *, token: str, policy: Policy) -> None:
        """`bell` is rung by the line; `token` is what the bot's hello must carry."""
        self._line = line
        self._bell = bell
        self._outgoing: list[Outgoing] = []
        self._exit: int | None = None
        self._zero = trio.current_time()
        self._startup = policy.startup_ms * MICROSECONDS_PER_MS
        self._interview = Interview(
            greeting, token=token, policy=policy, send=self._send, reconnected=self._reconnected
        )

    async def left(self, exit_code: int) -> None:
        """The bot's process has ended. What it said before it did is heard first."""
        await self._line.settle()
        self._exit = exit_code
        self._bell.ring()

    async def run(self, steps: Iterator[Step]) -> Interviewed:
        """Goes through all that follows the greeting. Who is gone is asked nothing more."""
        await self._greet()
        asked: list[Asked] = []
        open_now: tuple[Opened, Answer | None] | None = None
        for step in steps:
            match step:
                case Telling():
                    self._interview.tell(step)
                case Question():
                    open_now = step.opened, await self._put(step)
                case Settled() if open_now is not None:
                    self._interview.tell(step)
                    opened, answer = open_now
                    asked.append(Asked(opened=opened, closed=step.closed, answer=answer))
                case _:
                    pass
            # A match is replayed between questions: others must have their turn.
            await trio.lowlevel.checkpoint()
        self._send_out()
        return Interviewed(tuple(asked), self._interview.gone)

    async def _greet(self) -> None:
        await self._until(lambda: self._interview.welcomed, self._startup)
        if not self._interview.welcomed:
            self._interview.left(self._now(), "no hello within the start-up time")

    async def _put(self, question: Question) -> Answer | None:
        """Asks one question, and waits for what stands in the end."""
        if self._is_gone():
            return None
        part = self._interview.ask(self._now(), question)
        self._outgoing.append((question.frame, True))
        await self._until(lambda: part.settled, math.inf)
        answer = self._interview.answer()
        return None if answer.action is None and self._is_gone() else answer

    async def _until(self, done: Callable[[], bool], deadline: float) -> None:
        """Hears the bot until it is done, gone, or the deadline has come, in microseconds."""
        while True:
            self._send_out()
            self._drain()
            if done() or self._is_gone():
                return
            due = min(deadline, self._interview.next_deadline())
            woke = self._now()
            if woke < due:
                with trio.move_on_at(self._zero + due / MICROSECONDS):
                    await self._bell.wait()
                continue
            # What arrived before the deadline counts, however late we woke.
            await self._line.settle()
            for _ in range(INBOX_FRAMES):
                self._drain()
                if not self._line.has_more():
                    break
                await trio.lowlevel.checkpoint()
            self._interview.pass_time(woke)
            if woke >= deadline:
                return

    def _is_gone(self) -> bool:
        return bool(self._interview.gone)

    def _drain(self) -> None:
        """Hears what is there, for a turn's time; the bell rings where there is more."""
        began = trio.current_time()
        while self._line.has_more():
            if trio.current_time() - began >= TURN_SECONDS:
                self._bell.ring()
                break
            item = self._line.receive_nowait()
            at = round((item.at - self._zero) * MICROSECONDS)
            if isinstance(item, Arrived):
                self._interview.hear(at, item.frame, item.size)
            elif isinstance(item, HandedOver):
                self._interview.handed(at)
            else:
                self._interview.left(at, "it leaves unread what it is sent")
        if self._exit is not None and not self._line.has_more():
            self._interview.left(self._now(), _ended(self._exit))
        self._send_out()

    def _send(self, frame: bytes) -> None:
        self._outgoing.append((frame, False))

    def _reconnected(self) -> None:
        self._send_out()
        self._line.forget_unsent()

    def _send_out(self) -> None:
        if self._outgoing:
            frames, self._outgoing = self._outgoing, []
            self._line.send_burst(frames)

    def _now(self) -> int:
        return round((trio.current_time() - self._zero) * MICROSECONDS)


def _ended(exit_code: int) -> str:
    return f"ended by signal {-exit_code}" if exit_code < 0 else f"ended with exit code {exit_code}"
