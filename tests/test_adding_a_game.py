"""docs/adding-a-game.md, followed step by step: a package comes to life, and its game in a copy of the house."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.docs_pages import HOUSE, blocks_of
from tests.long import cases
from tests.outside import KUHN, arena, install_package, python

PAGE = HOUSE / "docs/adding-a-game.md"
ROOMS = ("protocol", "referee", "bots", "arena")
FILES = blocks_of(PAGE, r"(python|toml|js) file .*")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of packages with the one that the page makes."""
    folder = tmp_path_factory.mktemp("page")
    for block in FILES:
        path = folder / "project" / block.info.split()[-1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
    return install_package(folder / "project", folder)


@pytest.fixture(scope="module")
def copy(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the house with the game as one of its own."""
    root = tmp_path_factory.mktemp("house")
    for room in ROOMS:
        shutil.copytree(HOUSE / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(HOUSE / "tests/golden", root / "tests/golden", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tests/__init__.py").touch()
    shutil.copytree(site / "kuhn_poker", root / "kuhn_poker")
    (line,) = blocks_of(PAGE, r"python line .*")
    with (root / line.info.split()[-1]).open("a") as file:
        file.write(line.text)
    return root


def commands() -> list[list[str]]:
    """Those of the page, without `python`."""
    (block,) = blocks_of(PAGE, "sh sixth")
    return [line.split()[1:] for line in block.text.splitlines()]


@pytest.mark.parametrize("block", FILES, ids=lambda block: block.info)
def test_each_file_is_the_examples_own(block: object) -> None:
    text, file = getattr(block, "text"), KUHN / getattr(block, "info").split()[-1]  # noqa: B009 - of any block
    assert re.sub(r"\n\n+", "\n\n", file.read_text()).rstrip() == text.rstrip()


def test_the_page_shows_every_file_of_the_package() -> None:
    shown = {block.info.split()[-1] for block in FILES}
    code = {path for path in KUHN.rglob("*") if path.suffix in {".py", ".toml", ".js"}}
    assert {path.relative_to(KUHN).as_posix() for path in code} == shown


def test_the_page_has_its_three_commands() -> None:
    assert ["referee.proofs.conformance", "arena", "arena"] == [words[1] for words in commands()]


@pytest.mark.slow
def test_the_game_keeps_the_contract(site: Path, tmp_path: Path) -> None:
    seeds = cases(20, 60)
    printed = python(site, *commands()[0], *map(str, range(seeds)), here=tmp_path).stdout
    (report,) = [json.loads(line) for line in printed.splitlines()]
    assert seeds == report["matches"]
    assert report["windows"] > seeds
    assert report["twinned"] > 0


def test_bots_that_know_no_game_play_it(site: Path, tmp_path: Path) -> None:
    table = python(site, *commands()[1], "--isolation", "none", here=tmp_path).stdout
    assert ["ok"] * 2 == re.findall(r"_random +\d+ +-?\d+ +(\w+)", table)


def test_it_is_listed_and_judged(site: Path, tmp_path: Path) -> None:
    assert "plain" in python(site, *commands()[2], here=tmp_path).stdout
    (scenario,) = blocks_of(PAGE, "json sixth")
    result = json.loads(
        arena(site, "adjudicate", "-", here=tmp_path, said=json.dumps(json.loads(scenario.text)) + "\n")
    )
    assert {"0": -2, "1": 2} == result["outcome"]["scores"]
    assert [{"cards": [1, 3], "type": "shown"}] == [
        event for event in result["steps"][1]["public"] if event["type"] == "shown"
    ]


def test_one_line_makes_it_a_game_of_the_house(copy: Path) -> None:
    done = python(copy, "-m", "tests.golden.matches", here=copy, house=copy)
    assert 0 == done.returncode, done.stderr
    golden = json.loads((copy / "tests/golden/kuhn-poker.plain.json").read_text())
    assert "kuhn-poker" == golden["scenario"]["game"]
    assert "kuhn-poker" in python(copy, "-m", "arena", "games", here=copy, house=copy).stdout
