"""Bots that stay for the next matches of their tournament: each with its process, its line, and its folders.

That saves their starts, and gives up what a start gives: a bot that stays may remember. So it is asked for by name
(`processes = "kept"`), and only bots stay that say they can. One stays whose match came to its outcome, with
nothing to be held against it, and that comes back in time when it is invited to the next. Until then it is frozen.
What it wrote to its folders is gone by then.
"""

import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from msgspec import Struct, ValidationError

from protocol.codec import Refused, decode_client_message, encode
from protocol.messages import Hello, Invited
from referee.bot_folder import BotFolder
from referee.match import wrong_hello
from referee.sandbox import Isolation, Process
from referee.wire import Bell, LocalLine, Wire

MOST_SAID = 1_000
"""Messages between a match's `over` and the `hello` to the next; a bot that says more is not kept."""
MOST_HELLO_BYTES = 4_096
"""A longer message is no `hello`: it is not looked into."""
MOST_IDLE = 32
"""So many bots wait at most; beyond, those that have waited longest are ended. Each keeps the memory it has."""


def can_stay(folder: BotFolder) -> bool:
    """Whether a bot says that it can, and has no limit that would be for all its matches together."""
    return folder.keeps and folder.limits.cpu_seconds is None


class Kind(Struct, frozen=True):
    """What bots have in common of which one is as good as another."""

    folder: BotFolder
    isolation: Isolation
    warm: bool


class KeptBot:
    """One bot, from its first match to its last. It is one match's, or waits."""

    def __init__(self, kind: Kind, line: LocalLine, nursery: trio.Nursery, over: trio.Event) -> None:
        self.kind = kind
        self.line = line
        self.nursery = nursery
        """Of its process."""
        self.process: Process | None = None
        """None: to be started."""
        self.token = secrets.token_hex(16)
        """What its next `hello` must carry."""
        self.matches = 0
        """That it has played."""
        self._said = 0
        self._over = over

    def invite(self) -> None:
        """To its next match: whatever it says before its `hello` to that belongs to the last one."""
        self.token = secrets.token_hex(16)
        self._said = 0
        self.line.send(encode(Invited(token=self.token)))

    def is_back(self) -> bool:
        """Whether that `hello` is there. What came before it is dropped."""
        return not self.says_too_much and self.line.skip_to(self._is_hello)

    @property
    def says_too_much(self) -> bool:
        """Whether it has said so much since it was invited that it is not waited for."""
        return self._said > MOST_SAID

    def end(self) -> None:
        """It plays no more. Idempotent."""
        self._over.set()

    def _is_hello(self, frame: bytes) -> bool:
        self._said += 1
        if len(frame) > MOST_HELLO_BYTES:
            return False
        try:
            said = decode_client_message(frame)
        except (Refused, ValidationError):
            return False
        return isinstance(said, Hello) and wrong_hello(said, self.token) is None


class KeptBots:
    """Made by `open_kept_bots`."""

    def __init__(self, nursery: trio.Nursery, wire: Wire) -> None:
        self._nursery = nursery
        self._wire = wire
        self.idle: list[KeptBot] = []
        """Those that wait, the one first that has waited longest."""

    async def take(self, kind: Kind) -> KeptBot:
        """One that waits, or a new one, to be started. The caller keeps or ends it.

        Raises:
            OSError: no line can be made.
        """
        for bot in [each for each in reversed(self.idle) if each.kind == kind]:
            self.idle.remove(bot)
            assert bot.process is not None  # noqa: S101 - it has played
            if not bot.process.has_ended:
                return bot
            bot.end()
        new: KeptBot = await self._nursery.start(self._live, kind)
        return new

    async def keep(self, bot: KeptBot) -> None:
        """It is back, and frozen: it waits for its next match, or is ended if it left too much behind."""
        assert bot.process is not None  # noqa: S101 - it has played
        bot.process.end_log()
        if bot.line.connections > 1 or not await bot.process.empty_scratch():
            bot.end()
            return
        bot.matches += 1
        self.idle.append(bot)
        if len(self.idle) > MOST_IDLE:
            self.idle.pop(0).end()

    async def _live(self, kind: Kind, task_status: trio.TaskStatus[KeptBot]) -> None:
        """Holds its line and its process, to its end."""
        over = trio.Event()
        directory = Path(tempfile.mkdtemp(prefix="arena-"))
        try:
            async with trio.open_nursery() as nursery:
                line = self._wire.open_line(nursery, Bell(), directory)
                task_status.started(KeptBot(kind, line, nursery, over))
                await over.wait()
                nursery.cancel_scope.cancel()
        finally:
            shutil.rmtree(directory, ignore_errors=True)


@asynccontextmanager
async def open_kept_bots(wire: Wire) -> AsyncIterator[KeptBots]:
    """A place for the bots of one tournament. At its end nothing is left of them."""
    async with trio.open_nursery() as nursery:
        yield KeptBots(nursery, wire)
        nursery.cancel_scope.cancel()
