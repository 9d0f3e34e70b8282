"""`arena remote join`: what it refuses before it connects."""

import socket
from pathlib import Path

import pytest

from arena.errors import CANNOT, WRONG_USE
from referee.wire import new_pair, write_pair, z85
from tests.builders.command_line import arena


def test_a_revision_is_refused_with_what_to_give_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.commands.remote.find_bot", lambda name: name)
    given = ["remote", "join", "tcp://127.0.0.1:1", "my_bot@main", "--host-key", "h.key", "--key", "k.key_secret"]
    ended = arena(*given)
    said = "arena: my_bot@main: names a git revision; a remote bot plays from a folder\n"
    assert (WRONG_USE, said) == (ended.exit_code, ended.stderr)


def test_a_person_gets_no_link_to_a_port_in_use(tmp_path: Path) -> None:
    _, secret = write_pair(tmp_path / "me", new_pair())
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        keys = ["--host-key", z85(new_pair().public), "--key", secret]
        ended = arena("remote", "join", "tcp://127.0.0.1:1", "browser", *keys, "--port", port)
    said = f"arena: http://127.0.0.1:{port}: the port is in use; --port takes another\n"
    assert (CANNOT, said) == (ended.exit_code, ended.stderr)
