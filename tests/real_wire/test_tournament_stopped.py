"""Real processes, really stopped: killed out of space, backed up; run again, the table is the same."""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.errors import CANNOT, DONE, SIGNALLED
from arena.tournament.ledger import INTERRUPTED
from tests.long import cases
from tests.real_wire.processes import SLOW

pytestmark = pytest.mark.timeout(900)
STAND_INS = ("-m", "tests.real_wire.stand_in_tournament")
ARENA = ("-m", "arena", "tournament", "--no-check", "--json")
NO_MOUNT = 77
CTRL_C = SIGNALLED + signal.SIGINT
ROOT = Path(__file__).parent.parent.parent
MANY_MATCHES = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nblocks = 20\nseed = 9\n'
TWELVE_MATCHES = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 6
seed = 9
isolation = "none"
options.max_turns = 8
policy.startup_ms = 60000
policy.processes = "kept"
"""
LARGE = TWELVE_MATCHES.replace("blocks = 6\n", "blocks = 1\n").replace("options.max_turns = 8\n", "")
"""Transcripts of these two whole matches grow larger than anything else of a tournament."""


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is killed leaves temporary files behind."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("t")))


def start(*arguments: str | Path, space: int | None = None) -> "subprocess.Popen[bytes]":
    """Start a process of the arena. `space`: no file may grow beyond so many bytes."""

    def limit() -> None:
        if space is not None:
            # The soft limit alone: bots, which may write larger files, would not be started below the hard one.
            resource.setrlimit(resource.RLIMIT_FSIZE, (space, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    return subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit,  # noqa: PLW1509 - no thread runs here
    )


def table(process: "subprocess.Popen[bytes]") -> Any:
    """Return the results of a tournament that ended by itself, but for its times and where it is."""
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints.decode()
    found = json.loads(output)
    for line in found["standings"]:
        del line["us_per_window"]
    return {key: value for key, value in found.items() if key not in ("results", "reports")}  # These hold times.


def cup(folder: Path, text: str) -> Path:
    folder.mkdir()
    file = folder / "cup.toml"
    file.write_text(text)
    return file


def struck(lines: int, then: signal.Signals, *arguments: str | Path, seconds: float = 0) -> tuple[int, list[str]]:
    """Let a signal strike a tournament after so many lines; return its exit code and its complaints."""
    process = start("-m", "tests.real_wire.killed", str(lines), then.name, str(seconds), *arguments)
    output, complaints = process.communicate()
    assert b"" == output
    return process.returncode, complaints.decode().splitlines()


def killed(times: int, lines: int, seconds: float, *arguments: str | Path) -> None:
    """Kills a tournament over and over, each time after so many lines at most, and a moment."""
    rng = Random(5)
    for _ in range(times):
        code, _ = struck(rng.randint(1, lines), signal.SIGALRM, *arguments, seconds=rng.uniform(1e-6, seconds))
        assert -signal.SIGALRM == code


def interrupted(file: Path) -> int:
    """How many matches were being played when their tournament was ended."""
    with closing(sqlite3.connect(file.parent / "runs/cup/ledger.sqlite")) as ledger:
        ((count,),) = ledger.execute("SELECT count(*) FROM attempts WHERE void = ?", (INTERRUPTED,))
    return int(count)


undisturbed_once = pytest.mark.xdist_group("twelve matches")
"""For tests that share `twelve_matches`: one worker plays them."""


@pytest.fixture(scope="module")
def twelve_matches(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the table of real matches, undisturbed."""
    return table(start(*ARENA, cup(tmp_path_factory.mktemp("undisturbed") / "a", TWELVE_MATCHES)))


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again_it_gives_the_same_table(tmp_path: Path) -> None:
    """Undisturbed it runs 7,000 lines, 2,000 of them to begin."""
    undisturbed = table(start(*STAND_INS, cup(tmp_path / "a", MANY_MATCHES)))
    file = cup(tmp_path / "b", MANY_MATCHES)
    killed(cases(1, 3), 4_000, 0.002, *STAND_INS[1:], file)
    assert undisturbed == table(start(*STAND_INS, file))
    assert interrupted(file) > 0


@undisturbed_once
@pytest.mark.slow
def test_with_real_matches_too(tmp_path: Path, twelve_matches: Any) -> None:
    """Bots whose luck is their own seed play the same match again. Undisturbed it runs 3,200 lines."""
    file = cup(tmp_path / "b", TWELVE_MATCHES)
    killed(2, 1_000, 0.01, *ARENA[1:], file)
    assert twelve_matches == table(start(*ARENA, file))
    assert interrupted(file) > 0


@undisturbed_once
@pytest.mark.slow
def test_interrupted_it_says_how_to_go_on_and_does(tmp_path: Path, twelve_matches: Any) -> None:
    """It is struck when one match has been written down, and before another one can be."""
    file = cup(tmp_path / "b", TWELVE_MATCHES)
    code, complaints = struck(640, signal.SIGINT, *ARENA[1:], "--fresh", file)
    again = f"arena tournament --no-check --json {file}"
    assert (CTRL_C, f"arena: stopped; to go on where it was: {again}") == (code, complaints[-1])
    assert twelve_matches == table(start(*ARENA, file))
    assert interrupted(file) > 0


@pytest.mark.slow
def test_without_space_it_stops_with_one_line_and_goes_on_when_there_is_some(tmp_path: Path) -> None:
    file = cup(tmp_path / "b", LARGE)
    full = start(*ARENA, file, space=100_000)
    output, complaints = full.communicate()
    assert (CANNOT, b"") == (full.returncode, output)
    last = complaints.decode().splitlines()[-1]
    assert last.startswith(f"arena: {tmp_path}/b/runs/cup/transcripts/")
    assert ": cannot be written: File too large; " in last
    found = table(start(*ARENA, file))
    undisturbed = table(start(*ARENA, cup(tmp_path / "a", LARGE)))
    assert undisturbed["standings"] == found["standings"]
    assert ["cannot be written: File too large"] == sorted(
        {void["reason"].partition(": ")[2] for void in found["void"]}
    )


FULL_DISK = """\
mount -t tmpfs -o size=256k none "$1" || exit 77
$2 -m arena tournament --no-check --results "$1/runs" "$3"
echo "exit $?" >&2
mount -o remount,size=64m "$1"
exec $2 -m arena tournament --no-check --json --results "$1/runs" "$3"
"""


@undisturbed_once
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can make a small disk")
def test_on_a_full_disk_it_stops_in_order_and_goes_on_when_there_is_room(
    tmp_path: Path, twelve_matches: Any
) -> None:
    """The disk is of this test's own: it is gone with the processes that see it."""
    (tmp_path / "disk").mkdir()
    words = ["sh", "-c", FULL_DISK, "sh", tmp_path / "disk", sys.executable, cup(tmp_path / "b", TWELVE_MATCHES)]
    disk = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
        [shutil.which("unshare") or "", "--mount", *map(str, words)], cwd=ROOT, capture_output=True, check=False
    )
    complaints = disk.stderr.decode().splitlines()
    if disk.returncode == NO_MOUNT:
        pytest.skip(complaints[-1])
    assert DONE == disk.returncode, complaints
    stopped = complaints.index(f"exit {CANNOT}")
    assert "No space left on device" in complaints[stopped - 1] or "disk is full" in complaints[stopped - 1]
    assert "Traceback" not in disk.stderr.decode()
    found = json.loads(disk.stdout)
    for line in found["standings"]:
        del line["us_per_window"]
    assert twelve_matches["standings"] == found["standings"]


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [(["--help"], {"trio", "zmq"}), (["games", "--help"], {"trio", "zmq"}), (["tournament", "--help"], {"numpy"})],
)
def test_help_does_not_wait_for_what_it_does_not_need(arguments: list[str], heavy: set[str]) -> None:
    code = (
        "import sys\nfrom arena.commands.main import main\n"
        f"try: main({arguments})\nexcept SystemExit: print(sorted({heavy} & set(sys.modules)))"
    )
    output, _ = start("-c", code).communicate()
    assert b"[]" == output.splitlines()[-1]


BOTS = ("mist_random", "mist_cautious", "mist_hunter", "mist_tracker", "any_random")
SWISS = f'game = "mist"\nbots = {list(BOTS)}\nseed = 9\nformat = "swiss"\nrounds = 4\nblocks = 4'


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again_the_rounds_are_the_same(tmp_path: Path) -> None:
    """It has some 60 matches, and runs thousands of lines: it never comes to its end before it is killed."""
    undisturbed = table(start(*STAND_INS, cup(tmp_path / "a", SWISS)))
    file = cup(tmp_path / "b", SWISS)
    killed(3, 3_000, 0.002, *STAND_INS[1:], file)
    assert undisturbed == table(start(*STAND_INS, file))
    assert interrupted(file) > 0


BACKUP = ("-m", "arena", "backup", "--json")
BLOCKS = 100
TEXT = MANY_MATCHES.replace("blocks = 20", f"blocks = {BLOCKS}")


@pytest.mark.slow
def test_a_backup_made_while_it_is_played_and_restored_gives_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other backup is killed; then the arena is killed, and its results are gone.

    Matches are slow until then: some are left, and some end, also while the slowest machine makes its backups.
    """
    slow = tmp_path / "slow"
    slow.touch()
    monkeypatch.setenv(SLOW, str(slow))
    file = cup(tmp_path / "b", TEXT)
    results, place, rng = file.parent / "runs/cup", tmp_path / "backup", Random(7)
    playing = start(*STAND_INS, file)
    while not list(results.glob("ledger.sqlite-wal")):
        assert playing.poll() is None
        time.sleep(0.01)
    counted = []
    for number in range(4):
        backup = start(*BACKUP, results, place)
        if number % 2:
            time.sleep(rng.uniform(0.3, 1))
            os.kill(backup.pid, signal.SIGKILL)
        output, said = backup.communicate()
        assert backup.returncode in (DONE, -signal.SIGKILL), said.decode()
        counted += [json.loads(output)["matches"]] if backup.returncode == DONE else []
    playing.kill()
    playing.communicate()
    slow.unlink()
    assert counted == sorted(counted)
    assert counted[0] < 2 * BLOCKS
    shutil.rmtree(results)
    shutil.copytree(place, results)
    restored = table(start(*STAND_INS, file))
    assert table(start(*STAND_INS, cup(tmp_path / "a", TEXT))) == restored
