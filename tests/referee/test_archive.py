"""Archives of strangers: what is honest comes out whole, and nothing is ever written elsewhere."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from referee import archive
from referee.archive import LONGEST_NAME, ArchiveError, unpack


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", *, size: int = 0, mode: int = 0o644
) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size, made.mode = kind, link, size, mode
    return made


def archived(*members: tarfile.TarInfo, text: bytes = b"x" * 1000) -> io.BytesIO:
    """An archive of these; files hold the beginning of the text."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        for each in members:
            tar.addfile(each, io.BytesIO(text[: each.size]) if each.isreg() else None)
    made.seek(0)
    return made


def taken_out(folder: Path, *members: tarfile.TarInfo, most: int = 10_000) -> None:
    folder.mkdir()
    unpack(archived(*members), folder, mode="r:", most=most)


def test_files_folders_and_links_inside_come_out(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    taken_out(
        folder,
        member(".", tarfile.DIRTYPE, mode=0o700),
        member("./lib", tarfile.DIRTYPE),
        member("./lib/run", size=3, mode=0o6755),
        member("./lib/data", size=5, mode=0o666),
        member("./deep/down/again", tarfile.LNKTYPE, "./lib/run"),
        member("./deep/up", tarfile.SYMTYPE, "../lib/data"),
        member("./here", tarfile.SYMTYPE, "."),
    )
    assert {"lib", "deep", "here"} == {each.name for each in folder.iterdir()}
    assert (b"xxx", b"xxx", b"xxxxx") == tuple(
        (folder / name).read_bytes() for name in ("lib/run", "deep/down/again", "deep/up")
    )
    umask = os.umask(0)
    os.umask(umask)
    assert [0o755 & ~umask, 0o644 & ~umask] == [
        (folder / name).stat().st_mode & 0o7777 for name in ("lib/run", "lib/data")
    ]


REFUSED = {
    "an absolute name": [member("/etc/passwd")],
    "a name that leads up": [member("a/../../b")],
    "a name as long as no file's": [member("/".join(["d" * 100] * 11))],
    "a file there twice": [member("a"), member("a")],
    "a link in a file's place": [member("a"), member("a", tarfile.SYMTYPE, "b")],
    "a file below a link": [member("a", tarfile.SYMTYPE, "."), member("a/b")],
    "a folder in a link's place": [member("a", tarfile.SYMTYPE, "b"), member("a", tarfile.DIRTYPE)],
    "a file below a file": [member("a"), member("a/b")],
    "a link to an absolute place": [member("a", tarfile.SYMTYPE, "/etc/passwd")],
    "a link out": [member("d/a", tarfile.SYMTYPE, "../../b")],
    "a link up through another link": [member("s", tarfile.SYMTYPE, "."), member("t", tarfile.SYMTYPE, "s/..")],
    "a link as long as no path": [member("a", tarfile.SYMTYPE, "b/" * LONGEST_NAME)],
    "a hard link to what is not there": [member("a", tarfile.LNKTYPE, "b")],
    "a hard link to a link": [member("a", tarfile.SYMTYPE, "b"), member("c", tarfile.LNKTYPE, "a")],
    "a hard link out": [member("a", tarfile.LNKTYPE, "../b")],
    "a device": [member("a", tarfile.CHRTYPE)],
    "a pipe": [member("a", tarfile.FIFOTYPE)],
    "too much in one file": [member("a", size=101)],
    "too much in all": [member("a", size=60), member("b", size=60)],
    "too many": [member(f"f{number}") for number in range(30)],
}


@pytest.mark.parametrize("members", REFUSED.values(), ids=REFUSED)
def test_refused_is(members: list[tarfile.TarInfo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 20)
    (tmp_path / "deep").mkdir()
    with pytest.raises(ArchiveError):
        taken_out(tmp_path / "deep/out", *members, most=100)
    assert ["out"] == [each.name for each in (tmp_path / "deep").iterdir()]


@pytest.mark.parametrize("text", [b"", b"no archive" * 100, archived(member("a", size=900)).getvalue()[:1000]])
def test_what_is_no_whole_archive_is_refused(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError):
        unpack(io.BytesIO(text), tmp_path, mode="r:", most=1000)


def test_a_file_with_holes_is_refused_for_it_would_take_more_than_it_brings(tmp_path: Path) -> None:
    holes = member("a")
    holes.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "1000000000000",
                         "GNU.sparse.name": "a"}  # fmt: skip
    holes.size = 512
    with pytest.raises(ArchiveError):
        unpack(archived(holes, text=b"1\n0\n1\n" + b"\0" * 506), tmp_path, mode="r:", most=10**15)
