"""Hive Mind's scenarios against results that another implementation of its rules gave."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.adjudicate import adjudicate_line

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parent / "scenarios" / "hive_mind.jsonl").read_bytes().splitlines()
]


def judged(scenario: Any) -> Any:
    return json.loads(adjudicate_line(json.dumps(scenario).encode()))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place in a value with what stands there; of an object or list, what keys or how many entries."""
    yield path, sorted(value) if isinstance(value, dict) else len(value) if isinstance(value, list) else value
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def is_reason(path: tuple[Any, ...]) -> bool:
    """Which of several broken rules a reason names, and its wording, are free."""
    return len(path) > 1 and path[-2] == "rejected"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_comes_out_in_every_field_that_is_not_drawn(example: Any) -> None:
    drawn = [tuple(path) for path in example["drawn"]]
    expected, actual = (
        {
            path: value
            for path, value in places(result)
            if not is_reason(path) and not any(path[: len(start)] == start for start in drawn)
        }
        for result in (example["result"], judged(example["scenario"]))
    )
    assert expected == actual


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
