"""A bot that was left out, is mended and enters is no longer said to be left out."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.checks.field import FieldCheck
from arena.commands.main import main
from arena.config.tournament_file import Tournament, read_tournament
from arena.pages.report import write_beside
from arena.reports.tournament import attempts_text, results_json
from arena.tournament.run import FinalResults, TournamentRun
from arena.workers.api import WorkerPool
from tests.arena.checks.bots import WHY, Field
from tests.arena.tournament.test_entries import change, field

LEFT_OUT = f"c: never started: {WHY}"


def playing(file: Path, broken: Collection[str] = ()) -> FinalResults:
    play = Field(broken=broken)
    tournament = read_tournament(file)

    def enlist(changed: Tournament) -> tuple[tuple[str, ...], WorkerPool[str]]:
        return changed.labels, play.open_workers

    return TournamentRun(
        tournament,
        tournament.labels,
        play.open_workers,
        write_reports=write_beside,
        enlist=enlist,
        check=FieldCheck("opponent", play.open_workers, {}),
    ).play(fresh=False)


@pytest.fixture
def cup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A tournament that was played without c, which could not start."""
    file = field(tmp_path, "round_robin")
    file.write_text(file.read_text() + 'broken = "leave-out"\n')
    found = playing(file, ["c"])
    assert [f"left out: {LEFT_OUT}"] == attempts_text(found)
    assert f"left out: {LEFT_OUT}\n" in capsys.readouterr().err
    return file


def report(file: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["report", str(file), *words])
    assert 0 == done.exit_code, done.stderr
    return done.stdout


def test_as_long_as_it_waits_it_is_still_left_out(cup: Path) -> None:
    assert 0 == change(cup, "add", "c", "--no-check").exit_code
    assert f"left out: {LEFT_OUT}" in report(cup)
    assert [{"bot": "c", "why": f"never started: {WHY}"}] == json.loads(report(cup, "--json"))["left_out"]


@pytest.mark.parametrize("label", ["c", "c mended"])
def test_a_bot_that_has_entered_is_not_reported_as_left_out(
    cup: Path, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == change(cup, "add", "c", "--no-check", f"--label={label}").exit_code
    found = playing(cup)
    assert [] == attempts_text(found)
    told: dict[str, Any] = results_json(found.tournament, found)
    assert [] == told["left_out"]
    assert label in {row["bot"] for row in told["standings"]}
    assert "left out" not in report(cup)
    assert [] == json.loads(report(cup, "--json"))["left_out"]
    assert WHY not in (cup.parent / "runs/cup/report.html").read_text()
    capsys.readouterr()
    playing(cup)
    assert "left out" not in capsys.readouterr().err


def test_another_bot_that_enters_does_not_hide_it(cup: Path) -> None:
    assert 0 == change(cup, "add", "f", "--no-check").exit_code
    assert [f"left out: {LEFT_OUT}"] == attempts_text(playing(cup))
