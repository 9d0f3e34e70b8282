"""What `arena doctor` says of a machine's walls."""

from pathlib import Path

import pytest

from referee.linux import cgroups
from referee.sandbox import SandboxError, walls
from referee.sandbox.host_machine import SandboxWalls
from referee.sandbox.walls import Wall, find_walls, what_forbids


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has nothing."""

    def none_here() -> None:
        raise SandboxError("no sandbox: bubblewrap is not installed")

    monkeypatch.setattr(walls, "find_isolation", none_here)
    monkeypatch.setattr(
        walls,
        "find_layers",
        lambda: SandboxWalls(no_filter="no libseccomp", no_groups="cup.service: Delegate=yes"),
    )
    monkeypatch.setattr("referee.sandbox.host_machine.landlock_version", lambda: 0)


@pytest.mark.usefixtures("bare")
def test_each_wall_that_is_missing_says_why() -> None:
    found = {wall.name: wall for wall in find_walls()}
    assert found["namespaces"].lack == "no sandbox: bubblewrap is not installed"
    assert found["system calls"].lack == "no libseccomp"
    assert found["memory, processes, processor time"].lack == "cup.service: Delegate=yes"
    assert {wall.name for wall in found.values() if wall.how} == {"user of a bot"}


def test_a_wall_is_there_or_missing() -> None:
    assert all(bool(wall.how) != bool(wall.lack) for wall in find_walls())


@pytest.mark.usefixtures("bare")
def test_control_groups_are_told_with_their_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("scope") / "mist-arena.1.0"
    tree = cgroups.Tree(2, dict.fromkeys((*cgroups.CONTROLLERS, cgroups.FREEZER), place), ())
    monkeypatch.setattr(walls, "find_layers", lambda: SandboxWalls(no_filter=None, no_groups=None))
    monkeypatch.setattr(cgroups, "tree", lambda: tree)
    *_, groups, freezer = find_walls()
    name = "memory, processes, processor time"
    assert Wall(name=name, how=f"control groups of version 2, in {place.parent}", lack="") == groups
    assert freezer.how


ALLOWED = {
    "user/max_user_namespaces": "63000",
    "kernel/unprivileged_userns_clone": "1",
    "kernel/apparmor_restrict_unprivileged_userns": "0",
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a machine that allows an ordinary user all."""
    for name, value in ALLOWED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")
    monkeypatch.setattr(walls, "SETTINGS", tmp_path)
    monkeypatch.setattr(walls, "is_container", lambda: False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "mend"),
    [
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_the_setting_that_forbids_them_is_named_with_what_sets_it(
    settings: Path, name: str, value: str, mend: str
) -> None:
    (settings / name).write_text(f"{value}\n")
    assert what_forbids().endswith(f"as root: {mend}")


def test_bounds_that_bind_only_other_users_are_not_named_to_root(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    (settings / "kernel/unprivileged_userns_clone").write_text("0\n")
    (settings / "kernel/apparmor_restrict_unprivileged_userns").write_text("1\n")
    assert what_forbids().startswith("no setting of the kernel forbids")


def test_settings_that_this_kernel_does_not_have_forbid_nothing(settings: Path) -> None:
    for name in ALLOWED:
        (settings / name).unlink()
    assert what_forbids() == "no setting of the kernel forbids user namespaces; bubblewrap 0.8 or newer is needed"


@pytest.mark.usefixtures("settings")
def test_a_container_is_told_how_to_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "is_container", lambda: True)
    assert what_forbids().startswith("this container may make no user namespaces; start it with --security-opt")
