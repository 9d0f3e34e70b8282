"""Kill -9 of the arena, its workers and its bots, over a hundred times, at random moments: the table is the same.

A bot that is killed is started again: its moves follow from the match's seed and the window alone.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import IO, Any

import pytest

from arena.errors import DONE
from arena.tournament.ledger import Ledger
from referee.match.records import Judged, Verdict
from referee.sandbox import SandboxError, find_isolation
from referee.transcript.reader import read_transcript
from tests.builders.bots import write_bot
from tests.builders.programs import invoke
from tests.real_wire.processes import SLOW, alive, children, family, until, workers_of

ROOT = Path(__file__).parents[2]
STAND_INS = ("-m", "tests.real_wire.stand_in_tournament")
ARENA = ("-m", "arena", "tournament", "--no-check", "--json", "--workers", "2", "--concurrency", "2")
MANY_MATCHES = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nblocks = 50\nseed = 9\n'
REAL_MATCHES = """\
game = "mist"
bots = ["one", "two"]
blocks = 3
seed = 9
isolation = "none"
policy.fault = "restart"
policy.restarts = 1000
policy.startup_ms = 60000
options.max_turns = 30
"""
pytestmark = pytest.mark.timeout(900)
"""Each starts tens of processes, which takes long where others want the processors too."""
FEW_MATCHES = REAL_MATCHES.replace("blocks = 3", "blocks = 2")
MANY_BOTS = """\
game = "mist"
bots = ["one", "two", "mist_random", "mist_cautious"]
seed = 9
blocks = 6
"""
PLAYED_BETWEEN = 4
"""So many matches come to count between two changes."""
ENTRIES = (
    "entry add {cup} {three} --no-check",
    "entry update {cup} one {three} --no-check",
    "entry withdraw {cup} two",
    "entry update {cup} three --no-check",
)
CHANGES = (*ENTRIES, "extend {cup} --blocks 8")
BOT = """\
import time
from random import Random

from bots.kit import Bot, run
from protocol.games.mist.board import BOARD
from protocol.games.mist import ChooseFirst, MistView, Turn


class Remembers(Bot):
    view_type = MistView

    def decide(self, window):
        time.sleep(0.01)  # or it could hardly be met in the midst of a match
        if window.name == "first":
            return ChooseFirst(first=0)
        rng = Random(f"{self.match.seed} {window.id}")
        taken = BOARD.mask(name for name, holds in window.view.visible.items() if holds != "empty")
        free = BOARD.all & ~BOARD.mask(window.view.forbidden) & ~taken
        return Turn(cells=(rng.choice(BOARD.cells(free)),)) if free else window.default


run(Remembers())
"""
BOTS = 4
"""Two matches at once have so many."""
LEAVES_BEHIND = """\
import subprocess

subprocess.Popen(["sleep", "1000"], start_new_session=True)
"""
WHERE_IT_IS = ("results", "set_aside", "void", "lost")
TIMES = ("us_per_window",)
KILLED = ("us_per_window", "faults")
"""That somebody killed a bot is told of it; its moves are the same."""


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is killed leaves temporary files behind."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("t")))


def start(
    command: Sequence[str], file: Path, said: IO[bytes] | int = subprocess.PIPE
) -> "subprocess.Popen[bytes]":
    """Start the arena on a tournament; `said`: its standard error."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, *command, str(file)], cwd=ROOT, stdout=subprocess.PIPE, stderr=said
    )


def table(process: "subprocess.Popen[bytes]", without: Sequence[str]) -> Any:
    """Return a tournament's results, without those columns of its table."""
    output, complaints = process.communicate()
    assert DONE == process.returncode, (complaints or b"").decode()
    found = {key: value for key, value in json.loads(output).items() if key not in WHERE_IT_IS}
    del found["reports"]  # They hold times.
    for line in found["standings"]:
        for key in without:
            del line[key]
    # Level bots stand in the order of their faults.
    for each in ("standings", "ratings"):
        found[each] = sorted(found[each], key=lambda line: line["bot"])
    return found


def victim(kind: str, arena: int) -> int | None:
    """Return a process of that kind, if there is one.

    What workers are forked from is killed as one of them.
    """
    workers = children(arena)
    found = {
        "arena": [arena],
        "worker": workers,
        "bot": [bot for worker in workers for bot in children(worker)],
    }[kind]
    return found[time.monotonic_ns() % len(found)] if found else None


def disturbed(
    command: Sequence[str],
    file: Path,
    wanted: dict[str, int],
    seconds: float,
    meddle: Callable[[], object] = bool,
) -> tuple["subprocess.Popen[bytes]", Counter[str]]:
    """Play a tournament whose processes are killed until enough have been, or it has ended.

    Between two kills lie up to so many seconds, in which somebody may `meddle`. Of an arena that is killed nothing
    is left.
    """
    rng, done = Random(7), Counter[str]()
    process = start(command, file)
    while process.poll() is None and (left := list((Counter(wanted) - done).elements())):
        time.sleep(rng.uniform(0, seconds))
        meddle()
        kind = rng.choice(left)
        pid = victim(kind, process.pid)
        if pid is None:
            continue
        others = family(process.pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            done[kind] += 1
        if kind == "arena":
            process.communicate()
            until(partial(gone, others))
            process = start(command, file)
    return process, done


def gone(family: set[str]) -> bool:
    """Whether none of them is left."""
    return not alive(family)


def running(name: str, family: set[str]) -> set[str]:
    """Those of a family that run a program of that name."""
    found = set()
    for each in family:
        with suppress(OSError):
            if Path("/proc", each.split()[0], "comm").read_text().strip() == name:
                found.add(each)
    return found


def same_table_over_and_over(
    folder: Path,
    text: str,
    command: Sequence[str],
    wanted: dict[str, int],
    *,
    seconds: float,
    without: Sequence[str],
) -> None:
    """Tournaments are played, one after the other, until so many of each kind have been killed."""
    expected = table(start(command, cup(folder / "undisturbed", text)), without)
    killed = Counter[str]()
    while Counter(wanted) - killed:
        file = cup(folder / f"after {killed.total()}", text)
        process, more = disturbed(command, file, Counter(wanted) - killed, seconds)
        killed += more
        assert expected == table(process, without)


def cup(folder: Path, text: str, bot: str = BOT) -> Path:
    """Write a tournament's file, with its bots beside it."""
    for name in ("one", "two"):
        write_bot(folder / name, bot)
    file = folder / "cup.toml"
    file.write_text(text)
    return file


@pytest.mark.slow
def test_arenas_and_workers_killed_at_random_moments_change_nothing(tmp_path: Path) -> None:
    wanted = {"arena": 8, "worker": 80}
    same_table_over_and_over(tmp_path, MANY_MATCHES, STAND_INS, wanted, seconds=0.3, without=TIMES)


@pytest.mark.slow
def test_the_same_changes_of_the_field_give_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots enter, are updated and withdraw while arenas and workers are killed; then all is played in one go.

    `tests/arena/tournament/test_entries.py` has the other formats, and kills at every write.
    """
    file = cup(tmp_path / "cup", MANY_BOTS)
    shutil.copytree(file.parent / "one", file.parent / "three")
    (slow := tmp_path / "slow").touch()
    monkeypatch.setenv(SLOW, str(slow))
    wanted = {"arena": 1, "worker": 4}
    meddle = meddling(file, CHANGES)
    process, killed = disturbed(STAND_INS, file, wanted, 1, meddle)
    until(lambda: not meddle() or process.poll() is not None)
    slow.unlink()
    found = table(process, TIMES)
    assert killed
    with closing(Ledger(file.parent / "runs/cup/ledger.sqlite")) as ledger:
        taken_in = [event.block for event in ledger.events()]
    assert len(CHANGES) == len(taken_in)
    assert None not in taken_in
    assert len(set(taken_in)) > 1
    with closing(sqlite3.connect(file.parent / "runs/cup/ledger.sqlite")) as book:
        book.execute("DELETE FROM results")
        book.execute("DELETE FROM attempts")
        book.commit()
    shutil.rmtree(file.parent / "runs/cup/transcripts")
    assert found == table(start(STAND_INS, file), TIMES)


def meddling(file: Path, changes: Sequence[str]) -> Callable[[], bool]:
    """Make the next change once the last is taken in and more matches are played; say whether one is left."""
    left = list(changes)
    wanted = 1

    def change() -> bool:
        nonlocal wanted
        if left and played(file) >= wanted and not rows(file, "SELECT kind FROM events WHERE block IS NULL"):
            # An author's folder has a new version each time.
            (file.parent / "three/bot.py").write_text(BOT + f"# {len(left)}")
            command, *words = left.pop(0).format(cup=file, three=file.parent / "three").split()
            done = invoke(command, *words)
            assert DONE == done.exit_code, done.stderr
            wanted = played(file) + PLAYED_BETWEEN
        return bool(left)

    return change


def played(file: Path) -> int:
    """How many matches of a tournament count, that may not have begun."""
    if not (file.parent / "runs/cup/ledger.sqlite").exists():
        return 0
    with suppress(sqlite3.OperationalError):
        return len(rows(file, "SELECT block FROM results"))
    return 0


@pytest.mark.slow
def test_in_the_sandbox_too_where_bots_are_frozen_when_it_is_not_their_turn(tmp_path: Path) -> None:
    try:
        text = FEW_MATCHES.replace('"none"', f'"{find_isolation()}"') + "policy.ponder = false\n"
    except SandboxError as error:
        pytest.skip(str(error))
    wanted = {"arena": 1, "worker": 2}
    same_table_over_and_over(tmp_path, text, ARENA, wanted, seconds=0.5, without=TIMES)


@pytest.mark.slow
def test_a_killed_worker_is_reported_while_the_rest_continues_and_afterwards(tmp_path: Path) -> None:
    file = cup(tmp_path / "cup", FEW_MATCHES)
    with start(ARENA, file) as arena:
        os.kill(until(lambda: [each for each in workers_of(arena.pid) if children(each)])[0], signal.SIGKILL)
        assert arena.stderr is not None
        said = next(line for line in map(bytes.decode, arena.stderr) if "referee process" in line)
        assert arena.poll() is None
        assert re.fullmatch(
            r"block \d: a referee process ended \(killed by SIGKILL\), and one of its matches is played again\n",
            said,
        )
        output, complaints = arena.communicate()
    (lost,) = json.loads(output)["lost"]
    assert ("killed by SIGKILL", []) == (lost["reason"], json.loads(output)["void"])
    assert b"4/4 matches, 1 attempt lost with a referee process" in complaints
    assert (
        "<dt>attempts lost with a referee process</dt><dd>1, played again</dd>"
        in (file.parent / "runs/cup/report.html").read_text()
    )


@pytest.mark.slow
def test_the_arena_ends_processes_of_the_bots_of_a_killed_worker(tmp_path: Path) -> None:
    file = cup(tmp_path / "cup", FEW_MATCHES)
    for name in ("one", "two"):
        (file.parent / name / "bot.py").write_text(LEAVES_BEHIND + BOT)
    with start(ARENA, file) as arena:
        (others,) = until(lambda: [found] if len(found := running("sleep", family(arena.pid))) == BOTS else [])
        workers = workers_of(arena.pid)
        assert 2 == len(workers)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        until(partial(gone, others))
        assert arena.poll() is None
        arena.kill()


@pytest.mark.slow
def test_killed_with_their_real_matches_and_bots_they_change_nothing_and_leave_nothing(tmp_path: Path) -> None:
    wanted = {"arena": 1, "worker": 3, "bot": 8}
    same_table_over_and_over(tmp_path, REAL_MATCHES, ARENA, wanted, seconds=0.5, without=KILLED)


@pytest.mark.slow
def test_a_stalled_worker_voids_nothing_in_another(tmp_path: Path) -> None:
    """Each match is played by one process's loop: what holds that up reaches no match of another process."""
    file = cup(tmp_path / "cup", FEW_MATCHES)
    transcripts = file.parent / "runs/cup/transcripts"
    with start(ARENA, file) as arena:
        stalled = until(lambda: [each for each in workers_of(arena.pid) if len(children(each)) == BOTS // 2])[0]
        try:
            os.kill(stalled, signal.SIGSTOP)
            # All matches but the one that it was playing.
            done = until(lambda: [found] if len(found := ended_matches(file)) == 3 else [])[0]
            assert {b"T"} == {Path(f"/proc/{stalled}/stat").read_bytes().rpartition(b")")[2].split()[0]}
            verdicts = Counter(
                record.verdict
                for name in done
                for record in read_transcript(transcripts / name)
                if isinstance(record, Judged)
            )
            assert 0 == verdicts[Verdict.REFEREE]
            assert set() == set(voids(file))
        finally:
            os.kill(stalled, signal.SIGCONT)
        arena.communicate()
    assert DONE == arena.returncode


def ended_matches(file: Path) -> list[str]:
    """Transcripts of what has been played of a tournament."""
    return rows(file, "SELECT transcript FROM attempts WHERE played IS NOT NULL")


def voids(file: Path) -> list[str]:
    return rows(file, "SELECT void FROM attempts WHERE void IS NOT NULL")


def rows(file: Path, query: str) -> list[str]:
    """Read a column of a tournament's ledger, while it is being written."""
    with closing(sqlite3.connect(file.parent / "runs/cup/ledger.sqlite")) as book:
        return [text for (text,) in book.execute(query)]
