"""Seasons of bots that do nothing, whose matches are drawn by their plans."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from arena.config.season_file import read_season
from arena.config.tournament_file import Tournament
from arena.reports.season import season_json
from arena.season.results import season_in
from arena.season.run import play_season
from arena.workers.api import PlayMatch
from tests.arena.cups import bot_folders, play_cup
from tests.arena.stand_in import AtOnce
from tests.builders.tournaments import write_tournament

STAGES = """
[[stages]]
name = "groups"
groups = 2

[[stages]]
name = "final"
each_group = 2
format = "knockout"
blocks = 2

[[stages]]
name = "plate"
from = "groups"
rest = true
"""
BOTS = "abcdefgh"


def league(folder: Path, stages: str = STAGES, *, bots: str = BOTS, more: Sequence[str] = ("seed = 4",)) -> Path:
    """A season's file; each letter of `bots` is one, and `x` and `y` are folders of others."""
    bot_folders(folder, {*bots, "x", "y"}, code="# {}")
    return write_tournament(folder / "league.toml", bots, *more, stages)


def playing(file: Path, play: PlayMatch[str] | None = None, **how: Any) -> Any:
    """Play a season as `arena season`, with stand-ins for matches; return its state for programs."""
    season, stand_in = read_season(file), play or AtOnce()
    check: Callable[[Tournament], dict[str, str]] = how.pop("check", lambda _: {})
    play_season(season, lambda tournament: play_cup(tournament, stand_in), check=check, **how)
    return told(season.results)


def told(folder: Path) -> Any:
    """All that it came to, its place on the disk left out."""
    found = season_json(season_in(folder))
    del found["results"]
    for stage in found["stages"]:
        for part in stage["parts"]:
            del part["results"]
    return found


def field_of(found: Any, stage: str) -> list[str]:
    """Return the labels of a stage's bots."""
    (its,) = [each for each in found["stages"] if each["stage"] == stage]
    return [each["bot"] for each in its["field"]]


def table_of(found: Any, part: str) -> list[str]:
    """Return the labels of a part's table, best first."""
    (its,) = [each for stage in found["stages"] for each in stage["parts"] if each["part"] == part]
    return [row["bot"] for row in its["table"]]
