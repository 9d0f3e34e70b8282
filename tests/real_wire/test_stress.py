"""`arena stress` over the real wire: small, for what it tells; the numbers are the machine's business."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from arena.errors import DONE, NO, WRONG_USE
from arena.stress import percentiles
from arena.workers import machine
from referee.sandbox import find_isolation
from tests.builders.programs import invoke


def stress(*arguments: str | Path) -> Result:
    return invoke("stress", "--seed", "3", *arguments)


def test_each_level_is_told_and_the_page_needs_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "stress.html"
    level = find_isolation()
    result = stress("--levels", "1,2", "--matches", "2", "--isolation", level, "--json", "--html", page)
    assert DONE == result.exit_code, result.stderr
    told = json.loads(result.stdout)
    assert [(1, 2), (2, 2)] == [(each["concurrent"], each["matches"]) for each in told["levels"]]
    for each in told["levels"]:
        assert 0 < each["windows"] <= 20
        assert 0 < each["lateness"]["p50"] <= each["lateness"]["max"]
        # A frame that comes while the loop is busy counts as come when it last looked: in the bot's favour.
        assert each["wrong_answers"] <= each["windows"] // 5
        # A machine that is busy with other work may keep a bot from its processor: that voids its match.
        assert each["void"] < each["matches"]
        # Of the eight moments at which its bots answer, three are past the end.
        assert 0 < sum(each["verdicts"].values())
    html = page.read_text()
    assert 4 == html.count("<svg")
    assert "src=" not in html
    assert "href=" not in html


@pytest.mark.parametrize("levels", ["", "a", "1,,2", "0", "5,-1"])
def test_levels_that_are_none_are_named(levels: str) -> None:
    result = stress("--levels", levels)
    assert WRONG_USE == result.exit_code
    assert result.stderr.startswith("arena: --levels: ")


def test_the_stored_safe_level_is_the_default_on_this_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "cache")
    assert machine.cores() == machine.matches_at_once()
    kept = machine.keep_calibration(17)
    assert 17 == machine.matches_at_once()
    kept.write_text(kept.read_text().replace("cores", "cores of another"))
    assert machine.cores() == machine.matches_at_once()
    kept.write_text("{")
    assert machine.cores() == machine.matches_at_once()


def test_nothing_is_stored_if_no_level_was_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("arena.stress.SAFE_LATENESS_US", -1)
    result = stress("--levels", "1", "--matches", "1", "--isolation", find_isolation(), "--calibrate")
    assert (NO, False) == (result.exit_code, (tmp_path / "cache").exists())


def test_percentiles_of_nothing_are_zeros_and_of_one_value_that() -> None:
    assert (0, 0) == (percentiles([]).p50, percentiles([]).max)
    assert (7, 7) == (percentiles([7]).p50, percentiles([7]).p999)
    assert (50, 99, 100) == (
        percentiles(range(1, 101)).p50 - 1,
        percentiles(range(1, 101)).p99 - 1,
        percentiles(range(1, 101)).max,
    )
