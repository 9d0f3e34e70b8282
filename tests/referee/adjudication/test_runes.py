"""Scenarios of Runes to Ruins against results that another implementation of its rules gave."""

from tests.referee.adjudication.examples import examples, judged

EXAMPLES = examples("runes_to_ruins")


def test_the_examples_hold_rejections_every_event_of_a_round_and_both_ways_to_end() -> None:
    results = [example["result"] for example in EXAMPLES]
    steps = [step for result in results for step in result["steps"]]
    assert any(step["rejected"] for step in steps)
    told = {
        event["type"] for step in steps for events in (step["public"], *step["told"].values()) for event in events
    }
    assert {
        "symbol_set",
        "insight",
        "condition",
        "vision",
        "mirrored",
        "learned",
        "guess",
        "revealed",
        "discovered",
        "purse",
        "reveal",
    } == told
    assert {"discovered", "rounds"} == {result["outcome"]["reason"] for result in results}


def test_a_scenario_without_steps_shows_options_setup_and_the_first_window() -> None:
    assert {
        "game": "runes-to-ruins",
        "variant": "guardians",
        "seed": 0,
        "options": {"rounds": 30, "artefacts": {}},
        "setup": {},
        "steps": [],
        "start": {"public": [], "told": {}},
        "next": {"window": "symbol", "seats": [0, 1, 2, 3, 4]},
        "outcome": None,
    } == judged({"game": "runes-to-ruins", "steps": []})


def test_defaults_are_told_as_taken_and_a_drawn_symbol_as_it_was_drawn() -> None:
    result = judged({"game": "runes-to-ruins", "seed": 5, "steps": [{}, {"3": None}]})
    first, second = result["steps"]
    for seat in "01234":
        assert first["told"][seat][0]["symbol"] == first["taken"][seat]["symbol"]
    assert {seat: {} for seat in "01234"} == second["taken"]
    assert {} == first["rejected"] == second["rejected"]
