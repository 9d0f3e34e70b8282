"""`arena stress --virtual`: what it prints, how it ends, and that a finding can be seen again."""

import json
from functools import partial
from pathlib import Path

import pytest

from arena.stress import play_campaign
from tests.builders.command_line import arena
from tests.referee.proofs.planted_time_faults import undo_that_withdraws_nothing

stress = partial(arena, "stress")

FEW = ("--windows", "200", "--seed", "3")


def test_a_referee_that_keeps_the_rules_is_said_to() -> None:
    result = stress("--virtual", *FEW)
    assert (0, True) == (result.exit_code, "no rule is broken" in result.stdout)


def test_as_json() -> None:
    content = json.loads(stress("--virtual", *FEW, "--json").stdout)
    assert (3, None, True) == (content["seed"], content["finding"], content["windows"] >= 200)
    assert {"matches", "messages", "seconds", "windows_a_second"} <= set(content)


def test_a_broken_rule_is_kept_as_a_script_that_shows_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.json"
    with monkeypatch.context() as planted:
        undo_that_withdraws_nothing(planted)
        found = stress("--virtual", "--windows", "2000", "--seed", "3", "--keep", kept)
        again = stress("--virtual", "--script", kept)
    assert (1, 1) == (found.exit_code, again.exit_code)
    assert kept.read_text() in found.stdout
    assert f"stress --virtual --script {kept}" in found.stderr
    assert found.stderr.count("\n") == 1 == again.stderr.count("\n")
    mended = stress("--virtual", "--script", kept)
    assert (0, True) == (mended.exit_code, "no rule is broken" in mended.stdout)


def test_a_finding_as_json_holds_its_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept.json"
    undo_that_withdraws_nothing(monkeypatch)
    result = stress("--virtual", "--windows", "2000", "--seed", "3", "--keep", kept, "--json")
    assert 1 == result.exit_code
    assert json.loads(kept.read_text())["windows"] == json.loads(result.stdout)["finding"]["script"]["windows"]


@pytest.mark.slow
def test_the_number_of_processes_does_not_change_the_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.stress.PORTION", 100)
    alone, shared = (play_campaign(7, 250, processes) for processes in (1, 2))
    assert (alone.windows, alone.matches, alone.messages) == (shared.windows, shared.matches, shared.messages)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--levels", "many"], "--levels"),
        (["--virtual", "--script", "no-such-file"], "no-such-file: No such file"),
        (["--virtual", "--windows", "0"], "--windows"),
        (["--virtual", "--hogs", "2"], "--hogs: has no effect with --virtual"),
        (["--windows", "100"], "--windows: has no effect without --virtual"),
        (["--script", "x.json", "--main-ms", "100"], "--main-ms: has no effect with --script"),
        (["--html", "no-such-folder/x.html"], "no-such-folder/x.html: cannot be written"),
    ],
)
def test_wrong_use_is_told_in_one_line(words: list[str], complaint: str) -> None:
    result = stress(*words)
    assert (2, True, 1) == (result.exit_code, complaint in result.stderr, result.stderr.count("\n"))


def test_a_file_that_is_no_script_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text("{}")
    result = stress("--virtual", "--script", file)
    assert (2, f"arena: {file}: ") == (result.exit_code, result.stderr[: len(f"arena: {file}: ")])
