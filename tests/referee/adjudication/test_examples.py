"""All games' scenarios against results that another implementation of their rules gave, field by field."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.referee.adjudication.examples import SCENARIOS, examples, judged

GAMES = sorted(file.stem for file in SCENARIOS.glob("*.jsonl"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place in a value with what stands there; of an object or list, what keys or how many entries."""
    yield path, sorted(value) if isinstance(value, dict) else len(value) if isinstance(value, list) else value
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def is_reason(path: tuple[Any, ...]) -> bool:
    """Which of several broken rules a reason names, and its wording, are free."""
    return len(path) > 1 and path[-2] == "rejected"


def test_there_are_examples_of_every_game() -> None:
    assert ["fight_for_a_name", "hive_mind", "mist", "pointing", "runes_to_ruins"] == GAMES


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, id=f"{game}-{number}")
        for game in GAMES
        for number, example in enumerate(examples(game))
    ],
)
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
