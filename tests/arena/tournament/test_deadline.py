"""Entries have a deadline, a host may set a later one, and what changed is listed; links are not followed."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.config.tournament_file import read_tournament
from arena.errors import WRONG_USE, WrongUse
from arena.tournament import changes
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_entries import change, events, field, playing

FIRST = "entries_until = 2026-12-01T12:00:00Z"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A round robin with a deadline, which has been played."""
    file = field(tmp_path, "round_robin", (FIRST,))
    playing(file, AtOnce())
    return file


def at(monkeypatch: pytest.MonkeyPatch, time: str) -> None:
    """Set the current time."""
    moment = datetime.fromisoformat(time).astimezone(UTC)
    monkeypatch.setattr(changes, "now", lambda: moment)
    monkeypatch.setattr("arena.submissions.entering.now", lambda: moment)


def report(file: Path) -> Any:
    return json.loads(CliRunner().invoke(main, ["report", str(file), "--json"]).stdout)


def test_entries_after_the_deadline_are_refused_and_withdrawals_are_not(
    cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, "2026-12-01T13:00:00+01:00")
    assert 0 == change(cup, "add", "f", "--no-check").exit_code
    at(monkeypatch, "2026-12-01T12:00:01Z")
    for command in (("add", "f2", "--no-check"), ("update", "a", "f3", "--no-check")):
        refused = change(cup, *command)
        assert WRONG_USE == refused.exit_code
        assert (
            "entries were taken until 2026-12-01T12:00:00+00:00 (for a later time: arena extend" in refused.stderr
        )
    assert 0 == change(cup, "withdraw", "b").exit_code
    assert 2 == len(events(cup))
    listed = CliRunner().invoke(main, ["entry", "list", str(cup)])
    assert listed.stdout.endswith("entries until 2026-12-01T12:00:00+00:00\n")


def test_a_later_deadline_is_an_event_that_holds_at_once(cup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "2026-12-02T00:00:00Z")
    assert 0 == change(cup, "extend", "--entries-until", "2026-12-03T00:00:00+02:00").exit_code
    assert 0 == change(cup, "add", "f", "--no-check").exit_code
    at(monkeypatch, "2026-12-02T22:00:01Z")
    assert "entries were taken until 2026-12-02T22:00:00+00:00" in change(cup, "add", "f2", "--no-check").stderr
    assert "f" in playing(cup, AtOnce()).digest.labels
    told = report(cup)
    assert "2026-12-02T22:00:00+00:00" == told["entries_until"]
    assert ["entries until 2026-12-02T22:00:00+00:00", "f enters"] == [each["text"] for each in told["changes"]]
    assert told["changes"][1]["at"] >= told["changes"][0]["at"]
    cup.write_text(cup.read_text().replace(FIRST, "entries_until = 2026-12-03T00:00:00+02:00"))
    playing(cup, AtOnce())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("2026-12-01T12:00:00Z", "until 2026-12-01T12:00:00+00:00: 2026-12-01T12:00:00+00:00 is not later"),
        ("2026-11-30T12:00:00Z", "is not later"),
        (
            "2026-12-05T12:00:00",
            "'2026-12-05T12:00:00' is not a time with an offset from UTC, such as 2026-12-01T12:00:00Z",
        ),
        ("tomorrow", "'tomorrow' is not a time with an offset from UTC"),
        ("9999-12-31T23:59:59-23:59", "is not a time with an offset from UTC"),
    ],
)
def test_a_deadline_that_is_not_later_is_refused(cup: Path, given: str, said: str) -> None:
    refused = change(cup, "extend", "--entries-until", given)
    assert WRONG_USE == refused.exit_code
    assert said in refused.stderr
    assert [] == events(cup)


def test_a_deadline_that_was_changed_in_the_file_names_the_command(cup: Path) -> None:
    cup.write_text(cup.read_text().replace("2026-12-01", "2026-12-24"))
    with pytest.raises(
        WrongUse, match=r"\(to take it in: arena extend .*cup.toml --entries-until 2026-12-24T12:0"
    ):
        playing(cup, AtOnce())


@pytest.mark.parametrize("until", ["2026-12-01T12:00:00", "2026-12-01", '"soon"', "7"])
def test_a_deadline_without_an_offset_is_no_deadline(tmp_path: Path, until: str) -> None:
    file = field(tmp_path, "round_robin", (f"entries_until = {until}",))
    with pytest.raises(WrongUse, match=r"cup.toml:5: entries_until: "):
        read_tournament(file)


@pytest.mark.parametrize("where", ["file", "entered", "above", "above with an @"])
def test_an_update_from_a_folder_that_has_become_a_link_is_refused(cup: Path, where: str) -> None:
    label = "a" if where == "file" else "g"
    team = "teams@2026" if where == "above with an @" else "teams"
    folder = cup.parent / ("a" if where == "file" else f"{team}/g")
    if where != "file":
        (cup.parent / team).mkdir()
        (cup.parent / "f").rename(folder)
        assert 0 == change(cup, "add", str(folder), "--no-check").exit_code
    moved = folder.parent if where.startswith("above") else folder
    moved.rename(cup.parent / "elsewhere")
    moved.symlink_to(cup.parent / "elsewhere")
    ((cup.parent / "elsewhere") / ("g/bot.py" if where.startswith("above") else "bot.py")).write_text(
        "# secrets of others"
    )
    before = len(events(cup))
    refused = change(cup, "update", label, "--no-check")
    assert WRONG_USE == refused.exit_code
    assert f"{moved} has become a symbolic link; name what it leads to as BOT" in refused.stderr
    assert before == len(events(cup))
    assert 0 == change(cup, "update", label, str(folder), "--no-check").exit_code


@pytest.mark.parametrize("name", ["links@2026/g", "link@2026", "link", "links@2026/g@HEAD"])
def test_an_entry_that_is_a_link_is_followed_and_it_is_said_where_to(cup: Path, name: str) -> None:
    (cup.parent / "links@2026").mkdir()
    for link in ("links@2026/g", "link@2026", "link"):
        (cup.parent / link).symlink_to(cup.parent / "f")
    added = change(cup, "add", str(cup.parent / name), "--no-check", "--label", "g")
    is_at_revision = name.endswith("@HEAD")
    assert WRONG_USE * is_at_revision == added.exit_code
    assert f"{cup.parent / name}: is a symbolic link to {cup.parent / 'f'}" in added.stderr
    if not is_at_revision:
        assert str(cup.parent / "f") == events(cup)[-1].what.folder


def test_a_sample_bot_is_updated_as_such_whatever_lies_in_the_current_folder(
    cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 0 == change(cup, "add", "mist_random", "--no-check").exit_code
    elsewhere = cup.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mist_random").symlink_to(cup.parent / "f")
    monkeypatch.chdir(elsewhere)
    refused = change(cup, "update", "mist_random", "--no-check")
    assert "mist_random has not changed since mist_random, the version that is playing" in refused.stderr


def test_a_deadline_that_passes_while_a_new_version_is_checked_holds(
    cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, "2026-12-01T12:00:01Z")
    before = datetime.fromisoformat("2026-12-01T11:59:59Z")
    monkeypatch.setattr("arena.submissions.entering.now", lambda: before)
    for command in (("add", "f", "--no-check"), ("update", "a", "f3", "--no-check")):
        refused = change(cup, *command)
        assert WRONG_USE == refused.exit_code
        assert "entries were taken until" in refused.stderr
    assert [] == events(cup)
