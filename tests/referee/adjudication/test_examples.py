"""All games' scenarios against results that another implementation of their rules gave, field by field."""

from collections.abc import Iterator
from typing import Any

import pytest

from referee.games.runes_to_ruins import RunesToRuins
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


def results_of(game: str) -> list[Any]:
    return [example["result"] for example in examples(game)]


def steps_of(game: str) -> list[Any]:
    return [step for result in results_of(game) for step in result["steps"]]


def told_in(step: Any) -> list[Any]:
    """All events of a step, whoever was told."""
    return [event for events in (step["public"], *step["told"].values()) for event in events]


def test_those_of_mist_hold_both_variants_and_two_reasons_to_end() -> None:
    results = results_of("mist")
    assert {"contractual-obligation", "heaven-and-hell"} == {result["variant"] for result in results}
    assert {"decided", "turn_limit"} <= {result["outcome"]["reason"] for result in results if result["outcome"]}


def test_those_of_hive_mind_hold_all_variants() -> None:
    assert {"gauntlet", "recharged", "tempo-up"} == {result["variant"] for result in results_of("hive_mind")}


def test_those_of_pointing_hold_loops_and_cut_pointers() -> None:
    events = [event for step in steps_of("pointing") for event in told_in(step)]
    sections = [section for event in events for section in event.get("sections", [])]
    assert any(section["kind"] == "loop" and any(section["shape"]) for section in sections)
    assert any(section["cut"] for section in sections)


def test_those_of_runes_to_ruins_hold_every_event_of_a_round_and_both_reasons_to_end() -> None:
    told = {event["type"] for step in steps_of("runes_to_ruins") for event in told_in(step)}
    assert {str(event.__struct_config__.tag) for event in RunesToRuins.events} - {"resubmit"} == told
    assert {"discovered", "rounds"} == {result["outcome"]["reason"] for result in results_of("runes_to_ruins")}


@pytest.mark.parametrize(
    ("game", "windows", "rejected"),
    [
        ("fight_for_a_name", "challenge move pillar token_vote elimination_vote", "challenge move pillar"),
        ("hive_mind", "round scores give_token break_tie", "round scores give_token"),
        ("mist", "first turn", "first turn"),
        ("pointing", "point vote", "point vote"),
        ("runes_to_ruins", "symbol round", "round"),
    ],
)
def test_they_hold_every_window_and_rejections(game: str, windows: str, rejected: str) -> None:
    """But for `justice` of The Fight For a Name."""
    assert set(windows.split()) == {step["window"] for step in steps_of(game)}
    assert set(rejected.split()) <= {step["window"] for step in steps_of(game) if step["rejected"]}


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
