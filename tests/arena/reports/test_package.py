"""`arena package`: all that belongs to a bot's author, and no byte of what does not."""

import json
import os
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner, Result

from arena.commands.main import main
from arena.errors import DONE, NO, WRONG_USE
from arena.reports import archive_name, package
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger
from referee.transcript import verify_transcript
from tests.arena.pages.folders import SEED
from tests.arena.reports.played import played_folder, secret
from tests.hostile_names import NAMES

COUNTED = [(0, 0), (0, 1), (1, 0), (1, 1)]
UNDER_WAY = (2, 0)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two blocks count; of the third one match was played."""
    return played_folder(tmp_path_factory.mktemp("r") / "cup", ("ann", "bob"), 2, begun=1)


@pytest.fixture
def folder(master: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    copy = tmp_path / "cup"
    (copy / TRANSCRIPTS).mkdir(parents=True)
    for file in [master / LEDGER, *(master / TRANSCRIPTS).iterdir()]:
        os.link(file, copy / file.relative_to(master))
    (copy / LEDGER).unlink()
    (copy / LEDGER).write_bytes((master / LEDGER).read_bytes())
    return copy


def packed(folder: Path, out: Path, *options: str, bot: str = "ann") -> Result:
    done = CliRunner().invoke(main, ["package", str(folder), bot, "--out", str(out), *options])
    assert DONE == done.exit_code, done.stderr
    return done


def contents(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as found:
        return {name: found.read(name) for name in found.namelist()}


def test_an_author_gets_all_of_his_seats_and_they_can_be_verified(master: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.zip"
    done = packed(master, out)
    assert f"{out}: 4 matches, 4 transcripts of its seats, 4 logs\n" == done.stdout
    found = contents(out)
    names = {f"{block + 1}{'ab'[seating]}-seat-{seating}" for block, seating in COUNTED}
    assert {
        *(f"ann/{name}.txt" for name in ("README", "faults")),
        *(f"ann/results.{ending}" for ending in ("csv", "json")),
        *(f"ann/seats/{name}.jsonl" for name in names),
        *(f"ann/logs/{name}.log" for name in names),
    } == set(found)
    for block, seating in COUNTED:
        name = f"{block + 1}{'ab'[seating]}-seat-{seating}"
        own = secret("ann", block, seating).encode()
        assert own in found[f"ann/seats/{name}.jsonl"]
        assert own in found[f"ann/logs/{name}.log"]
        assert own in found["ann/faults.txt"]
        (tmp_path / "seat.jsonl").write_bytes(found[f"ann/seats/{name}.jsonl"])
        assert "ann" == verify_transcript(tmp_path / "seat.jsonl").header.bot.name  # type: ignore[union-attr]
    rows = [json.loads(line) for line in found["ann/results.json"].splitlines()]
    assert [(block, seating, 64) for block, seating in COUNTED] == [
        (row["block"], row["seating"], len(row["head"])) for row in rows
    ]


def test_it_holds_no_secret_of_others_and_no_block_that_does_not_count(master: Path, tmp_path: Path) -> None:
    packed(master, tmp_path / "a.zip")
    with closing(Ledger(master / LEDGER)) as ledger:
        seed = ledger.terms()["seed"]
    assert SEED == seed
    others = [secret("bob", *match) for match in [*COUNTED, UNDER_WAY]]
    for name, content in contents(tmp_path / "a.zip").items():
        for hidden in [
            *others,
            secret("ann", *UNDER_WAY),
            str(seed),
            str(master),
            str(master.parent),
            str(Path.home()),
            "00003",
        ]:
            assert hidden.encode() not in content, (name, hidden)
    whole = [path.read_bytes() for path in (master / TRANSCRIPTS).glob("*.jsonl")]
    salts = {salt for text in whole for salt in json.loads(text.splitlines()[0])["salts"]}
    tokens = {each["seed"] for text in whole for each in json.loads(text.splitlines()[0])["bots"]}
    everything = b"".join(contents(tmp_path / "a.zip").values())
    assert 4 == sum(salt.encode() in everything for salt in salts)
    assert 4 == sum(str(one).encode() in everything for one in tokens)


def test_the_same_results_make_the_same_archive(folder: Path, tmp_path: Path) -> None:
    packed(folder, tmp_path / "a.zip")
    for file in (folder / TRANSCRIPTS).iterdir():
        os.utime(file, (0, 0))
    packed(folder, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert 0o600 == (tmp_path / "a.zip").stat().st_mode & 0o777


def test_only_the_last_matches_are_packed_and_their_number_is_named(master: Path, tmp_path: Path) -> None:
    done = packed(master, tmp_path / "a.zip", "--last", "1")
    assert ": 1 match of 4: --last has more, 1 transcript of its seats, 1 log\n" in done.stdout
    found = contents(tmp_path / "a.zip")
    assert ["ann/seats/2b-seat-1.jsonl"] == [name for name in found if "seats/" in name]
    assert found["ann/README.txt"].startswith(b"ann: 4 matches that count, the last 1 of them.\n")


def test_files_that_cannot_be_included_are_named_and_the_rest_is_included(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcripts = folder / TRANSCRIPTS
    (transcripts / "00001a.jsonl").unlink()
    broken = (transcripts / "00001b.jsonl").read_bytes().replace(b'"kind":"out"', b'"kind":"0ut"', 1)
    (transcripts / "00001b.jsonl").unlink()
    (transcripts / "00001b.jsonl").write_bytes(broken)
    (transcripts / "00002a.jsonl").unlink()
    (transcripts / "00002a.jsonl").write_bytes((transcripts / "00003a.jsonl").read_bytes())
    (transcripts / "00002b.seat-1.log").unlink()
    os.mkfifo(transcripts / "00002b.seat-1.log")
    found = json.loads(packed(folder, tmp_path / "a.zip", "--json").stdout)
    assert (4, 1, 0) == (found["matches"], found["seat_files"], found["logs"])
    assert [
        "2a-seat-0: the match's transcript is not the one that counts",
        "1b-seat-1: the match's transcript does not hold: line",
        "1a-seat-0: the match's transcript cannot be read: No such file or directory",
    ] == [
        line[:75] if "cannot" in line else line[:60] if "not the one" in line else line[:53]
        for line in found["missing"]
    ]
    readme = contents(tmp_path / "a.zip")["ann/README.txt"].decode()
    assert all(f"Not in here: {line}\n" in readme for line in found["missing"])
    monkeypatch.setattr(package, "MOST_BYTES", 10)
    full = json.loads(packed(folder, tmp_path / "b.zip", "--json").stdout)
    assert (0, 0) == (full["seat_files"], full["logs"])
    assert any(line == "2b-seat-1: the archive has 0 MB already" for line in full["missing"])


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..", "x" * 5_000, "a\0b", "file:///etc/passwd"]
)
def test_a_ledgers_names_lead_nowhere_else(folder: Path, tmp_path: Path, name: str) -> None:
    with closing(Ledger(folder / LEDGER)) as ledger:
        ledger._db.execute("UPDATE attempts SET transcript = ?", (name,))
    found = json.loads(packed(folder, tmp_path / "a.zip", "--json").stdout)
    assert (0, 0, 4) == (found["seat_files"], found["logs"], len(found["missing"]))
    assert 4 == len(contents(tmp_path / "a.zip"))


def test_all_bots_have_an_archive_each_which_is_the_one_that_they_have_alone(master: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "all"
    done = CliRunner().invoke(main, ["package", str(master), "--all", str(out), "--json"])
    assert DONE == done.exit_code, done.stderr
    told = json.loads(done.stdout)
    assert [("ann", str(out / "ann.zip"), 4), ("bob", str(out / "bob.zip"), 4)] == [
        (each["bot"], each["archive"], each["matches"]) for each in told["packed"]
    ]
    assert {} == told["refused"]
    assert ["ann.zip", "bob.zip"] == sorted(file.name for file in out.iterdir())
    for bot in ("ann", "bob"):
        packed(master, tmp_path / "one.zip", bot=bot)
        assert (tmp_path / "one.zip").read_bytes() == (out / f"{bot}.zip").read_bytes()
    table = CliRunner().invoke(main, ["package", str(master), "--all", str(out), "--last", "1"]).stdout
    assert ["ann", "1", "of", "4"] == [word for word in table.split("\n")[2].split() if ".zip" not in word][:4]


def test_an_archive_that_cannot_be_made_keeps_no_other_bot_from_its_own(master: Path, tmp_path: Path) -> None:
    (tmp_path / "ann.zip").mkdir()
    done = CliRunner().invoke(main, ["package", str(master), "--all", str(tmp_path)])
    assert NO == done.exit_code
    assert f"not packed: ann: {tmp_path}/ann.zip: cannot be written: it is a folder" in done.stderr
    assert done.stderr.endswith("arena: 1 bot of 2 could not be packed\n")
    assert (tmp_path / "bob.zip").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "BOT, --all: give one of them"),
        (("ann", "--all", "x"), "BOT, --all: give one of them"),
        (("--all", "x", "--out", "y.zip"), "--out: applies to one bot; --all names the folder"),
    ],
)
def test_one_bot_or_all_of_them(master: Path, options: tuple[str, ...], said: str) -> None:
    refused = CliRunner().invoke(main, ["package", str(master), *options])
    assert (WRONG_USE, f"arena: {said}\n") == (refused.exit_code, refused.stderr)


def test_names_in_the_archive_are_safe_whatever_a_bot_is_called() -> None:
    strange = ("..", "../../x", "/etc/passwd", "-rf", "C:\\x", "con" * 90, "NUL", "com1", "aux.txt", "a~b", "50%")
    names = {label: archive_name(label) for label in (*NAMES.values(), *strange)}
    assert len(names) == len(set(names.values()))
    for label, name in names.items():
        assert name.isascii()
        assert not set(name) & set('/\\<>:"|?*\0\n')
        assert not name.startswith(("-", ".", " "))
        assert not name.endswith((".", " "))
        assert len(name) < 80
        assert name.lower().partition(".")[0] not in {"nul", "com1", "aux"}
        assert "~" in name or label == unquote(name)


def test_a_name_that_every_file_system_takes_stays_as_it_is() -> None:
    assert ("emma v2", "emma_v2-8") == (archive_name("emma v2"), archive_name("emma_v2-8"))
    assert ("%C3%A9mile", "a%2Fb", "%2D-x") == (archive_name("émile"), archive_name("a/b"), archive_name("--x"))


def test_an_archive_is_whole_or_is_not_there(folder: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["package", str(folder), "ann", "--out", "/proc/a.zip"])
    assert (WRONG_USE, "arena: /proc/a.zip: cannot be written: No such file or directory\n") == (
        done.exit_code,
        done.stderr,
    )
    with closing(Ledger(folder / LEDGER)) as ledger:
        ledger._db.execute(
            "UPDATE attempts SET played = replace(played, '\"entrants\":[1,0]', '\"entrants\":[1,8]')"
        )
    refused = CliRunner().invoke(main, ["package", str(folder), "ann", "--out", str(tmp_path / "a.zip")])
    assert WRONG_USE == refused.exit_code
    assert ["cup"] == [path.name for path in tmp_path.iterdir()]
