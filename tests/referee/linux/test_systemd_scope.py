"""Asking systemd for a scope, with a program in busctl's place that writes down what it was asked."""

import os
import pwd
from pathlib import Path

import pytest

from referee.linux import systemd_scope
from referee.linux.systemd_scope import NoScopeError, enter_scope

ASKED = """#!/bin/sh
printf '%s\\n' "$@" > "{folder}/asked"
echo "$XDG_RUNTIME_DIR" > "{folder}/runtime"
{does}
"""
USER = pwd.getpwuid(os.geteuid()).pw_name


@pytest.fixture
def busctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for programs that is all of the path, in a machine that runs systemd for user 1000."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(systemd_scope, "IS_RUNNING", tmp_path)
    monkeypatch.setattr(systemd_scope, "RUNTIME", tmp_path)
    monkeypatch.setattr(systemd_scope, "_user", lambda: USER)
    monkeypatch.setattr(systemd_scope, "_own_path", lambda: "/user.slice/user-1000.slice/session-1.scope")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return tmp_path / "busctl"


def answers(busctl: Path, does: str) -> None:
    busctl.write_text(ASKED.format(folder=busctl.parent, does=does))
    busctl.chmod(0o755)


def test_the_users_manager_is_asked_for_a_scope_with_this_process_alone(
    busctl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(busctl, "true")
    told = busctl.parent / "asked"

    def own_path() -> str:
        if not told.exists():
            return "/user.slice/user-1000.slice/session-1.scope"
        return f"/user.slice/user-1000.slice/user@1000.service/app.slice/{told.read_text().split()[9]}"

    monkeypatch.setattr(systemd_scope, "_own_path", own_path)
    enter_scope("arena")
    asked = told.read_text().splitlines()
    assert asked[0] == "--user"
    unit, mode, *properties = asked[9:]
    assert unit.startswith(f"arena-{os.getpid()}-")
    assert unit.endswith(".scope")
    assert mode == "fail"
    assert ["PIDs", "au", "1", str(os.getpid()), "Delegate", "b", "true"] == properties[4:11]
    assert (busctl.parent / "runtime").read_text() == f"{busctl.parent}/1000\n"


def refusal() -> str:
    with pytest.raises(NoScopeError) as raised:
        enter_scope("arena")
    return str(raised.value)


def test_root_asks_the_systems_manager(busctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    answers(busctl, "echo 'Call failed: Access denied' >&2; exit 1")
    assert refusal() == "systemd gives no scope: Call failed: Access denied"
    assert (busctl.parent / "asked").read_text().startswith("--system\n")


def test_a_user_without_a_manager_is_told_how_to_get_one(busctl: Path) -> None:
    answers(busctl, "echo 'Failed to connect to bus: No medium found' >&2; exit 1")
    assert refusal().startswith(f"systemd runs no manager for {USER}; as root: loginctl enable-linger {USER} ")


def test_a_manager_that_refuses_is_quoted(busctl: Path) -> None:
    (busctl.parent / "1000").mkdir()
    (busctl.parent / "1000" / "bus").touch()
    answers(busctl, "echo 'Call failed: Unit exists' >&2; exit 1")
    assert refusal() == "systemd gives no scope: Call failed: Unit exists"


def test_a_users_service_stays_in_its_service(busctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user happens to be logged in, too: the scope would end with that login."""
    answers(busctl, "true")
    monkeypatch.setattr(systemd_scope, "_own_path", lambda: "/system.slice/cup.service")
    assert refusal() == f"cup.service is not left for a scope of {USER}'s, which ends with the last logout"
    assert not (busctl.parent / "asked").exists()


def test_a_process_that_is_not_moved_is_not_waited_for_without_end(
    busctl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(busctl, "true")
    monkeypatch.setattr(systemd_scope, "MOVE_SECONDS", 0.05)
    assert "did not move this process into arena-" in refusal()


def test_nothing_is_requested_without_systemd(busctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systemd_scope, "IS_RUNNING", busctl.parent / "none")
    assert refusal() == "this machine or container does not run systemd"


def test_without_busctl_the_error_names_it(busctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(busctl.parent))
    assert refusal() == "busctl, a part of systemd, is not installed"


@pytest.mark.parametrize(
    ("path", "service", "ends"),
    [
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/mist-arena-7.scope", "", True),
        ("/user.slice/user-1000.slice/session-1.scope", "", False),
        ("/system.slice/cup.service", "cup.service", False),
        ("/system.slice/cup.service/mist-arena-processes", "cup.service", False),
        ("/", "", False),
    ],
)
def test_the_group_of_a_process_determines_its_lifetime(
    path: str, service: str, ends: bool, busctl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systemd_scope, "_own_path", lambda: path)
    monkeypatch.setattr(systemd_scope, "_user", lambda: "alice")
    monkeypatch.setattr(systemd_scope, "LINGER", busctl.parent)
    assert (service, ends) == (systemd_scope.service(), systemd_scope.ends_with_login())
    (busctl.parent / "alice").touch()
    assert not systemd_scope.ends_with_login()
