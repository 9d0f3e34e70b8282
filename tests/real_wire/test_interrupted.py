"""The arena stopped by a signal while bots think: it ends in order, and nothing of the bots is left."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from arena.exits import SIGNALLED
from referee.sandbox import SandboxError, find_isolation

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60
"""Far more than anything here takes."""
THINKS_FOR_EVER = """\
import time
from bots.kit import run

def decide(window):
    print("thinking", flush=True)
    time.sleep(1000)

run(decide)
"""
FoundT = TypeVar("FoundT")


@pytest.fixture
def bots(tmp_path: Path) -> tuple[Path, Path]:
    """Two bots that never come to an end."""
    folders = (tmp_path / "one", tmp_path / "two")
    for folder in folders:
        folder.mkdir()
        (folder / "bot.py").write_text(THINKS_FOR_EVER)
        (folder / "bot.toml").write_text(
            f'name = "{folder.name}"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
        )
    return folders


@pytest.fixture(params=["strict", "none"])
def isolation(request: pytest.FixtureRequest) -> str:
    if request.param == "strict":
        try:
            find_isolation()
        except SandboxError as error:
            pytest.skip(str(error))
    return str(request.param)


def until(look: Callable[[], FoundT]) -> FoundT:
    """What is there at last."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < give_up
        time.sleep(0.01)
    return found


def alive(tokens: Sequence[str], bots: Sequence[Path]) -> list[str]:
    """The command lines of all processes that were given one of these tokens, or see one of these bots as theirs.

    A bot that was forked warm does not carry its token where the kernel looks for it.
    """
    found = []
    for entry in Path("/proc").iterdir():
        # A zombie has no environment; a process may end while it is looked at.
        with suppress(OSError):
            if entry.name.isdecimal() and (
                any(each.encode() in (entry / "environ").read_bytes() for each in tokens)
                or any(f"{each} /bot " in (entry / "mountinfo").read_text() for each in bots)
            ):
                found.append((entry / "cmdline").read_text().replace("\0", " "))
    return found


@contextmanager
def arena(folder: Path, *arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """The arena at work, with places for temporary files of its own."""
    (folder / "tmp").mkdir()
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-m", "arena", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def tokens_once_a_bot_thinks(transcripts: Path) -> list[str]:
    """The tokens of the bots of a match, of which one is asked to move."""
    until(lambda: any("thinking" in log.read_text() for log in transcripts.glob("*.log")))
    (part,) = transcripts.glob("*.part")
    header, *_ = until(lambda: part.read_text().splitlines())
    return [bot["token"] for bot in json.loads(header)["bots"]]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_match_that_is_stopped_leaves_no_process_and_says_where_it_is(
    tmp_path: Path, bots: tuple[Path, Path], isolation: str, stop: signal.Signals
) -> None:
    transcripts = tmp_path / "transcripts"
    options = ("--isolation", isolation, "--transcripts", transcripts)
    with arena(tmp_path, "match", "mist", *bots, *options) as match:
        tokens = tokens_once_a_bot_thinks(transcripts)
        assert alive(tokens, bots)
        match.send_signal(stop)
        output, complaints = match.communicate(timeout=PATIENCE_SECONDS)
    (part,) = transcripts.glob("*.part")
    assert (SIGNALLED + stop, "") == (match.returncode, output)
    assert f"arena: stopped; the match so far: {part}" == complaints.splitlines()[-1]
    assert ([], []) == (alive(tokens, bots), list((tmp_path / "tmp").iterdir()))


def test_a_tournament_that_is_stopped_leaves_no_process(
    tmp_path: Path, bots: tuple[Path, Path], isolation: str
) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('game = "mist"\nbots = ["one", "two"]\nconcurrency = 1\n')
    with arena(tmp_path, "tournament", file, "--isolation", isolation) as tournament:
        tokens = tokens_once_a_bot_thinks(tmp_path / "runs/cup/transcripts")
        assert alive(tokens, bots)
        tournament.send_signal(signal.SIGINT)
        output, complaints = tournament.communicate(timeout=PATIENCE_SECONDS)
    assert (SIGNALLED + signal.SIGINT, "") == (tournament.returncode, output)
    again = f"arena tournament {file} --isolation {isolation}"
    assert f"arena: stopped; to go on where it was: {again}" == complaints.splitlines()[-1]
    assert ([], []) == (alive(tokens, bots), list((tmp_path / "tmp").iterdir()))
