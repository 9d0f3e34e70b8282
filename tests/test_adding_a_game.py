"""docs/adding-a-game.md, followed step by step: a sixth game comes to life in a copy of the house."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs_pages import HOUSE, blocks_of
from tests.long import cases

PAGE = HOUSE / "docs/adding-a-game.md"
ROOMS = ("protocol", "referee", "bots", "arena")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The house with what the page adds."""
    root = tmp_path_factory.mktemp("house")
    for room in ROOMS:
        shutil.copytree(HOUSE / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(HOUSE / "tests/golden", root / "tests/golden", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tests/__init__.py").touch()
    for block in blocks_of(PAGE, r"(python|toml) file .*"):
        path = root / block.info.split()[-1]
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(block.text)
    (line,) = blocks_of(PAGE, r"python line .*")
    with (root / line.info.split()[-1]).open("a") as file:
        file.write(line.text)
    return root


def run(copy: Path, *arguments: str, said: str = "") -> str:
    """What a command prints in the copy."""
    done = subprocess.run(  # noqa: S603 - the page's own commands
        [sys.executable, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def commands() -> list[list[str]]:
    """Those of the page, without `python`."""
    (block,) = blocks_of(PAGE, "sh sixth")
    return [line.split()[1:] for line in block.text.splitlines()]


def test_the_page_has_its_four_commands() -> None:
    assert ["referee.proofs.conformance", "tests.golden.matches", "arena", "arena"] == [
        words[1] for words in commands()
    ]


@pytest.mark.slow
def test_the_sixth_game_keeps_the_contract(copy: Path) -> None:
    seeds = cases(20, 60)
    printed = run(copy, *commands()[0], *map(str, range(seeds)))
    (report,) = [json.loads(line) for line in printed.splitlines()]
    assert seeds == report["matches"]
    assert report["windows"] > seeds
    assert report["twinned"] > 0


def test_its_golden_match_is_made(copy: Path) -> None:
    run(copy, *commands()[1])
    golden = json.loads((copy / "tests/golden/lone-number.plain.json").read_text())
    assert "lone-number" == golden["scenario"]["game"]


@pytest.mark.slow
def test_bots_play_it_among_them_the_one_that_knows_no_game(copy: Path) -> None:
    schema = run(copy, "-m", "arena", "schema")
    (copy / "bots/any_random/schema.json").write_text(schema)
    table = run(copy, *commands()[2], "--isolation", "none")
    assert ["ok"] * 3 == re.findall(r"_random +\d+ +\d+ +(\w+)", table)


def test_it_is_listed_adjudicated_and_shown(copy: Path) -> None:
    assert "plain" in run(copy, *commands()[3])
    (scenario,) = blocks_of(PAGE, "json sixth")
    result = json.loads(
        run(copy, "-m", "arena", "adjudicate", "-", said=json.dumps(json.loads(scenario.text)) + "\n")
    )
    told = result["steps"][0]
    assert [{"type": "round_over", "total": 7}] == told["public"]
    assert [[{"type": "scored", "points": each}] for each in (3, 0, 0)] == list(told["told"].values())
