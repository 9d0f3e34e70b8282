"""`arena entry sync`: a folder of entries, from people who may send anything, becomes a tournament's field."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.commands.main import main
from arena.errors import DONE, NO, WRONG_USE
from referee.bot_folder.manifest import BUILT_IN
from tests.arena.cups import BOT
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_entries import change, events, field, playing

MISSING = dict.fromkeys("abcde", "missing")


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A round robin of a to e that has been played."""
    file = field(tmp_path, "round_robin")
    playing(file, AtOnce())
    return file


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def put(folder: Path, program: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.py").write_text(program)
    (folder / "bot.toml").write_text(BOT)
    return folder


def sync(cup: Path, folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["entry", "sync", str(cup), str(folder), "--no-check", *options])


def notes(cup: Path, folder: Path, *options: str, code: int = DONE) -> dict[str, tuple[str, str]]:
    """By entry: what became of it, and the note."""
    done = sync(cup, folder, "--json", *options)
    assert code == done.exit_code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["dry_run"] is ("--dry-run" in options)
    return {each["entry"]: (each["result"], each["note"]) for each in found["entries"]}


def results(cup: Path, folder: Path, *options: str, code: int = DONE) -> dict[str, str]:
    return {entry: result for entry, (result, _) in notes(cup, folder, *options, code=code).items()}


def labels(cup: Path) -> list[str]:
    """Of those that entered, in order."""
    return [event.what.label for event in events(cup)]


def test_new_bots_enter_changed_ones_are_updated_and_the_rest_is_reported(cup: Path, incoming: Path) -> None:
    put(incoming / "a", "changed")
    shutil.copytree(cup.parent / "b", incoming / "b")
    put(incoming / "zoe", "new")
    found = notes(cup, incoming)
    assert MISSING | {"a": "updated", "b": "unchanged", "zoe": "added"} == {
        entry: result for entry, (result, _) in found.items()
    }
    assert ["a v2", "zoe"] == labels(cup)
    assert found["a"][1].startswith("a v2 will play from block 11 or later; its bot.toml says name = ")


def test_again_after_a_stop_it_goes_on_where_it_was(cup: Path, incoming: Path) -> None:
    for name in ("zoe", "yan"):
        put(incoming / name, name)
    assert MISSING | {"yan": "added", "zoe": "added"} == results(cup, incoming)
    put(incoming / "xia", "x")
    assert MISSING | {"xia": "added", "yan": "unchanged", "zoe": "unchanged"} == results(cup, incoming)
    assert ["yan", "zoe", "xia"] == labels(cup)


def test_an_archive_is_as_good_as_a_folder(cup: Path, incoming: Path) -> None:
    def pack(program: str) -> None:
        shutil.make_archive(str(incoming / "zoe"), "zip", put(cup.parent / "zoe", program))

    pack("first")
    shutil.make_archive(str(incoming / "yan"), "gztar", put(cup.parent / "y" / "yan", "y").parent, "yan")
    assert MISSING | {"yan.tar.gz": "added", "zoe.zip": "added"} == results(cup, incoming)
    pack("second")
    assert "updated" == results(cup, incoming)["zoe.zip"]
    # The commands for one bot take archives too, and find the one that a bot came from.
    pack("third")
    updated = change(cup, "update", "zoe", "--no-check")
    assert DONE == updated.exit_code, updated.stderr
    added = CliRunner().invoke(main, ["entry", "add", str(cup), str(incoming / "yan.tar.gz"), "--no-check"])
    assert (WRONG_USE, True) == (added.exit_code, "yan" in added.stderr)
    assert ["yan", "zoe", "zoe v2", "zoe v3"] == labels(cup)


def test_a_refused_bot_does_not_stop_others_from_entering(cup: Path, incoming: Path) -> None:
    put(incoming / "zoe", "new")
    (incoming / "empty").mkdir()
    (incoming / "bad.zip").write_bytes(b"garbage")
    (incoming / "link").symlink_to(put(cup.parent / "elsewhere", "secret"))
    (put(incoming / "out") / "passwd").symlink_to("/etc/passwd")
    (put(incoming / "chess") / "bot.toml").write_text(BOT.replace("mist", "chess"))
    shutil.make_archive(str(incoming / "zoe"), "zip", put(cup.parent / "zoe", "z"))
    (incoming / "notes.txt").write_text("hello")
    (incoming / ".hidden").write_text("")
    os.mkfifo(incoming / "pipe.zip")
    found = notes(cup, incoming, code=NO)
    refused = dict.fromkeys(("bad.zip", "chess", "empty", "link", "out", "zoe.zip", "pipe.zip"), "refused")
    assert MISSING | refused | {"zoe": "added", "notes.txt": "ignored"} == {
        entry: result for entry, (result, _) in found.items()
    }
    for entry, why in {
        "bad.zip": "bad.zip: this is neither a zip nor a tar archive",
        "chess": "chess does not play mist",
        "empty": "empty/bot.toml: cannot be read: No such file",
        "link": "is a symbolic link",
        "out": "passwd: is a link to /etc/passwd, outside the bot's folder",
        "pipe.zip": "it is a fifo",
        "zoe.zip": "the folder holds a bot of this name already",
    }.items():
        assert why in found[entry][1], found[entry]
    assert ["zoe"] == labels(cup)
    again = sync(cup, incoming)
    assert f"arena: 7 of 9 in {incoming} refused; the list says why\n" == again.stderr
    assert again.stdout.endswith("\n1 unchanged, 7 refused, 1 ignored, 5 missing\n")


@pytest.mark.parametrize("name", ["a\x1b[31m", "a\u202eb", b"a\xff", " a"])
def test_a_name_that_cannot_be_shown_is_refused(cup: Path, incoming: Path, name: str | bytes) -> None:
    put(incoming / os.fsdecode(name))
    (first, *_) = notes(cup, incoming, code=NO).values()
    assert ("refused", "its name has characters that cannot be shown") == first


def test_a_version_of_one_bot_is_no_label_of_another(cup: Path, incoming: Path) -> None:
    put(incoming / "a", "second")
    assert "updated" == results(cup, incoming)["a"]
    put(incoming / "a v2", "of somebody else")
    found = notes(cup, incoming, code=NO)
    assert ("refused", "a v2: is what a version of a is called") == found["a v2"]


def test_a_bot_that_has_withdrawn_does_not_come_back_by_itself(cup: Path, incoming: Path) -> None:
    change(cup, "withdraw", "a")
    put(incoming / "a", "again")
    assert ("refused", "a: has withdrawn") == notes(cup, incoming, code=NO)["a"]


def test_a_dry_run_says_the_same_and_writes_nothing(cup: Path, incoming: Path) -> None:
    put(incoming / "a", "changed")
    put(incoming / "zoe", "new")
    (incoming / "empty").mkdir()
    put(incoming / "A", "like a")
    dry = results(cup, incoming, "--dry-run", code=NO)
    assert "refused" == dry["A"]
    assert [] == events(cup)
    assert dry == results(cup, incoming, code=NO)
    shown = sync(cup, incoming, "--dry-run").stdout
    assert shown.endswith("\nwould be: 2 unchanged, 2 refused, 4 missing\n")


def test_the_caps_of_the_tournament_hold_within_archives(tmp_path: Path, incoming: Path) -> None:
    file = field(tmp_path, "round_robin", ("entry = { files = 5, size_mb = 1 }",))
    playing(file, AtOnce())
    shutil.make_archive(str(incoming / "large"), "zip", put(tmp_path / "large", "x" * (2 << 20)))
    for number in range(5):
        (put(tmp_path / "many") / f"{number}").write_text("")
    shutil.make_archive(str(incoming / "many"), "zip", tmp_path / "many")
    found = notes(file, incoming, code=NO)
    assert "has files of more than 1 MB together" in found["large.zip"][1]
    assert "has more than 5 files" in found["many.zip"][1]


def test_after_the_deadline_the_whole_folder_is_refused(tmp_path: Path, incoming: Path) -> None:
    file = field(tmp_path, "round_robin", ("entries_until = 2020-12-01T12:00:00Z",))
    playing(file, AtOnce())
    put(incoming / "zoe")
    refused = sync(file, incoming)
    assert WRONG_USE == refused.exit_code
    assert "entries were taken until 2020-12-01" in refused.stderr


@pytest.mark.slow
def test_a_bot_that_does_not_start_is_refused_and_the_next_one_is_not(cup: Path, incoming: Path) -> None:
    put(incoming / "crash", "raise SystemExit(3)")
    shutil.copytree(BUILT_IN / "mist_hunter", incoming / "good")
    done = CliRunner().invoke(main, ["entry", "sync", str(cup), str(incoming), "--json"])
    found = {each["entry"]: each for each in json.loads(done.stdout)["entries"]}
    assert (NO, "added", "refused") == (done.exit_code, found["good"]["result"], found["crash"]["result"])
    assert "never started" in found["crash"]["note"]
