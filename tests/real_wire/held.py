"""Matches that wait until a test lets them go on: so none runs out of them while something slow is awaited."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.real_wire.processes import PATIENCE_SECONDS
from tests.real_wire.test_killed import BOT

WAITS = """\
        if window.name == "first":
            turn = Path({gate!r}, str(os.getpid()))
            if turn.parent.exists():
                turn.touch()
            while turn.exists():
                time.sleep(0.02)
"""
LONG = "policy.main_ms = 3600000\n"
"""For a tournament of such bots: waiting costs them no default."""


class Gate:
    """Where bots wait in their first window, for as long as its folder is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(parents=True)
        self._gone: Path | None = None
        """The process of the last one that was let through."""
        head, at, rest = BOT.partition('        if window.name == "first":\n')
        self.bot = "import os\nfrom pathlib import Path\n" + head + WAITS.format(gate=str(folder)) + at + rest
        """The program of a bot that waits here."""

    @property
    def waiting(self) -> list[Path]:
        """Where those that wait stand: of killed ones nothing is left."""
        stand = sorted(self._folder.iterdir())
        return [each for each in stand if Path("/proc", each.name).exists()]

    def until(self, look: Callable[[], bool]) -> None:
        """Lets one match through after the other until something is so: the next when the last one has ended."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not look():
            assert time.monotonic() < give_up
            if (self._gone is None or not self._gone.exists()) and (waiting := self.waiting):
                self._gone = Path("/proc", waiting[0].name)
                waiting[0].unlink()
            time.sleep(0.02)

    def open(self) -> None:
        """Lets all through, from now on."""
        away = self._folder.with_suffix(".open")
        self._folder.rename(away)
