"""Golden matches: every game and variant has one, and it comes out as it always has."""

import json

import pytest

from tests.golden.matches import FOLDER, adjudicated, path, played, variants, written
from tests.referee.toy import Cups

REWRITE = "run scripts/golden and read the diff"


@pytest.mark.parametrize(("game", "variant"), variants())
def test_every_variant_has_a_golden_match_that_comes_out_as_it_always_has(game: str, variant: str) -> None:
    kept = path(game, variant)
    assert kept.exists(), f"{game}, {variant} has no golden match: {REWRITE}"
    golden = json.loads(kept.read_bytes())
    assert (game, variant) == (golden["result"]["game"], golden["result"]["variant"])
    result = adjudicated(golden["scenario"])
    for number, (expected, actual) in enumerate(zip(golden["result"]["steps"], result["steps"], strict=True)):
        assert expected == actual, f"{kept.name}, step {number}: if this is meant, {REWRITE}"
    assert golden["result"] == result, f"{kept.name}: if this is meant, {REWRITE}"


@pytest.mark.parametrize(("game", "variant"), variants())
def test_a_golden_match_is_a_whole_one(game: str, variant: str) -> None:
    result = json.loads(path(game, variant).read_bytes())["result"]
    assert result["outcome"] is not None
    assert any(step["rejected"] for step in result["steps"])


def test_no_golden_match_is_left_of_a_game_that_is_gone() -> None:
    assert {path(*each) for each in variants()} == set(FOLDER.glob("*.json"))


def test_a_golden_match_is_kept_with_each_step_on_a_line_of_its_own() -> None:
    golden = {"scenario": {"game": "x", "steps": [{"0": 1}, {"0": None}]}, "result": {"steps": [], "a": {"b": 1}}}
    text = written(golden)
    assert golden == json.loads(text)
    assert '{"0":1},\n{"0":null}\n' in text


def test_the_match_that_is_played_for_a_new_game_is_the_same_every_time() -> None:
    assert played(Cups(), "plain") == played(Cups(), "plain")
