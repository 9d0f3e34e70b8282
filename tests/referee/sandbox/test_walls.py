"""What `arena doctor` says of a machine's walls."""

import pytest

from referee.linux import cgroups
from referee.sandbox import SandboxError, walls
from referee.sandbox.host_machine import Layers
from referee.sandbox.walls import Wall, find_walls


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has nothing."""

    def none_here() -> None:
        raise SandboxError("no sandbox: bubblewrap is not installed")

    monkeypatch.setattr(walls, "find_isolation", none_here)
    monkeypatch.setattr(
        walls, "find_layers", lambda: Layers(no_filter="no libseccomp", no_groups="cup.service: Delegate=yes")
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
    monkeypatch.setattr(walls, "find_layers", lambda: Layers(no_filter=None, no_groups=None))
    monkeypatch.setattr(cgroups, "tree", lambda: tree)
    *_, groups, freezer = find_walls()
    name = "memory, processes, processor time"
    assert Wall(name=name, how=f"control groups of version 2, in {place.parent}", lack="") == groups
    assert freezer.how
