"""Pointing's scenarios against results that another implementation of its rules gave; and its vocabulary."""

from typing import Any

import pytest

from tests.referee.adjudication.examples import examples, judged

EXAMPLES = examples("pointing")
PAIR = {"0": {"target": 1}, "1": {"target": 0}}
"""Of four seats two form a loop; the others are alone, and tied if it is so in every round."""


def adjudicated(*steps: Any, **scenario: Any) -> Any:
    return judged({"game": "pointing", "options": {"seats": 4}, "steps": steps} | scenario)


def test_the_examples_hold_rejections_votes_loops_and_cut_pointers() -> None:
    steps = [step for example in EXAMPLES for step in example["result"]["steps"]]
    assert any(step["rejected"] for step in steps)
    assert any(step["window"] == "vote" for step in steps)
    sections = [section for step in steps for event in step["public"] for section in event.get("sections", [])]
    assert any(section["kind"] == "loop" and any(section["shape"]) for section in sections)
    assert any(section["cut"] for section in sections)


def test_taken_spells_every_seat_out_defaults_included() -> None:
    step = adjudicated({"1": {"target": 3}, "2": None, "3": {"target": None}})["steps"][0]
    nobody = {"target": None}
    assert {"0": nobody, "1": {"target": 3}, "2": nobody, "3": nobody} == step["taken"]
    assert {} == step["rejected"]


def test_r7_a_rejected_target_counts_as_none() -> None:
    """Seat 1 loses a garnet for having pointed in all rounds; seat 0, rejected once, does not."""
    wrong = PAIR | {"0": {"target": 0}}
    result = adjudicated(PAIR, PAIR, wrong, {}, options={"seats": 4, "token_threshold": 0})
    assert ["0"] == list(result["steps"][2]["rejected"])
    assert {"1": -1} == result["outcome"]["garnets"]


def test_r3_a_vote_of_a_seat_that_is_no_winner_is_rejected_and_a_null_of_it_is_ignored() -> None:
    result = adjudicated(PAIR, PAIR, PAIR, {"0": {"seat": 3}, "2": {"seat": 2}, "3": None})
    vote = result["steps"][3]
    assert ["2"] == list(vote["rejected"])
    assert ([0, 1], {"0": {"seat": 3}, "1": {"seat": None}}) == (vote["seats"], vote["taken"])
    assert 3 == result["outcome"]["eliminated"]


def test_r6_all_events_are_public_and_nothing_is_told_to_one_seat() -> None:
    result = adjudicated(PAIR, PAIR, PAIR, {})
    assert [["map"], ["map"], ["map", "tied"], ["reveal"]] == [
        [event["type"] for event in step["public"]] for step in result["steps"]
    ]
    assert all(step["told"] == {"0": [], "1": [], "2": [], "3": []} for step in result["steps"])
    assert {"public": [], "told": {}} == result["start"]


def test_next_names_the_winners_while_they_vote() -> None:
    assert {"window": "vote", "seats": [0, 1]} == adjudicated(PAIR, PAIR, PAIR)["next"]


def test_a_step_after_the_end_is_an_error_with_and_without_a_vote() -> None:
    chain = {"0": {"target": 1}, "1": {"target": 2}}
    assert {"error": "steps[3]: the match was over after 3 steps"} == adjudicated(chain, chain, chain, {})
    assert {"error": "steps[4]: the match was over after 4 steps"} == adjudicated(PAIR, PAIR, PAIR, {}, {})


def test_a_result_holds_every_option_and_an_empty_setup() -> None:
    result = judged({"game": "pointing", "steps": []})
    assert ("tempo-up", 0) == (result["variant"], result["seed"])
    assert {"seats": 13, "token_threshold": 7} == result["options"]
    assert {} == result["setup"] == judged({"game": "pointing", "setup": {}, "steps": []})["setup"]


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("options: ", {"options": {"seats": 27}}),
        ("options: ", {"options": {"token_threshold": -1}}),
        ("setup: ", {"setup": {"targets": {}}}),
        ("variant: ", {"variant": "tempo-down"}),
        ("steps[0]: ", {"options": {"seats": 3}, "steps": [{"3": {"target": 1}}]}),
    ],
)
def test_what_is_wrong_with_a_scenario_as_a_whole_is_an_error_that_names_the_place(
    place: str, wrong: dict[str, Any]
) -> None:
    result = adjudicated(**wrong)
    assert ["error"] == list(result)
    assert result["error"].startswith(place)
