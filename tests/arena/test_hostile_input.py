"""Whatever the command line is given, be it no file, no text or a number beyond all: it is wrong use."""

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from arena.errors import DONE, WRONG_USE, MachineCannot
from arena.tournament.ledger import Ledger
from arena.tournament.ledger_file import APPLICATION, SCHEMA
from arena.tournament.results_folder import LEDGER
from arena.workers import machine
from arena.workers.cluster.dask import DaskClient, SchedulerGoneError
from referee.bot_folder.content import cache_folder
from referee.wire.keys import new_pair, write_pair
from tests.arena.commands.test_report import cup
from tests.builders.command_line import arena

TWO = ("mist", "mist_random", "mist_random")
FIVE = ("hive-mind", *["hive_mind_random"] * 5)
READERS: dict[str, tuple[str, ...]] = {
    "adjudicate": ("adjudicate", "FILE"),
    "script": ("stress", "--virtual", "--script", "FILE"),
    "setup": ("match", *FIVE, "--setup", "FILE"),
    "remote": ("host", "mist", "remote:FILE", "mist_random", "--wait", "1"),
    "key": ("host", "mist", "remote:FILE", "mist_random", "--key", "FILE"),
    "report": ("report", "FILE"),
    "tournament": ("tournament", "FILE"),
    "season": ("season", "FILE"),
    "check": ("check", "FILE.toml"),
    "clock": ("match", *TWO, "--clock", "FILE"),
    "ask": ("ask", "mist_random", "FILE"),
    "entry": ("entry", "add", "FILE", "mist_random"),
    "results": ("results", "FILE"),
}


def is_wrong_use(result: Result) -> bool:
    """Refused in one line that does not blame the arena."""
    return (WRONG_USE, 1) == (
        result.exit_code,
        result.stderr.count("\n"),
    ) and "fault of the arena" not in result.stderr


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


PLACES: dict[str, Callable[[Path], object]] = {
    "a fifo": os.mkfifo,
    "a socket": unix_socket,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a loop": lambda path: path.symlink_to(path.name),
    "nothing": lambda path: path,
    "a hole of a tebibyte": lambda path: (path.touch(), os.truncate(path, 2**40)),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("place", PLACES)
def test_paths_that_are_no_regular_file_of_a_bounded_size_are_not_read(
    tmp_path: Path, reader: str, place: str
) -> None:
    for name in ("f", "f.toml"):
        PLACES[place](tmp_path / name)
    result = arena(*(word.replace("FILE", str(tmp_path / "f")) for word in READERS[reader]))
    assert is_wrong_use(result), result.output
    assert str(tmp_path / "f") in result.stderr


TEXTS = {
    "nothing": b"",
    "NUL": b"\0" * 100,
    "invalid UTF-8": b'{"game":"mist\xff","steps":[]}',
    "invalid UTF-8 where nobody looks": b'{"game":"mist","steps":[{"0":{"x":"\xff"}}]}',
    "a surrogate": b'{"game":"mi\\ud800st","steps":[]}',
    "a surrogate that stands twice": b'{"game":"mist","steps":[{"0":{"\\ud800":1,"\\ud800":1}}]}',
    "a byte order mark": b'\xef\xbb\xbf{"game":"mist","steps":[]}',
    "a key twice": b'{"game":"mist","game":"mist","steps":[]}',
    "a list nested deeply": b"[" * 100_000,
    "options nested deeply": b'{"game":"mist","steps":[],"options":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "a number of 5,000 digits": b'{"game":"mist","steps":[],"seed":' + b"9" * 5_000 + b"}",
    "a huge option": b'{"game":"mist","steps":[],"options":{"max_turns":' + b"9" * 4_000 + b"}}",
    "huge garnets": b'{"game":"hive-mind","steps":[{}],"options":{"garnets":' + b"9" * 4_300 + b"}}",
    "NaN": b'{"game":"mist","steps":[],"seed":NaN}',
    "a float": b'{"game":"mist","steps":[],"seed":1e3}',
    "huge time": b'{"game":"fight-for-a-name","steps":[{"elapsed_ms":{"0":' + b"9" * 4_300 + b"}}]}",
    "a line too long": b'{"game":"' + b"x" * 9_000_000 + b'"}',
}


@pytest.mark.parametrize("text", TEXTS)
def test_adjudicate_reads_a_file_as_it_reads_standard_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_bytes(TEXTS[text])
    result = arena("adjudicate", tmp_path / "f")
    assert is_wrong_use(result), result.output
    if not TEXTS[text]:
        return
    streamed = arena("adjudicate", "-", stdin=TEXTS[text])
    assert (DONE, {"error"}) == (streamed.exit_code, set(json.loads(streamed.stdout)))
    many = tmp_path / "many"
    many.write_bytes(TEXTS[text] + b'\n{"game":"mist","steps":[]}\n')
    if b"[" * 9_000 not in TEXTS[text] and len(TEXTS[text]) < 10_000 and b"NaN" not in TEXTS[text]:
        # What is a scenario a line by its first line is read as from standard input.
        assert arena("adjudicate", many).exit_code in (DONE, WRONG_USE)


def test_a_line_of_many_that_is_no_text_is_an_error_in_its_place(tmp_path: Path) -> None:
    good = b'{"game":"mist","options":{"max_turns":1},"steps":[]}'
    (tmp_path / "f").write_bytes(b'{"game":"m\xff"}\n' + good + b"\n")
    result = arena("adjudicate", tmp_path / "f")
    first, second = map(json.loads, result.stdout.splitlines())
    assert (DONE, {"error": "scenario: not UTF-8 at byte 10"}, "mist") == (result.exit_code, first, second["game"])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("reader", ["script", "setup", "remote", "key", "report"])
def test_other_files_are_refused_too(tmp_path: Path, reader: str, text: str) -> None:
    (tmp_path / "f").write_bytes(TEXTS[text])
    result = arena(*(word.replace("FILE", str(tmp_path / "f")) for word in READERS[reader]))
    assert is_wrong_use(result), result.output


SCRIPT = {"seats": 1, "windows": [{"kind": "turn", "seats": [0]}], "main_ms": 1, "hello": [0]}


COUNTS = ("main_ms", "reserve_ms", "startup_ms", "pause_ms", "pauses", "restarts", "increment_ms", "seats")


@pytest.mark.parametrize(
    "changed",
    [
        *({field: value} for field in COUNTS for value in (-1, 10**12, 2**63, 10**30)),
        {"order": -1}, {"order": 10**30}, {"startup_ms": 0}, {"hello": [10**30]}, {"hello": [-1]},
        {"game": "mist"}, {"windows": []}, {"windows": [{"kind": "x", "seats": [0]}]},
        {"windows": [{"kind": "turn", "seats": [0, 0]}]},
        *({"steps": [{"when": {"edge": "start"}, "act": act}]} for act in (
            {"do": "stall", "ticks": -1}, {"do": "stall", "ticks": 10**30}, {"do": "pause", "ticks": 2**63},
            {"do": "submit", "window": 10**30}, {"do": "leave", "code": 10**30}, {"do": "leave", "back": -1},
        )),
        {"steps": [{"when": {"edge": "start", "ticks": 10**30}, "act": {"do": "ask"}}]},
        {"steps": [{"when": {"edge": "start", "seat": -1}, "act": {"do": "ask"}}]},
    ],
    ids=str,
)  # fmt: skip
def test_numbers_of_a_script_are_bounded(tmp_path: Path, changed: dict[str, Any]) -> None:
    (tmp_path / "f").write_text(json.dumps({**SCRIPT, **changed}))
    assert is_wrong_use(arena("stress", "--virtual", "--script", tmp_path / "f"))


NUMBERS = ("9" * 5_000, "9" * 30, "-1", "nan", "inf", "1e400", "", "x", "\u0663x")


OF_POLICY = ("main-ms", "reserve-ms", "startup-ms", "pauses", "pause-ms", "restarts", "messages-per-window",
             "bytes-per-window", "refusals-per-match")  # fmt: skip
OF_REGRESS = ("alpha", "beta", "blocks", "limit", "concurrency", "workers", "on")


@pytest.mark.parametrize(
    "words",
    [
        *(("match", *TWO, f"--{option}") for option in (*OF_POLICY, "options")),
        *(("stress", f"--{option}") for option in ("levels", "matches", "main-ms", "hogs")),
        ("stress", "--virtual", "--processes"),
        *(("regress", "mist", "--base", "mist_random", "--head", "mist_hunter", f"--{option}")
          for option in OF_REGRESS),
        ("host", "mist", "remote:x.key", "mist_random", "--at"),
        ("replay", "docs/examples/three-turns.jsonl", "--boards"),
        ("replay", "docs/examples/three-turns.jsonl", "--seat"),
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)  # fmt: skip
def test_numbers_of_options_are_bounded(words: tuple[str, ...]) -> None:
    assert [] == [number for number in NUMBERS if not is_wrong_use(arena(*words, number))]


def test_a_wait_that_is_no_time_is_wrong_use(tmp_path: Path) -> None:
    public, _ = write_pair(tmp_path / "a", new_pair())
    for wait in ("nan", "inf", "-inf", "0", "1e400"):
        assert is_wrong_use(arena("host", "mist", f"remote:{public}", "mist_random", "--at", ":0", "--wait", wait))


PLAYED = (
    "'x'", "5", "x'ff'", "'{}'", "'[]'", "''", f"'{'[' * 50_000}'",
    "json_set(played, '$.entrants', json('[0]'))", "json_set(played, '$.entrants', json('[0,99]'))",
    "json_set(played, '$.entrants', json('[0,-1]'))", "json_set(played, '$.windows', json('[1]'))",
    "json_set(played, '$.windows', json('[1,-1]'))", "json_set(played, '$.charged_us[0]', 1e300)",
    "json_set(played, '$.outcome.ranking', json('[[0]]'))",
    "json_set(played, '$.outcome.ranking', json('[[0],[1],[1]]'))",
    "json_set(played, '$.outcome.ranking', json('[[0],[9]]'))",
    "json_set(played, '$.conduct', json('[\"x\",\"ok\"]'))",
    f"replace(played, '\"block\":', '\"block\":{'9' * 5_000}')",
)  # fmt: skip
TERMS = ("'x'", "x'ff'", "'[]'", "'{}'", "'null'", f"'{'9' * 5_000}'", "'[1,2]'")
ENDLESS = """\
DROP TABLE results;
CREATE VIEW results AS WITH RECURSIVE c(block) AS (SELECT 1 UNION ALL SELECT 1 FROM c)
    SELECT block, 0 AS seating, 1 AS attempt FROM c;
"""
SCHEMAS = (
    "DELETE FROM terms", "DELETE FROM terms WHERE key = 'blocks'", "DROP TABLE terms",
    "CREATE VIEW more AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON terms BEGIN SELECT 1; END",
    ENDLESS,
    "ALTER TABLE terms ADD COLUMN more", f"PRAGMA user_version = {SCHEMA + 1}", "PRAGMA user_version = 1",
    "PRAGMA user_version = -1", f"PRAGMA application_id = {APPLICATION + 1}",
)  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tournament that was played."""
    folder = tmp_path_factory.mktemp("played")
    cup(folder)
    return folder


class TestLedgers:
    """A results folder from elsewhere."""

    @pytest.fixture
    def ledger(self, tmp_path: Path, played: Path) -> Path:
        """A copy of its ledger, in a results folder of its own."""
        shutil.copytree(played, tmp_path, dirs_exist_ok=True)
        return tmp_path / "runs/cup" / LEDGER

    def test_one_that_was_played_is_reported(self, ledger: Path) -> None:
        assert DONE == arena("report", ledger).exit_code

    @pytest.mark.parametrize(
        "change",
        [
            *("UPDATE attempts SET played = " + value for value in PLAYED),  # noqa: S608 - as below
            *(f"UPDATE terms SET value = {value} WHERE key = '{key}'"  # noqa: S608 - an attack is what it is to be
              for key in ("bots", "format", "blocks", "seed") for value in TERMS),
            f"INSERT INTO terms VALUES ('more', '{'[' * 900}{']' * 900}')",  # noqa: S608 - as above
            *SCHEMAS,
        ],
        ids=lambda change: change[:60],
    )  # fmt: skip
    def test_one_that_was_changed_is_refused(self, ledger: Path, change: str) -> None:
        with closing(sqlite3.connect(ledger)) as book:
            book.executescript(change)
        for words in ((), ("--json",)):
            result = arena("report", ledger, *words)
            assert is_wrong_use(result), result.output
            assert str(ledger) in result.stderr

    def test_bytes_that_were_changed_are_no_fault_of_ours(self, ledger: Path) -> None:
        with closing(sqlite3.connect(ledger)) as book:
            book.execute("PRAGMA journal_mode = DELETE")
        content = ledger.read_bytes()
        for at in range(0, len(content), 997):
            ledger.write_bytes(
                content[:at] + bytes(255 - byte for byte in content[at : at + 40]) + content[at + 40 :]
            )
            result = arena("report", ledger)
            assert result.exit_code in (DONE, WRONG_USE), (at, result.output)

    def test_a_new_one_has_not_begun(self, tmp_path: Path) -> None:
        Ledger(tmp_path / LEDGER).close()
        report = arena("report", tmp_path)
        assert (DONE, f"{tmp_path}: not begun\n") == (report.exit_code, report.stdout)


class Gone:
    """Dask's client as it is when its scheduler has ended: whatever it is asked fails somewhere inside."""

    scheduler_comm = SimpleNamespace(closed=lambda: True)

    def __getattr__(self, _: str) -> Any:
        def fail(*_: object, **__: object) -> None:
            raise AttributeError("'NoneType' object has no attribute 'broadcast'")

        return fail


async def test_a_scheduler_that_is_gone_is_said_to_be() -> None:
    client = DaskClient(Gone())  # type: ignore[arg-type]
    with pytest.raises(SchedulerGoneError):
        await client.look_for("arena", "tcp://there:2")
    with pytest.raises(SchedulerGoneError):
        await client.workers()
    with pytest.raises(SchedulerGoneError):
        client.submit("tcp://there:2", bytes, slots=1)


def test_the_end_of_a_cluster_hides_nothing_when_its_scheduler_is_gone() -> None:
    def end() -> None:
        try:
            raise MachineCannot("all workers are gone")
        finally:
            client = DaskClient(Gone())  # type: ignore[arg-type]
            client.dismiss(lambda _: None, "arena")
            client.close()

    with pytest.raises(MachineCannot, match="all workers are gone"):
        end()


async def test_other_faults_of_dask_stay_what_they_are() -> None:
    def fail(*_: object, **__: object) -> None:
        raise AttributeError("ours")

    line = SimpleNamespace(closed=lambda: False)
    client = DaskClient(SimpleNamespace(scheduler_comm=line, scheduler_info=fail))  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="ours"):
        await client.workers()


def test_a_relative_cache_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The XDG base directory specification demands it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("relative", "", "../x"):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert tmp_path / ".cache/mist-arena" == cache_folder()


@pytest.mark.parametrize("kept", ["0", "-1", "1e9", str(10**30), '"1"', "null"])
def test_a_calibration_that_is_none_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = machine.keep_calibration(3)
    assert 3 == machine.calibrated()
    file.write_text(file.read_text().replace("3}", f"{kept}}}"))
    assert machine.calibrated() is None
    file.unlink()
    os.mkfifo(file)
    assert machine.calibrated() is None
