"""`arena season` and what its options ask for."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.commands import season as command
from arena.commands.main import main
from arena.config.tournament_file import Tournament
from arena.errors import WRONG_USE
from arena.pages import Website
from arena.season.results import part_in
from arena.tournament.run import FinalResults
from arena.web.catalog import competitions_in, seasons_in
from tests.arena.cups import play_cup
from tests.arena.pages.test_pages import words
from tests.arena.season.seasons import league


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, str]]:
    """Of each tournament that was played: its folder, whether its bots were to be started, and its isolation."""
    found: list[tuple[str, bool, str]] = []

    def play(tournament: Tournament, *_: Any, checks: bool, **__: Any) -> FinalResults:
        found.append((tournament.results.name, checks, tournament.form.isolation))
        return play_cup(tournament)

    monkeypatch.setattr(command, "play_to_its_end", play)
    return found


def season(file: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["season", str(file), "--isolation", "none", "--no-check", *words])


def test_it_plays_to_a_stage_and_on_and_says_how_each_came_out(
    tmp_path: Path, asked: list[tuple[str, bool, str]]
) -> None:
    file = league(tmp_path)
    first = season(file, "--stop-after", "groups")
    assert 0 == first.exit_code, first.stderr
    assert "stage 3 of 3: plate: the others of groups\nnot begun yet" in first.stdout
    assert [("groups-a", False, "none"), ("groups-b", False, "none")] == asked
    assert 2 == season(file, "--stop-after", "groups", "--usage").stdout.count("peak memory")
    del asked[2:]
    done = season(file, "--json")
    found = json.loads(done.stdout)
    assert found["finished"]
    assert ["groups-a", "groups-b", "groups-a", "groups-b", "final", "plate"][2:] == [
        name for name, *_ in asked[2:]
    ]
    assert "stage 2 of 3: final: the top two of each group, 4 bots" in done.stderr
    assert (tmp_path / "runs/league/report.html").exists()


def test_bots_in_new_versions_are_started_before_their_stage(
    tmp_path: Path, asked: list[tuple[str, bool, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_left_out", lambda *_, **__: {})
    file = league(tmp_path)
    file.write_text(file.read_text().replace("rest = true", 'rest = true\nversions = "new"'))
    assert 0 == CliRunner().invoke(main, ["season", str(file), "--isolation", "none"]).exit_code
    assert ["plate"] == [name for name, checks, _ in asked if checks]


@pytest.mark.slow
def test_one_stage_or_all_stages_start_again(tmp_path: Path, asked: list[tuple[str, bool, str]]) -> None:
    file = league(tmp_path)
    before = season(file, "--json").stdout
    del asked[:]
    again = season(file, "--fresh-from", "final", "--json")
    assert before == again.stdout
    assert 2 == again.stderr.count("earlier results are now in")
    assert ["final", "plate"] == [name for name, *_ in asked]
    del asked[:]
    assert before == season(file, "--fresh", "--json").stdout
    assert 4 == len(asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--stop-after", "finale"), "has no stage 'finale'; did you mean final?"),
        (("--fresh-from", "finale"), "has no stage 'finale'; did you mean final?"),
        (("--fresh-from", "final", "--fresh"), "--fresh-from: --fresh begins all stages anew"),
    ],
)
def test_wrong_options_are_refused_and_nothing_is_moved(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    file = league(tmp_path)
    refused = season(file, *words)
    assert WRONG_USE == refused.exit_code
    assert said in refused.stderr
    assert not list(tmp_path.glob("runs/league/*/ledger.sqlite"))


@pytest.mark.slow
def test_a_bot_that_cannot_start_begins_no_season(tmp_path: Path, asked: list[tuple[str, bool, str]]) -> None:
    """Whether it starts is found out by starting it."""
    file = league(tmp_path, bots="abcde", more=("seed = 4", "policy.startup_ms = 20000"))
    file.write_text(file.read_text().replace("each_group = 2", "each_group = 1"))
    words = ["season", str(file), "--isolation", "none"]
    refused = CliRunner().invoke(main, words)
    assert WRONG_USE == refused.exit_code
    assert "league.toml:2: bots[4]: e: never started" in refused.stderr
    assert [] == asked
    assert not (tmp_path / "runs/league/season.json").exists()


LADDER = """
[[stages]]
name = "ladder"
format = "ladder"
endless = true
accuracy = 60
for = "3s"

[[stages]]
name = "final"
top = 2
format = "knockout"
blocks = 1
"""


Timed = tuple[str, int, datetime | None]
"""A tournament: its folder, how many matches it had at its end, and its end."""


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[Timed]:
    """Each tournament that was played."""
    found: list[Timed] = []

    def play(tournament: Tournament, *_: Any, time_is_up: Any, **__: Any) -> FinalResults:
        results = play_cup(tournament, time_is_up=time_is_up)
        found.append((tournament.results.name, len(results.played), tournament.ends))
        return results

    monkeypatch.setattr(command, "play_to_its_end", play)
    return found


def test_a_ladder_without_an_end_is_a_stage_that_ends_in_time(tmp_path: Path, timed: list[Timed]) -> None:
    file = league(tmp_path, LADDER, bots="abcd")
    began = datetime.now(UTC)
    done = season(file, "--json")
    assert 0 == done.exit_code, done.stderr
    assert datetime.now(UTC) - began >= timedelta(seconds=3)
    (ladder, matches, _), (final, _, end) = timed
    assert end is None
    assert ("ladder", "final") == (ladder, final)
    assert matches > 0
    told = json.loads(done.stdout)
    table = told["stages"][0]["parts"][0]["table"]
    assert {row["bot"] for row in table[:2]} == {row["bot"] for row in told["stages"][1]["parts"][0]["table"]}
    competitions = competitions_in([file.parent / "runs"])
    text = words(Website(competitions, live=True, seasons=seasons_in(competitions)), "league/index.html")
    assert "finished: 2 stages" in text
    assert f"finished: {matches} matches" in text
    assert "final won by" not in text
    assert "unfinished" not in text
    del timed[:]
    # What is over stays over: nothing is played again.
    again = season(file, "--json")
    assert (told, []) == (json.loads(again.stdout), [name for name, *_ in timed if name == "ladder"])


LAST_LADDER = """
[[stages]]
name = "cup"
format = "round_robin"
blocks = 1

[[stages]]
name = "ladder"
top = 3
format = "ladder"
endless = true
accuracy = 60
for = "1s"
"""


def test_a_ladder_that_is_the_last_stage_is_closed_when_its_time_is_up(tmp_path: Path, timed: list[Timed]) -> None:
    file = league(tmp_path, LAST_LADDER, bots="abcd")
    folder = file.parent / "runs/league/ladder"
    assert 0 == season(file, "--stop-after", "ladder").exit_code
    ladder = part_in(folder)
    assert ladder is not None
    # Whoever asks for a stop after a stage may still change it.
    assert not ladder.closed
    done = season(file)
    assert 0 == done.exit_code, done.stderr
    ladder = part_in(folder)
    assert ladder is not None
    assert "its time is up" == ladder.closed
    competitions = competitions_in([file.parent / "runs"])
    text = words(Website(competitions, live=True, seasons=seasons_in(competitions)), "league/index.html")
    assert "finished: 2 stages" in text
    assert "unfinished" not in text
    del timed[:]
    assert 0 == season(file).exit_code
    assert "ladder" not in [name for name, *_ in timed]


def test_a_ladder_that_was_stopped_keeps_its_end(tmp_path: Path, timed: list[Timed]) -> None:
    file = league(tmp_path, LADDER, bots="abcd")
    assert 0 == season(file, "--stop-after", "ladder").exit_code
    assert 0 == season(file, "--stop-after", "ladder").exit_code
    (_, matches, end), (_, again, same_end) = timed
    assert matches == again
    assert end is not None
    assert same_end is not None
    # From its first match on: before there was one, from when it was about to begin.
    assert end <= same_end < end + timedelta(seconds=2)


def test_a_time_that_is_over_before_the_stage_begins_is_refused(tmp_path: Path, timed: list[Timed]) -> None:
    file = league(tmp_path, LADDER.replace('for = "3s"', "until = 2020-01-01T00:00:00Z"), bots="abcd")
    refused = season(file)
    assert (WRONG_USE, []) == (refused.exit_code, timed)
    assert "stages[0].until: 2020-01-01 00:00:00+00:00 is in the past" in refused.stderr


@pytest.mark.parametrize(
    ("becomes", "said"),
    [
        ("", "7: stages[0].endless: a stage has an end: give it until = 2026-12-24T18:00:00Z, or for = "),
        ('for = "3 s"', "9: stages[0].for: '3 s' is not a time, such as 90s, 30m, 20h or 7d"),
        ('for = "0s"', "9: stages[0].for: '0s' is not a time, such as 90s, 30m, 20h or 7d"),
        ('for = "3s"\nuntil = 2030-01-01T00:00:00Z', "9: stages[0].for: a stage has one end, and this one has"),
        ("until = 2030-01-01T00:00:00", "9: stages[0].until: "),
        ('for = "3s"\ngroups = 2', "10: stages[0].groups: a ladder without an end is played in one group"),
    ],
)
def test_an_end_that_is_none_is_named_by_line_and_field(tmp_path: Path, becomes: str, said: str) -> None:
    file = league(tmp_path, LADDER.replace('for = "3s"', becomes), bots="abcd", more=())
    refused = season(file)
    assert WRONG_USE == refused.exit_code
    assert f"{file}:{said}" in refused.stderr


def test_only_a_ladder_without_an_end_has_a_time(tmp_path: Path) -> None:
    file = league(tmp_path, LADDER.replace("blocks = 1", 'blocks = 1\nfor = "3s"'), bots="abcd", more=())
    assert 'stages[1].for: is for format = "ladder" with endless = true' in season(file).stderr
