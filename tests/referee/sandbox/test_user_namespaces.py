"""Which setting forbids user namespaces, and what to type."""

from pathlib import Path

import pytest

from referee.sandbox import walls
from referee.sandbox.walls import what_forbids

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


def test_root_is_told_of_none_that_binds_only_others(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
