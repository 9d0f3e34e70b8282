"""Each sentence on scenarios and their results, shown on a tiny game that has every kind of window."""

import json
from typing import Any

import pytest

from referee.adjudication.adjudicate import adjudicate_line
from tests.referee.toy import CUPS, Cups

GAMES = {"cups": Cups()}
BID = {"amount": 3}
LAST_ROUND = {"rounds": 1}


def judged(*steps: Any, **scenario: Any) -> Any:
    scenario = {"game": "cups", "options": LAST_ROUND, "steps": steps, **scenario}
    return json.loads(adjudicate_line(json.dumps(scenario).encode(), GAMES))


def error(*steps: Any, **scenario: Any) -> str:
    result = judged(*steps, **scenario)
    assert ["error"] == list(result)
    return str(result["error"])


def test_a_left_out_top_level_key_and_null_are_the_default() -> None:
    bare = json.loads(adjudicate_line(b'{"game":"cups","steps":[]}', GAMES))
    assert ("plain", 0, {"rounds": 2, "seats": 3}) == (bare["variant"], bare["seed"], bare["options"])
    assert CUPS == len(bare["setup"]["cups"])
    nulls = judged(variant=None, seed=None, options=None, setup=None)
    assert bare == nulls


def test_a_result_has_these_keys_and_no_others() -> None:
    result = judged({})
    keys = ["game", "variant", "seed", "options", "setup", "steps", "start", "next", "outcome"]
    assert keys == list(result)
    assert ["window", "seats", "taken", "rejected", "public", "told"] == list(result["steps"][0])


def test_variant_seed_options_and_setup_are_told_back_as_given() -> None:
    setup = {"cups": [2, 1, 0, 2]}
    result = judged(variant="blind", seed=-(10**30), options={"seats": 4}, setup=setup)
    assert ("blind", -(10**30)) == (result["variant"], result["seed"])
    assert {"rounds": 2, "seats": 4} == result["options"]
    assert setup == result["setup"]


def test_the_setup_that_was_drawn_may_be_given_and_leads_to_the_same_match() -> None:
    steps = [{"0": BID}, {"0": {"cup": 1}}, {"1": {"guess": 4}}]
    drawn = judged(*steps, seed=5)
    assert drawn == judged(*steps, seed=5, setup=drawn["setup"])


@pytest.mark.parametrize(
    ("place", "scenario"),
    [
        ("game: missing", {"game": None}),
        ('game: there is no "chess"', {"game": "chess"}),
        ("game: Expected `str", {"game": 3}),
        ('variant: cups has no "wild"', {"variant": "wild"}),
        ("seed: Expected `int", {"seed": 1.0}),
        ("seed: Expected `int", {"seed": True}),
        ("steps: missing", {"steps": None}),
        ("steps: Expected `array", {"steps": {}}),
        ("steps[1]: Expected `object`", {"steps": [{}, None]}),
        ("unknown field `colour`", {"colour": None}),
        ("options: Object contains unknown field `size`", {"options": {"size": 1}}),
        ("options: Expected `int` >= 1 - at `$.rounds`", {"options": {"rounds": 0}}),
        ("options: Expected `int`, got `null`", {"options": {"rounds": None}}),
        ("options: Expected `object`", {"options": []}),
        ("setup.cups: 1 cups; there are 4", {"setup": {"cups": [1]}}),
    ],
)
def test_a_scenario_that_is_wrong_as_a_whole_is_an_error_that_names_the_place(
    place: str, scenario: dict[str, Any]
) -> None:
    assert place in error(**scenario)


def test_a_missing_game_or_steps_is_an_error() -> None:
    assert {"error": "game: missing"} == json.loads(adjudicate_line(b'{"steps":[]}', GAMES))
    assert {"error": "steps: missing"} == json.loads(adjudicate_line(b'{"game":"cups"}', GAMES))


@pytest.mark.parametrize("seat", ["3", "-1", "00", " 0", "0.0", "elapsed", "\u0661"])
def test_an_unknown_seat_in_a_step_is_an_error_even_with_a_null(seat: str) -> None:
    assert f'steps[1]: seat "{seat}" is unknown; the seats are "0" to "2"' == error({}, {seat: None})


def test_an_unknown_seat_inside_an_action_is_a_reason_to_reject_it() -> None:
    """Here: a cup, which is what an action of this game names."""
    assert {"0": "no such cup"} == judged({"0": BID}, {"0": {"cup": 9}})["steps"][1]["rejected"]


def test_a_step_after_the_end_is_an_error() -> None:
    assert "steps[3]: the match was over after 3 steps" == error({"0": BID}, {}, {}, {})


def test_fewer_steps_than_the_match_needs_are_fine_and_next_names_the_open_window() -> None:
    assert {"window": "bid", "seats": [0, 1, 2]} == judged()["next"]
    after = judged({"0": BID, "2": BID})
    assert {"window": "look", "seats": [0, 2]} == after["next"]
    assert after["outcome"] is None


def test_next_is_null_when_the_match_is_over_and_the_outcome_is_there() -> None:
    after = judged({}, {})
    assert after["next"] is None
    assert "finished" == after["outcome"]["reason"]


def test_a_seat_left_out_or_null_takes_the_default_and_taken_has_every_seat_of_the_window() -> None:
    step = judged({"1": None, "2": BID})["steps"][0]
    assert {"0": {"amount": 0}, "1": {"amount": 0}, "2": BID} == step["taken"]
    assert {} == step["rejected"]


def test_taken_has_only_the_seats_of_the_window_and_null_where_the_default_is_nothing() -> None:
    step = judged({"0": BID, "2": BID}, {"2": {"cup": 0}})["steps"][1]
    assert [0, 2] == step["seats"]
    assert {"0": None, "2": {"cup": 0}} == step["taken"]


def test_a_drawn_default_is_shown_in_taken() -> None:
    taken = judged({}, {"1": {"guess": 3}}, seed=4)["steps"][1]["taken"]
    assert {"guess": 3} == taken["1"]
    assert {"guess"} == set(taken["0"])
    assert taken["0"]["guess"] in range(10)


def test_taken_is_spelled_canonically() -> None:
    """Lists sorted, optional keys that are empty and flags that are false left out."""
    step = judged({"0": {"marks": [3, 1], "amount": 2}, "1": {"amount": 2, "marks": [], "loud": False}})["steps"][
        0
    ]
    assert {"amount": 2, "marks": [1, 3]} == step["taken"]["0"]
    assert {"amount": 2} == step["taken"]["1"]


def test_a_default_may_also_be_submitted() -> None:
    step = judged({"0": {"amount": 0}})["steps"][0]
    assert ({"amount": 0}, {}) == (step["taken"]["0"], step["rejected"])


@pytest.mark.parametrize(
    "action",
    [
        "{}",
        '{"amount":9}',
        '{"amount":1,"more":1}',
        '{"amount":"1"}',
        '{"amount":1.0}',
        '{"amount":1e0}',
        '{"amount":true}',
        '{"amount":null}',
        '{"amount":1,"marks":null}',
        '{"amount":1,"loud":null}',
        '{"amount":1,"loud":0}',
        '{"amount":1e999}',
        f'{{"amount":{"9" * 5000}}}',
        '{"cup":1}',
        "[]",
        '"x"',
        "1",
        "false",
    ],
)
def test_an_action_that_is_not_exactly_of_the_form_is_rejected_whole_and_leaves_the_default(action: str) -> None:
    line = f'{{"game":"cups","steps":[{{"0":{action},"1":{{"amount":2}}}}]}}'
    step = json.loads(adjudicate_line(line.encode(), GAMES))["steps"][0]
    assert ["0"] == list(step["rejected"])
    assert {"amount": 0} == step["taken"]["0"]
    assert {"amount": 2} == step["taken"]["1"]


def test_an_action_of_a_seat_that_the_window_is_not_open_to_is_rejected_and_a_null_ignored() -> None:
    step = judged({"1": BID}, {"0": {"cup": 1}, "2": None})["steps"][1]
    assert {"0": "this seat owes nothing now"} == step["rejected"]
    assert {"1": None} == step["taken"]


def test_rejected_is_always_there() -> None:
    assert {} == judged({})["steps"][0]["rejected"]


def test_public_and_private_events_are_listed_separately() -> None:
    result = judged({"0": BID, "1": BID}, {"1": {"cup": 3}}, setup={"cups": [0, 1, 2, 7]})
    assert [{"type": "round_over", "highest": 3}] == result["steps"][0]["public"]
    assert {"0": [], "1": [], "2": []} == result["steps"][0]["told"]
    assert {"0": [], "1": [{"type": "looked", "cup": 3, "value": 7}], "2": []} == result["steps"][1]["told"]


def test_start_told_holds_only_seats_that_were_told_something() -> None:
    start = judged()["start"]
    assert [] == start["public"]
    assert ["0", "1"] == list(start["told"])
    assert ["hand"] == [event["type"] for event in start["told"]["0"]]


def test_reveal_is_told_in_the_step_that_ends_the_match() -> None:
    assert "reveal" == judged({}, {})["steps"][-1]["public"][-1]["type"]


def test_an_asap_window_answers_whatever_the_order_of_the_keys() -> None:
    bids = {"0": BID, "1": BID}
    one = judged(bids, {"0": {"cup": 0}, "1": {"cup": 1}})
    other = judged(bids, {"1": {"cup": 1}, "0": {"cup": 0}})
    assert one == other
    assert ["looked"] == [event["type"] for event in one["steps"][1]["told"]["0"]]


@pytest.mark.parametrize("elapsed", [None, 3, "x", {"9": -1}, {"0": 1.5}, []])
def test_elapsed_ms_is_ignored_where_no_rule_uses_it(elapsed: Any) -> None:
    assert judged({"0": BID}) == judged({"0": BID, "elapsed_ms": elapsed})


@pytest.mark.parametrize(
    ("elapsed", "complaint"),
    [
        (None, "steps[1].elapsed_ms: Expected `object`, got `null`"),
        ([], "steps[1].elapsed_ms: Expected `object`, got `array`"),
        ({"0": -1}, "steps[1].elapsed_ms[...]: Expected `int` >= 0"),
        ({"0": 1.0}, "steps[1].elapsed_ms[...]: Expected `int`, got `float`"),
        ({"0": None}, "steps[1].elapsed_ms[...]: Expected `int`, got `null`"),
        ({"0": True}, "steps[1].elapsed_ms[...]: Expected `int`, got `bool`"),
        ({"7": 1}, 'steps[1].elapsed_ms: seat "7" is unknown; the seats are "0" to "2"'),
    ],
)
def test_elapsed_ms_where_a_rule_uses_it_maps_seats_to_whole_numbers_from_0(elapsed: Any, complaint: str) -> None:
    assert complaint == error({}, {"elapsed_ms": elapsed})


def test_elapsed_ms_decides_where_a_rule_says_so_and_is_0_where_left_out() -> None:
    same = {"0": {"guess": 4}, "1": {"guess": 4}, "2": {"guess": 4}}
    result = judged({}, {**same, "elapsed_ms": {"0": 20, "1": 10}})
    assert [[2], [1], [0]] == result["outcome"]["ranking"]


def test_the_same_scenario_gives_the_same_bytes() -> None:
    line = b'{"game":"cups","seed":9,"steps":[{"2":{"amount":5}},{"2":{"cup":1}}]}'
    assert adjudicate_line(line, GAMES) == adjudicate_line(line, GAMES)
