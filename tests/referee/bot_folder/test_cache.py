"""Folders of the cache: nobody else may write there, and what a killed arena left is removed."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.bot_folder import cache_folder
from referee.bot_folder.cache import CacheError, making, private, remove, settle

STRANGER = 54_321


def test_a_folder_is_its_owners_alone_also_one_that_others_could_read(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir(mode=0o755)
    for name in ("old", "new"):
        private(tmp_path / name)
        assert 0o700 == (tmp_path / name).stat().st_mode & 0o7777


def given_to_a_group(cache: Path) -> None:
    os.chown(cache.parent, 0, STRANGER)
    cache.parent.chmod(0o770)


def linked_to_a_strangers(cache: Path) -> None:
    cache.rename(cache.parent / "c")
    os.chown(cache.parent / "c", STRANGER, 0)
    cache.symlink_to("c")


OPEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "all may write to it": (lambda cache: cache.chmod(0o777), "cache: may be written by other users"),
    "all may write to it, and it is sticky": (lambda cache: cache.chmod(0o1777), "cache: may be written by other"),
    "a group may": (lambda cache: cache.chmod(0o770), "cache: may be written by other users"),
    "all may write to the folder above": (lambda cache: cache.parent.chmod(0o777), "who could replace the cache"),
}
if os.geteuid() == 0:
    OPEN |= {
        "another owns it": (lambda cache: os.chown(cache, STRANGER, 0), f"cache: belongs to user {STRANGER}"),
        "another owns the folder above": (lambda cache: os.chown(cache.parent, STRANGER, 0), "who could replace"),
        "a foreign group may write to the folder above": (given_to_a_group, "who could replace"),
        "it is a link to what another owns": (linked_to_a_strangers, f"c: belongs to user {STRANGER}"),
    }


@pytest.mark.parametrize(("spoil", "complaint"), OPEN.values(), ids=OPEN)
def test_refused_is_a_folder_of_which(tmp_path: Path, spoil: Callable[[Path], object], complaint: str) -> None:
    cache = tmp_path / "above/cache"
    cache.mkdir(parents=True)
    private(cache)
    spoil(cache)
    with pytest.raises(CacheError, match=complaint) as refused:
        private(cache)
    assert str(refused.value).endswith("set XDG_CACHE_HOME to a folder of your own")


def test_no_other_user_can_replace_it_below_a_sticky_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    private(tmp_path / "cache")


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for temporary files, of a user whose home cannot be written to."""
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o1777)
    return tmp_path


def test_without_a_home_to_write_to_it_is_a_folder_for_temporary_files(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = temporary / f"mist-arena-{os.geteuid()}"
    assert own == cache_folder() == cache_folder()
    assert 0o700 == own.stat().st_mode & 0o7777
    monkeypatch.setenv("HOME", str(temporary / "home/not/yet/made"))
    assert temporary / "home/not/yet/made/.cache/mist-arena" == cache_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert Path("/dev/null/mist-arena") == cache_folder()


def folder_for_all(own: Path) -> None:
    own.mkdir()
    own.chmod(0o777)


def folder_of_another(own: Path) -> None:
    own.mkdir(0o700)
    os.chown(own, STRANGER, STRANGER)


TRAPS: dict[str, Callable[[Path], object]] = {
    "a link": lambda own: own.symlink_to(own.parent),
    "a file": lambda own: own.touch(),
    "a folder that all may write to": folder_for_all,
    "a folder in one that all may write to": lambda own: own.parent.chmod(0o777),
}
if os.geteuid() == 0:
    TRAPS["another user's folder"] = folder_of_another


@pytest.mark.parametrize("lay", TRAPS.values(), ids=TRAPS)
def test_refused_among_temporary_files_is(temporary: Path, lay: Callable[[Path], object]) -> None:
    lay(temporary / f"mist-arena-{os.geteuid()}")
    with pytest.raises(OSError, match="set XDG_CACHE_HOME to a folder of your own"):
        cache_folder()
    assert 0o777 == temporary.stat().st_mode & 0o777, "followed the link"


def test_unsettled_files_are_removed_afterwards(tmp_path: Path) -> None:
    with making(tmp_path) as made:
        (made / "whole").mkdir()
        (made / "whole/file").touch()
        settle(made / "whole", tmp_path / "wanted")
    assert [tmp_path / "wanted", tmp_path / "wanted/file"] == sorted(tmp_path.rglob("*"))


def test_the_result_of_the_faster_process_stays(tmp_path: Path) -> None:
    for text in ("first", "second"):
        with making(tmp_path) as made:
            (made / "whole").mkdir()
            (made / "whole/file").write_text(text)
            settle(made / "whole", tmp_path / "wanted")
    assert "first" == (tmp_path / "wanted/file").read_text()
    assert [tmp_path / "wanted"] == list(tmp_path.iterdir())


def test_leftovers_are_removed_and_what_is_being_made_is_not(tmp_path: Path) -> None:
    (tmp_path / "making-dead/below").mkdir(parents=True)
    (tmp_path / "making-dead/below").chmod(0)
    (tmp_path / "making-link").symlink_to(tmp_path)
    with making(tmp_path) as first, making(tmp_path) as second:
        assert {first.name, second.name, "making-link"} == {path.name for path in tmp_path.iterdir()}


def test_many_at_once_do_not_take_each_others(tmp_path: Path) -> None:
    lost: list[str] = []

    def make() -> None:
        for _ in range(20):
            with making(tmp_path) as made:
                if not made.is_dir():
                    lost.append(made.name)

    makers = [threading.Thread(target=make) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert [] == lost
    assert [] == list(tmp_path.iterdir())


def test_a_folder_is_removed_however_deep_it_is(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    here = os.open(tmp_path / "deep", os.O_RDONLY)
    for _ in range(2_100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove(tmp_path / "deep")
    assert [] == list(tmp_path.iterdir())
