"""The results folder is made for its owner; one that somebody has opened to others stays open."""

import errno
import fcntl
import os
from pathlib import Path
from threading import Timer

import pytest

from arena.errors import MachineCannot, WrongUse
from arena.tournament.results_folder import LOCK, TRANSCRIPTS, held, is_held, open_ledger
from tests.arena.tournament.test_ledger import FIRST, SECOND, finish


def test_it_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    with held(folder):
        assert [0o700, 0o700] == [each.stat().st_mode & 0o777 for each in (folder, folder / TRANSCRIPTS)]


def test_the_rights_of_one_that_is_there_stay(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with held(tmp_path):
        assert 0o755 == tmp_path.stat().st_mode & 0o777


def test_whether_it_is_held_can_be_asked_from_outside(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with held(tmp_path):
        assert is_held(tmp_path)
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    assert not is_held(tmp_path / "nothing")


def test_readers_of_a_folder_do_not_stop_an_arena_from_beginning(tmp_path: Path) -> None:
    with (tmp_path / LOCK).open("w") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        asked = Timer(0.03, lambda: fcntl.flock(asking, fcntl.LOCK_UN))
        asked.start()
        with held(tmp_path):
            assert is_held(tmp_path)
        asked.join()


@pytest.mark.parametrize("begun", [True, False])
def test_counted_results_are_named_when_the_machine_cannot_continue(tmp_path: Path, *, begun: bool) -> None:
    """A full disk, in SQLite's own words and in the kernel's."""
    full = OSError(errno.ENOSPC, "No space left on device", "/r/x.jsonl")
    for error, why in (
        (MachineCannot("/r/x: database or disk is full"), "/r/x: database or disk is full"),
        (full, "the machine has run out of something: /r/x.jsonl: No space left on device"),
    ):
        with (
            pytest.raises((MachineCannot, ExceptionGroup)) as caught,
            open_ledger(tmp_path / why[:3].strip("/"), fresh=False, try_out=lambda: None) as ledger,
        ):
            if begun:
                ledger.begin({"seed": 1})
            for match in (FIRST, SECOND) if begun and error is full else ():
                finish(ledger, match)
            raise ExceptionGroup("", [error])
        if not begun:
            assert isinstance(caught.value, ExceptionGroup)
            assert (error,) == caught.value.exceptions
            continue
        kept = "kept: 2 matches that count" if error is full else "no match counts yet"
        assert f"{why}; {kept}; to go on once this is solved: the same command" == str(caught.value)


def test_one_arena_at_a_time_is_at_work_in_it(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(WrongUse, match="another arena is playing"), held(tmp_path):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EIO])
def test_a_folder_on_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def no_locks(_lock: int, _how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(MachineCannot) as failure, held(tmp_path):
        pass
    said = failure.value.format_message()
    assert said.startswith(f"{tmp_path}: is on a file system without locks ({os.strerror(number)})")
    assert not is_held(tmp_path), "no arena can have what is not there"


def test_a_process_that_cannot_be_started_is_not_taken_for_another_arena(tmp_path: Path) -> None:
    """Python raises the same class of error for both."""
    with pytest.raises(BlockingIOError, match="temporarily"), held(tmp_path):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
