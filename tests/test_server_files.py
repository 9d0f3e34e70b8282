"""The unit of the season's server: what systemd says of it, where there is one, and what bots' sandboxes need."""

import re
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import click
import pytest

from arena.commands.main import main as arena
from tests.docs_pages import HOUSE

UNIT = HOUSE / "docs/examples/server/arena.service"
EXPOSURE = 3.3
of_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


def service() -> ConfigParser:
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # names of keys as they stand
    unit.read(UNIT)
    return unit


def test_the_unit_serves_and_plays_behind_a_proxy_as_an_ordinary_user() -> None:
    unit = service()
    assert ["Unit", "Service", "Install"] == unit.sections()
    program, verb, _, *words = shlex.split(unit["Service"]["ExecStart"])
    assert f"{unit['Service']['WorkingDirectory']}/scripts/arena" == program
    command = arena.get_command(click.Context(arena), verb)
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    given = {word for word in words if word.startswith("--")}
    assert {"--play", "--url", "--behind-proxy"} <= given <= known
    assert ("arena", "yes") == (unit["Service"]["User"], unit["Service"]["Delegate"])


def test_the_unit_takes_nothing_from_the_sandbox_of_the_bots() -> None:
    keys = service()["Service"].keys()
    needed = {"RestrictNamespaces", "ProtectProc", "ProtectKernelTunables", "ProtectControlGroups", "PrivateUsers"}
    assert needed.isdisjoint(keys)
    calls = set(" ".join(re.findall(r"(?m)^SystemCallFilter=(.*)$", UNIT.read_text())).split())
    assert {"@mount", "sethostname", "seccomp", "landlock_create_ruleset"} <= calls


@of_systemd
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """Its program and its folder are not there on this machine, so that others stand in for them."""
    text = UNIT.read_text().replace("/srv/arena/scripts/arena", sys.executable)
    text = text.replace("/srv/arena", str(tmp_path))
    unit = tmp_path / "arena.service"
    unit.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert (0, "") == (done.returncode, done.stderr)


@of_systemd
def test_the_exposure_that_the_page_tells_is_what_systemd_computes() -> None:
    done = subprocess.run(  # noqa: S603 - of the machine
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", UNIT],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"Overall exposure level for arena\.service: ([0-9.]+)", done.stdout)
    assert found is not None
    assert EXPOSURE == pytest.approx(float(found[1]), abs=0.3)  # Other versions weigh a little differently.
    assert f"rates its exposure {EXPOSURE}" in (HOUSE / "docs/server.md").read_text()
