"""`scripts/environment` does not take an environment away from an arena that runs from it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/environment"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Make a clone whose environment is of an older lock file."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    (tmp_path / "requirements.lock").write_text("a==1\n")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / "arena").mkdir()
    (tmp_path / "arena/__init__.py").touch()
    (tmp_path / "arena/__main__.py").write_text("print('here', flush=True); input()\n")
    return tmp_path


@pytest.fixture
def arena(clone: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start an arena that runs from the clone's environment."""
    command = [str(clone / ".venv/bin/python"), "-m", "arena"]
    with subprocess.Popen(command, cwd=clone, stdin=-1, stdout=-1, text=True) as running:  # noqa: S603 - our own
        assert running.stdout is not None
        assert "here\n" == running.stdout.readline()
        yield running
        running.kill()


def make_anew(clone: Path) -> "subprocess.CompletedProcess[str]":
    """Run the script, with a `python3` that makes no environment."""
    (clone / "bin").mkdir()
    (clone / "bin/python3").write_text('#!/bin/sh\ncase "$*" in *venv*) exit 9 ;; esac\n')
    (clone / "bin/python3").chmod(0o755)
    path = {"PATH": f"{clone}/bin:{os.environ['PATH']}"}
    return subprocess.run(  # noqa: S603 - our own
        [clone / "scripts/environment"], env=path, capture_output=True, text=True, check=False
    )


def test_while_an_arena_runs_it_stays_and_the_script_names_the_process(
    clone: Path, arena: "subprocess.Popen[str]"
) -> None:
    done = make_anew(clone)
    assert done.returncode == 3
    wanted = f"an arena runs from {clone}/.venv, which must be made anew: end process {arena.pid} first"
    assert done.stderr == f"scripts/environment: {wanted}\n"
    assert (clone / ".venv/bin/python").exists()


def test_a_missing_environment_is_made_again(clone: Path) -> None:
    assert make_anew(clone).returncode == 9
    assert not (clone / ".venv/bin/python").exists()
