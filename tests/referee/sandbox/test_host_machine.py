"""Whether systemd ends an arena when its user logs out."""

from pathlib import Path

import pytest

from referee.linux import systemd_scope
from referee.sandbox import host_machine


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Whether the groups were made; with them, the process is in a scope of its user's."""
    made: list[str] = []
    monkeypatch.setattr(systemd_scope, "IS_RUNNING", tmp_path)
    monkeypatch.setattr(host_machine, "find_layers", lambda: made.append("groups"))
    monkeypatch.setattr(systemd_scope, "ends_with_login", lambda: bool(made))
    return made


def test_the_scope_is_entered_before_it_is_looked_at(entered: list[str]) -> None:
    assert host_machine.ends_with_login("strict")
    assert entered


def test_bots_without_isolation_need_no_scope(entered: list[str]) -> None:
    assert not host_machine.ends_with_login("none")
    assert not entered


def test_without_systemd_nothing_is_looked_at(entered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systemd_scope, "IS_RUNNING", Path("/nowhere"))
    assert not host_machine.ends_with_login("strict")
    assert not entered
