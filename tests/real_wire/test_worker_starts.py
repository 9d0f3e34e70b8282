"""How often commands start workers: each once, whatever it plays one after the other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COUNTS = """
import json, sys
from arena.commands.main import main
from arena.workers import pool

started, start = [], pool._start

def counted(*given):
    worker = start(*given)
    started.append((worker.process.pid, type(worker.process).__name__))
    return worker

pool._start = counted
try:
    main(sys.argv[1:])
except SystemExit as left:
    print(json.dumps([left.code, len(started), sorted(set(started))]))
"""
SHORT = ("--options", '{"max_turns": 2}')
BOTS = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nseed = 1\nisolation = "none"\n'
CUP = f"{BOTS}options.max_turns = 2\n"
SEASON = (
    f'{BOTS}blocks = 1\n[options]\nmax_turns = 2\n[[stages]]\nname = "first"\n[[stages]]\nname = "last"\ntop = 2\n'
)
KEPT = SEASON.replace("[options]", '[policy]\nprocesses = "kept"\n[options]')
COMMANDS = {
    "check": ("check", "mist_random", "--game", "mist", "--matches", "2", "--isolation", "none", *SHORT),
    "tournament": ("tournament", "cup.toml", "--concurrency", "1"),
    "season": ("season", "season.toml", "--concurrency", "1"),
    "regress": (
        *("regress", "mist", "--base", "mist_random", "--head", "mist_cautious", "--blocks", "1", "--seed", "1"),
        *("--isolation", "none", "--concurrency", "1", *SHORT),
    ),
}


def starts(folder: Path, *words: str) -> tuple[int, int, list[tuple[int, str]]]:
    """Run a command: its exit code, how often a pool was given a worker, and the workers with their kind."""
    files = {"cup.toml": CUP, "season.toml": SEASON, "kept.toml": KEPT}
    for name, text in files.items():
        (folder / name).write_text(text)
    done = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", COUNTS, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    code, given, workers = json.loads(done.stdout.splitlines()[-1])
    return code, given, [(pid, kind) for pid, kind in workers]


@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_command_that_plays_one_match_at_a_time_starts_one_worker(tmp_path: Path, command: str) -> None:
    """The check, the stages of a season and the matches that count are played by the same, forked one."""
    code, given, workers = starts(tmp_path, *COMMANDS[command])
    assert code in {0, 3}
    assert 2 <= given
    assert ["ForkedWorker"] == [kind for _, kind in workers]


def test_bots_that_are_kept_end_with_their_stage(tmp_path: Path) -> None:
    """What a bot learned in one tournament of a season must not be in its memory in the next."""
    code, given, workers = starts(tmp_path, "season", "kept.toml", "--concurrency", "1")
    assert (0, 3, 2) == (code, given, len(workers))
