"""Keys are spelled and written as ZeroMQ's own tools do, never written over, and read with care."""

from pathlib import Path

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st
from zmq.auth import create_certificates, load_certificate

from referee.wire.keys import KeyFileError, KeyPair, from_z85, new_pair, read_pair, read_public, write_pair, z85

PAIR = new_pair()


def test_z85_is_that_of_rfc_32() -> None:
    assert "HelloWorld" == z85(bytes.fromhex("864FD26FB559F75B"))


@given(st.binary(min_size=32, max_size=32))
def test_a_key_is_spelled_as_libzmq_spells_it_and_read_back(key: bytes) -> None:
    assert zmq.utils.z85.encode(key).decode() == z85(key)
    assert key == from_z85(z85(key))


def test_a_pair_is_one_for_libzmq() -> None:
    assert zmq.curve_public(z85(PAIR.secret).encode()) == z85(PAIR.public).encode()


@pytest.mark.parametrize("text", ["", "short", "0" * 39, "0" * 41, "~" * 40, "#" * 40, "é" * 40])
def test_text_that_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        from_z85(text)


def test_a_pair_is_written_for_its_owner_alone_and_read_back(tmp_path: Path) -> None:
    public, secret = write_pair(tmp_path / "alice", PAIR)
    assert ("alice.key", "alice.key_secret") == (public.name, secret.name)
    assert (0o644, 0o600) == (public.stat().st_mode & 0o777, secret.stat().st_mode & 0o777)
    assert (PAIR.public, PAIR) == (read_public(public), read_pair(secret))
    assert z85(PAIR.secret) not in public.read_text()


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    write_pair(tmp_path / "alice", PAIR)
    with pytest.raises(KeyFileError, match="is there already"):
        write_pair(tmp_path / "alice", new_pair())
    (tmp_path / "alice.key").unlink()
    with pytest.raises(KeyFileError, match="is there already"):
        write_pair(tmp_path / "alice", new_pair())
    assert PAIR == read_pair(tmp_path / "alice.key_secret")


def test_zeromqs_own_tools_read_what_we_write_and_we_what_they_write(tmp_path: Path) -> None:
    public, secret = write_pair(tmp_path / "ours", PAIR)
    spelled = z85(PAIR.public).encode(), z85(PAIR.secret).encode()
    assert (spelled[0], None) == load_certificate(public)
    assert spelled == load_certificate(secret)
    create_certificates(tmp_path, "theirs")
    (tmp_path / "theirs.key_secret").chmod(0o600)
    assert read_public(tmp_path / "theirs.key") == read_pair(tmp_path / "theirs.key_secret").public


def test_a_secret_key_that_others_may_read_is_refused_with_what_helps(tmp_path: Path) -> None:
    _, secret = write_pair(tmp_path / "alice", PAIR)
    secret.chmod(0o640)
    with pytest.raises(KeyFileError, match="try chmod 600"):
        read_pair(secret)


def test_errors_in_a_key_file_name_file_line_and_field(tmp_path: Path) -> None:
    file = tmp_path / "x.key"
    with pytest.raises(KeyFileError, match=r"x\.key: cannot be read: No such file"):
        read_public(file)
    file.write_text("nothing")
    with pytest.raises(KeyFileError, match=r"x\.key: has no public-key"):
        read_public(file)
    file.write_text('curve\n    public-key = "abc"\n')
    with pytest.raises(KeyFileError, match=r"x\.key:2: public-key: 'abc' is no key"):
        read_public(file)
    mixed = KeyPair(new_pair().public, PAIR.secret)
    with pytest.raises(KeyFileError, match="do not belong together"):
        read_pair(write_pair(tmp_path / "mixed", mixed)[1])


@pytest.mark.parametrize("slip", ["~", "é", "", "00", "#"])
def test_a_mistyped_secret_key_is_not_quoted(tmp_path: Path, slip: str) -> None:
    secret = "#" * 10 + "rest-of-the-key-which-is-30-lett"[:29] + slip
    file = tmp_path / "x.key_secret"
    file.write_text(f'curve\n    public-key = "{z85(PAIR.public)}"\n    secret-key = "{secret}"\n')
    with pytest.raises(KeyFileError, match=r"x\.key_secret:3: secret-key: is no key") as caught:
        read_pair(file)
    assert "rest" not in str(caught.value)
    assert "###" not in str(caught.value)
