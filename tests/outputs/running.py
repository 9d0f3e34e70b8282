"""Runs the arena's commands in this process, and returns what they print."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from click.testing import CliRunner, Result

from arena.commands.main import main

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 100
"""Width of all tables and helps."""
OWN_FOLDER = re.compile(r"/tmp/arena-[a-z0-9_]{8}")  # noqa: S108 - found in text, never opened
ENVIRONMENT = {
    "COLUMNS": str(COLUMNS),
    "LINES": "40",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "TERM": "dumb",
    "TZ": "UTC",
}
UNSET = ("ARENA_COMMAND", "ARENA_TRACEBACK", "FORCE_COLOR", "NO_COLOR")
"""Variables that would change what a command prints."""


@contextmanager
def own_folder() -> Iterator[Path]:
    """Change into a new folder, which is deleted afterwards.

    Its path always has the same length, because some tables are as wide as the paths in them.
    """
    before = Path.cwd()
    with TemporaryDirectory(prefix="arena-", dir="/tmp") as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def arena(*words: str, columns: int = COLUMNS) -> str:
    """Run a command in the current folder; return its words, all that it prints, and its exit code."""
    done = _run(words, columns)
    printed = done.stdout + (f"--- standard error\n{done.stderr}" if done.stderr else "")
    return normalised(f"$ arena {' '.join(words)}\n{printed}--- exit code {done.exit_code}\n")


def output(*words: str) -> str:
    """Run a command that must succeed; return only its standard output."""
    done = _run(words, COLUMNS)
    if done.exit_code:
        raise RuntimeError(f"arena {' '.join(words)}: exit code {done.exit_code}: {done.stderr}")
    return normalised(done.stdout)


def _run(words: Sequence[str], columns: int) -> Result:
    # Some messages quote the command, as it stands in `sys.argv`.
    with patch.object(sys, "argv", ["arena", *words]), patch("arena.terminal.WIDE", columns):
        return CliRunner().invoke(main, list(words))


def normalised(text: str) -> str:
    """Return the text without the place of this clone and of the temporary folder."""
    return OWN_FOLDER.sub("/tmp/arena-________", text.replace(str(ROOT), "/clone"))  # noqa: S108 - as above
