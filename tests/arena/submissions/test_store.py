"""The store of uploads: whole or not at all, within bounds, and nothing is left behind."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.submissions.store import DISK_FULL, SubmissionRefused, UploadStore
from tests.arena.submissions.servers import hash_of

BEGIN = """
import os, signal, sys
from pathlib import Path
from arena.submissions.store import UploadStore
part = UploadStore(Path(sys.argv[1]), 1000, free_bytes=0).begin()
part.write(b"half")
os.kill(os.getpid(), signal.SIGKILL)
"""


def store_in(folder: Path, **bounds: int) -> UploadStore:
    return UploadStore(folder / "uploads", 100, **{"free_bytes": 0, **bounds})


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "uploads").rglob("*") if path.is_file()]


def test_pieces_become_a_private_file_named_by_its_hash_and_equal_ones_are_one(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for pieces in ([b"ab", b"c"], [b"abc"]):
        with store.begin() as part:
            for piece in pieces:
                part.write(piece)
            upload = part.finish()
        assert (upload.hash, upload.size) == (hash_of(b"abc"), 3)
    (kept,) = files(tmp_path)
    assert kept == store.path(upload.hash)
    assert kept.stat().st_mode & 0o077 == 0
    with store.open(upload.hash) as file:
        assert file.read() == b"abc"


def test_what_is_too_large_empty_or_not_finished_leaves_nothing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with pytest.raises(SubmissionRefused, match="MB, the most here"), store.begin() as part:
        part.write(bytes(60))
        part.write(bytes(60))
    with pytest.raises(SubmissionRefused, match="empty"), store.begin() as part:
        part.finish()
    with store.begin() as part:
        part.write(b"half")
    assert not files(tmp_path)


def test_a_full_disk_is_told_before_a_byte_is_read_and_while_it_fills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SubmissionRefused) as caught:
        store_in(tmp_path, free_bytes=2**62).begin()
    assert (caught.value.text, caught.value.why) == (DISK_FULL, "full")
    with (store := store_in(tmp_path)).begin() as part:
        store._free_bytes = 2**62  # Others have arrived meanwhile.
        with pytest.raises(SubmissionRefused) as caught:
            part.write(b"x")
    assert caught.value.text == DISK_FULL
    with store_in(tmp_path).begin() as part:
        part._file.close()
        part._file = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115 - closed by the part
        with pytest.raises(SubmissionRefused) as caught:
            part.write(b"x")
    assert caught.value.text == DISK_FULL
    with store_in(tmp_path).begin() as part:
        part.write(b"x")
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(SubmissionRefused):
            part.finish()
    assert not files(tmp_path)


def test_parts_of_killed_processes_are_removed_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", BEGIN, str(tmp_path / "uploads")], check=False, timeout=60)  # noqa: S603 - our own words
    (dead,) = files(tmp_path)
    store = store_in(tmp_path)
    with store.begin() as part:
        part.write(b"alive")
        assert store.sweep() == 0
        for path in files(tmp_path):
            os.utime(path, (0, 0))
        assert store.sweep() == 1
        assert not dead.exists()
        assert part.finish().size == 5


def test_no_path_but_a_hash_is_opened(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for name in ("../../etc/passwd", "", "g" * 64, "A" * 64, "a" * 63):
        with pytest.raises(ValueError, match="not the hash"):
            store.path(name)
    with pytest.raises(SubmissionRefused, match="removed"):
        store.open("a" * 64)
    with store.begin() as part, part._path.open("rb") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
