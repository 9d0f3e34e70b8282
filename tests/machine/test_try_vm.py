"""`scripts/try-vm`, without a machine: its steps can be run, and what comes out of them is shown."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs_pages import HOUSE
from tests.machine import build, inside
from tests.machine.inside import Step

STEPS = {
    f"{who}: {step.name}{', slow' * slow}": step
    for who, steps in inside.STEPS.items()
    for slow in (False, True)
    for step in steps(slow)
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_steps_command_is_the_shells(step: Step) -> None:
    subprocess.run(["/bin/bash", "-n", "-c", step.command], check=True)


def test_no_two_steps_of_a_user_have_one_name() -> None:
    for steps in inside.STEPS.values():
        names = [step.name for step in steps()]
        assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(
    ("step", "good"),
    [
        (Step("as it should", "echo strict", "^strict$"), True),
        (Step("other words", "echo standard", "^strict$"), False),
        (Step("fails", "echo strict; exit 3", "^strict$"), False),
        (Step("is refused", "echo no; exit 3", "no", code=3), True),
        (Step("any exit code", "echo no; exit 1", "no", code=None), True),
    ],
)
def test_a_step_is_judged_by_its_output_and_its_exit_code(step: Step, good: bool) -> None:
    assert good == inside.run(step)["good"]


def test_a_step_that_hangs_is_ended_with_all_that_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "MOST_SECONDS", 0.2)
    told = inside.run(Step("hangs", "echo begun; sleep 1000 & wait"))
    assert "begun\n\nended after 0.2 s" == told["output"]
    assert not told["good"]


@pytest.mark.parametrize(
    ("row", "good"),
    [
        ("network namespace  yes  reaches-tcp  held  too busy", True),
        ("network namespace  yes  reaches-tcp  failed  (escaped)", True),
        ("network namespace  yes  reaches-tcp  held  escaped", False),
        ("network namespace  yes  reaches-tcp  escaped  held", False),
    ],
)
def test_on_a_slow_machine_an_escape_may_end_late_but_not_succeed(row: str, good: bool) -> None:
    printed = f"wall  on this machine\n{row}\nisolation strict, fresh: 1 of 2 attempts stopped"
    assert good == (re.search(inside.SLOW_HOLDS, printed, re.MULTILINE) is not None)
    assert re.search(inside.SLOW_HOLDS, row, re.MULTILINE) is None


def test_steps_are_chosen_by_words_in_the_words_order() -> None:
    steps = [Step("match", "a"), Step("doctor", "b"), Step("match at noon", "c")]
    assert steps == inside.chosen(steps, [])
    assert ["b", "a", "c"] == [step.command for step in inside.chosen(steps, ["doctor", "match", "noon"])]
    assert [] == inside.chosen(steps, ["tournament"])


def test_the_files_that_the_steps_test_exist() -> None:
    files = [word for step in STEPS.values() for word in step.command.split() if word.endswith(".py")]
    assert "tests/real_wire/test_kept_bots.py" in files
    assert all((HOUSE / file).is_file() for file in files)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_clocks_run_slower_by_the_given_factor(tmp_path: Path) -> None:
    # The clock that includes suspensions is left alone.
    program = """
import select, time
clocks = time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC, time.CLOCK_REALTIME
begun = [time.clock_gettime(clock) for clock in clocks]
select.select([], [], [], 1)
print(*(time.clock_gettime(clock) - first for clock, first in zip(clocks, begun)))
"""
    slow = {"LD_PRELOAD": str(build.make_slow_clock(tmp_path)), "SLOWER": "10"}
    said = subprocess.run([sys.executable, "-c", program], env=slow, capture_output=True, text=True, check=True)
    real, *slowed = map(float, said.stdout.split())
    assert real >= 1
    assert [real / 10] * 2 == pytest.approx(slowed, rel=0.2)


def reports() -> list[dict[str, Any]]:
    step = {"user": "alice", "step": "doctor", "command": "d", "output": "a\nb\n", "code": 0, "seconds": 2.4}
    return [{"user": "alice", "machine": "Debian"}, {**step, "good": True}, {"user": "alice", "end": True}]


def test_the_table_has_the_last_line_and_the_file_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == build.show(reports(), tmp_path)
    printed = capsys.readouterr().out.splitlines()
    assert "alice on Debian" == printed[0]
    assert ["alice", "doctor", "0", "2", "yes", "b"] == printed[-1].split()
    assert "==== alice: doctor\n$ d\na\nb\n\n" == (tmp_path / "output.txt").read_text()


def test_a_machine_that_stopped_before_its_end_is_a_failure(tmp_path: Path) -> None:
    assert 1 == build.show(reports()[:-1], tmp_path)


def test_a_report_that_is_cut_is_left_out(tmp_path: Path) -> None:
    """A machine that was ended may have been in the middle of a line."""
    (tmp_path / "report").write_text('{"user": "alice", "end": true}\n{"user": "ali')
    machine = subprocess.Popen(["/bin/true"])
    machine.wait()
    found = [report for report in build.follow(tmp_path / "report", machine) if report]
    assert [{"user": "alice", "end": True}] == found


def test_missing_programs_are_named(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    ended = subprocess.run(
        ["/bin/sh", HOUSE / "scripts/try-vm"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 3 == ended.returncode
    assert ended.stderr.startswith("scripts/try-vm: to build a machine, ")
