"""`arena backup` of a season's server: of one moment, while the judge works, and as good as the server itself."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.accounts import DATABASE, SERVER
from arena.commands.main import main
from arena.errors import DONE, NO, WRONG_USE
from arena.submissions import Competition
from arena.submissions.competition import UPLOADS
from arena.tournament import Ledger
from tests.arena.submissions.judging import Court, begun_cup, versions
from tests.arena.submissions.test_judge_killed import Bomb, armed, judged, no_waiting_for_the_disk, prepared

__all__ = ["no_waiting_for_the_disk", "prepared"]
EVERY = 13
"""Moments of the judge from one backup to the next."""


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sync", lambda: None)


def asked(*words: str | Path, code: int = DONE) -> Any:
    done = CliRunner().invoke(main, ["backup", *map(str, words), "--json"])
    assert code == done.exit_code, (done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


class Photographer(Bomb):
    """Makes a backup at some moments, into a folder of its own or into one for all."""

    def __init__(self, file: Path, to: Path) -> None:
        super().__init__()
        self._file, self._to = file, to
        self._is_at_work = False
        self.backups: list[Path] = []

    def tick(self, name: str) -> None:
        """Backups wait for a change of the database, which this process could not end meanwhile."""
        if self._is_at_work or name == "within":
            return
        self.count += 1
        if self.count % EVERY == 0:
            self._is_at_work = True
            backup = self._to / str(self.count)
            asked(self._file, self._to / "all")
            shutil.copytree(self._to / "all", backup)
            self.backups.append(backup)
            self._is_at_work = False


def test_a_server_restored_from_any_moment_of_the_judge_ends_as_the_undisturbed_one(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = judged(prepared, tmp_path / "whole", Bomb(), monkeypatch)
    shutil.copytree(prepared, tmp_path / "busy")
    file = tmp_path / "busy/cup.toml"
    photographer = Photographer(file, tmp_path / "backups")
    with closing(Court(file, photographer.tick)) as court, armed(photographer, monkeypatch):
        court.judge_all()
    assert len(photographer.backups) > 8
    results = Competition.read(file).results.relative_to(tmp_path / "busy")
    for backup in photographer.backups:
        lost = tmp_path / "lost"
        shutil.rmtree(lost, ignore_errors=True)
        shutil.copytree(prepared, lost)
        shutil.rmtree(lost / results)
        shutil.copytree(backup, lost / results)
        assert right == judged(lost, tmp_path / "restored", Bomb(), monkeypatch), backup.name


def test_a_server_whose_competition_has_not_begun_is_backed_up_too(tmp_path: Path) -> None:
    file = begun_cup(tmp_path, begin=False)
    with closing(Court(file)) as court:
        court.submit("Red Pandas", "v1")
    to = tmp_path / "backup"
    made = asked(file, to)
    assert ([], 1, 1) == (made["stages"], made["server"]["teams"], made["server"]["submissions"])
    assert 1 == asked(to, "--check")["server"]["uploads"]
    assert made["server"]["copied"] > asked(file, to)["server"]["copied"] == 0
    results = Competition.read(file).results
    shutil.rmtree(results)
    shutil.copytree(to, results)
    with closing(Court(file)) as court:
        assert ["received"] == [each.state for each in court.submissions.all()]
        assert "Mia" == court.member("Red Pandas").name
    stranger = tmp_path / "other"
    stranger.mkdir()
    (stranger / "thesis.txt").touch()
    assert "is not empty and holds no backup" in asked(file, stranger, code=WRONG_USE)
    assert "a backup goes to another folder" in asked(file, results, code=WRONG_USE)


def test_a_check_finds_each_upload_that_is_missing_or_changed(tmp_path: Path) -> None:
    file = begun_cup(tmp_path)
    with closing(Court(file)) as court:
        one, other = court.submit("Red Pandas", "v1"), court.submit("Red Pandas", "v2")
        court.judge_all()
    assert 2 == len(versions(file))
    to = tmp_path / "backup"
    made = asked(file, to)
    assert (2, made["server"]["submissions"]) == (made["matches"], 2)
    uploads = to / SERVER / UPLOADS
    (uploads / one.upload[:2] / one.upload).write_bytes(b"v0")
    (uploads / other.upload[:2] / other.upload).unlink()
    found = asked(to, "--check", code=NO)
    assert sorted(found["server"]["wrong"]) == sorted(
        [
            f"server/uploads/{one.upload}: is not as it arrived",
            f"server/uploads/{other.upload}: cannot be read: No such file or directory",
        ]
    )
    (Competition.read(file).results / SERVER / UPLOADS / other.upload[:2] / other.upload).unlink()
    assert [f"uploads/{other.upload}"] == asked(file, tmp_path / "again")["server"]["missing"]


def test_a_backup_is_for_its_owner_alone_and_has_no_scratch(tmp_path: Path) -> None:
    file = begun_cup(tmp_path)
    with closing(Court(file)) as court:
        court.submit("Red Pandas", "v1")
        court.judge_all()
    server = Competition.read(file).results / SERVER
    (server / "judging").mkdir(exist_ok=True)
    (server / "judging/secret").touch()
    (server / "logs/link").symlink_to("/etc/passwd")
    asked(file, tmp_path / "backup")
    copied = [path for path in (tmp_path / "backup" / SERVER).rglob("*") if path.is_file()]
    assert {0o600} == {path.stat().st_mode & 0o777 for path in copied}
    assert {"link", "secret"}.isdisjoint(path.name for path in copied)
    assert DATABASE in {path.name for path in copied}


def test_what_enters_while_a_backup_is_made_is_in_neither_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the ledger alone, it would be refused after a restore: as the version that plays already."""
    file = begun_cup(tmp_path)
    copy = Ledger.copy_to
    with closing(Court(file)) as court:
        submission = court.submit("Red Pandas", "v1")

        def copy_later(ledger: Ledger, path: Path, step: Callable[[int, int], None]) -> None:
            court.judge_all()
            copy(ledger, path, step)

        monkeypatch.setattr(Ledger, "copy_to", copy_later)
        asked(file, tmp_path / "backup")
        assert "entered" == court.now(submission).state
    results = Competition.read(file).results
    shutil.rmtree(results)
    shutil.copytree(tmp_path / "backup", results)
    assert [] == versions(file)
    with closing(Court(file)) as court:
        assert "received" == court.now(submission).state
        court.judge_all()
        assert "entered" == court.now(submission).state
    assert 1 == len(versions(file))
