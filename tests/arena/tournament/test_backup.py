"""`arena backup`: of one moment, whole or the one before, and as good as the results when put in their place."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena import sqlite_file
from arena.commands.main import main
from arena.errors import CANNOT, DONE, NO, WRONG_USE
from arena.schedule.fields import Extended
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger, backup, backup_place
from arena.tournament.results_folder import ENTRIES, held
from referee.host.plan import AttemptResult, Plan
from tests.arena.cups import play_cup
from tests.arena.reports.played import played_folder
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_run import TEXT


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two blocks of real matches count, of a third one match was played."""
    return played_folder(tmp_path_factory.mktemp("r") / "cup", ("ann", "bob"), 2, begun=1)


@pytest.fixture
def results(master: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(master, tmp_path / "runs/cup"))


def asked(*words: str | Path, code: int = DONE) -> tuple[str, str]:
    done = CliRunner().invoke(main, ["backup", *map(str, words)])
    assert code == done.exit_code, (done.stdout, done.stderr)
    return done.stdout, done.stderr


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def tree(folder: Path) -> dict[str, bytes]:
    """All files but the lock and the ledger, whose pages may lie in another order."""
    return {name: (folder / name).read_bytes() for name in names(folder) - {"lock", LEDGER}}


def rows(folder: Path) -> list[Any]:
    with closing(Ledger(folder / LEDGER)) as ledger:
        return [*ledger.reports(), ledger.terms(), ledger.finished()]


def test_a_backup_has_all_that_the_results_have_and_nothing_else(results: Path, tmp_path: Path) -> None:
    (results / TRANSCRIPTS / "00003b.jsonl.part").write_text("being played")
    (results / TRANSCRIPTS / "00009a.jsonl").write_text("the ledger does not know it")
    (results / TRANSCRIPTS / "00001a.seat-9.log").symlink_to("/etc/passwd")
    (results / "checks").mkdir()
    stdout, stderr = asked(results)
    place = tmp_path / "backups/cup"
    assert backup_place(results) == place
    assert (f"{place}: 4 matches that count; 15 files copied, 0 there already\n", "") == (stdout, stderr)
    wanted = {f"transcripts/0000{name}" for name in ("1a", "1b", "2a", "2b", "3a")}
    assert names(place) == {
        LEDGER,
        "lock",
        *(f"{stem}{ending}" for stem in wanted for ending in (".jsonl", ".seat-0.log", ".seat-1.log")),
    }
    assert all(content == tree(results)[name] for name, content in tree(place).items())
    assert rows(results) == rows(place)
    assert {0o600} == {(place / name).stat().st_mode & 0o777 for name in names(place)}
    checked, _ = asked("--check", place)
    assert f"{place}: 4 matches that count, 5 transcripts and 0 bots verified\n" == checked


def test_only_what_has_a_url_is_elsewhere(results: Path, tmp_path: Path) -> None:
    """A worker names a transcript by its whole path, an arena that is given a relative one does not."""
    with closing(Ledger(results / LEDGER)) as ledger:
        ledger._db.execute("UPDATE attempts SET place = '/whole/path/' || transcript WHERE id < 4")
        ledger._db.execute("UPDATE attempts SET place = 's3://bucket/x.jsonl' WHERE id = 4")
    (results / TRANSCRIPTS / "00002b.jsonl").unlink()
    stdout, stderr = asked(results, tmp_path / "b")
    assert "14 files copied" in stdout
    assert "not in it: 1 transcript that is elsewhere (--transcripts)\n" == stderr
    found = json.loads(asked("--check", "--json", tmp_path / "b")[0])
    assert (4, 4, 1, []) == (found["matches"], found["transcripts"], found["elsewhere"], found["wrong"])


def test_a_later_backup_copies_what_is_new(results: Path, tmp_path: Path) -> None:
    asked(results, tmp_path / "b")
    (results / TRANSCRIPTS / "00001a.seat-1.log").write_text("longer than it was" * 99)
    stdout, _ = asked(results, tmp_path / "b")
    assert "; 1 file copied, 14 there already\n" in stdout
    assert tree(results) == tree(tmp_path / "b")


def test_made_while_it_is_played_and_put_in_its_place_it_gives_the_same_table(tmp_path: Path) -> None:
    """A backup is made within each match; the tournament goes on from each of them."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cup.toml").write_text(TEXT)
    undisturbed = play_cup(tmp_path / "a/cup.toml")
    live = tmp_path / "b/runs/cup"

    class BackedUp(AtOnce):
        async def __call__(self, plan: Plan, players: Any, *, transcript: Path) -> AttemptResult:
            asked(live, tmp_path / "backup", "--json")
            shutil.copytree(tmp_path / "backup", tmp_path / f"of-{len(self.played)}")
            transcript.write_text("a stand-in's")
            return await super().__call__(plan, players, transcript=transcript)

    assert undisturbed.played == play_cup(tmp_path / "b/cup.toml", BackedUp()).played
    left = []
    for number in range(12):
        shutil.rmtree(live)
        shutil.copytree(tmp_path / f"of-{number}", live)
        with closing(Ledger(live / LEDGER)) as ledger:
            there = {path.name for path in (live / TRANSCRIPTS).iterdir()}
            assert set(ledger.transcripts().values()) <= there
        rest = AtOnce()
        found = play_cup(tmp_path / "b/cup.toml", rest)
        assert (undisturbed.standings, undisturbed.played) == (found.standings, found.played)
        left.append(len(rest.played))
    assert sorted(left, reverse=True) == left
    assert (12, True) == (left[0], left[-1] <= 2)


@pytest.mark.parametrize("after", [0, 3, 14])
def test_a_backup_that_has_no_space_leaves_the_one_before(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    first = tmp_path / "b"
    asked(results, first)
    before = rows(first)
    with closing(Ledger(results / LEDGER)) as ledger:
        ledger._db.execute("UPDATE attempts SET set_aside = 'later' WHERE id = 5")
    for log in (results / TRANSCRIPTS).iterdir():
        os.utime(log, (1, 1))
    real, count = shutil.copyfileobj, 0

    def full(source: Any, to: Any) -> None:
        nonlocal count
        count += 1
        if count > after:
            to.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, to)

    monkeypatch.setattr(shutil, "copyfileobj", full)
    _, complaint = asked(results, first, code=CANNOT)
    assert f"arena: {first}: cannot be written: No space left on device\n" == complaint
    monkeypatch.undo()
    assert before == rows(first)
    asked("--check", first)
    asked(results, first)
    assert rows(results) == rows(first) != before


def test_files_of_a_killed_backup_do_not_get_into_the_next(results: Path, tmp_path: Path) -> None:
    place = tmp_path / "b"
    (place / TRANSCRIPTS).mkdir(parents=True)
    for name in ("ledger.sqlite.part", "ledger.sqlite.part-wal", "ledger.sqlite.part-shm", "transcripts/copying"):
        (place / name).write_bytes(b"half of something")
    asked(results, place)
    assert tree(results) == tree(place)
    assert rows(results) == rows(place)


def test_a_backup_goes_nowhere_where_it_would_do_harm(results: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/diary").touch()
    for place, said in [
        (results, "is where the results are; a backup goes to another folder"),
        (results / TRANSCRIPTS / "b", "is where the results are; a backup goes to another folder"),
        (tmp_path / "home", "is not empty and holds no backup; give an empty folder"),
        (results / LEDGER / "b", "cannot be written: Not a directory"),
    ]:
        _, complaint = asked(results, place, code=WRONG_USE)
        assert f"arena: {place}: {said}\n" == complaint
    with held(tmp_path / "played"):
        asked(results, tmp_path / "played", code=WRONG_USE)


def test_a_file_that_is_no_ledger_is_not_taken_for_the_folder_it_lies_in(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no ledger")
    said = asked(tmp_path / "notes", tmp_path / "backup", code=WRONG_USE)[1]
    assert f"arena: {tmp_path / 'notes'}: is neither a results folder nor the ledger.sqlite in one\n" == said
    assert {"notes"} == names(tmp_path)


def test_two_tournaments_do_not_share_a_backup(tmp_path: Path) -> None:
    """Their transcripts have the same names."""
    file = tmp_path / "cup.toml"
    file.write_text(TEXT)
    play_cup(file)
    asked(file, tmp_path / "b")
    play_cup(file, fresh=True)
    _, complaint = asked(file, tmp_path / "b", code=WRONG_USE)
    assert "holds a backup of another tournament, or of one before --fresh; give an empty folder" in complaint


def test_a_backup_that_is_ahead_is_not_written_over(results: Path, tmp_path: Path) -> None:
    """Somebody has restored an older copy by mistake, and a timer makes the next backup."""
    old = shutil.copytree(results, tmp_path / "old")
    asked(results, tmp_path / "b")
    with closing(Ledger(old / LEDGER)) as ledger:
        ledger._db.execute("DELETE FROM attempts WHERE id = 5")
    before = rows(tmp_path / "b")
    _, complaint = asked(old, tmp_path / "b", code=WRONG_USE)
    assert "has matches that these results do not have; give another folder, and keep this one" in complaint
    assert before == rows(tmp_path / "b")


def test_results_that_start_again_during_a_backup_are_refused(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., Any] = backup._copy_files

    def begun_anew(*args: Any) -> Any:
        found = real(*args)
        (results / LEDGER).rename(results / "before")
        shutil.copy(results / "before", results / LEDGER)
        return found

    monkeypatch.setattr(backup, "_copy_files", begun_anew)
    _, complaint = asked(results, tmp_path / "b", code=WRONG_USE)
    assert "was begun anew while it was backed up; the backup before it stays" in complaint
    assert not (tmp_path / "b" / LEDGER).exists()


def test_a_backup_whose_ledger_is_being_written_is_left_alone(results: Path, tmp_path: Path) -> None:
    """SQLite's files beside the old ledger would be read as part of the new one."""
    asked(results, tmp_path / "b")
    with closing(Ledger(tmp_path / "b" / LEDGER)) as other, closing(Ledger(tmp_path / "b" / LEDGER)) as reader:
        reader._db.execute("BEGIN")
        reader._db.execute("SELECT * FROM terms").fetchall()
        other._db.execute("UPDATE attempts SET set_aside = 'x' WHERE id = 1")
        _, complaint = asked(results, tmp_path / "b", code=WRONG_USE)
    assert "another program uses this backup's ledger now" in complaint


def test_missing_files_are_reported_by_the_backup_and_by_its_check(results: Path, tmp_path: Path) -> None:
    (results / TRANSCRIPTS / "00001b.jsonl").unlink()
    _, said = asked(results, tmp_path / "b")
    assert "not in it: 00001b.jsonl: is not in the results folder\n" == said
    place = tmp_path / "b" / TRANSCRIPTS
    text = (place / "00002a.jsonl").read_bytes()
    (place / "00002a.jsonl").write_bytes(text.replace(b'"kind":"in"', b'"kind":"iN"', 1))
    shutil.copy(place / "00001a.jsonl", place / "00002b.jsonl")
    (tmp_path / "b" / ENTRIES / ("0" * 64)).mkdir(parents=True)
    with closing(Ledger(tmp_path / "b" / LEDGER)) as ledger:
        ledger._db.execute("UPDATE attempts SET transcript = '../../x' WHERE id = 1")
    stdout, stderr = asked("--check", "--json", tmp_path / "b", code=NO)
    wrong = json.loads(stdout)["wrong"]
    assert [
        "transcripts: the ledger names '../../x', which is not the name of a file",
        "transcripts/00001b.jsonl: cannot be read: No such file or directory",
        "transcripts/00002a.jsonl: line",
        "transcripts/00002b.jsonl: is not the one that the ledger names",
        f"entries/{0:064}: is not as it was made",
    ] == [line[:30] if "00002a" in line else line for line in wrong]
    assert f"arena: {tmp_path}/b: 5 things missing or changed since it was written\n" == stderr


def test_a_damaged_ledger_is_found(results: Path, tmp_path: Path) -> None:
    text = (results / LEDGER).read_bytes()
    (results / LEDGER).write_bytes(text[: len(text) // 2] + b"\xff" * 200 + text[len(text) // 2 + 200 :])
    done = CliRunner().invoke(main, ["backup", "--check", str(results)])
    assert done.exit_code in (NO, WRONG_USE)
    assert "ledger.sqlite: " in done.stderr
    assert "Traceback" not in done.stderr


def test_copies_of_bots_are_in_it(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(TEXT)
    found = play_cup(file)
    stdout, _ = asked(file, tmp_path / "b")
    assert "; 3 files copied, 0 there already" in stdout
    assert len(found.played) == 12
    entries = {bot.content.removeprefix("sha256:") for bot in found.tournament.bots}
    assert entries == {path.name for path in (tmp_path / "b" / ENTRIES).iterdir()}
    _, said = asked("--check", tmp_path / "b", code=NO)
    assert 12 == said.count("cannot be read: No such file")


def test_the_ledgers_copy_is_of_one_moment_in_spite_of_writes(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "PAGES", 1)
    with closing(Ledger(results / LEDGER)) as ledger, closing(Ledger(results / LEDGER)) as arena:
        before = list(ledger.reports())
        steps = []

        def meanwhile(left: int, total: int) -> None:
            steps.append((left, total))
            arena.change(lambda *_: Extended(blocks=9))
            arena._db.execute("DELETE FROM results WHERE block = 1")

        ledger.copy_to(tmp_path / "copy", meanwhile)
        assert len(steps) > 3
        with closing(Ledger(tmp_path / "copy")) as copy:
            assert (before, []) == (list(copy.reports()), copy.events())
        assert len(steps) == len(ledger.events())


def test_all_files_are_on_the_disk_before_the_ledger_names_them_and_then_the_ledger(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def sync() -> None:
        there = names(tmp_path / "copy")
        synced.append((LEDGER in there, "transcripts/00003a.jsonl" in there))

    monkeypatch.setattr(os, "sync", sync)
    asked(results, tmp_path / "copy")
    assert [(False, True), (True, True)] == synced
