"""Hive Mind's scenarios against results that another implementation of its rules gave."""

from typing import Any

import pytest

from tests.referee.adjudication.examples import examples, judged

EXAMPLES = examples("hive_mind")


def test_the_examples_hold_all_variants_and_every_window() -> None:
    results = [example["result"] for example in EXAMPLES]
    assert {"gauntlet", "recharged", "tempo-up"} == {result["variant"] for result in results}
    windows = {step["window"] for result in results for step in result["steps"]}
    assert {"round", "scores", "give_token", "break_tie"} == windows


def adjudged(**more: Any) -> Any:
    return judged({"game": "hive-mind", "steps": []} | more)


def test_a_left_out_variant_is_recharged_and_the_result_holds_every_option_and_the_setup_in_force() -> None:
    result = adjudged(seed=3)
    assert ("recharged", {"garnets": 0}) == (result["variant"], result["options"])
    assert ["Charge", "Marcer", "Zero"] == list(result["setup"]["hives"])
    assert {"window": "round", "seats": [0, 1, 2, 3, 4]} == result["next"]
    assert {"public": [], "told": {}} == result["start"]


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"options": {"garnets": [1, 2]}}, "options"),
        ({"options": {"garnets": None}}, "options"),
        ({"options": {"rounds": 1}}, "options"),
        ({"setup": {}}, "setup"),
        ({"setup": {"hives": {"1": "112332112213"}}}, "setup"),
        ({"setup": {"hives": dict.fromkeys(("Charge", "Marcer", "Zero"), "333111112222")}}, "setup.hives.Charge"),
        ({"variant": "zero"}, "variant"),
        ({"steps": [{"5": {}}]}, "steps[0]"),
        ({"steps": [{}, {}, {}, {}]}, "steps[3]"),
    ],
)
def test_a_scenario_that_is_wrong_as_a_whole_is_an_error_that_names_the_place(more: Any, place: str) -> None:
    assert adjudged(**more)["error"].startswith(place)


def test_a_rejected_action_leaves_its_seat_with_the_default_and_a_null_is_ignored() -> None:
    step = {"0": {"place": {"Charge": "ACE"}}, "1": None, "2": {"place": {"Charge": "eda"}}}
    (result,) = adjudged(steps=[step])["steps"]
    assert ["0"] == list(result["rejected"])
    assert {"0": {}, "1": {}, "2": {"place": {"Charge": "ADE"}}, "3": {}, "4": {}} == result["taken"]
