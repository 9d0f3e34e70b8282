"""Tournaments of tests: folders of bots that do nothing, and runs whose matches are drawn by their plans."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from arena.config.tournament_file import Tournament, read_tournament
from arena.pages.report import write_beside
from arena.tournament.run import FinalResults, TournamentRun
from arena.workers.api import PlayMatch, Worker, WorkerPool
from tests.arena.stand_in import AtOnce

BOT = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'


def bot_folders(folder: Path, names: Iterable[str], *, code: str = "", game: str = "mist") -> None:
    """Make a bot's folder of each name; `code` is that of its program."""
    for name in names:
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(code.format(name))
        (folder / name / "bot.toml").write_text(BOT.replace("mist", game))


def pool(play: PlayMatch[str]) -> WorkerPool[str]:
    """One worker that plays two matches at once."""

    @asynccontextmanager
    async def open_workers(matches: int) -> AsyncIterator[list[Worker[str]]]:
        del matches
        yield [Worker(play=play, slots=2)]

    return open_workers


def play_cup(
    cup: Path | Tournament, play: PlayMatch[str] | None = None, *, fresh: bool = False, **more: Any
) -> FinalResults:
    """Do what `arena tournament` does, with stand-ins for matches; `more`: other fields of `TournamentRun`."""
    tournament = cup if isinstance(cup, Tournament) else read_tournament(cup)
    workers = pool(play or AtOnce())
    fields: dict[str, Any] = {"write_reports": write_beside, "enlist": lambda changed: (changed.labels, workers)}
    return TournamentRun(tournament, tournament.labels, workers, **(fields | more)).play(fresh=fresh)
