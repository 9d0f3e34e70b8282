"""Bubblewrap is killed while it starts a sandbox: its child, which waits for it, is not left behind.

A library preloaded into bubblewrap holds its start at the place where its child is not yet tied to its life.
"""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from referee.bot_folder import find_bot
from referee.sandbox import bwrap
from referee.sandbox.host_machine import PROJECT, SandboxWalls
from tests.real_wire.processes import alive, children, family, until

HELD_START = Path(__file__).with_name("held_start.c")
STARTS = {
    "warm": "from referee.sandbox.prefork import _Starter; _Starter()",
    "cold": """
import os, tempfile
from pathlib import Path
from referee.bot_folder import find_bot
from referee.sandbox.bwrap import run
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
    run(find_bot("any_random"), Path(folder, "none.sock"), dict(os.environ), log.fileno(), seconds={seconds})
""",
}
WITHOUT_GROUPS = """
from referee.linux import cgroups
def none():
    raise cgroups.NoGroupsError("none in this test")
cgroups.tree = none
"""
FOREVER = 600
ENDED_BY_KILL = -9


@pytest.fixture
def path(tmp_path: Path, sandboxed: None) -> str:
    """PATH with a bubblewrap whose start is held."""
    gcc, bubblewrap = shutil.which("gcc"), shutil.which("bwrap")
    if gcc is None or bubblewrap is None:
        pytest.skip("gcc or bubblewrap is not installed")
    library = tmp_path / "held_start.so"
    subprocess.run(  # noqa: S603 - our own words
        [gcc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, HELD_START, "-ldl"], check=True
    )
    held = tmp_path / "bin/bwrap"
    held.parent.mkdir()
    held.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {bubblewrap} "$@"\n')
    held.chmod(0o755)
    return f"{held.parent}:{os.environ['PATH']}"


def arena(path: str, program: str) -> "subprocess.Popen[bytes]":
    """One that starts a sandbox."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-c", program], cwd=PROJECT, env=os.environ | {"PATH": path}, stderr=subprocess.PIPE
    )


def bubblewraps(process: int) -> list[int]:
    """Return the two processes of bubblewrap under this one; none before both are there."""
    found = []
    for outer in children(process):
        for pid in (outer, *children(outer)):
            with suppress(OSError):  # it may end while it is asked
                if Path(f"/proc/{pid}/comm").read_text() == "bwrap\n":
                    found.append(pid)
    return found if len(found) > 1 else []


@pytest.mark.parametrize("groups", ["", WITHOUT_GROUPS], ids=["groups", "no-groups"])
@pytest.mark.parametrize("start", STARTS)
def test_the_arena_is_killed(path: str, start: str, groups: str) -> None:
    with arena(path, groups + STARTS[start].format(seconds=FOREVER)) as killed:
        until(lambda: bubblewraps(killed.pid))
        left = family(killed.pid)
        killed.kill()
        until(lambda: not alive(left))
    assert killed.returncode == ENDED_BY_KILL


def test_the_arena_gives_up(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(bwrap, "find_layers", lambda: SandboxWalls(no_filter=None, no_groups="none in this test"))
    with (tmp_path / "log").open("wb") as log:
        setup = bwrap.SandboxSetup(find_bot("any_random"), tmp_path / "none.sock", dict(os.environ), log.fileno())
    until(lambda: children(setup.popen.pid))
    left = family(setup.popen.pid)
    setup.abandon()
    until(lambda: not alive(left))
