"""Whole commands that begin at once on a new machine: each plays, and none is disturbed by another."""

import subprocess
from pathlib import Path

import pytest

from tests.builders.programs import start_program

PROGRAMS = 8


@pytest.mark.slow
def test_eight_matches_begin_at_once_from_an_empty_home(tmp_path: Path) -> None:
    # Eight matches with forty bots are more than two cores carry in time; that is not the question here.
    words = [
        "match",
        "hive-mind",
        "hive_mind_counter",
        "--fill",
        "hive_mind_random",
        "--isolation",
        "none",
        "--unfair",
        "note",
    ]
    words += ["--main-ms", "20000", "--transcripts", str(tmp_path / "transcripts")]
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    matches = [
        start_program("arena", *words, env=home, cwd=tmp_path, stderr=subprocess.STDOUT) for _ in range(PROGRAMS)
    ]
    said = [match.communicate()[0] for match in matches]
    assert [0] * PROGRAMS == [match.returncode for match in matches], said
    assert PROGRAMS == len(list((tmp_path / "transcripts").glob("*.jsonl")))
    contents = tmp_path / ".cache/mist-arena/contents"
    assert [] == list(contents.glob("making-*"))
    assert 2 == len([path for path in contents.iterdir() if path.is_dir()])
