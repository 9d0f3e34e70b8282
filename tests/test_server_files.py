"""The page of the season's server, and its unit: what the code, and systemd where there is one, say of them."""

import re
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import click
import msgspec
import pytest

from arena.commands.main import main as arena
from arena.config import ServerTerms
from arena.submissions import STATES
from tests.docs_pages import HOUSE, page, section, tables

UNIT = HOUSE / "docs/examples/server/arena.service"
EXPOSURE = 3.3
ANY = 2**53
"""A bound that the page does not tell."""
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
    assert f"rates its exposure {EXPOSURE}" in " ".join(page("docs/server.md").split())


def allowed(kind: object) -> str:
    """Return a type's values as the page writes them."""
    match kind:
        case msgspec.inspect.IntType(ge=int(least), le=int(most)) if most < ANY:
            return f"{least} to {most:,}"
        case msgspec.inspect.IntType(ge=int(least)):
            return f"from {least}"
        case msgspec.inspect.LiteralType(values=values):
            return ", ".join(f'`"{value}"`' for value in sorted(map(str, values)))
        case msgspec.inspect.UnionType(types=types) if msgspec.inspect.NoneType() in types:
            return ", ".join(allowed(each) for each in types if not isinstance(each, msgspec.inspect.NoneType))
        case msgspec.inspect.BoolType():
            return "`true`, `false`"
        case msgspec.inspect.StructType():
            return "a table"
        case _:
            raise AssertionError(kind)


def default(value: object) -> str:
    match value:
        case None:
            return "none"
        case str():
            return f'`"{value}"`'
        case _:
            return str(value)


def test_the_page_has_all_fields_of_the_server_s_table_with_defaults_and_bounds() -> None:
    terms = msgspec.inspect.type_info(ServerTerms)
    assert isinstance(terms, msgspec.inspect.StructType)
    (table,) = tables(section(page("docs/server.md"), "The table `[server]`"))
    fields = [(f"`{each.name}`", default(each.default), allowed(each.type)) for each in terms.fields]
    assert fields == [(field, its_default, values) for field, its_default, values, _ in table]


def test_the_page_has_all_states_of_a_submission_in_order() -> None:
    (table,) = tables(section(page("docs/server.md"), "What happens to a submission"))
    assert [f"`{state}`" for state in STATES] == [state for state, *_ in table]
