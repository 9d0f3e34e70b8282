"""`python -m referee.proofs.conformance`, as somebody who adds a game runs it."""

import subprocess
import sys

import msgspec
import pytest


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "referee.proofs.conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own module


@pytest.mark.slow
def test_a_sound_game_gives_a_report_for_each_variant() -> None:
    done = run("tests.referee.toy:Cups", "0", "1", "2", "3")
    assert (0, "") == (done.returncode, done.stderr)
    assert ["plain", "blind"] == [msgspec.json.decode(line)["variant"] for line in done.stdout.splitlines()]


def test_a_broken_game_gives_exit_code_1_and_one_line() -> None:
    done = run("tests.referee.proofs.planted_faults:LosesASeat", "0", "1")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("the ranking partitions the seats (plain, seed 0): ")
    assert 1 == done.stderr.count("\n")


def test_an_unknown_game_gives_exit_code_2_and_the_names_there_are() -> None:
    done = run("chess")
    assert 2 == done.returncode
    assert 'there is no game "chess"; there are mist' in done.stderr
    assert 2 == run("tests.referee.toy:Chess").returncode
    assert 2 == run("tests.no_such:Chess").returncode
