"""Starts small programs as bots are started, and looks at what they said and what is left of them."""

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal

import pytest
import trio

from referee import sandbox
from referee.bot_folder.manifest import BotFolder, find_bot
from referee.proofs.escapes.host_snapshot import processes_of_start
from referee.sandbox.host_machine import Isolation

PATIENCE_SECONDS = 120
"""Without a sandbox, to end a bot that makes processes without end took more than 30 beside eight busy loops."""


How = Isolation | Literal["warm"]
"""A level of isolation; `warm`: the best, with a warm start."""

MAY_IMPORT = [
    *("zmq", "msgspec", "protocol.codec", "protocol.games.mist", "bots.kit"),
    *("referee.rules", "referee.games", "referee.games.mist"),
]
MAY_NOT_IMPORT = [
    *("referee.host", "referee.match", "referee.sandbox", "referee.transcript", "referee.display_text"),
    *("arena.commands", "bots.mist_random.bot", "tests.bots"),
]
IMPORTS = f"""
import importlib, json

def found(name):
    try:
        return bool(importlib.import_module(name))
    except ImportError:
        return False

imported = [name for name in {[*MAY_IMPORT, *MAY_NOT_IMPORT]} if found(name)]
"""
"""A program that tries these imports."""


class Lab:
    """A bot's folder, its socket and its log, in a folder of one test's own."""

    def __init__(self, folder: Path) -> None:
        self.warm = False
        """Whether bots are forked warm, where they can be."""
        self.folder = folder / "bot"
        self.folder.mkdir(parents=True)
        self.copies: list[Path] = []
        """What its bots ran from."""
        self.lines = folder / "line"
        self.lines.mkdir()
        self.line = self.lines / "referee.sock"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.line))
        self.socket.listen()
        self.log = folder / "log"
        self.token = f"token-of-{folder}"

    def bot(self, program: str, *, limits: str = "", command: str = '["python", "bot.py"]') -> BotFolder:
        """Write a bot that runs a program."""
        (self.folder / "bot.py").write_text(dedent(program))
        # No two labs run one copy: by it a warm bot's processes are known.
        (self.folder / "bot.toml").write_text(
            f'# {self.folder}\nname = "b"\nversion = "1"\ncommand = {command}\ngames = "*"\n[limits]\n{limits}\n'
        )
        bot = find_bot(str(self.folder))
        self.copies.append(bot.folder)
        return bot

    @asynccontextmanager
    async def started(self, bot: BotFolder, isolation: How = "strict") -> AsyncIterator[sandbox.Process]:
        """Start a bot, and kill it at the end."""
        with trio.fail_after(PATIENCE_SECONDS):
            async with trio.open_nursery() as nursery:
                process = await self.start(nursery, bot, isolation)
                yield process
                await process.kill()

    async def start(self, nursery: trio.Nursery, bot: BotFolder, isolation: How) -> sandbox.Process:
        return await sandbox.start(
            nursery,
            bot,
            line=self.line,
            token=self.token,
            isolation="strict" if isolation == "warm" else isolation,
            log=self.log,
            warm=self.warm or isolation == "warm",
        )

    async def refused(
        self, bot: BotFolder, why: str, isolation: How = "strict", error: type[Exception] = sandbox.SandboxError
    ) -> None:
        """Assert that a bot is not started, with an error that says why."""
        async with trio.open_nursery() as nursery:
            with pytest.raises(error, match=why):
                await self.start(nursery, bot, isolation)

    async def run(self, bot: BotFolder, isolation: How = "strict") -> int:
        """Run a bot to its own end; return its exit code."""
        async with self.started(bot, isolation) as process:
            return await process.wait()

    async def told(self, program: str, *, limits: str = "", isolation: How = "strict") -> Any:
        """Run a program; return the JSON value in its last line."""
        code = await self.run(self.bot(program, limits=limits), isolation)
        lines = self.log.read_text().splitlines()
        assert 0 == code, lines
        return json.loads(lines[-1])

    async def wait_for(self, word: str) -> None:
        """Until the bot has written a word."""
        while not self.log.exists() or word not in self.log.read_text():  # noqa: ASYNC110 - another process writes it
            await trio.sleep(0.005)

    def alive(self) -> list[str]:
        """Return the command lines of all processes on this machine that carry this test's token."""
        found = []
        for process in self._processes():
            with suppress(OSError):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        return found

    def _processes(self) -> Iterator[Path]:
        found = {
            number for folder in self.copies or [self.folder] for number in processes_of_start(self.token, folder)
        }
        for number in found:
            yield Path("/proc", str(number))
