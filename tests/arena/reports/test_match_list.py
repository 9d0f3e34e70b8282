"""`arena results`: every match that counts, once, in any form; bounded, and nothing in it acts."""

import csv
import json
import tracemalloc
from collections import deque
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.errors import DONE, WRONG_USE
from arena.reports import matches, matches_csv, matches_listed
from arena.tournament import LEDGER, Ledger
from protocol.refusals import Conduct
from referee.match.seat_report import SeatReport
from tests.arena.pages.folders import folder_of
from tests.arena.simulated import result
from tests.hostile_names import NAMES

LABELS = ("ann", "bob", "=cid()")
CRASHED = (Conduct.OK, Conduct.CRASHED)
PLAYED = [
    result(0, 0, (0, 1), ((0,), (1,))),
    result(0, 1, (1, 0), ((0, 1),)),
    result(1, 0, (0, 2), ((1,), (0,)), conduct=CRASHED),
    result(1, 1, (2, 0), ((0,), (1,)), conduct=CRASHED),
    result(2, 0, (1, 2), ((0,), (1,)), conduct=CRASHED),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reports = {(1, 0): (SeatReport(), SeatReport(loss="killed: memory over 256 MB"))}
    return folder_of(tmp_path_factory.mktemp("r") / "cup", LABELS, PLAYED, reports=reports, open_attempts=[(3, 0)])


def listed(folder: Path, *options: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["results", str(folder), "--json", *options])
    assert DONE == done.exit_code, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_list_has_all_matches_that_count_in_order_and_no_other(folder: Path) -> None:
    found = listed(folder)
    assert ["1a", "1b", "2a", "2b", "3a"] == [one["match"] for one in found]
    third = found[2]
    assert (1, 0, "00002a.jsonl", 64) == (
        third["block"],
        third["seating"],
        third["transcript"],
        len(third["head"]),
    )
    assert [("ann", 2, 0, "ok", []), ("=cid()", 1, 1, "crashed", ["killed: memory over 256 MB"])] == [
        (each["bot"], each["place"], each["points"], each["conduct"], each["causes"]) for each in third["seats"]
    ]
    assert [(1, 0.5), (1, 0.5)] == [(each["place"], each["points"]) for each in found[1]["seats"]]


@pytest.mark.parametrize(
    ("options", "matches"),
    [
        (["--bot", "ann"], ["1a", "1b", "2a", "2b"]),
        (["--bot", "ann", "--opponent", "=cid()"], ["2a", "2b"]),
        (["--opponent", "bob"], ["1a", "1b", "3a"]),
        (["--bot", "ann", "--seat", "1"], ["1b", "2b"]),
        (["--conduct", "crashed"], ["2a", "2b", "3a"]),
        (["--bot", "ann", "--conduct", "crashed"], ["2b"]),
        (["--bot", "ann", "--conduct", "crashed", "--conduct", "ok"], ["1a", "1b", "2a", "2b"]),
        (["--bot", "bob", "--seat", "7"], []),
        (["--last", "2"], ["2b", "3a"]),
        (["--bot", "ann", "--last", "9"], ["1a", "1b", "2a", "2b"]),
    ],
)
def test_one_seat_of_a_match_must_fit_all_that_is_asked(
    folder: Path, options: list[str], matches: list[str]
) -> None:
    assert matches == [one["match"] for one in listed(folder, *options)]


def test_a_bot_that_is_not_there_is_named(folder: Path) -> None:
    done = CliRunner().invoke(main, ["results", str(folder), "--bot", "zoe"])
    assert (WRONG_USE, "arena: no bot is called zoe; the bots are ann, ") == (done.exit_code, done.stderr[:47])


def test_csv_has_a_row_for_each_seat_and_no_formula(folder: Path) -> None:
    done = CliRunner().invoke(main, ["results", str(folder), "--csv", "--opponent", "=cid()"])
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [("2a", "0", "ann", "0.0", "ok"), ("2a", "1", "'=cid()", "1.0", "crashed")] == [
        (row["match"], row["seat"], row["bot"], row["points"], row["conduct"]) for row in rows[:2]
    ]
    assert 6 == len(rows)


def test_the_table_has_the_last_matches_and_says_how_many_there_are(folder: Path) -> None:
    done = CliRunner().invoke(main, ["results", str(folder), "--last", "3"])
    lines = done.stdout.splitlines()
    assert [
        ["2a", "0", "ann", "2", "0", "ok"],
        ["1", "=cid()", "1", "1", "crashed"],
        ["2b", "0", "=cid()", "1", "1", "ok"],
        ["1", "ann", "2", "0", "crashed"],
    ] == [line.split()[:count] for line, count in zip(lines[2:6], (6, 5, 6, 5), strict=True)]
    assert [
        "2a seat 1, =cid(): killed: memory over 256 MB",
        "the last 3 of 5 matches: --last, --csv and --json show more",
    ] == lines[-2:]
    none = CliRunner().invoke(main, ["results", str(folder), "--seat", "9"])
    assert (DONE, "no match that counts fits these options\n") == (none.exit_code, none.stdout)


@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_names_and_causes_of_strangers_do_nothing_in_any_form(tmp_path: Path, form: list[str]) -> None:
    names = tuple(NAMES.values())
    played = [result(block, 0, (block, 0 if block else 1), ((0,), (1,))) for block in range(len(names))]
    reports = {(block, 0): (SeatReport(loss=name), SeatReport()) for block, name in enumerate(names)}
    folder = folder_of(tmp_path / "cup", names, played, reports=reports)
    done = CliRunner().invoke(main, ["results", str(folder), "--last", "1000", *form])
    assert DONE == done.exit_code, done.stderr
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    assert len(done.stdout.split("\n")) > len(names)
    assert "[red]x[/red]" in done.stdout


def test_a_match_that_cannot_be_among_these_bots_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "cup", LABELS, [result(0, 0, (0, 9), ((0,), (1,)))])
    done = CliRunner().invoke(main, ["results", str(folder)])
    assert WRONG_USE == done.exit_code
    assert "ledger.sqlite: holds a result that does not fit a match among its 3 bots" in done.stderr


@pytest.mark.slow
def test_the_list_of_many_matches_is_never_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 matches as text are 0.6 MB, as objects 1.5 MB; a hundred at once are a twentieth."""
    monkeypatch.setattr(matches, "AT_ONCE", 100)
    many = [result(block, seating, (0, 1), ((0,), (1,))) for block in range(1_000) for seating in (0, 1)]
    folder = folder_of(tmp_path / "cup", LABELS, many)
    del many
    with closing(Ledger(folder / LEDGER)) as ledger:
        tracemalloc.start()
        try:
            (last,) = deque(matches_csv(matches_listed(ledger, LABELS)), maxlen=1)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert last.startswith("1000b,999,1,0,ann,1,1.0,ok,")
    assert most < 500_000
