"""Bots that break: the notes of a real tournament say of each why it lost, and so does a regression test."""

import json
from pathlib import Path

import pytest

from arena.errors import UNDECIDED
from tests.builders.bots import write_bot
from tests.builders.programs import invoke

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
    (folder / "cup.toml").write_text(
        f'game = "mist"\nbots = {json.dumps(list(BOTS))}\nblocks = 1\nseed = 4\nisolation = "none"\n'
        "[options]\nmax_turns = 6\n[policy]\nstartup_ms = 60000\n"
    )
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
