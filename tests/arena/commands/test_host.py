"""`arena keys` and `arena host`: what they refuse, and that nobody is waited for without end."""

import socket
import stat
from pathlib import Path

import pytest

from arena.errors import CANNOT, DONE, NO
from referee.wire.keys import read_pair, z85
from tests.builders.command_line import arena, refused


@pytest.fixture
def alice(tmp_path: Path) -> str:
    """The name of a remote seat."""
    assert DONE == arena("keys", tmp_path / "alice").exit_code
    return f"remote:{tmp_path / 'alice.key'}"


def test_keys_are_made_once_and_the_public_one_is_printed(tmp_path: Path) -> None:
    result = arena("keys", tmp_path / "alice")
    pair = read_pair(tmp_path / "alice.key_secret")
    assert (DONE, z85(pair.public)) == (result.exit_code, result.stdout.strip())
    assert z85(pair.secret) not in result.output
    assert 0o600 == stat.S_IMODE((tmp_path / "alice.key_secret").stat().st_mode)
    assert "is there already" in refused("keys", tmp_path / "alice")
    assert "there is no folder" in refused("keys", tmp_path / "nowhere" / "alice")


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_keys_must_have_a_name(name: str) -> None:
    assert "is not the name of a file" in refused("keys", name)


def test_a_match_is_no_place_for_a_bot_on_another_machine(alice: str) -> None:
    assert "comes to `arena host`" in refused("match", "mist", alice, "mist_random")
    assert "comes to `arena host`" in refused("match", "mist", "mist_random", "--fill", alice)


def test_a_host_has_remote_seats(tmp_path: Path, alice: str) -> None:
    assert "for bots on this machine use `arena match`" in refused("host", "mist", "mist_random", "mist_random")
    assert "2 seats, and 1 bot is named" in refused("host", "mist", alice)
    assert "the same key" in refused("host", "mist", "--fill", alice)
    assert "cannot be read" in refused("host", "mist", "remote:nobody.key", "mist_random")


def test_a_bots_secret_key_is_not_taken_for_its_public_one(tmp_path: Path, alice: str) -> None:
    assert f"{tmp_path}/alice.key_secret: holds a secret key" in refused(
        "host", "mist", f"{alice}_secret", "mist_random"
    )


def test_names_are_not_looked_up(alice: str) -> None:
    assert "names are not looked up" in refused("host", "mist", alice, "mist_random", "--at", "localhost:5555")


def test_a_hosts_key_is_a_secret_one(tmp_path: Path, alice: str) -> None:
    said = refused("host", "mist", alice, "mist_random", "--key", tmp_path / "alice.key")
    assert "--key: " in said
    assert "has no secret-key" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--no-ponder"], "cannot be kept from thinking"), (["--clock", "cpu.toml"], "no processor time is known")],
)
def test_options_that_a_remote_seat_cannot_have_are_refused(
    alice: str, options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cpu.toml").write_text('[clock]\nkind = "cpu"\nmain_ms = 1000\n')
    assert said in refused("host", "mist", alice, "mist_random", *options, "--isolation", "none", "--at", ":0")


def test_two_seats_cannot_have_one_key(alice: str) -> None:
    assert "the same key" in refused("host", "mist", alice, alice, "--at", ":0")


def test_a_bot_that_does_not_connect_in_time_is_named(alice: str, tmp_path: Path) -> None:
    result = arena("host", "mist", alice, "mist_random", "--at", ":0", "--wait", "1", "--transcripts", tmp_path)
    assert (NO, "") == (result.exit_code, result.stdout)
    said = result.stderr.splitlines()
    assert "listening at tcp://127.0.0.1:" in said[1]
    assert "only from this machine" in said[1]
    assert "arena: alice did not connect within 1 s" == said[-1]


def test_a_port_that_is_taken_is_said_so(alice: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        result = arena("host", "mist", alice, "mist_random", "--at", at, "--transcripts", tmp_path)
    assert CANNOT == result.exit_code
    assert f"tcp://{at}: cannot listen there: Address already in use" in result.stderr
