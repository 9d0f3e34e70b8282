"""Real processes, really stopped: killed at any moment, out of space; run again, the table is the same."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.exits import CANNOT, DONE

STAND_INS = ("-m", "tests.real_wire.stand_in_tournament")
ARENA = ("-m", "arena", "tournament", "--json")
ROOT = Path(__file__).parent.parent.parent
MANY_MATCHES = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nblocks = 60\nseed = 9\n'
TWELVE_MATCHES = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 6
seed = 9
isolation = "none"
"""


def start(*arguments: str | Path, space: int | None = None) -> "subprocess.Popen[bytes]":
    """A process of the arena. `space`: no file may grow beyond so many bytes."""

    def limit() -> None:
        if space is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (space, space))

    return subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit,  # noqa: PLW1509 - no thread runs here
    )


def table(process: "subprocess.Popen[bytes]") -> Any:
    """What a tournament that was left in peace comes to, but for its times and where it is."""
    output, complaints = process.communicate()
    assert DONE == process.returncode, complaints.decode()
    found = json.loads(output)
    for line in found["standings"]:
        del line["us_per_window"]
    return {key: value for key, value in found.items() if key != "results"}


def cup(folder: Path, text: str) -> Path:
    folder.mkdir()
    file = folder / "cup.toml"
    file.write_text(text)
    return file


def killed_often(arguments: tuple[str, ...], file: Path, seconds: float) -> tuple[Any, int]:
    """The table at last, and how often the process was killed before it had one.

    It is given about so many seconds, and then more and more: a slow machine gets through as well.
    """
    luck, kills = Random(5), 0
    while True:
        process = start(*arguments, file)
        try:
            process.wait(seconds * luck.uniform(0.5, 1.5) * 1.1**kills)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        return table(process), kills


@pytest.fixture(scope="module")
def twelve_matches(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The table of real matches, undisturbed."""
    return table(start(*ARENA, cup(tmp_path_factory.mktemp("undisturbed") / "a", TWELVE_MATCHES)))


def test_killed_at_any_moment_and_run_again_it_gives_the_same_table(tmp_path: Path) -> None:
    undisturbed = table(start(*STAND_INS, cup(tmp_path / "a", MANY_MATCHES)))
    check_killed(undisturbed, STAND_INS, tmp_path, MANY_MATCHES, kills=3)


def test_with_real_matches_too(tmp_path: Path, twelve_matches: Any) -> None:
    """Bots whose luck is their own seed play the same match again."""
    check_killed(twelve_matches, ARENA, tmp_path, TWELVE_MATCHES, kills=1)


def check_killed(undisturbed: Any, arguments: tuple[str, ...], folder: Path, text: str, *, kills: int) -> None:
    """Tournaments killed over and over come to the same table. A fast machine is given less and less time."""
    for attempt in range(8):
        disturbed, killed = killed_often(arguments, cup(folder / f"killed-{attempt}", text), 0.5 / 2**attempt)
        assert undisturbed == disturbed
        if killed >= kills:
            return
    pytest.fail(f"it was never killed {kills} times before it was done")


def test_without_space_it_stops_with_one_line_and_goes_on_when_there_is_some(
    tmp_path: Path, twelve_matches: Any
) -> None:
    file = cup(tmp_path / "b", TWELVE_MATCHES)
    full = start(*ARENA, file, space=100_000)
    output, complaints = full.communicate()
    assert (CANNOT, b"") == (full.returncode, output)
    last = complaints.decode().splitlines()[-1]
    assert last.startswith(f"arena: {tmp_path}/b/runs/cup/transcripts/")
    assert last.endswith(": cannot be written: File too large")
    found = table(start(*ARENA, file))
    assert twelve_matches["standings"] == found["standings"]
    assert ["cannot be written: File too large"] == sorted(
        {void["reason"].partition(": ")[2] for void in found["void"]}
    )


@pytest.mark.parametrize("arguments", [("--help",), ("games", "--help")])
def test_help_does_not_wait_for_what_it_does_not_need(arguments: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom arena.cli import main\n"
        f"try: main({list(arguments)!r})\nexcept SystemExit: print(sorted({{'trio', 'zmq'}} & set(sys.modules)))"
    )
    output, _ = start("-c", code).communicate()
    assert b"[]" == output.splitlines()[-1]
