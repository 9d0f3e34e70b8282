"""Scenarios of The Fight For a Name against results that another implementation gave."""

from typing import Any

import pytest

from tests.referee.adjudication.examples import examples, judged

EXAMPLES = examples("fight_for_a_name")


def test_the_examples_hold_every_window_but_justice_and_every_kind_of_rejection() -> None:
    steps = [step for example in EXAMPLES for step in example["result"]["steps"]]
    assert {"challenge", "move", "pillar", "token_vote", "elimination_vote"} == {step["window"] for step in steps}
    assert {"challenge", "move", "pillar"} <= {step["window"] for step in steps if step["rejected"]}


def scenario(steps: list[Any], **more: Any) -> Any:
    return judged({"game": "fight-for-a-name", "seed": 3, "steps": steps} | more)


def test_left_out_parts_have_their_defaults_in_the_result() -> None:
    result = scenario([])
    assert ("guardians", {"rounds": 12}) == (result["variant"], result["options"])
    assert {"colours", "titles", "pillars", "challenge"} == set(result["setup"])
    assert ["board", "challenge"] == [event["type"] for event in result["start"]["public"]]
    assert {} == result["start"]["told"]
    assert {"window": "challenge", "seats": list(range(13))} == result["next"]


def test_an_answer_is_told_in_the_step_of_its_window_before_what_the_rounds_end_tells() -> None:
    shown = scenario([])["setup"]["pillars"]["phi"]
    asked = {
        "body": [shown[0], "red"],
        "parting": [shown[1], "red"],
        "other": [shown[2], "red"],
        "neither": [shown[4], shown[3]],
        "crest": shown[5],
    }
    result = scenario([{}, {}, {"4": {"path": ["N"] * 4}}, {"4": asked, "5": asked}])
    visit, answer = result["steps"][2:]
    assert ("move", []) == (visit["window"], visit["public"])
    assert ["pillar_shows"] == [event["type"] for event in visit["told"]["4"]]
    assert ("pillar", [4]) == (answer["window"], answer["seats"])
    assert ["pillar_answer", "standing"] == [event["type"] for event in answer["told"]["4"]]
    assert {"4": asked | {"neither": sorted(shown[3:5])}} == answer["taken"]
    assert ["5"] == list(answer["rejected"])


@pytest.mark.parametrize("elapsed", [{"0": -1}, {"0": 1.5}, {"0": "1"}, {"13": 1}, [1], 1])
def test_elapsed_ms_of_the_timed_game_maps_seats_to_whole_numbers_from_0(elapsed: Any) -> None:
    assert "elapsed_ms" in scenario([{"elapsed_ms": elapsed}])["error"]


def test_elapsed_ms_is_ignored_in_other_windows() -> None:
    assert "error" not in scenario([{}, {"elapsed_ms": "long"}])


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"variant": "warriors"}, "variant"),
        ({"options": {"rounds": 0}}, "options"),
        ({"options": {"seats": 13}}, "options"),
        ({"setup": {}}, "setup"),
        ({"steps": [{"13": {}}]}, "steps[0]"),
        ({"steps": [{}] * 3, "options": {"rounds": 1}}, "steps[2]"),
    ],
)
def test_what_is_unknown_or_breaks_a_rule_of_the_scenario_is_an_error_that_names_the_place(
    more: Any, place: str
) -> None:
    assert place in judged({"game": "fight-for-a-name", "steps": []} | more)["error"]
