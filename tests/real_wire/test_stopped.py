"""An arena that is stopped for some seconds, with its bots or without them: nobody loses anything by it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.errors import DONE
from referee.match.records import Judged, Used, WindowTime
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from tests.builders.bots import write_bot
from tests.builders.programs import start_program
from tests.real_wire.processes import family, until, workers_of

pytestmark = pytest.mark.timeout(900)
ROOT = Path(__file__).parents[2]
MAIN_MS = 1_500
STOPPED_SECONDS = 4.0
"""Far more than a window's main time."""
BEATS = 3
"""Stops of each kind: at other moments of a window each time."""
THINKS = """\
import time
from bots.kit import Window, run

{before}

def decide(window: Window) -> object:
    time.sleep({seconds})
    return window.default

run(decide)
"""
MATCH = ("--json", "--options", '{"first":0,"max_turns":40}')


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its path is short: a socket's may have 107 bytes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("t")))


def bot(folder: Path, *, seconds: float = 0.1, before: str = "") -> Path:
    """Write a bot that answers after some time."""
    return write_bot(folder, THINKS.format(seconds=seconds, before=before))


arena = partial(start_program, "arena")


def until_played(process: "subprocess.Popen[str]", transcripts: Path, wanted: int = 2) -> None:
    """Wait until so many windows have been played in the matches under way."""

    def are_played() -> bool:
        assert process.poll() is None, process.communicate()
        files = transcripts.rglob("*.jsonl.part")
        return sum(file.read_text().count('"kind":"window"') for file in files) >= wanted

    until(are_played)


def stop(pids: Iterable[int], seconds: float = STOPPED_SECONDS) -> None:
    """Stop these processes for some time."""
    stopped = list(pids)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)


def alone(pid: int) -> list[int]:
    return [pid]


def with_all_it_started(pid: int) -> list[int]:
    return [pid, *(int(each.split()[0]) for each in family(pid))]


def nobody_lost(transcript: Path) -> list[Used]:
    """Assert that a match shows nothing of a stop but what was measured; return that."""
    records = tuple(read_transcript(transcript))
    assert [] == [each for each in records if isinstance(each, Judged)]
    parts = [part for each in records if isinstance(each, WindowTime) for part in each.seats]
    assert not any(part.by_default for part in parts)
    assert max(part.charged_ms for part in parts) < MAIN_MS
    assert 1 == len({part.reserve_ms for part in parts})
    replay(records)
    return [each for each in records if isinstance(each, Used) and each.stopped]


@pytest.mark.parametrize("stopped", [alone, with_all_it_started])
@pytest.mark.parametrize("reserve_ms", [0, 20_000])
def test_a_match_goes_on_where_it_was_stopped(
    stopped: Callable[[int], list[int]], reserve_ms: int, isolation: str, tmp_path: Path
) -> None:
    bots = bot(tmp_path / "one", seconds=0.2), bot(tmp_path / "two", seconds=0.2)
    process = arena(
        "match", "mist", *bots, *MATCH, "--isolation", isolation, "--transcripts", tmp_path / "t",
        "--main-ms", MAIN_MS, "--reserve-ms", reserve_ms,
    )  # fmt: skip
    rng = Random(reserve_ms)
    for beat in range(BEATS):
        until_played(process, tmp_path / "t", 6 * beat + 2)
        time.sleep(rng.uniform(0, 0.2))
        stop(stopped(process.pid))
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    result = json.loads(output)
    assert result["void"] is None
    measured = nobody_lost(Path(result["transcript"]))
    assert all(used.stopped <= BEATS * (STOPPED_SECONDS + 60) * 1_000_000 for used in measured)


def test_a_start_goes_on_where_it_was_stopped(isolation: str, tmp_path: Path) -> None:
    slow = "print('here', flush=True)\ntime.sleep(1)"
    bots = bot(tmp_path / "one", before=slow), bot(tmp_path / "two", before=slow)
    process = arena(
        "match", "mist", *bots, *MATCH, "--isolation", isolation, "--transcripts", tmp_path / "t",
        "--startup-ms", 4_000, "--main-ms", MAIN_MS, "--reserve-ms", 0,
    )  # fmt: skip
    until(lambda: any("here" in log.read_text() for log in (tmp_path / "t").glob("*.log")))
    stop(with_all_it_started(process.pid), 6.0)
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    result = json.loads(output)
    assert (None, ["ok", "ok"]) == (result["void"], result["conduct"])


def test_processor_time_is_counted_where_it_was_stopped(isolation: str, tmp_path: Path) -> None:
    clock = tmp_path / "clock.toml"
    clock.write_text('[clock]\nkind = "cpu"\nmain_ms = 300\nwall_factor = 5\n')
    bots = bot(tmp_path / "one", seconds=0.2), bot(tmp_path / "two", seconds=0.2)
    process = arena(
        "match", "mist", *bots, *MATCH, "--isolation", isolation, "--transcripts", tmp_path / "t", "--clock", clock
    )
    until_played(process, tmp_path / "t")
    stop(alone(process.pid))
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    nobody_lost(Path(json.loads(output)["transcript"]))


@pytest.mark.parametrize("whose", ["worker", "arena", "all"])
def test_a_tournament_goes_on_where_its_worker_or_all_of_it_was_stopped(
    whose: str, isolation: str, tmp_path: Path
) -> None:
    bot(tmp_path / "one", seconds=0.2)
    bot(tmp_path / "two", seconds=0.2)
    file = tmp_path / "cup.toml"
    file.write_text(
        f'game = "mist"\nbots = ["one", "two"]\nblocks = 1\nseed = 4\nisolation = "{isolation}"\n'
        f"options = {{first = 0, max_turns = 24}}\npolicy = {{main_ms = {MAIN_MS}, reserve_ms = 0}}\n"
    )
    process = arena("tournament", file, "--json", "--no-check", "--workers", "1", "--concurrency", "2")
    results = tmp_path / "runs" / "cup"
    until_played(process, results)
    workers = workers_of(process.pid)
    assert workers
    targets = {"worker": workers, "arena": [process.pid], "all": with_all_it_started(process.pid)}[whose]
    stop(targets)
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    found: dict[str, Any] = json.loads(output)
    assert [] == found["void"]
    transcripts = list(results.rglob("*.jsonl"))
    assert 2 == len(transcripts)
    for transcript in transcripts:
        nobody_lost(transcript)


def handles_signals(pid: int) -> bool:
    """Whether a process is not ended any more by the signals that pause a match."""
    caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    wanted = 1 << signal.SIGUSR1 - 1 | 1 << signal.SIGUSR2 - 1
    return caught is not None and int(caught[1], 16) & wanted == wanted


def test_signals_that_pause_a_match_end_nothing_however_early_and_many_they_are(
    isolation: str, tmp_path: Path
) -> None:
    bots = bot(tmp_path / "one", seconds=0.02), bot(tmp_path / "two", seconds=0.02)
    process = arena("match", "mist", *bots, *MATCH, "--isolation", isolation, "--transcripts", tmp_path / "t")
    until(lambda: handles_signals(process.pid))
    # As early as it can be seen: nothing that takes long was imported yet.
    assert not any("click" in line for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines())
    while process.poll() is None:
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            process.send_signal(number)
        time.sleep(0.01)
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    paused, resumed = (complaints.count(f"{word} by the operator") for word in ("paused", "resumed"))
    # The last pause may last when the match is over.
    assert 0 < paused <= resumed + 1
    assert json.loads(output)["void"] is None


def test_the_command_line_lets_no_signal_end_it_before_it_imports_what_takes_long() -> None:
    text = (
        "import arena.__main__, sys; from arena.processes import ignore_pause_signals; ignore_pause_signals()\n"
        "assert not {'trio', 'click', 'msgspec', 'rich', 'arena.commands'} & set(sys.modules)\n"
        "import os, signal; os.kill(os.getpid(), signal.SIGUSR1); os.kill(os.getpid(), signal.SIGUSR2)"
    )
    subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True)  # noqa: S603 - ours


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_a_program_that_the_arena_starts_may_be_ended_by_these_signals(number: signal.Signals) -> None:
    text = (
        "from arena.processes import ignore_pause_signals; ignore_pause_signals(); import subprocess, sys\n"
        f"child = 'import os; os.kill(os.getpid(), {int(number)})'\n"
        f"assert -{int(number)} == subprocess.run([sys.executable, '-c', child]).returncode"
    )
    subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True)  # noqa: S603 - ours
