"""Run the arena's commands: in the process of the tests, or as programs of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from arena.commands.main import main

ROOT = Path(__file__).parents[2]


def invoke(*words: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, list(map(str, words)))


def run_arena(
    *words: object, cwd: Path = ROOT, env: dict[str, str] | None = None, **more: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, with no terminal and nothing on standard input."""
    return subprocess.run(  # noqa: S603, PLW1510 - our own program, whose exit code is the test's matter
        [sys.executable, "-m", "arena", *map(str, words)],
        cwd=cwd,
        env=_environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        **more,
    )


def start_program(
    module: str, *words: object, cwd: Path = ROOT, env: dict[str, str] | None = None, **more: Any
) -> "subprocess.Popen[str]":
    """Start a module as a program, whose two outputs are read as text."""
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | more
    command = [sys.executable, "-m", module, *map(str, words)]
    return subprocess.Popen(command, cwd=cwd, env=_environment(env), **given)  # noqa: S603 - our own program


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)} | (more or {})
