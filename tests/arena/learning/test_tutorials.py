"""The tutorials in docs/examples/learning run, and come to what they and the page say.

Those that need PyTorch or sb3-contrib are skipped without them: `scripts/learning_libraries` runs them.
"""

import json
import re
import runpy
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from arena.learning import Episode
from referee.games import GAMES
from referee.rules import ResolvedAction
from tests.arena.learning.playing import dealt, needs
from tests.docs_pages import HOUSE, page

TUTORIALS = HOUSE / "docs/examples/learning"
NOTEBOOKS = {"first_steps": "sb3_contrib", "worlds_and_search": "open_spiel"}
Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a tutorial with these arguments, and returns what it prints."""

    def run_tutorial(name: str, *arguments: str) -> str:
        path = TUTORIALS / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(path), *arguments])
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out

    return run_tutorial


def test_each_tutorial_is_on_the_page_and_tested_here() -> None:
    text = page("docs/learning.md")
    assert {path.stem for path in TUTORIALS.glob("*.ipynb")} == set(NOTEBOOKS)
    for path in TUTORIALS.iterdir():
        if path.is_file():
            assert f"examples/learning/{path.name}" in text
            assert path.stem in (HOUSE / "tests/arena/learning/test_tutorials.py").read_text()


def test_cfr_solves_kuhn_poker_to_its_known_value(run: Run) -> None:
    printed = run("cfr", "--iterations", "300")
    value, gain = map(float, re.findall(r"(?:value|exploitability) (-?[\d.]+)", printed))
    assert value == pytest.approx(-1 / 18, abs=1e-3)
    assert gain < 1e-3


def test_is_mcts_wins_where_the_second_seat_always_can(run: Run) -> None:
    printed = run("is_mcts", "--simulations", "150", "--matches", "6")
    assert "seat 1 won 6 of 6 matches by IS-MCTS with 150 simulations" in printed


def test_the_second_seat_has_a_winning_answer_to_each_first_turn() -> None:
    episode = dealt(Episode("mist", options={"first": 0, "max_turns": 2}))
    table, rng = episode.table, Random(1)
    firsts = list(GAMES["mist"].legal_actions(table.state, 0))
    assert 1_414 == len(firsts)
    answers: list[Any] = []
    for first in firsts:
        opened = table.fork()
        opened.close((ResolvedAction(first), None))
        answers = answers or list(GAMES["mist"].legal_actions(opened.state, 1))
        for _ in range(10_000):
            ended = opened.fork()
            ended.close((None, ResolvedAction(rng.choice(answers))))
            assert ended.outcome is not None
            if ended.outcome.winners == (1,):
                break
        else:
            pytest.fail(f"no winning answer was found to {first}")
    assert 41_155_884 == len(firsts) * len(answers)


@pytest.mark.parametrize(("name", "library"), [("ppo", "torch"), ("maskable_ppo", "sb3_contrib")])
def test_a_policy_learns_to_win_more(run: Run, name: str, library: str) -> None:
    needs(library)
    printed = run(name)
    before, after = map(int, re.findall(r"(\d+)%", printed))
    assert after >= before + 10


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run_cell_by_cell(name: str) -> None:
    needs(NOTEBOOKS[name])
    notebook = json.loads((TUTORIALS / f"{name}.ipynb").read_text())
    known: dict[str, Any] = {"__name__": "notebook"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)  # noqa: S102 - our own page


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run_in_jupyter(name: str) -> None:
    for module in ("ipykernel", NOTEBOOKS[name]):
        needs(module)
    nbclient, nbformat = needs("nbclient"), needs("nbformat")
    notebook = nbformat.read(TUTORIALS / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_what_they_printed(name: str) -> None:
    for cell in json.loads((TUTORIALS / f"{name}.ipynb").read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
