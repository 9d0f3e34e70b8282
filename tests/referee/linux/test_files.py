"""A file is written whole, whoever else writes it and whatever a killed program left."""

import os
import stat
from pathlib import Path

import pytest

from referee.linux.files import whole_file, write_bytes_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_content_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert "old" == path.read_text()
    assert "new" == path.read_text()
    assert ["report"] == names(tmp_path)


def test_after_an_error_the_old_content_stays_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(bytes(1 // 0))
    assert ("old", ["report"]) == (path.read_text(), names(tmp_path))


@pytest.mark.parametrize("leads", [False, True])
def test_a_path_that_is_no_file_is_not_replaced(tmp_path: Path, leads: bool) -> None:
    path, fifo = tmp_path / "report", tmp_path / ("fifo" if leads else "report")
    os.mkfifo(fifo)
    if leads:
        path.symlink_to(fifo)
    before = names(tmp_path)
    with pytest.raises(OSError, match="it is a fifo, not a regular file"):
        write_bytes_whole(path, b"new")
    assert fifo.is_fifo()
    assert before == names(tmp_path)


def test_simultaneous_writers_have_separate_part_files(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with whole_file(path) as first:
        first.write(b"first")
        with whole_file(path) as second:
            second.write(b"second")
        assert "second" == path.read_text()
    assert ("first", ["report"]) == (path.read_text(), names(tmp_path))


def test_a_part_file_of_a_killed_program_is_replaced_and_not_written_to(tmp_path: Path) -> None:
    part = tmp_path / "report.part"
    part.write_text("much that was not finished")
    part.chmod(0o644)
    with part.open() as reader:  # who may read it cannot read what comes
        write_bytes_whole(tmp_path / "report", b"secret", 0o600)
        assert "much that was not finished" == reader.read()
    assert ["report"] == names(tmp_path)
    assert 0o600 == stat.S_IMODE((tmp_path / "report").stat().st_mode)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_other_files_are_left_alone(tmp_path: Path, kind: str) -> None:
    part, elsewhere = tmp_path / "report.part", tmp_path / "elsewhere"
    match kind:
        case "link":
            part.symlink_to(elsewhere)
        case "fifo":
            os.mkfifo(part)
        case _:
            part.mkdir()
    write_bytes_whole(tmp_path / "report", b"new")
    assert b"new" == (tmp_path / "report").read_bytes()
    assert not elsewhere.exists()


def test_the_umask_counts(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_bytes_whole(tmp_path / "report", b"new")
    finally:
        os.umask(old)
    assert 0o640 == stat.S_IMODE((tmp_path / "report").stat().st_mode)
