"""At each moment the process is killed, or the disk is full: nothing is lost, done twice or stuck."""

import errno
import io
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena import sqlite_file
from arena.accounts import Database
from arena.errors import MachineCannot
from arena.submissions import entering
from arena.submissions.store import SubmissionRefused
from arena.submissions.submission import ENDED
from arena.tournament.entries import keep_entry
from arena.tournament.ledger import Ledger
from tests.arena.submissions.judging import Court, begun_cup, versions
from tests.arena.submissions.servers import Server

SUBMITTED = [
    ("Red Pandas", "v1"),
    ("Red Pandas", "v2"),
    ("a", "v3"),
    ("Blue Whales", "unfit"),
    ("Grey Wolves", "no-archive"),
    ("Green Frogs", "v4"),
    ("Red Pandas", "v5"),
]
POINTS = 100
"""Least number of moments at which the judge is killed."""


class KilledError(BaseException):
    """A stand-in for `kill -9`."""


def full_disk(name: str) -> Exception:
    """Return the error of a write to a full disk: that of SQLite within a transaction, else that of the kernel."""
    if name not in {"before", "within"}:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


class Bomb:
    """Counts moments, and kills at some of them or lets them fail."""

    def __init__(self, *at: int, error: Callable[[str], BaseException] = KilledError) -> None:
        self.count = 0
        self._at = set(at)
        self._error = error

    def tick(self, name: str) -> None:
        # A write that is on the disk does not fail any more.
        if self._error is full_disk and name.startswith("after"):
            return
        self.count += 1
        if self.count in self._at:
            raise self._error(name)


@contextmanager
def armed(bomb: Bomb, patched: pytest.MonkeyPatch) -> Iterator[None]:
    """Within it, the bomb ticks before and after each transaction, and around each copy of a bot."""
    transaction, keep = sqlite_file.transaction, keep_entry

    @contextmanager
    def counted(db: object) -> Iterator[None]:
        bomb.tick("before")
        with transaction(db):  # type: ignore[arg-type]
            yield
            bomb.tick("within")
        bomb.tick("after")

    def counted_keep(*args: object) -> None:
        bomb.tick("before copy")
        keep(*args)  # type: ignore[arg-type]
        bomb.tick("after copy")

    with patched.context() as change:
        change.setattr(sqlite_file, "transaction", counted)
        change.setattr(entering, "keep_entry", counted_keep)
        yield


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition with submissions that wait."""
    folder = tmp_path_factory.mktemp("prepared")
    with closing(Court(begun_cup(folder))) as court:
        for team, archive in SUBMITTED:
            court.submit(team, archive)
    return folder


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Database, Ledger):
        monkeypatch.setattr(kind, "synchronous", "OFF")


def judged(prepared: Path, folder: Path, bomb: Bomb, patched: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Judge a copy of the competition, again after each kill.

    Return how each submission ended, the entries in the ledger, and what competes.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
    file = folder / "cup.toml"
    while True:
        with closing(Court(file, bomb.tick)) as court:
            try:
                with armed(bomb, patched):
                    court.judge_all()
            except KilledError:
                continue
            found = court.submissions.all()
            if not all(each.is_over for each in found):
                continue  # The disk was full.
            ended = {
                (each.team_name, each.upload): (each.state, each.entered, each.verdict and each.verdict.reason)
                for each in found
            }
            assert court.submissions.queue().waiting == court.submissions.queue().in_work == 0
            for each in found:
                states = [event.state for event in court.submissions.events(each)]
                assert sum(states.count(state) for state in ENDED) == 1
            # Other teams may have entered meanwhile, so that the numbers of predecessors differ.
            entries = sorted((label, content) for label, content, _ in versions(file))
            return ended, entries, court.competition.competitors()


@pytest.mark.slow
def test_killed_at_each_moment_everything_ends_as_without_it(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Bomb()
    right = judged(prepared, tmp_path / "whole", whole, monkeypatch)
    assert whole.count > POINTS
    assert len(right[1]) == 5
    for moment in range(1, whole.count + 1):
        assert right == judged(prepared, tmp_path / "killed", Bomb(moment), monkeypatch), moment


@pytest.mark.parametrize("seed", range(5))
def test_killed_again_and_again_too(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    right = judged(prepared, tmp_path / "whole", Bomb(), monkeypatch)
    moments = Random(seed).sample(range(1, 400), 12)
    assert right == judged(prepared, tmp_path / "killed", Bomb(*moments), monkeypatch)


@pytest.mark.slow
def test_a_full_disk_at_each_write_of_the_judge_costs_nobody_anything(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that could not be entered is withdrawn if a later one of the same team comes first."""
    whole = Bomb(error=full_disk)
    right, _, competitors = judged(prepared, tmp_path / "whole", whole, monkeypatch)
    for moment in range(1, whole.count + 1):
        bomb = Bomb(moment, error=full_disk)
        found, entries, competing = judged(prepared, tmp_path / "full", bomb, monkeypatch)
        assert competitors == competing, moment
        assert len(entries) == len({content for _, content in entries}), moment
        for submission, (state, _, reason) in found.items():
            assert state == "withdrawn" or (state, reason) == (right[submission][0], right[submission][2]), moment


class Counted(io.FileIO):
    """A file that is open for writing, whose writes are moments."""

    def __init__(self, path: str, bomb: Bomb) -> None:
        super().__init__(path, "wb")
        self._bomb = bomb

    def write(self, data: Any) -> int:
        self._bomb.tick("before file")
        return super().write(data)


def handed_in(folder: Path, bomb: Bomb, patched: pytest.MonkeyPatch) -> bool:
    """Hand in a bot as the server does; return whether that was answered. What a killed process leaves stays."""
    with closing(Server(folder)) as server:
        mia = server.member() if server.accounts.team("Red Pandas") is None else server.member(name="Ada")
        part = None
        rename, fsync = Path.rename, os.fsync

        def counted_rename(path: Path, target: Path) -> Path:
            bomb.tick("before file")
            done = rename(path, target)
            bomb.tick("after file")
            return done

        def counted_fsync(file: int) -> None:
            bomb.tick("before file")
            fsync(file)
            bomb.tick("after file")

        try:
            with armed(bomb, patched), patched.context() as change:
                change.setattr(Path, "rename", counted_rename)
                change.setattr(os, "fsync", counted_fsync)
                part = server.store.begin()
                part._file.close()
                part._file = Counted(part._file.name, bomb)
                part.write(b"a bot")
                upload = part.finish()
                server.submissions.receive(mia, upload, "bot.zip", request="the key of this request")
        except KilledError:
            return False
        except (SubmissionRefused, MachineCannot):
            if part is not None:
                part.close()
            return False
        finally:
            if part is not None:
                part._file.close()
        return True


@pytest.mark.parametrize("error", [KilledError, full_disk])
def test_killed_or_without_a_disk_at_each_moment_of_an_upload_it_counts_once_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Callable[[str], BaseException]
) -> None:
    whole = Bomb(error=error)
    assert handed_in(tmp_path / "whole", whole, monkeypatch)
    assert whole.count >= (8 if error is KilledError else 5)
    for moment in range(1, whole.count + 1):
        folder = tmp_path / str(moment)
        assert not handed_in(folder, Bomb(moment, error=error), monkeypatch)
        assert handed_in(folder, Bomb(), monkeypatch)
        with closing(Server(folder)) as server:
            (found,) = server.submissions.all()
            assert 1 == server.submissions.queue().waiting
            assert b"a bot" == server.store.path(found.upload).read_bytes()
            for part in (folder / "uploads/parts").iterdir():
                os.utime(part, (0, 0))
            server.submissions.remove_old()
            left = [path.name for path in (folder / "uploads").rglob("*") if path.is_file()]
            assert [found.upload] == left
