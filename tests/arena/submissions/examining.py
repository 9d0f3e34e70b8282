"""Examiners for tests: without a sandbox, by the first word of the archive."""

from collections.abc import Callable
from pathlib import Path

from arena.config import Tournament, find_entrant
from arena.submissions.examiner import Findings, Unfit
from arena.submissions.verdict import Step
from referee.bot_folder import BotFolder, folder_name
from tests.arena.cups import bot_folders

Tick = Callable[[str], None]


def no_tick(name: str) -> None:
    """Do nothing at a step."""


class StandInExaminer:
    """Finds the folder whose name is in the archive. `unfit` and `slow` in the name mean what they say."""

    def __init__(self, folder: Path, tick: Tick = no_tick) -> None:
        self._folder = folder
        self._tick = tick
        self.examined: list[str] = []
        self.discarded: list[str] = []

    def unpack(self, tournament: Tournament, archive: Path, label: str, found: Findings) -> BotFolder:
        self._tick("unpack")
        name = archive.read_text()
        if name == "no-archive":
            raise Unfit("has no bot.toml")
        place = self._folder / name
        if not place.is_dir():
            bot_folders(self._folder, [name], code=f"# {name}")
        bot = find_entrant(tournament, folder_name(place), label)
        assert isinstance(bot, BotFolder)
        found.content = bot.content
        self._tick("unpacked")
        return bot

    def build(self, tournament: Tournament, bot: BotFolder, logs: Path, found: Findings) -> None:
        self._tick("build")
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "build.log").write_text("make: done")

    def start(self, tournament: Tournament, bot: BotFolder, label: str, logs: Path, found: Findings) -> None:
        self._tick("start")
        self.examined.append(bot.folder.name)
        found.cpu_seconds += 1.0
        found.steps.append(Step("starts", 2.0, 1.0))
        if "unfit" in (bot.folder / "bot.py").read_text():
            raise Unfit("never started: no hello in 10 s")
        self._tick("started")

    def discard(self, content: str) -> None:
        self.discarded.append(content)
