"""A bot under examination: started as every bot is, and heard through its log, in lines of JSON."""

import json
import signal
from collections import defaultdict
from typing import Any

import trio

from referee import sandbox
from referee.proofs.escapes.finding import How
from referee.proofs.escapes.stage import Place

GLANCE_SECONDS = 0.02
BEGIN_SECONDS = 120.0
"""For a bot to be started, and to say its first word: an emulated machine takes over 20 s."""


class ExaminationError(Exception):
    """The attempts could not be made. The text says why."""


class Subject:
    """One such bot. Made by `start`."""

    def __init__(self, place: Place, process: sandbox.Process) -> None:
        self.process = process
        self.folder = place.bot.folder
        self.said: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        """What it said so far, by the first key of each line."""
        self.in_order: list[dict[str, Any]] = []
        self._log = place.log
        self._read = 0
        self.complaint = "no output"
        self.exit: int | None = None
        """Its exit code, negative for a signal, once it has ended."""

    async def first(self, key: str) -> dict[str, Any]:
        """The first line under a key. Raises ExaminationError if the bot ends, or is silent, before."""
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
        """Waits for a moment and takes in what was said until now; False: nothing will follow."""
        await trio.sleep(GLANCE_SECONDS)
        ended = self.exit is not None
        self.listen()
        return not ended

    def listen(self) -> None:
        """Takes in the lines that are complete."""
        if not self._log.exists():
            return  # It has said nothing.
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
        """Waits for its end."""
        self.exit = await self.process.wait()


async def start(nursery: trio.Nursery, place: Place, token: str, how: How) -> Subject:
    """Starts a bot in its place. Raises as `sandbox.start`."""
    process = await sandbox.start(
        nursery, place.bot, line=place.line, token=token, isolation=how.isolation, log=place.log, warm=how.warm
    )
    subject = Subject(place, process)
    nursery.start_soon(subject.follow)
    return subject
