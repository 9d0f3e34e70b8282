"""Bots that break: `arena check`, a tournament and a regression test say of each what is wrong with it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena.errors import DONE, NO, UNDECIDED
from arena.workers import pool
from referee.bot_folder import BUILT_IN
from referee.linux.processes import own_children
from tests.builders.bots import write_bot
from tests.builders.programs import invoke
from tests.builders.tournaments import write_tournament

PROGRAMS = {
    "syntax": "def x(:\n",
    "hangs": "import time\ntime.sleep(100)\n",
    "illegal": "from bots.kit import run\nrun(lambda window: {'cells': ['J9']})\n",
}


def test_each_bot_is_told_what_is_wrong_with_it(tmp_path: Path) -> None:
    for name, program in PROGRAMS.items():
        write_bot(tmp_path / name, program)
    more = 'isolation = "none"', "policy.startup_ms = 2000"
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", *PROGRAMS], *more)
    ended = invoke("check", file, "--results", tmp_path / "check", "--json")
    found = {each["bot"]: each for each in json.loads(ended.stdout)["bots"]}
    assert NO == ended.exit_code
    assert [True, False, False, False] == [each["well"] for each in found.values()]
    assert "SyntaxError: invalid syntax (bot.py:1)" in found["syntax"]["broken"]
    assert found["hangs"]["broken"].startswith("never started: no hello in 2 s")
    illegal = found["illegal"]
    assert None is illegal["broken"]
    assert illegal["windows"] == illegal["lost"] == illegal["asked_default"] > 0
    assert Path(found["syntax"]["logs"][0]).read_text().endswith("SyntaxError: invalid syntax\n")


def test_a_program_by_lines_that_dies_at_its_start_cannot_start_in_any_check(tmp_path: Path) -> None:
    program = 'import sys\nsys.exit("cannot load model weights")\n'
    folder = write_bot(tmp_path / "dead", program, 'transport = "stdio"')
    options = ["--isolation", "none", "--json"]
    alone = invoke("check", folder, "--results", tmp_path / "alone", *options)
    (found,) = json.loads(alone.stdout)["games"]
    assert (NO, 0, {"never_started": 1}) == (alone.exit_code, found["started"], found["conduct"])
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", "dead"], 'isolation = "none"')
    field = invoke("check", file, "--results", tmp_path / "field", "--json")
    why = json.loads(field.stdout)["bots"][1]["broken"]
    assert why.startswith(
        "never started: it exited with code 1; its last line of output: cannot load model weights"
    )
    words = ["regress", "mist", "--base", "mist_random", "--head", folder, "--isolation", "none"]
    head = invoke(*words, "--results", tmp_path / "regress")
    assert NO == head.exit_code
    assert "rejected: head (" in head.stderr


@pytest.mark.slow
def test_all_bots_of_a_season_are_checked_under_the_terms_of_its_first_stage(tmp_path: Path) -> None:
    stages = '[[stages]]\nname = "all"\n[[stages]]\nname = "final"\ntop = 2'
    bots = ["mist_random", "mist_hunter"]
    file = write_tournament(tmp_path / "league.toml", bots, 'isolation = "none"', stages)
    ended = invoke("check", file, "--results", tmp_path / "check", "--json")
    assert DONE == ended.exit_code, ended.stderr
    found = json.loads(ended.stdout)
    assert ["mist_random", "mist_hunter"] == [each["bot"] for each in found["bots"]]
    assert found["starts"]
    assert found["forecast"] is found["design"] is None


CUT_OFF = """import json, os, time, zmq
line = zmq.Context().socket(zmq.PAIR)
line.connect(os.environ["ARENA_ENDPOINT"])
hello = {"type": "hello", "token": os.environ["ARENA_TOKEN"], "name": "bare", "version": "1", "protocol": 1}
line.send(json.dumps(hello).encode())
while json.loads(line.recv())["type"] != "window":
    pass
line.send(bytes(300_000))
time.sleep(60)
"""


def test_a_message_that_closes_the_connection_is_named_and_proved(tmp_path: Path) -> None:
    folder = write_bot(tmp_path / "large", CUT_OFF)
    words = ["--isolation", "none", "--matches", "1", "--main-ms", "200", "--json", "--options"]
    ended = invoke("check", folder, "--results", tmp_path / "check", *words, '{"max_turns": 4}')
    [found] = json.loads(ended.stdout)["games"]
    assert NO == ended.exit_code
    assert "its connection was closed: a message of 300000 bytes, more than 262144" == found["said"][0]
    assert 0 == found["refused"]
    verified = invoke("replay", "--boards", *found["transcripts"])
    assert DONE == verified.exit_code, verified.stderr
    assert "its connection was closed: a message of 300000 bytes" in verified.stdout


def test_the_workers_that_play_a_check_play_what_comes_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start takes longer than a short match. The processes of the check's bots have ended by then."""
    started: list[int] = []
    start = pool._start

    def counted(*how: Any) -> Any:
        worker = start(*how)
        started.append(worker.process.pid)
        return worker

    monkeypatch.setattr(pool, "_start", counted)
    before = {child.pid for child in own_children()}
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", "mist_cautious"], "options.max_turns = 2")
    words = ["--concurrency", "1", "--isolation", "none", "--results"]
    ended = invoke("tournament", file, *words, tmp_path / "results")
    assert (DONE, 2, 1) == (ended.exit_code, len(started), len(set(started)))
    ended = invoke(
        "check", "mist_random", "--game", "mist", "--options", '{"max_turns": 2}', *words, tmp_path / "c"
    )
    assert (DONE, 4, 2) == (ended.exit_code, len(started), len(set(started)))
    # So do two bots that enter.
    for name in ("anna", "ben"):
        shutil.copytree(BUILT_IN / "mist_random", tmp_path / "entries" / name)
    ended = invoke("entry", "sync", file, tmp_path / "entries", "--results", tmp_path / "results")
    assert (DONE, 6, 3) == (ended.exit_code, len(started), len(set(started))), ended.output
    assert before == {child.pid for child in own_children()}


BOTS = {
    "broken": "from bots.kit import run\n\ndef decide(window)\n    return window.default\n",
    "falls": "from bots.kit import run\n\n"
    "def decide(window):\n    if window.id == 1:\n        raise ValueError('no idea')\n"
    "    return window.default\n\nrun(decide)\n",
    "rude": "from bots.kit import run\n\nrun(lambda window: {'cells': ['J9']})\n",
}
RULES = {"max_turns": 6}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, program in BOTS.items():
        write_bot(tmp_path / name, program)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_tournament_says_of_each_bot_why_it_lost(folder: Path) -> None:
    more = "blocks = 1", "seed = 4", 'isolation = "none"', "options.max_turns = 6", "policy.startup_ms = 60000"
    write_tournament(folder / "cup.toml", BOTS, *more)
    text = invoke("tournament", "cup.toml", "--no-check", "--usage").stdout
    logs = folder / "runs/cup/transcripts"
    said = {name: line for line in text.splitlines() for name in BOTS if line.startswith(f"{name}: ")}
    assert "broken: never started in 4 of 4 matches: SyntaxError: expected ':' (bot.py:3)" in said["broken"]
    assert "falls: it exited with code 1 in 4 of 4 matches" in said["falls"]
    assert "; its last line of output: ValueError: no idea (bot.py:5); log: " in said["falls"]
    assert "'J9' is no cell of this board" in said["rude"]
    for line in said.values():
        log = Path(line.partition("; log: ")[2])
        assert log.resolve().parent == logs
        assert log.read_text()
    usage = text.split("peak memory")[1].splitlines()
    assert ["broken", "-", "-", "-"] == next(line.split()[:4] for line in usage if line.startswith("broken"))
    reports = json.loads(invoke("report", "runs/cup", "--json").stdout)["reports"]
    assert {"broken": 4, "falls": 4, "rude": 0} == {name: each["lost"] for name, each in reports.items()}
    assert reports["rude"]["asked_default"] == reports["rude"]["windows"] > 0
    assert reports["rude"]["window_us"]["worst"] > 0
    page = (folder / "runs/cup/report.html").read_text()
    assert "never started in 4 of 4 matches: SyntaxError" in page
    assert "What the bots used" in page


@pytest.mark.slow
def test_a_head_that_never_starts_is_said_with_its_error(folder: Path) -> None:
    words = [
        "--base",
        "mist_random",
        "--head",
        "broken",
        "--blocks",
        "2",
        "--isolation",
        "none",
        "--startup-ms",
        "60000",
        "--no-check",
    ]
    done = invoke("regress", "mist", *words, "--options", json.dumps(RULES), "--markdown", "s.md")
    assert UNDECIDED == done.exit_code
    why = "SyntaxError: expected ':' (bot.py:3)"
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("head: never started in "))
    assert why in line
    assert why in done.stderr
    assert "head: never started in " in (folder / "s.md").read_text()
