"""The machine's clock is set back by two days while a tournament runs: matches go on, and times stay in order."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from arena.errors import DONE
from tests.builders.programs import start_program
from tests.real_wire.processes import until

SET_BACK = Path(__file__).with_name("set_back.c")
CUP = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 12
seed = 9
isolation = "standard"
policy.startup_ms = 60000
"""
BLOCKS = 12
DEALT_TWICE = 2
SAID = "this machine's clock was set back"


@pytest.fixture
def preloaded(tmp_path: Path) -> Path:
    """The library that sets a program's wall clock back; skips where it cannot be made."""
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed")
    library = tmp_path / "set_back.so"
    subprocess.run(  # noqa: S603 - our own words
        [gcc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, SET_BACK, "-ldl"], check=True
    )
    return library


@pytest.fixture
def back(tmp_path: Path, preloaded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While this file is there, the clocks of programs that are started show a time two days ago."""
    file = tmp_path / "back"
    monkeypatch.setenv("LD_PRELOAD", str(preloaded))
    monkeypatch.setenv("SET_BACK", str(file))
    shown = "import time; print(time.time())"
    now = [subprocess.check_output([sys.executable, "-c", shown], text=True)]  # noqa: S603 - our own interpreter
    file.touch()
    now.append(subprocess.check_output([sys.executable, "-c", shown], text=True))  # noqa: S603 - our own
    file.unlink()
    if float(now[0]) - float(now[1]) < timedelta(days=1).total_seconds():
        pytest.skip("this interpreter does not ask the C library what time it is")
    return file


@pytest.mark.slow
def test_a_tournament_goes_on_when_the_clock_is_set_back(back: Path, tmp_path: Path, sandboxed: None) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP)
    ledger = tmp_path / "runs/cup/ledger.sqlite"
    with start_program("arena", "tournament", "--no-check", "--json", file) as arena:
        until(lambda: arena.poll() is not None or len(_spans(ledger)) >= DEALT_TWICE)
        back.touch()
        output, said = arena.communicate()
    assert DONE == arena.returncode, said
    assert 1 == said.count(SAID), said
    for line in json.loads(output)["standings"]:
        assert (0, 0) == (line["faults"], line["defaults"])
    spans = _spans(ledger)
    assert DEALT_TWICE * BLOCKS == len(spans)
    assert all(began <= ended for began, ended in spans)
    began = [began for began, _ in spans]
    assert began == sorted(began)
    assert began[-1] - began[0] < timedelta(days=1)


def _spans(ledger: Path) -> list[tuple[datetime, datetime]]:
    """When each match began and ended, in the order in which they began; nothing as long as there is no ledger."""
    if not ledger.exists():
        return []
    with closing(sqlite3.connect(ledger)) as book, suppress(sqlite3.OperationalError):
        found = book.execute("SELECT started, ended FROM attempts WHERE ended IS NOT NULL ORDER BY id").fetchall()
        return [(datetime.fromisoformat(began), datetime.fromisoformat(ended)) for began, ended in found]
    return []
