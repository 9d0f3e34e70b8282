"""Stops of the arena by kind: budgets, pauses, remote bots, a node of a cluster. Nobody loses anything by them."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.errors import DONE
from referee.match.records import Judged, PauseOrder, WindowTime
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from tests.builders.programs import run_arena, start_program
from tests.real_wire.processes import until
from tests.real_wire.test_stopped import (
    MAIN_MS,
    MATCH,
    STOPPED_SECONDS,
    alone,
    arena,
    bot,
    nobody_lost,
    scratch,
    stop,
    until_played,
    with_all_it_started,
)

__all__ = ["scratch"]
pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]
PAUSES = """\
from protocol.messages import Pause
asked = []

def run(decide, run=run):
    def pauses_first(window):
        if len(asked) < 2:
            asked.append(window)
            window.say(Pause())
        return decide(window)
    run(pauses_first)
"""
LINE_SECONDS = 10.0
"""Longer than either end of a line waits for a sign of life."""


def result_of(process: "subprocess.Popen[str]") -> Path:
    """Return the transcript of a match that is over, and not void."""
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    found = json.loads(output)
    assert (None, ["ok", "ok"]) == (found["void"], found["conduct"])
    return Path(found["transcript"])


def test_a_budget_goes_on_where_it_was_stopped(isolation: str, tmp_path: Path) -> None:
    """The stop is longer than the budget."""
    clock = tmp_path / "clock.toml"
    clock.write_text("[clock]\nbudget_ms = 5000\n")
    process = arena(
        "match", "mist", bot(tmp_path / "one", seconds=0.05), bot(tmp_path / "two", seconds=0.05), *MATCH,
        "--isolation", isolation, "--transcripts", tmp_path / "t", "--clock", clock,
    )  # fmt: skip
    until_played(process, tmp_path / "t")
    stop(alone(process.pid), 6.0)
    records = tuple(read_transcript(result_of(process)))
    parts = [part for each in records if isinstance(each, WindowTime) for part in each.seats]
    assert not any(part.by_default for part in parts)
    assert [] == [each for each in records if isinstance(each, Judged)]
    replay(records)


@pytest.mark.parametrize("resumes", ["while stopped", "afterwards"])
def test_an_operators_pause_lasts_on_where_it_was_stopped(resumes: str, isolation: str, tmp_path: Path) -> None:
    process = arena(
        "match", "mist", bot(tmp_path / "one", seconds=0.2), bot(tmp_path / "two", seconds=0.2), *MATCH,
        "--isolation", isolation, "--transcripts", tmp_path / "t", "--main-ms", MAIN_MS, "--reserve-ms", 0,
    )  # fmt: skip
    until_played(process, tmp_path / "t")
    process.send_signal(signal.SIGUSR1)
    assert process.stderr is not None
    while "paused by the operator" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGSTOP)
    if resumes == "while stopped":
        process.send_signal(signal.SIGUSR2)
    time.sleep(STOPPED_SECONDS)
    process.send_signal(signal.SIGCONT)
    if resumes == "afterwards":
        time.sleep(0.5)
        process.send_signal(signal.SIGUSR2)
    transcript = result_of(process)
    nobody_lost(transcript)
    assert [True, False] == [each.on for each in read_transcript(transcript) if isinstance(each, PauseOrder)]


def test_a_bots_pause_goes_on_where_it_was_stopped(isolation: str, tmp_path: Path) -> None:
    bot(tmp_path / "one", seconds=0.2, before=PAUSES)
    bot(tmp_path / "two", seconds=0.2)
    process, results = tournament(
        tmp_path, isolation, "blocks = 1\npolicy.pauses = 2\npolicy.pause_ms = 3000\noptions.max_turns = 8\n"
    )
    until_played(process, results, 1)
    stop(with_all_it_started(process.pid), 5.0)
    nothing_lost(process, results)


def tournament(folder: Path, isolation: str, more: str) -> "tuple[subprocess.Popen[str], Path]":
    """Start a tournament of two bots; return it and the folder of its results."""
    file = folder / "cup.toml"
    file.write_text(
        f'game = "mist"\nbots = ["one", "two"]\nseed = 4\nisolation = "{isolation}"\noptions.first = 0\n'
        f"policy.main_ms = {MAIN_MS}\npolicy.reserve_ms = 0\n{more}"
    )
    process = arena("tournament", file, "--json", "--no-check", "--workers", "1")
    return process, folder / "runs" / "cup"


def nothing_lost(process: "subprocess.Popen[str]", results: Path) -> None:
    """Assert that a tournament ended well, and all its matches."""
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints
    assert [] == json.loads(output)["void"]
    transcripts = list(results.rglob("*.jsonl"))
    assert transcripts
    for transcript in transcripts:
        nobody_lost(transcript)


@contextmanager
def hosted(
    folder: Path, remote: Path, local: Path, isolation: str
) -> Iterator["tuple[subprocess.Popen[str], int]"]:
    """Run a host; yield it and the process of the author that has a bot in its match."""
    for name in ("host", "alice"):
        run_arena("keys", folder / name).check_returncode()
    log = folder / "log"
    process = arena(
        "host", "mist", f"remote:{folder}/alice.key", local, *MATCH, "--isolation", isolation, "--log", log,
        "--transcripts", folder / "t", "--main-ms", MAIN_MS, "--reserve-ms", 10_000,
        "--key", folder / "host.key_secret", "--at", "127.0.0.1:0",
    )  # fmt: skip
    until(lambda: log.exists() and "listening" in log.read_text())
    endpoint = next(json.loads(line)["endpoint"] for line in log.read_text().splitlines() if '"listening"' in line)
    keys = ("--host-key", folder / "host.key", "--key", folder / "alice.key_secret")
    author = start_program("bots.remote", endpoint, remote, *keys, cwd=folder, stdout=None, stderr=None)
    try:
        yield process, author.pid
    finally:
        process.kill()
        author.kill()
        author.wait()


def test_a_remote_line_stands_while_its_host_is_stopped(isolation: str, tmp_path: Path) -> None:
    bots = bot(tmp_path / "one", seconds=0.2), bot(tmp_path / "two", seconds=0.2)
    with hosted(tmp_path, *bots, isolation) as (process, _):
        until_played(process, tmp_path / "t", 4)
        stop(with_all_it_started(process.pid), LINE_SECONDS)
        records = tuple(read_transcript(result_of(process)))
    parts = [part for each in records if isinstance(each, WindowTime) for part in each.seats]
    assert not any(part.by_default for part in parts)
    replay(records)


def test_an_author_whose_side_is_stopped_bears_it(isolation: str, tmp_path: Path) -> None:
    bots = bot(tmp_path / "one", seconds=0.2), bot(tmp_path / "two", seconds=0.2)
    with hosted(tmp_path, *bots, isolation) as (process, author):
        until_played(process, tmp_path / "t", 4)
        stop(with_all_it_started(author), 4.0)
        records = tuple(read_transcript(result_of(process)))
    judged = [each for each in records if isinstance(each, Judged)]
    assert judged
    assert {0} == {each.seat for each in judged}
    replay(records)
