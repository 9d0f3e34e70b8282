"""The arena stopped by a signal while bots think: it ends in order, and nothing of the bots is left."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.errors import SIGNALLED
from tests.builders.bots import write_bot
from tests.builders.programs import start_program
from tests.real_wire.processes import PATIENCE_SECONDS, alive, family, until

THINKS_FOR_EVER = """\
import time
from bots.kit import run

def decide(window):
    print("thinking", flush=True)
    time.sleep(1000)

run(decide)
"""


@pytest.fixture
def bots(tmp_path: Path) -> tuple[Path, Path]:
    """Two bots that never come to an end."""
    return write_bot(tmp_path / "one", THINKS_FOR_EVER), write_bot(tmp_path / "two", THINKS_FOR_EVER)


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For temporary files. Its path is short: a socket's may have 107 bytes."""
    return tmp_path_factory.mktemp("t")


@contextmanager
def arena(scratch: Path, *arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """Run the arena with a folder for temporary files of its own."""
    process = start_program("arena", *arguments, env={"TMPDIR": str(scratch)})
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until_a_bot_thinks(transcripts: Path) -> None:
    """Wait until a bot is asked to move."""
    until(lambda: any("thinking" in log.read_text() for log in transcripts.glob("*.log")))


@pytest.mark.usefixtures("all_walls")
@pytest.mark.parametrize(
    ("isolation", "stop"),
    [
        ("strict", signal.SIGINT),
        pytest.param("strict", signal.SIGHUP, marks=pytest.mark.slow),
        ("none", signal.SIGTERM),
    ],
)
def test_a_match_that_is_stopped_leaves_no_process_and_says_where_it_is(
    tmp_path: Path, scratch: Path, bots: tuple[Path, Path], isolation: str, stop: signal.Signals
) -> None:
    transcripts = tmp_path / "transcripts"
    options = ("--isolation", isolation, "--transcripts", transcripts)
    with arena(scratch, "match", "mist", *bots, *options) as match:
        until_a_bot_thinks(transcripts)
        processes = family(match.pid)
        assert len(alive(processes)) >= len(bots)
        match.send_signal(stop)
        output, complaints = match.communicate(timeout=PATIENCE_SECONDS)
    (part,) = transcripts.glob("*.part")
    assert (SIGNALLED + stop, "") == (match.returncode, output)
    assert f"arena: stopped; the match so far: {part}" == complaints.splitlines()[-1]
    # What bots are forked from ends with the arena by the kernel's hand, a moment later.
    until(lambda: not alive(processes))
    assert [] == list(scratch.iterdir())


@pytest.mark.usefixtures("all_walls")
def test_a_tournament_that_is_stopped_leaves_no_process(
    tmp_path: Path, scratch: Path, bots: tuple[Path, Path]
) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('game = "mist"\nbots = ["one", "two"]\nconcurrency = 1\n')
    with arena(scratch, "tournament", file, "--isolation", "strict", "--no-check") as tournament:
        until_a_bot_thinks(tmp_path / "runs/cup/transcripts")
        processes = family(tournament.pid)
        assert len(alive(processes)) > len(bots)
        tournament.send_signal(signal.SIGINT)
        output, complaints = tournament.communicate(timeout=PATIENCE_SECONDS)
    assert (SIGNALLED + signal.SIGINT, "") == (tournament.returncode, output)
    again = f"arena tournament {file} --isolation strict --no-check"
    assert f"arena: stopped; to go on where it was: {again}" == complaints.splitlines()[-1]
    # What bots are forked from ends with the arena by the kernel's hand, a moment later.
    until(lambda: not alive(processes))
    assert [] == list(scratch.iterdir())
