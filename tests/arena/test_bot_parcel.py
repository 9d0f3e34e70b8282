"""Bots on their way to another machine: the same content arrives, or none."""

import io
import tarfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.bot_parcel import arrived, keep, packed, place_of
from referee.bot_folder import BotFolder, BotFolderError, read_bot

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


def parcel(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def test_a_bot_arrives_as_it_was_sent_under_its_contents_name(bot: BotFolder) -> None:
    keep(bot.content, packed(bot.folder))
    here = arrived(bot)
    assert replace(bot, folder=place_of(bot.content)) == here
    assert {"bot.toml", "run", "data", "link"} == {path.name for path in here.folder.iterdir()}


def test_what_was_not_announced_is_not_kept(bot: BotFolder, cache: Path) -> None:
    with pytest.raises(BotFolderError, match=f"a bot of content {bot.content} was announced, and sha256:"):
        keep(bot.content, parcel("bot.toml", b"another"))
    assert [] == list((cache / "mist-arena/arrived").iterdir())


def test_what_would_be_put_elsewhere_is_not_kept(bot: BotFolder, tmp_path: Path) -> None:
    with pytest.raises(BotFolderError, match=r"a bot arrived broken: '../../../out': no name for a file inside"):
        keep(bot.content, parcel("../../../out", b""))
    with pytest.raises(BotFolderError, match="a bot arrived broken"):
        keep(bot.content, b"no archive")
    assert not (tmp_path / "out").exists()


def test_a_bot_that_was_changed_since_is_not_used(bot: BotFolder) -> None:
    keep(bot.content, packed(bot.folder))
    (place_of(bot.content) / "run").write_text("#!/bin/false\n")
    with pytest.raises(BotFolderError, match="was changed since it arrived: delete it"):
        arrived(bot)


def test_one_that_came_twice_is_kept_once(bot: BotFolder) -> None:
    keep(bot.content, packed(bot.folder))
    keep(bot.content, packed(bot.folder))
    assert bot.content == arrived(bot).content
