"""A bot under examination: it is started as every bot is, and writes JSON lines to its log.

One is started by a referee of its own, the victim, which is killed while its bot is frozen.
"""

import json
import signal
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import trio
from msgspec import convert

from referee import sandbox
from referee.bot_folder import find_bot
from referee.proofs.escapes.fixture import BotPlace
from referee.proofs.escapes.guarantees import How
from referee.sandbox import Isolation

GLANCE_SECONDS = 0.02
BEGIN_SECONDS = 120.0
"""Longest wait for a bot to start and write its first line: an emulated machine takes over 20 s."""


class ExaminationError(Exception):
    """The attempts could not be made. The text has the reason."""


class TargetBot:
    """A bot under examination. Made by `start`."""

    def __init__(self, place: BotPlace, process: sandbox.Process) -> None:
        self.process = process
        self.folder = place.bot.folder
        self.said: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        """The lines so far, keyed by the first key of each line."""
        self.in_order: list[dict[str, Any]] = []
        self._log = place.log
        self._read = 0
        self.complaint = "no output"
        self.exit: int | None = None
        """Exit code, negative for a signal; None: it still runs."""

    async def first(self, key: str) -> dict[str, Any]:
        """Wait for the first line under a key. Raise ExaminationError if the bot exits or writes nothing."""
        with trio.move_on_after(BEGIN_SECONDS):
            while not self.said[key] and await self.goes_on():
                pass
        if not self.said[key]:
            if self.exit is None:
                raise ExaminationError(
                    f"a bot that examines its sandbox did not begin within {BEGIN_SECONDS:g} s: "
                    "this machine is too busy or too slow"
                )
            if self.exit == -signal.SIGXCPU:
                raise ExaminationError(
                    "a bot that examines its sandbox used up its processor time before it began: "
                    "this machine is too slow"
                )
            raise ExaminationError(f"a bot that examines its sandbox does not run: {self.complaint}")
        return self.said[key][0]

    async def goes_on(self) -> bool:
        """Wait for a moment and read the new lines. Return False if no more lines can follow."""
        await trio.sleep(GLANCE_SECONDS)
        ended = self.exit is not None
        self.listen()
        return not ended

    def listen(self) -> None:
        """Read the new complete lines of the log."""
        if not self._log.exists():
            return  # The bot has written nothing.
        with self._log.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        complete = data[: data.rfind(b"\n") + 1]
        self._read += len(complete)
        for line in complete.decode(errors="replace").splitlines():
            try:
                told = json.loads(line)
                self.said[next(iter(told))].append(told)
                self.in_order.append(told)
            except (ValueError, TypeError, StopIteration):
                self.complaint = line

    async def follow(self) -> None:
        """Wait for the exit of the bot."""
        self.exit = await self.process.wait()


async def start(nursery: trio.Nursery, place: BotPlace, token: str, how: How) -> TargetBot:
    """Start a bot in its place. Raise the errors of `sandbox.start`."""
    process = await sandbox.start(
        nursery, place.bot, line=place.line, token=token, isolation=how.isolation, log=place.log, warm=how.warm
    )
    target_bot = TargetBot(place, process)
    nursery.start_soon(target_bot.follow)
    return target_bot


def victim_command(place: BotPlace, how: How) -> list[str]:
    """Return the command that starts the victim. The token of its bot goes to its standard input.

    It prints a line when the bot is frozen, and then waits to be killed.
    """
    words = (place.bot.folder, place.line, place.log, how.isolation, "warm" if how.warm else "cold")
    # With `-m`, Python would warn about a module that its package has already imported.
    begin = f"import sys, trio; from {__name__} import run_victim; trio.run(run_victim, *sys.argv[1:])"
    return [sys.executable, "-c", begin, *map(str, words)]


async def run_victim(*words: str) -> None:
    """Start the bot, freeze it, and wait to be killed."""
    folder, line, log, isolation, warm = words
    how = How(isolation=convert(isolation, Isolation), warm=warm == "warm")
    place = BotPlace(find_bot(folder), Path(line), Path(log))
    async with trio.open_nursery() as nursery:
        bot = await start(nursery, place, sys.stdin.readline().strip(), how)
        await bot.first("process")
        bot.process.freeze()
        sys.stdout.write("frozen\n")
        sys.stdout.flush()
        await trio.sleep_forever()
