"""Mist's scenarios against results that another implementation of its rules gave; and their speed."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.adjudicate import adjudicate_line

EXAMPLES = [
    json.loads(line) for line in (Path(__file__).parent / "scenarios" / "mist.jsonl").read_bytes().splitlines()
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


def test_the_examples_hold_both_variants_rejections_and_every_reason_to_end() -> None:
    results = [example["result"] for example in EXAMPLES]
    assert {"contractual-obligation", "heaven-and-hell"} == {result["variant"] for result in results}
    assert any(step["rejected"] for result in results for step in result["steps"])
    reasons = {result["outcome"]["reason"] for result in results if result["outcome"]}
    assert {"decided", "turn_limit"} <= reasons


def test_500_full_scenarios_take_seconds() -> None:
    lines = [json.dumps(example["scenario"]).encode() for example in EXAMPLES] * 50
    started = time.process_time()
    for line in lines:
        adjudicate_line(line)
    assert time.process_time() - started < 5
