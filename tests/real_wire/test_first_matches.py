"""Whole commands that begin at once on a new machine: each plays, and none is disturbed by another."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = 8
HOUSE = Path(__file__).parents[2]


@pytest.mark.slow
def test_eight_matches_begin_at_once_from_an_empty_home(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "arena", "match", "hive-mind", "hive_mind_counter"]
    command += ["--fill", "hive_mind_random", "--isolation", "none"]
    # Eight matches with forty bots are more than two cores carry in time; that is not the question here.
    command += ["--unfair", "note", "--main-ms", "20000", "--transcripts", str(tmp_path / "transcripts")]
    environment = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "PYTHONPATH": str(HOUSE)}
    matches = [
        subprocess.Popen(  # noqa: S603 - our own
            command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(PROGRAMS)
    ]
    said = [match.communicate()[0] for match in matches]
    assert [0] * PROGRAMS == [match.returncode for match in matches], said
    assert PROGRAMS == len(list((tmp_path / "transcripts").glob("*.jsonl")))
    contents = tmp_path / ".cache/mist-arena/contents"
    assert [] == list(contents.glob("making-*"))
    assert 2 == len([path for path in contents.iterdir() if path.is_dir()])
