"""The page of the environments: its tables are those of the code, and its examples run."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.learning import ENCODERS
from referee.encoding import VectorEncoder
from referee.games.mist.encoder import PLANES
from tests.docs_pages import HOUSE, blocks

PAGE = (HOUSE / "docs/learning.md").read_text()
NUMBERED = re.compile(r"\b(Hive|round|guess|choice) (\d+)")
LETTER = {"Hive": "H", "round": "R", "guess": "N", "choice": "N"}


def rows(game: str) -> list[str]:
    """Return the rows of a game's table. Parts that differ by a number only share one."""
    encoder = ENCODERS[game]
    if not isinstance(encoder, VectorEncoder):
        return [f"| {number} | {text} |" for number, text in enumerate(PLANES)]
    lengths: dict[str, int] = {}
    times: Counter[str] = Counter()
    for name, length in encoder.layout:
        general = NUMBERED.sub(lambda found: f"{found[1]} {LETTER[found[1]]}", name)
        times[general] += 1
        assert lengths.setdefault(general, length) == length
    return [
        f"| {name} | {length} |" if times[name] == 1 else f"| {name} | {times[name]} x {length} |"
        for name, length in lengths.items()
    ]


@pytest.mark.parametrize("game", ENCODERS)
def test_the_page_lists_what_an_observation_holds(game: str) -> None:
    assert "\n" + "\n".join(rows(game)) + "\n" in PAGE
    shape = " x ".join(map(str, ENCODERS[game].shape))
    assert f"| `{game}` | {shape} |" in PAGE


def test_the_examples_of_the_page_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {"__name__": "page"}
    for block in blocks("python learns"):
        exec(compile(block.text, str(block.page), "exec"), known)  # noqa: S102 - our own page
    assert "turn" in capsys.readouterr().out
    assert not known["parallel"].agents
    assert known["over"]
    assert (20, 2) == known["shard"].returns.shape
