"""`scripts/bench` tells names from options and their values, wherever they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

from arena.installation import interpreter

SCRIPTS = Path(__file__).parents[1] / "scripts"
FAKE = """
import argparse
from benchmarks.harness import Judgement, bench, option


@bench("wire", option("--lines", type=int, default=1))
def wire(options: argparse.Namespace) -> Judgement:
    print("wire", options.lines, options.quick)
    return {"within": True, "beyond": False, "alone": None}["VERDICT"]


@bench("decision")
def decision(options: argparse.Namespace) -> Judgement:
    print("decision", options.quick)
    return True
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Make a house whose benchmarks of one module only print their options."""
    package = tmp_path / "scripts/benchmarks"
    package.mkdir(parents=True)
    for name in ("__init__.py", "__main__.py", "harness.py"):
        (package / name).write_text((SCRIPTS / "benchmarks" / name).read_text())
    (package / "wire.py").write_text(FAKE.replace("VERDICT", "within"))
    return tmp_path


def bench(house: Path, arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(house / "scripts/benchmarks"), *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program


def printed(done: "subprocess.CompletedProcess[str]") -> list[str]:
    return [line for line in done.stdout.splitlines()[1:] if not line.startswith("== ")]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("decision", ["decision False"]),
        ("decision wire", ["decision False", "wire 1 False"]),
        ("decision --quick", ["decision True"]),
        ("--quick decision", ["decision True"]),
        ("wire --lines 5 --quick", ["wire 5 True"]),
        ("--lines 5 wire --quick", ["wire 5 True"]),
        ("wire --lines=5", ["wire 5 False"]),
    ],
)
def test_options_may_stand_anywhere(house: Path, arguments: str, lines: list[str]) -> None:
    done = bench(house, arguments)
    assert (0, lines) == (done.returncode, printed(done)), done.stderr


def test_its_first_line_says_which_python_runs(house: Path) -> None:
    first, second, _ = bench(house, "decision").stdout.splitlines()
    assert interpreter() == first
    assert second.startswith("== decision (load before: ")


@pytest.mark.parametrize("verdict", ["beyond", "alone"])
def test_it_fails_beyond_a_bound_and_without_anything_to_compare_with(house: Path, verdict: str) -> None:
    (house / "scripts/benchmarks/wire.py").write_text(FAKE.replace("VERDICT", verdict))
    done = bench(house, "wire decision")
    assert (1, ["wire 1 False", "decision False"]) == (done.returncode, printed(done))
    assert "over its bound, or not measured: wire\n" == done.stderr


def test_without_a_name_all_are_run_but_those_on_request() -> None:
    listed = bench(SCRIPTS.parent, "--help").stdout
    assert "rules play worlds learning adjudicate decision wire" in listed
    assert "Only if named: questions" in listed


def test_every_benchmark_is_in_the_module_that_is_listed_for_it() -> None:
    look = (
        "import sys; sys.path.insert(0, 'scripts')\n"
        "from importlib import import_module\n"
        "from benchmarks.harness import BENCHMARKS, MODULES\n"
        "for module, names in MODULES.items():\n"
        "    BENCHMARKS.clear()\n"
        "    import_module(f'benchmarks.{module}')\n"
        "    assert {*names} == {*BENCHMARKS}, (names, BENCHMARKS)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", look], cwd=SCRIPTS.parent, capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("arguments", ["nothing", "decision nothing", "--quick nothing"])
def test_an_unknown_name_is_refused(house: Path, arguments: str) -> None:
    done = bench(house, arguments)
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("scripts/bench: there is no benchmark nothing; there are ")
