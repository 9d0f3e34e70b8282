"""Archives of authors: unpacked within bounds, and refused in one line whatever is in them."""

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.bot_folder.archive import ENDINGS, UploadError, is_upload, label_of_upload, unpacked_upload
from referee.bot_folder.content import MOST_FILES, MOST_MB
from referee.bot_folder.manifest import read_bot

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


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    assert "odd: is neither a file nor a folder" == refusal(tarred(tmp_path / "a.tgz", GOOD, kind))
    link = zipped(tmp_path / "a.zip", GOOD | {"odd": b"/etc/passwd"}, {"odd": stat.S_IFLNK | 0o777})
    assert "odd: is neither a file nor a folder" == refusal(link)


def test_files_and_their_bytes_have_bounds(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "a.zip", GOOD | {"zeros": bytes(3 << 20)})
    assert bomb.stat().st_size < 1 << 14
    assert "has files of more than 2 MB together" == refusal(bomb, most_mb=2)
    many = zipped(tmp_path / "b.zip", GOOD | {str(number): b"" for number in range(9)})
    assert "has more than 10 files" == refusal(many, most_files=10)


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
    assert "takes more than 60 s or 1024 MB of memory to unpack" == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be unpacked: "),
        (b"garbage" * 100, "cannot be unpacked: "),
        (b"PK\x05\x06" + bytes(18), "has no bot.toml, neither at its top nor in its only folder"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    assert refusal(tmp_path / "a.zip").startswith(said)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    whole = bytearray(zipped(tmp_path / "a.zip", GOOD | {"x": os.urandom(1_000)}).read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(whole)
    assert refusal(tmp_path / "a.zip").startswith("cannot be unpacked: ")


def test_neither_a_link_nor_a_fifo_is_opened(tmp_path: Path) -> None:
    (tmp_path / "b.zip").symlink_to(zipped(tmp_path / "a.zip", GOOD))
    os.mkfifo(tmp_path / "c.zip")
    assert refusal(tmp_path / "b.zip").startswith("cannot be read: it is a symbolic link")
    assert refusal(tmp_path / "c.zip").startswith("cannot be read: it is a fifo")


def test_an_archive_of_several_bots_is_none(tmp_path: Path) -> None:
    files = {f"{bot}/{name}": content for bot in "ab" for name, content in GOOD.items()}
    assert refusal(zipped(tmp_path / "a.zip", files)).startswith("has no bot.toml")


def test_archives_are_known_by_their_names(tmp_path: Path) -> None:
    assert ["anna"] * len(ENDINGS) == [label_of_upload(f"anna{ending}") for ending in ENDINGS]
    assert ("anna.v2", None, None) == tuple(map(label_of_upload, ("anna.v2.ZIP", "anna", ".zip")))
    (tmp_path / "folder.zip").mkdir()
    assert not is_upload(tmp_path / "folder.zip")
    assert is_upload(zipped(tmp_path / "a.zip", GOOD))
