"""The results folder is made for its owner; one that somebody has opened to others stays open."""

import fcntl
from pathlib import Path
from threading import Timer

import pytest

from arena.errors import WrongUse
from arena.tournament.results_folder import LOCK, TRANSCRIPTS, held, is_held


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


def test_who_asks_does_not_keep_an_arena_from_beginning(tmp_path: Path) -> None:
    with (tmp_path / LOCK).open("w") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        asked = Timer(0.03, lambda: fcntl.flock(asking, fcntl.LOCK_UN))
        asked.start()
        with held(tmp_path):
            assert is_held(tmp_path)
        asked.join()


def test_one_arena_at_a_time_is_at_work_in_it(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(WrongUse, match="another arena is playing"), held(tmp_path):
        pass
