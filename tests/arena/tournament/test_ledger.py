"""The ledger: whole whatever happens, attempts apart from results, blocks all or nothing."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse
from arena.schedule.blocks import ScheduledMatch
from arena.schedule.fields import Extended, FieldChange, Withdrawn
from arena.schedule.round_robin import round_robin
from arena.tournament import ledger_file
from arena.tournament.ledger import INTERRUPTED, MOST_EVENTS, AttemptCounts, Ledger
from arena.tournament.ledger_file import EVENTS, SCHEMA
from referee.host.plan import AttemptResult, Plan
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import result

FIRST, SECOND = next(iter(round_robin(2, 1, 1))).matches
FOLDER = Path("transcripts")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "ledger.sqlite")) as made:
        yield made


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    shutil.copy(Path(__file__).with_name("fixtures") / "schema-5.sqlite", path)
    return path


def result_of(match: ScheduledMatch) -> AttemptResult:
    return result(Plan(match=match.name, game="g", variant="v", seed=match.seed), ("a", "b"), FOLDER)


def finish(ledger: Ledger, match: ScheduledMatch) -> bool:
    return ledger.finish(match, ledger.try_match(match, FOLDER, "m"), result_of(match), seatings=2)


def test_a_block_counts_only_when_all_its_matches_have_ended(ledger: Ledger) -> None:
    assert finish(ledger, FIRST) is False
    assert [] == ledger.results()
    assert finish(ledger, SECOND) is True
    assert [0, 1] == [played.seating for played in ledger.results()]


def test_results_are_given_in_schedule_order_not_in_order_of_ending(ledger: Ledger) -> None:
    matches = [match for block in round_robin(3, 2, 1) for match in block.matches]
    for match in reversed(matches):
        finish(ledger, match)
    assert [(match.block, match.seating) for match in matches] == [
        (played.block, played.seating) for played in ledger.results()
    ]


def test_the_results_of_some_blocks_can_be_had_alone(ledger: Ledger) -> None:
    matches = [match for block in round_robin(3, 2, 1) for match in block.matches]
    for match in matches:
        finish(ledger, match)
    assert [1, 1, 2, 2] == [played.block for played in ledger.results(1, 3)]


def test_results_can_be_gone_through_a_few_at_a_time(ledger: Ledger) -> None:
    matches = [match for block in round_robin(3, 2, 1) for match in block.matches]
    for match in matches:
        finish(ledger, match)
    found, last = [], (-1, 0)
    while rows := ledger.after(*last, 5):
        last = (rows[-1][0].block, rows[-1][0].seating)
        found += [(played.block, played.seating) for played, _, _ in rows]
    assert [(match.block, match.seating) for match in matches] == found


def test_attempts_are_summed_once_each_and_interrupted_ones_are_not_void(ledger: Ledger) -> None:
    finish(ledger, FIRST)
    assert 1 == ledger.last_settled()
    under_way = ledger.try_match(SECOND, FOLDER, "m")
    ledger.void(ledger.try_match(SECOND, FOLDER, "m"), "no memory")
    first = ledger.counts(0)
    assert first == AttemptCounts(1, played=1, windows=first.windows, defaults=first.defaults)
    assert AttemptCounts(1) == ledger.counts(1)
    assert (1, "no memory") == ledger.void_series()
    ledger.give_up_unfinished()
    assert AttemptCounts(3, void=1) == ledger.counts(1)
    assert under_way.id == 2
    finish(ledger, SECOND)
    assert (0, "") == ledger.void_series()


def test_a_result_keeps_who_sat_where_and_the_hash_of_its_transcript(ledger: Ledger) -> None:
    finish(ledger, FIRST)
    finish(ledger, SECOND)
    assert [(FIRST.entrants, result_of(FIRST).head), (SECOND.entrants, result_of(SECOND).head)] == [
        (played.entrants, played.head) for played in ledger.results()
    ]


def test_a_void_attempt_is_kept_with_its_reason_and_the_next_has_a_transcript_of_its_own(ledger: Ledger) -> None:
    attempt = ledger.try_match(FIRST, FOLDER, "m")
    ledger.void(attempt, "no memory")
    assert [(0, 0, "no memory")] == ledger.voids()
    assert set() == ledger.finished()
    again = ledger.try_match(FIRST, FOLDER, "m")
    assert ("m.jsonl", "m.2.jsonl", 2) == (attempt.transcript.name, again.transcript.name, again.number)


def test_a_transcript_that_is_there_already_is_not_written_over(ledger: Ledger, tmp_path: Path) -> None:
    """The book may have lost its line to a power cut; the file has not."""
    (tmp_path / "m.jsonl").touch()
    (tmp_path / "m.2.jsonl.part").touch()
    assert tmp_path / "m.3.jsonl" == ledger.try_match(FIRST, tmp_path, "m").transcript


def test_attempts_left_unfinished_by_another_process_are_void_without_any_bots_fault(ledger: Ledger) -> None:
    ledger.try_match(FIRST, FOLDER, "m")
    finish(ledger, SECOND)
    assert 1 == ledger.give_up_unfinished()
    assert 0 == ledger.give_up_unfinished()
    assert [] == ledger.voids()
    assert [(INTERRUPTED,)] == ledger._db.execute("SELECT void FROM attempts WHERE void NOT NULL").fetchall()
    assert {(0, 1)} == ledger.finished()


@pytest.mark.parametrize(
    "forged",
    [None, 5, b"\xff", "[" * 9_999, "[{}]", "[{},{},{}]", '[{"spread":{"a":1}},{}]', '[{"late":-1},{}]'],
)
def test_forged_reports_are_refused_by_the_books_name(ledger: Ledger, forged: object) -> None:
    finish(ledger, FIRST)
    finish(ledger, SECOND)
    ledger._db.execute("UPDATE attempts SET reports = ?", (forged,))
    with pytest.raises(WrongUse, match=r"ledger\.sqlite: "):
        list(ledger.reports())


def test_terms_come_back_as_they_were_given_and_in_order(tmp_path: Path, open_ledger: OpenLedger) -> None:
    terms = {"b": [1, "x"], "a": None, "seed": 2**70}
    first = open_ledger(tmp_path / "l")
    assert {} == first.terms()
    first.begin(terms)
    first.close()
    with closing(Ledger(tmp_path / "l")) as second:
        again = second.terms()
    assert (terms, ["b", "a", "seed"]) == (again, list(again))


def test_a_result_that_cannot_be_written_leaves_the_book_as_it_was(ledger: Ledger) -> None:
    """A full disk, in SQLite's own words: the book may not grow by another page."""
    finish(ledger, FIRST)
    (pages,) = ledger._db.execute("PRAGMA page_count").fetchone()
    ledger._db.execute(f"PRAGMA max_page_count = {pages}")
    attempt = ledger.try_match(SECOND, FOLDER, "m")
    with pytest.raises(MachineCannot, match=r"ledger\.sqlite: database or disk is full$"):
        ledger.void(attempt, "x" * 1_000_000)
    ledger._db.execute("PRAGMA max_page_count = 1000000")
    assert {(0, 0)} == ledger.finished()
    ledger.give_up_unfinished()
    assert finish(ledger, SECOND) is True


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_text(
        "a diary, long enough to be taken for a database's header, as SQLite looks at a hundred bytes" * 9
    )
    with pytest.raises(WrongUse, match=r"ledger\.sqlite: file is not a database$"):
        Ledger(path)


def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE diary (day TEXT)")
    theirs.close()
    with pytest.raises(WrongUse, match=r"theirs\.sqlite: not a tournament's ledger$"):
        Ledger(path)


def test_a_ledger_of_another_schema_is_refused_with_both_numbers(tmp_path: Path, open_ledger: OpenLedger) -> None:
    path = tmp_path / "l.sqlite"
    ledger = open_ledger(path)
    ledger._db.execute("PRAGMA user_version = 99")
    ledger.close()
    with pytest.raises(
        WrongUse, match=rf"l\.sqlite: a ledger of schema 99; this arena reads schemas 5 to {SCHEMA}$"
    ):
        Ledger(path)


def test_a_ledger_of_schema_5_goes_on_with_all_it_holds_and_can_be_changed(
    old: Path, open_ledger: OpenLedger
) -> None:
    """The fixture is a file that an arena of schema 5 wrote: three blocks counted, two were under way."""
    ledger = open_ledger(old)
    assert (6, 7) == (len(ledger.results()), len(ledger.finished()))
    assert [(3, 1, "/t/x.jsonl: cannot be written: No space left on device")] == ledger.voids()
    assert ["mist_random", "mist_cautious", "mist_hunter"] == ledger.terms()["bots"]
    assert ([], 5, False) == (ledger.events(), ledger.begun(), ledger.waiting())
    ledger.change(lambda events, begun: Withdrawn(entrant=len(events) + begun))
    ledger.close()
    with closing(Ledger(old)) as again:
        assert [Withdrawn(entrant=5)] == [event.what for event in again.events()]


def test_a_ledger_of_schema_5_with_a_strangers_trigger_is_refused_and_left_alone(old: Path) -> None:
    with sqlite3.connect(old) as theirs:
        theirs.execute("CREATE TRIGGER t AFTER INSERT ON terms BEGIN DELETE FROM results; END")
    theirs.close()
    with pytest.raises(WrongUse, match=r"not a tournament's ledger: its tables are not those of schema 5$"):
        Ledger(old)
    with sqlite3.connect(old) as theirs:
        assert (5,) == theirs.execute("PRAGMA user_version").fetchone()
    theirs.close()


def test_a_migration_that_is_interrupted_leaves_the_old_book(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EVENTS + "CREATE TABLE results (a TEXT);\n"
    monkeypatch.setitem(ledger_file.MIGRATIONS, 5, (ledger_file.TABLES_5, broken))
    with pytest.raises(WrongUse, match="table results already exists"):
        Ledger(old)
    monkeypatch.undo()
    with closing(Ledger(old)) as again:
        assert [] == again.events()


def test_another_book_of_this_process_does_not_cost_this_one_its_log(tmp_path: Path) -> None:
    """Opening and closing the file again drops SQLite's locks: another process would remove the log."""
    path = tmp_path / "ledger.sqlite"
    with closing(Ledger(path)) as first:
        first.begin({"seed": 1})
        with closing(Ledger(path)):
            look = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM terms').fetchall()"
            subprocess.run([sys.executable, "-c", look, str(path)], check=True)  # noqa: S603 - our own words
        assert path.with_name("ledger.sqlite-wal").exists()


def test_a_change_waits_until_an_arena_settles_it_and_blocks_other_writes(ledger: Ledger) -> None:
    finish(ledger, FIRST)
    first = ledger.change(lambda *_: Extended(blocks=3))
    second = ledger.change(lambda *_: Withdrawn(entrant=1))
    assert ledger.waiting()
    assert [first, second] == ledger.events()

    def judge(events: Sequence[FieldChange], begun: int) -> list[FieldChange]:
        return [replace(events[0], block=begun), replace(events[1], refused="why not")]

    settled = ledger.take_in(judge)
    assert settled == ledger.events() == [replace(first, block=1), replace(second, refused="why not")]
    assert not ledger.waiting()


def test_a_change_that_is_complained_of_is_not_written(ledger: Ledger) -> None:
    def complain(events: Sequence[FieldChange], begun: int) -> Withdrawn:
        raise WrongUse(f"{events} {begun}")

    with pytest.raises(WrongUse, match=r"^\[\] 0$"):
        ledger.change(complain)
    assert ([], False) == (ledger.events(), ledger.waiting())


ENTRY = {"type": "entered", "label": "a", "folder": "a", "content": f"sha256:{0:064}", "version": "1"}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("entered", '{"type":"withdrawn","entrant":1}'),
        ("withdrawn", '{"type":"withdrawn","entrant":-1}'),
        ("withdrawn", '{"type":"withdrawn","entrant":"1"}'),
        ("withdrawn", '{"type":"withdrawn","entrant":1,"more":1}'),
        ("extended", '{"type":"extended","blocks":10000001}'),
        ("entered", json.dumps(ENTRY | {"content": "sha256:../../etc"})),
        ("entered", json.dumps(ENTRY | {"content": f"sha256:{0:064}\n"})),
        ("entered", json.dumps(ENTRY | {"label": "x" * 1_001})),
        ("entered", json.dumps(ENTRY | {"label": ""})),
        ("other", '{"type":"other"}'),
        (b"\xff", "[" * 9_999),
        ("withdrawn", b"\xff"),
        (5, 5),
    ],
)
def test_forged_changes_are_refused_by_the_books_name(ledger: Ledger, kind: object, data: object) -> None:
    ledger._db.execute("INSERT INTO events (at, kind, data) VALUES ('now', ?, ?)", (kind, data))
    with pytest.raises(WrongUse, match=r"ledger\.sqlite: "):
        ledger.events()


@pytest.mark.parametrize(("field", "value"), [("at", "x" * 41), ("block", -1), ("block", "x"), ("block", 10**8)])
def test_forged_times_and_blocks_of_changes_are_refused(ledger: Ledger, field: str, value: object) -> None:
    ledger.change(lambda *_: Extended(blocks=3))
    row = {"at": "now", "block": None} | {field: value}
    ledger._db.execute("UPDATE events SET at = :at, block = :block", row)
    with pytest.raises(WrongUse, match=r"ledger\.sqlite: "):
        ledger.events()


def test_changes_are_bounded_in_number(ledger: Ledger) -> None:
    rows = [("now", "extended", '{"type":"extended","blocks":3}')] * MOST_EVENTS
    ledger._db.executemany("INSERT INTO events (at, kind, data) VALUES (?, ?, ?)", rows)
    with pytest.raises(WrongUse, match="at most 10000 changes"):
        ledger.change(lambda *_: Extended(blocks=4))
    ledger._db.execute("INSERT INTO events (at, kind, data) VALUES (?, ?, ?)", rows[0])
    with pytest.raises(WrongUse, match="more than 10000 events"):
        ledger.events()


def test_a_void_attempt_cannot_be_given_as_a_result(ledger: Ledger) -> None:
    void = AttemptResult(
        match="m",
        outcome=None,
        conduct=(),
        void="why",
        charged_us=(),
        windows=(),
        defaults=(),
        transcript="",
        head="",
    )
    with pytest.raises(ValueError, match="void attempt"):
        ledger.finish(FIRST, ledger.try_match(FIRST, FOLDER, "m"), void, seatings=2)


def test_a_void_attempt_takes_its_block_with_it_also_what_ends_later(ledger: Ledger) -> None:
    first, second = ledger.try_match(FIRST, FOLDER, "m"), ledger.try_match(SECOND, FOLDER, "n")
    assert 0 == ledger.void_block(0, second, "no memory")
    assert ledger.finish(FIRST, first, result_of(FIRST), seatings=2) is False
    assert set() == ledger.finished()
    assert finish(ledger, FIRST) is False
    assert 1 == ledger.void_block(0, ledger.try_match(SECOND, FOLDER, "n"), "no socket")
    assert (finish(ledger, FIRST), finish(ledger, SECOND)) == (False, True)
    assert [(0, 1, "no memory"), (0, 1, "no socket")] == ledger.voids()
    assert [(0, 0, "no memory"), (0, 0, "no socket")] == ledger.set_aside()


def test_an_old_attempt_that_ends_after_its_block_was_committed_changes_nothing(ledger: Ledger) -> None:
    first, second = ledger.try_match(FIRST, FOLDER, "m"), ledger.try_match(SECOND, FOLDER, "n")
    ledger.void_block(0, second, "no memory")
    assert (finish(ledger, FIRST), finish(ledger, SECOND)) == (False, True)
    before = ledger.results()
    assert ledger.finish(FIRST, first, result_of(FIRST), seatings=2) is False
    assert before == ledger.results()
    assert [(0, 0, "no memory")] == ledger.set_aside()


def test_only_its_owner_can_read_it_and_what_sqlite_puts_beside_it(ledger: Ledger, tmp_path: Path) -> None:
    """It holds the seeds of matches that have not been played."""
    finish(ledger, FIRST)
    files = sorted(tmp_path.glob("ledger.sqlite*"))
    assert ["ledger.sqlite", "ledger.sqlite-shm", "ledger.sqlite-wal"] == [file.name for file in files]
    assert {0o600} == {file.stat().st_mode & 0o777 for file in files}


def test_after_a_write_that_failed_halfway_the_book_goes_on(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "_now", lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            ledger.try_match(FIRST, FOLDER, "m")
    assert finish(ledger, FIRST) is False
    assert finish(ledger, SECOND) is True
    assert [(1,), (1,)] == ledger._db.execute("SELECT number FROM attempts").fetchall()


def test_the_attempts_at_a_match_are_numbered_from_one_in_the_book(ledger: Ledger) -> None:
    for _ in range(3):
        ledger.void(ledger.try_match(FIRST, FOLDER, "m"), "no memory")
    finish(ledger, SECOND)
    rows = ledger._db.execute("SELECT seating, number FROM attempts ORDER BY id").fetchall()
    assert [(0, 1), (0, 2), (0, 3), (1, 1)] == rows


def test_a_book_that_is_settled_is_whole_without_the_files_beside_it(ledger: Ledger, tmp_path: Path) -> None:
    finish(ledger, FIRST)
    finish(ledger, SECOND)
    ledger.settle()
    shutil.copy(ledger.path, tmp_path / "alone.sqlite")
    with closing(Ledger(tmp_path / "alone.sqlite")) as alone:
        assert ledger.results() == alone.results() != []


def test_a_path_that_is_no_regular_file_is_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, said in (("pipe", "it is a fifo"), ("folder", "it is a folder")):
        with pytest.raises(WrongUse, match=rf"/{name}: cannot be read: {said}"):
            Ledger(tmp_path / name)
