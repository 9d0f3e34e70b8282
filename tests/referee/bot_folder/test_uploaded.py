"""Archives of authors: unpacked within bounds, and refused in one line whatever is in them."""

import io
import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.bot_folder import unpacking
from referee.bot_folder.archive import ENDINGS, UploadError, is_upload, label_of_upload, unpacked_upload
from referee.bot_folder.content import MEGABYTE, MOST_FILES, MOST_MB, size_of
from referee.bot_folder.manifest import read_bot
from referee.bot_folder.unpacking import NO_ARCHIVE

MANIFEST = b'name = "a"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
GOOD = {"bot.toml": MANIFEST, "bot.py": b"1"}
REGULAR = stat.S_IFREG | 0o644


def zipped(archive: Path, files: dict[str, bytes], modes: dict[str, int] | None = None) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (modes or {}).get(name, REGULAR) << 16
            opened.writestr(info, content)
    return archive


def tarred(archive: Path, files: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(archive, "w:gz") as opened:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
        if kind != tarfile.REGTYPE:
            info = tarfile.TarInfo("odd")
            info.type, info.linkname = kind, "/etc/passwd"
            opened.addfile(info)
    return archive


def refusal(archive: Path, most_mb: int = MOST_MB, most_files: int = MOST_FILES) -> str:
    with (
        pytest.raises(UploadError) as caught,
        unpacked_upload(archive, most_mb=most_mb, most_files=most_files),
    ):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("prefix", ["", "./", "anna/"])
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_bot_in_an_archive_is_the_bot_in_its_folder(
    tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path], prefix: str
) -> None:
    more = {f"{prefix}__pycache__/x.pyc": b"x", "__MACOSX/._bot.py": b"x", f"{prefix}inner/help.py": b"2"}
    archive = pack(tmp_path / "a.zip", {f"{prefix}{name}": content for name, content in GOOD.items()} | more)
    folder = tmp_path / "plain"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner/help.py").write_bytes(b"2")
    for name, content in GOOD.items():
        (folder / name).write_bytes(content)
    with unpacked_upload(archive) as unpacked:
        found = read_bot(unpacked, given="a")
        left = unpacked
    assert read_bot(folder, given="a").content == found.content
    assert not left.exists()


def test_a_program_stays_one_that_can_be_executed(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", GOOD, {"bot.py": stat.S_IFREG | 0o755})
    with unpacked_upload(archive) as unpacked:
        assert 0o755 == (unpacked / "bot.py").stat().st_mode & 0o777
        assert 0o600 == (unpacked / "bot.toml").stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../bot.toml", "../bot.toml: is no name for a file inside"),
        ("/etc/x", "/etc/x: is no name for a file inside"),
        ("a/" * 40 + "x", "lies more than 32 folders deep"),
        ("x" * 300, "has a name of more than 255 bytes in its folder"),
        ("a\x1b", r"a\x1b: has a name with characters that cannot be printed"),
        ("bot.toml/x", "bot.toml/x: is there twice"),
    ],
)
def test_a_name_that_a_bot_may_not_have_is_refused(tmp_path: Path, name: str, said: str) -> None:
    assert said in refusal(zipped(tmp_path / "a.zip", GOOD | {name: b""}))
    assert said in refusal(tarred(tmp_path / "a.tgz", GOOD | {name: b""}))
    assert not (tmp_path.parent / "bot.toml").exists()


TAR_KINDS = {
    tarfile.SYMTYPE: "odd: is a link, and neither a file nor a folder",
    tarfile.LNKTYPE: "odd: is a link, and neither a file nor a folder",
    tarfile.FIFOTYPE: "odd: is a pipe, and neither a file nor a folder",
    tarfile.CHRTYPE: "odd: is a device, and neither a file nor a folder",
}


@pytest.mark.parametrize("kind", TAR_KINDS)
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    assert TAR_KINDS[kind] == refusal(tarred(tmp_path / "a.tgz", GOOD, kind))
    link = zipped(tmp_path / "a.zip", GOOD | {"odd": b"/etc/passwd"}, {"odd": stat.S_IFLNK | 0o777})
    assert TAR_KINDS[tarfile.SYMTYPE] == refusal(link)


def test_files_and_their_bytes_have_bounds(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "a.zip", GOOD | {"zeros": bytes(3 << 20)})
    assert bomb.stat().st_size < 1 << 14
    assert "the archive has files of more than 2 MB together, the most here" == refusal(bomb, most_mb=2)
    many = zipped(tmp_path / "b.zip", GOOD | {str(number): b"" for number in range(9)})
    assert "the archive has more than 10 files" == refusal(many, most_files=10)


def test_without_room_nothing_is_written_and_what_is_too_large_is_refused_all_the_same(tmp_path: Path) -> None:
    good = zipped(tmp_path / "a.zip", GOOD)
    full = pytest.raises(OSError, match="No space left on device")
    with full, unpacked_upload(good, inside=tmp_path, reserve_mb=2**40):
        pass
    bomb = zipped(tmp_path / "b.zip", GOOD | {"zeros": bytes(3 << 20)})
    large = pytest.raises(UploadError, match="more than 2 MB together")
    with large, unpacked_upload(bomb, inside=tmp_path, reserve_mb=2**40, most_mb=2):
        pass
    assert {"a.zip", "b.zip"} == {path.name for path in tmp_path.iterdir()}


def test_a_reserve_of_the_disk_stays_free_beside_a_bot_and_its_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk of 10 MB with a reserve of 4 MB has room for 2 MB and two copies."""

    def disk(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=10 * MEGABYTE - size_of(folder)[1], f_frsize=1)

    monkeypatch.setattr(os, "statvfs", disk)
    for size, fits in ((1, True), (2, False)):
        folder = tmp_path / str(size)
        folder.mkdir()
        target = unpacking._Target(folder, 50 * MEGABYTE, 50, 4 * MEGABYTE)
        made = zipped(tmp_path / "a.zip", {"zeros": bytes(size * MEGABYTE), "more": bytes(MEGABYTE // 2)})
        with made.open("rb") as file, nullcontext() if fits else pytest.raises(OSError, match="No space"):
            unpacking._unpack(file, target)
        assert size_of(folder)[1] <= 2 * MEGABYTE
        assert fits == (size_of(folder)[1] == 1.5 * MEGABYTE)


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_an_archive_is_not_at_fault_if_somebody_ends_the_process_that_unpacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal: str
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nkill -{signal} $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(InterruptedError), unpacked_upload(zipped(tmp_path / "a.zip", GOOD)):
        pass


@pytest.mark.slow
def test_memory_has_a_bound_too(tmp_path: Path) -> None:
    """Python's reader of LZMA gives all that a block holds at once."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as opened:
        for name, content in GOOD.items():
            opened.writestr(name, content)
        with opened.open("zeros", "w", force_zip64=True) as inside:
            for _ in range(1_100):
                inside.write(bytes(1 << 20))
    said = refusal(tmp_path / "a.zip", most_mb=2_000)
    assert "the archive takes more than 60 s of processor time or 1024 MB of memory to unpack" == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", NO_ARCHIVE),
        (b"garbage" * 100, NO_ARCHIVE),
        (b"PK\x05\x06" + bytes(18), "the archive has no bot.toml, neither at its top nor in its only folder"),
    ],
)
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    assert refusal(tmp_path / "a.zip").startswith(said)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    whole = bytearray(zipped(tmp_path / "a.zip", GOOD | {"x": os.urandom(1_000)}).read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(whole)
    assert refusal(tmp_path / "a.zip").startswith("the archive is damaged: ")


def test_neither_a_link_nor_a_fifo_is_opened(tmp_path: Path) -> None:
    (tmp_path / "b.zip").symlink_to(zipped(tmp_path / "a.zip", GOOD))
    os.mkfifo(tmp_path / "c.zip")
    assert refusal(tmp_path / "b.zip").startswith("the archive cannot be read: it is a symbolic link")
    assert refusal(tmp_path / "c.zip").startswith("the archive cannot be read: it is a fifo")


def test_an_archive_of_several_bots_is_none(tmp_path: Path) -> None:
    files = {f"{bot}/{name}": content for bot in "ab" for name, content in GOOD.items()}
    assert refusal(zipped(tmp_path / "a.zip", files)).startswith("the archive has no bot.toml")


def test_archives_are_known_by_their_names(tmp_path: Path) -> None:
    assert ["anna"] * len(ENDINGS) == [label_of_upload(f"anna{ending}") for ending in ENDINGS]
    assert ("anna.v2", None, None) == tuple(map(label_of_upload, ("anna.v2.ZIP", "anna", ".zip")))
    (tmp_path / "folder.zip").mkdir()
    assert not is_upload(tmp_path / "folder.zip")
    assert is_upload(zipped(tmp_path / "a.zip", GOOD))
