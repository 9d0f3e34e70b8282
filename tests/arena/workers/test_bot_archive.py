"""Bots on their way to another machine: the same content arrives, or none."""

import zlib
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from arena.workers.cluster.transfer import arrived_bot, packed_bot, store_bot
from referee.bot_folder import content as bot_content
from referee.bot_folder.content import copy_place, is_whole
from referee.bot_folder.manifest import BotFolder, BotFolderError, read_bot

TOML = 'name = "b"\nversion = "1"\ncommand = ["./run"]\ngames = "*"\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def bot(tmp_path: Path) -> BotFolder:
    folder = tmp_path / "bot"
    (folder / "data").mkdir(parents=True)
    (folder / "bot.toml").write_text(TOML)
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "data" / "book").write_bytes(b"\x00\xff")
    (folder / "link").symlink_to("data/book")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "run.pyc").write_bytes(b"")
    return read_bot(folder, given="bot")


def header(name: str, size: int) -> bytes:
    text = msgspec.json.encode({"name": name, "kind": "f", "size": size})
    return len(text).to_bytes(4) + text


def parcel(name: str, content: bytes) -> bytes:
    return zlib.compress(header(name, len(content)) + content + bytes(4))


def test_a_bot_arrives_as_it_was_sent_under_its_contents_name(bot: BotFolder) -> None:
    store_bot(bot.content, packed_bot(bot))
    here = arrived_bot(bot)
    assert replace(bot, folder=copy_place(bot.content)) == here
    assert {"bot.toml", "run", "data", "link"} == {path.name for path in here.folder.iterdir()}


def test_unannounced_files_are_not_stored(bot: BotFolder, cache: Path) -> None:
    with pytest.raises(BotFolderError, match=f"a bot of content {bot.content} was announced, and sha256:"):
        store_bot(bot.content, parcel("bot.toml", b"another"))
    assert is_whole(bot.content)


def test_files_that_would_be_written_elsewhere_are_not_stored(bot: BotFolder, tmp_path: Path) -> None:
    with pytest.raises(BotFolderError, match=r"a bot arrived broken: ../../../out: is no name for a file inside"):
        store_bot(bot.content, parcel("../../../out", b""))
    with pytest.raises(BotFolderError, match="a bot arrived broken"):
        store_bot(bot.content, b"no archive")
    assert not (tmp_path / "out").exists()


def test_files_that_the_hash_does_not_cover_are_not_sent(bot: BotFolder, cache: Path) -> None:
    """A sender could put beside a bot's content what its hash does not tell, and Python would run."""
    whole = zlib.decompress(packed_bot(bot))
    more = header("run.d/__pycache__/run.pyc", 4) + b"evil"
    with pytest.raises(BotFolderError, match=r"__pycache__/run\.pyc: is never part of a bot's content"):
        store_bot(bot.content, zlib.compress(whole[:-4] + more + bytes(4)))
    assert {bot.folder.name, "lock"} == {path.name for path in (cache / "mist-arena/contents").iterdir()}


@pytest.mark.parametrize("content", ["../../out", "sha256:../../out", "", "sha256:", f"sha256:{'a' * 63}\n"])
def test_a_hash_that_is_none_names_no_place(bot: BotFolder, cache: Path, content: str) -> None:
    with pytest.raises(BotFolderError, match="no hash of a content"):
        store_bot(content, packed_bot(bot))
    assert ["mist-arena"] == [path.name for path in cache.iterdir()]
    assert {bot.folder.name, "lock"} == {path.name for path in (cache / "mist-arena/contents").iterdir()}


def test_a_folder_that_others_may_write_to_is_not_used(bot: BotFolder, cache: Path) -> None:
    (cache / "mist-arena/contents").chmod(0o777)
    bot_content._hold.cache_clear()
    with pytest.raises(BotFolderError, match="contents: may be written by other users"):
        store_bot(bot.content, packed_bot(bot))


def test_files_that_cannot_be_sent_are_named(bot: BotFolder) -> None:
    (bot.folder / "link").unlink()
    (bot.folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(BotFolderError, match="cannot be sent to another machine: link: is a link"):
        packed_bot(bot)


def test_a_bot_that_was_changed_since_is_not_used(bot: BotFolder) -> None:
    store_bot(bot.content, packed_bot(bot))
    (copy_place(bot.content) / "run").chmod(0o755)
    (copy_place(bot.content) / "run").write_text("#!/bin/false\n")
    with pytest.raises(BotFolderError, match="is not there, or was changed since it was made"):
        arrived_bot(bot)


def test_one_that_came_twice_is_kept_once(bot: BotFolder) -> None:
    store_bot(bot.content, packed_bot(bot))
    store_bot(bot.content, packed_bot(bot))
    assert bot.content == arrived_bot(bot).content
