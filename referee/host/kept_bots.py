"""Bots that are kept for the next matches of their tournament: each with its process, its line, and its folders.

Keeping bots saves their starts, but a kept bot may remember earlier matches. So a tournament must request it
(`processes = "kept"`), and only bots that declare support are kept. A bot is kept if its match had an outcome, it
broke no rule, and it answered the invitation to the next match in time. Until that match it is frozen, and its
folders are emptied.
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
"""The most messages between a match's `over` and the next `hello`; a bot that sends more is not kept."""
MOST_HELLO_BYTES = 4_096
"""The longest `hello` in bytes. Longer messages are not decoded."""
MOST_IDLE = 32
"""The most bots that wait. If there are more, the longest waiting one is ended. Each holds its memory while it
waits."""


def can_stay(folder: BotFolder) -> bool:
    """Return whether a bot declares that it can be kept, and has no limit that would span all its matches."""
    return folder.keeps and folder.limits.cpu_seconds is None


class Kind(Struct, frozen=True):
    """The properties that two kept bots share if either may play the same match."""

    folder: BotFolder
    isolation: Isolation
    warm: bool


class KeptBot:
    """A bot from its first match to its last. It is in a match, or waits for one."""

    def __init__(self, kind: Kind, line: LocalLine, nursery: trio.Nursery, over: trio.Event) -> None:
        self.kind = kind
        self.line = line
        self.nursery = nursery
        """The nursery of the tasks of the bot's process."""
        self.process: Process | None = None
        """Its process; None: not started yet."""
        self.token = secrets.token_hex(16)
        """The token that the bot's next `hello` must contain."""
        self.matches = 0
        """Number of matches that the bot has played."""
        self._said = 0
        self._over = over

    def invite(self) -> None:
        """Invite the bot to its next match. Messages before its `hello` belong to the last match."""
        self.token = secrets.token_hex(16)
        self._said = 0
        self.line.send(encode(Invited(token=self.token)))

    def is_back(self) -> bool:
        """Return whether the bot's `hello` has arrived. Earlier messages are dropped."""
        return not self.says_too_much and self.line.skip_to(self._is_hello)

    @property
    def says_too_much(self) -> bool:
        """True if the bot has sent too many messages since it was invited."""
        return self._said > MOST_SAID

    def end(self) -> None:
        """End the bot. Idempotent."""
        self._over.set()

    def _is_hello(self, frame: bytes) -> bool:
        self._said += 1
        if len(frame) > MOST_HELLO_BYTES:
            return False
        try:
            message = decode_client_message(frame)
        except (Refused, ValidationError):
            return False
        return isinstance(message, Hello) and wrong_hello(message, self.token) is None


class KeptBots:
    """The kept bots of one tournament; see `open_kept_bots`."""

    def __init__(self, nursery: trio.Nursery, wire: Wire) -> None:
        self._nursery = nursery
        self._wire = wire
        self.idle: list[KeptBot] = []
        """The waiting bots, longest waiting first."""

    async def take(self, kind: Kind) -> KeptBot:
        """Return a waiting bot, or a new one that is not started yet. The caller must keep or end it.

        Raises:
            OSError: no line can be opened.
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
        """Let a frozen bot wait for its next match, or end it if its folders cannot be emptied."""
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
        """Hold a new bot's line and process until its end."""
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
    """Open a store for the kept bots of one tournament. They end when the block exits."""
    async with trio.open_nursery() as nursery:
        yield KeptBots(nursery, wire)
        nursery.cancel_scope.cancel()
