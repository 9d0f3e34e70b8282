"""`scripts/bench` tells names from options and their values, wherever they stand."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.installation import interpreter

BENCH = Path(__file__).parents[1] / "scripts" / "bench"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A house whose benchmarks only say what they were given."""
    for name, text in ((".venv/bin/python", 'echo "ran $*"'), ("scripts/environment", "")):
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    shutil.copy(BENCH, tmp_path / "scripts")
    return tmp_path


def bench(house: Path, arguments: str) -> tuple[int, list[str]]:
    """The exit code, and what was run with what."""
    done = subprocess.run(  # noqa: S603 - our own script
        [house / "scripts/bench", *arguments.split()], capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    ran = "ran scripts/bench_"
    return done.returncode, [line.removeprefix(ran) for line in lines if line.startswith(ran)]


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        ("decision", ["decision.py"]),
        ("decision wire", ["decision.py", "wire.py"]),
        ("decision --quick", ["decision.py --quick"]),
        ("--quick decision", ["decision.py --quick"]),
        ("load --soak 60 --at-once 3", ["load.py --soak 60 --at-once 3"]),
        ("--soak 60 load --quick wire", ["load.py --soak 60 --quick", "wire.py --soak 60 --quick"]),
    ],
)
def test_options_may_stand_anywhere(house: Path, arguments: str, ran: list[str]) -> None:
    assert (0, ran) == bench(house, arguments)


def test_its_first_line_says_which_python_runs(house: Path) -> None:
    (house / ".venv/bin/python").unlink()
    (house / ".venv/bin/python").symlink_to(sys.executable)
    (house / "arena").symlink_to(BENCH.parents[1] / "arena")
    (house / "scripts/bench_wire.py").write_text("print('measured')\n")
    done = subprocess.run([house / "scripts/bench", "wire"], capture_output=True, text=True, check=True)  # noqa: S603
    first, _, last = done.stdout.splitlines()
    assert (interpreter(), "measured") == (first, last)


def test_without_a_name_all_are_run(house: Path) -> None:
    code, ran = bench(house, "--quick")
    assert code == 0
    assert {"decision.py --quick", "wire.py --quick"} < {*ran}
    assert all((BENCH.parent / f"bench_{line.removesuffix(' --quick')}").is_file() for line in ran)


@pytest.mark.parametrize("arguments", ["nothing", "decision nothing", "--quick nothing"])
def test_what_is_neither_is_refused(house: Path, arguments: str) -> None:
    assert (2, []) == bench(house, arguments)
