"""Control groups of both versions: what is written where. Version 2 on a tree of plain files."""

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.bot_folder.manifest import Limits
from referee.linux import cgroups, systemd_scope
from referee.linux.cgroups import NoGroupsError, Tree
from referee.linux.systemd_scope import NoScopeError
from referee.sandbox.host_machine import group_for

LIMITS = Limits(memory_mb=100, scratch_mb=10, processes=5, cpus=1.5)
MIB = 2**20
FIRST = """\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
"""


def no_scope(_name: str) -> None:
    raise NoScopeError("this machine or container does not run systemd")


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A part of a tree of version 2 that was handed over, with this process in it."""
    for name, text in {
        "cgroup.controllers": "cpuset cpu io memory pids\n",
        "cgroup.subtree_control": "",
        "cgroup.type": "domain\n",
        "cgroup.procs": f"{os.getpid()}\n",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cgroups, "_own_places", lambda: iter([(2, [""], tmp_path)]))
    monkeypatch.setattr("atexit.register", lambda *_: None)
    monkeypatch.setattr(cgroups, "_set_guard", lambda _: None)
    monkeypatch.setattr(systemd_scope, "enter_scope", no_scope)
    cgroups.tree.cache_clear()
    yield tmp_path
    cgroups.tree.cache_clear()


def test_in_version_2_one_folder_per_bot_has_all_bounds(second: Path) -> None:
    group = group_for(LIMITS)
    (folder,) = second.glob(f"mist-arena.{os.getpid()}.*/[0-9]*")
    told = {file.name: file.read_text() for file in folder.iterdir()}
    assert {
        "memory.max": str((100 + 10 + cgroups.OVERHEAD_MB) * MIB),
        "cpu.max": "150000 100000",
        "pids.max": "7",
    } == told
    assert "0" == (folder.parent / "memory.swap.max").read_text()
    assert group.freeze()
    assert "1" == (folder / "cgroup.freeze").read_text()
    group.thaw()
    assert "0" == (folder / "cgroup.freeze").read_text()
    group.add(4321)
    assert "4321" == (folder / "cgroup.procs").read_text()


@pytest.mark.parametrize(
    ("peak", "around", "at_fault"),
    [("7", "max", True), ("6", "max", False), (None, "max", True), (None, "1000", True), (None, "10", False)],
)
def test_a_refused_process_is_the_bots_fault_unless_a_group_around_was_full(
    second: Path, peak: str | None, around: str, at_fault: bool
) -> None:
    """Where the kernel keeps no peak, groups around that are nearly full are taken for the cause."""
    group = group_for(LIMITS)
    (folder,) = second.glob(f"mist-arena.{os.getpid()}.*/[0-9]*")
    (folder / "pids.events").write_text("max 0\n")
    assert not group.wanted_processes_in_vain()
    (folder / "pids.events").write_text("max 1\n")
    (second / "pids.max").write_text(around)
    (second / "pids.current").write_text("8\n")
    if peak is not None:
        (folder / "pids.peak").write_text(peak)
    assert at_fault is not group.wanted_processes_in_vain()
    group.close()


def test_in_version_2_the_arena_moves_down_before_it_enables_controllers(second: Path) -> None:
    cgroups.tree()
    assert str(os.getpid()) == (second / "mist-arena-processes" / "cgroup.procs").read_text()
    assert "+memory +pids +cpu" == (second / "cgroup.subtree_control").read_text()
    (own,) = second.glob(f"mist-arena.{os.getpid()}.*")
    assert "+memory +pids +cpu" == (own / "cgroup.subtree_control").read_text()


def test_in_version_2_processes_started_during_the_move_are_moved_too(
    second: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Path.write_text
    tries: list[Path] = []

    def busy(path: Path, text: str) -> int:
        if path == second / "cgroup.subtree_control":
            tries.append(path)
            if len(tries) < 3:  # another arena has started a process since
                written(second / "cgroup.procs", f"{1000 + len(tries)}\n")
                raise OSError(errno.EBUSY, "Device or resource busy")
        return written(path, text)

    monkeypatch.setattr(Path, "write_text", busy)
    cgroups.tree()
    assert "1002" == (second / cgroups.PROCESSES / "cgroup.procs").read_text()


def test_in_version_2_processes_of_one_arena_create_their_groups_side_by_side(
    second: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not each below the one before, deeper and deeper, because that has moved it down."""
    cgroups.tree()
    moved = second / "mist-arena-processes"
    (moved / "cgroup.controllers").write_text("cpu memory pids\n")
    monkeypatch.setattr(cgroups, "_own_places", lambda: iter([(2, [""], moved)]))
    cgroups.tree.cache_clear()
    assert second == cgroups.tree().places["memory"].parent


def test_processor_time_and_throttling_are_read_in_microseconds(second: Path) -> None:
    group = group_for(LIMITS)
    (folder,) = second.glob(f"mist-arena.{os.getpid()}.*/[0-9]*")
    (folder / "cpu.stat").write_text("usage_usec 1234\nuser_usec 1000\nnr_throttled 2\nthrottled_usec 77\n")
    assert (1234, 77) == (group.cpu_us(), group.throttled_us())


class TestWhereItMayNotMakeGroups:
    """The arena asks systemd for a scope; where it gets none, the error names what is missing and what to type."""

    def _error(self) -> str:
        with pytest.raises(NoGroupsError) as raised:
            cgroups.tree()
        return str(raised.value)

    @pytest.fixture
    def systemd(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(systemd_scope, "IS_RUNNING", tmp_path)
        monkeypatch.setattr(systemd_scope, "service", lambda: "")

    @pytest.mark.parametrize(
        ("user", "start"), [(1000, "start the arena as root, and a container"), (0, "start a container")]
    )
    def test_without_systemd_it_names_the_controllers(
        self, user: int, start: str, second: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (second / "cgroup.controllers").write_text("cpuset io memory\n")
        monkeypatch.setattr("os.geteuid", lambda: user)
        assert self._error().startswith(
            f"the control groups here lack pids and cpu: {start} with a tree of its own"
        )

    @pytest.mark.usefixtures("systemd")
    def test_the_answer_of_systemd_is_passed_on(self, second: Path) -> None:
        (second / "cgroup.controllers").write_text("memory pids\n")
        assert (
            self._error() == "the control groups here lack cpu, and this machine or container does not run systemd"
        )

    @pytest.mark.usefixtures("systemd")
    def test_a_service_needs_delegate(self, second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (second / "cgroup.controllers").write_text("memory pids\n")
        monkeypatch.setattr(systemd_scope, "service", lambda: "cup.service")
        assert self._error() == "cup.service may make no control groups: add Delegate=yes to its [Service] section"

    @pytest.mark.usefixtures("systemd")
    def test_a_scope_with_too_few_controllers_names_the_users_manager(
        self, second: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (second / "cgroup.controllers").write_text("memory pids\n")
        monkeypatch.setattr(systemd_scope, "enter_scope", lambda _: None)
        error = self._error()
        assert error.startswith("systemd does not delegate cpu to users here. As root: mkdir")
        assert "Delegate=cpu memory pids" in error

    @pytest.mark.usefixtures("systemd")
    def test_in_a_scope_the_groups_are_made_there(
        self, second: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also for root, whose shell would else be moved with the arena."""
        scope = tmp_path_factory.mktemp("mist-arena-1.scope")
        for file in second.iterdir():
            (scope / file.name).write_text(file.read_text())

        def entered(name: str) -> None:
            assert name == cgroups.NAME
            monkeypatch.setattr(cgroups, "_own_places", lambda: iter([(2, [""], scope)]))

        monkeypatch.setattr(systemd_scope, "enter_scope", entered)
        monkeypatch.setattr(systemd_scope, "is_delegated", lambda _: False)
        monkeypatch.setattr("os.geteuid", lambda: 0)
        assert scope == cgroups.tree().places["memory"].parent
        assert not list(second.glob("mist-arena*"))

    @pytest.mark.usefixtures("systemd")
    def test_root_without_a_scope_makes_them_where_it_is(
        self, second: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(systemd_scope, "is_delegated", lambda _: False)
        monkeypatch.setattr("os.geteuid", lambda: 0)
        assert second == cgroups.tree().places["memory"].parent

    def test_groups_of_version_1_are_roots(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        places = [(1, ["memory"], tmp_path / "memory"), (2, [""], tmp_path)]
        monkeypatch.setattr(cgroups, "_own_places", lambda: iter(places))
        cgroups.tree.cache_clear()
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        assert self._error().startswith("control groups of version 1 belong to root: start the arena as root, or")
        monkeypatch.setattr("os.geteuid", lambda: 0)
        assert "cannot be written to: start a container with docker run --privileged, or" in self._error()


def test_groups_of_arenas_that_were_killed_are_cleared_away(second: Path) -> None:
    left = second / "mist-arena.4194999.0a1b2c3d"
    (left / "17").mkdir(parents=True)
    cgroups.tree()
    assert not left.exists()


def test_groups_of_an_arena_that_lives_are_left_alone_whatever_its_number(second: Path) -> None:
    """In another container it has a number that nobody has here."""
    left = second / "mist-arena.4194999.0a1b2c3d"
    (left / "17").mkdir(parents=True)
    lives = os.open(left, os.O_RDONLY)
    fcntl.flock(lives, fcntl.LOCK_EX)
    cgroups.tree()
    assert (left / "17").exists()
    os.close(lives)
    cgroups.sweep()
    assert not left.exists()


def test_two_arenas_of_one_number_have_groups_of_their_own(second: Path) -> None:
    """They are in two containers."""
    first = cgroups.tree().places["memory"]
    cgroups.tree.cache_clear()
    assert first != cgroups.tree().places["memory"]
    assert first.exists()


@pytest.mark.parametrize("is_open", [True, False])
def test_a_group_that_is_taken_for_an_abandoned_one_while_it_is_made_is_made_again(
    *, is_open: bool, second: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is gone before this arena has opened it."""
    locked, swept = cgroups._locked, list[Path]()

    def removed_before_it_is_locked(folder: Path, how: int = 0) -> int:
        lock = locked(folder, how) if is_open else 0
        if not swept:
            swept.append(folder)
            folder.rmdir()
        return lock if is_open else locked(folder, how)

    monkeypatch.setattr(cgroups, "_locked", removed_before_it_is_locked)
    assert cgroups.tree().places["memory"].exists()
    assert [cgroups.tree().places["memory"]] == swept


@pytest.mark.parametrize(
    ("mounts", "groups", "wanted"),
    [
        (
            FIRST,
            "4:memory:/a/b\n3:cpu,cpuacct:/\n",
            [
                (1, ["memory"], "/sys/fs/cgroup/memory/a/b"),
                (1, ["cpu", "cpuacct"], "/sys/fs/cgroup/cpu,cpuacct"),
            ],
        ),
        (
            "25 23 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/user.slice/x.scope\n",
            [(2, [""], "/sys/fs/cgroup/user.slice/x.scope")],
        ),
        (
            "25 23 0:22 /docker/1 /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
            "0::/docker/1\n",
            [(2, [""], "/sys/fs/cgroup")],
        ),
    ],
)
def test_the_group_of_a_process_is_read_from_the_kernels_lists(
    mounts: str, groups: str, wanted: list[tuple[int, list[str], str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"/proc/self/mountinfo": mounts, "/proc/self/cgroup": groups}
    monkeypatch.setattr(Path, "read_text", lambda self: texts[str(self)])
    found = [(version, names, str(place)) for version, names, place in cgroups._own_places()]
    assert wanted == found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may surely write to control groups")
def test_a_group_of_this_machine_holds_a_process_that_is_started_inside() -> None:
    cgroups.tree.cache_clear()
    try:
        made: Tree = cgroups.tree()
    except NoGroupsError as error:
        pytest.skip(str(error))
    group = group_for(LIMITS)
    with group.inside():
        child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    try:
        if made.version != 1:
            group.add(child)
        folders = set(group._folders.values())
        assert {str(child)} == {(folder / "cgroup.procs").read_text().strip() for folder in folders}
        assert group.cpu_us() < 10_000_000
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        group.close()
    assert not any(folder.exists() for folder in folders)
