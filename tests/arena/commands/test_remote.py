"""`arena remote join`: what it refuses before it connects."""

import pytest

from arena.errors import WRONG_USE
from tests.builders.command_line import arena


def test_a_revision_is_refused_with_what_to_give_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.commands.remote.find_bot", lambda name: name)
    given = ["remote", "join", "tcp://127.0.0.1:1", "my_bot@main", "--host-key", "h.key", "--key", "k.key_secret"]
    ended = arena(*given)
    said = "arena: my_bot@main: names a git revision; a remote bot plays from a folder\n"
    assert (WRONG_USE, said) == (ended.exit_code, ended.stderr)
