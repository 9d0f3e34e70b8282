"""`arena season` and what its options ask for."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.commands import season as command
from arena.commands.main import main
from arena.config.tournament_file import Tournament
from arena.errors import WRONG_USE
from arena.pages.report import write_beside
from arena.tournament.run import FinalResults, play_tournament
from arena.workers.api import Venue
from tests.arena.season.seasons import league
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_run import venue


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, str]]:
    """Of each tournament that was played: its folder, whether its bots were to be started, and its isolation."""
    found: list[tuple[str, bool, str]] = []

    def play(tournament: Tournament, *_: Any, checks: bool, **__: Any) -> FinalResults:
        found.append((tournament.results.name, checks, tournament.form.isolation))
        return play_tournament(
            tournament, tournament.labels, venue(AtOnce()), fresh=False, write_reports=write_beside, enlist=enlist
        )

    def enlist(changed: Tournament) -> tuple[tuple[str, ...], Venue[str]]:
        return changed.labels, venue(AtOnce())

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
    assert "stage 3 of 3: plate: the rest of groups\nhas not begun" in first.stdout
    assert [("groups-a", False, "none"), ("groups-b", False, "none")] == asked
    assert 2 == season(file, "--stop-after", "groups", "--usage").stdout.count("peak memory")
    del asked[2:]
    done = season(file, "--json")
    found = json.loads(done.stdout)
    assert found["finished"]
    assert ["groups-a", "groups-b", "groups-a", "groups-b", "final", "plate"][2:] == [
        name for name, *_ in asked[2:]
    ]
    assert "stage 2 of 3: final: the best 2 of each group of groups, 4 bots" in done.stderr
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
def test_a_stage_or_all_begin_anew(tmp_path: Path, asked: list[tuple[str, bool, str]]) -> None:
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
        (("--stop-after", "finale"), "has no stage 'finale'; there are groups, final, plate"),
        (("--fresh-from", "finale"), "has no stage 'finale'; there are groups, final, plate"),
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
