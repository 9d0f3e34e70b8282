"""docs/games/hive_mind.md says what the rules do: its tables are complete, its example comes out."""

import json
import re
from typing import Any, get_args

import pytest
from msgspec import Raw

from protocol.games.hive_mind import HiveMindEvent, HiveMindOptions, HiveMindView, Points
from protocol.games.hive_mind.board import BOARD, SHAPES
from referee.adjudication.adjudicate import adjudicate_line
from referee.games.hive_mind import HiveMind
from referee.rules.contract import BadSetupError, Illegal
from referee.rules.rng import MatchRandom
from tests.docs_pages import page
from tests.referee.games.hive_mind.naive import TOUCHES
from tests.referee.games.hive_mind.play import GAUNTLET, VALUES, points, start
from tests.referee.games.playing import close, rejected

PAGE = page("docs/games/hive_mind.md")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading."""
    table = PAGE.split(f"### {heading}\n")[1].split("\n#")[0]
    return [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| `")]


def words(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)


def test_the_board_is_drawn_with_all_twelve_hexes_in_order() -> None:
    board = PAGE.split("```text\n")[1].split("```")[0]
    assert list(BOARD.names) == board.split()


def test_every_hex_is_listed_with_what_it_touches() -> None:
    listed = dict(re.findall(r"\| ([A-L]) \| ([A-L](?: [A-L])*)(?= \|)", PAGE))
    assert TOUCHES == {cell: touches.replace(" ", "") for cell, touches in listed.items()}


@pytest.mark.parametrize(("kind", "heading"), [("tri", "13 tris"), ("line", "12 lines"), ("arc", "30 arcs")])
def test_every_shape_is_listed_with_what_it_looks_at(kind: str, heading: str) -> None:
    table = PAGE.split(f"| {heading} |")[1].split("\n\n")[0]
    expected = [f"{shape.cells}:{shape.looks}" for shape in SHAPES.values() if shape.kind == kind]
    assert expected == re.findall(r"`([A-L:]+)`", table)


def test_every_ruling_stands_under_its_number_and_in_order() -> None:
    assert [f"R{number}" for number in range(1, 13)] == re.findall(r"^\*\*(R\d+)\. ", PAGE, re.MULTILINE)


def test_options_windows_events_view_and_points_are_listed_in_full() -> None:
    assert list(HiveMindOptions.__struct_fields__) == [words(row[0])[0] for row in rows("Options")]
    assert list(HiveMind.actions) == [words(row[0])[0] for row in rows("Windows and actions")]
    assert list(HiveMindView.__struct_fields__) == [words(row[0])[0] for row in rows("The view")]
    assert list(Points.__struct_fields__) == [word for row in rows("Outcome") for word in words(row[0])]
    for form, row in zip(get_args(HiveMindEvent), rows("Events"), strict=True):
        assert [form.__struct_config__.tag] == words(row[0])
        assert set(form.__struct_encode_fields__) <= set(words(row[2]))


def example() -> Any:
    return json.loads(PAGE.split("```json scenario\n")[1].split("```")[0])


def test_its_example_has_the_points_that_it_says() -> None:
    table = start(GAUNTLET)
    for step in example()["steps"]:
        close(table, {int(seat): action for seat, action in step.items()})
    nothing = {"guesses": 0, "score_guesses": 0}
    assert [
        nothing | {"hexes": 8, "threes": 6, "twos": 2, "blocks": 0},
        nothing | {"hexes": 2, "threes": 0, "twos": 0, "blocks": 2},
    ] == points(table)[:2]


def test_its_example_gives_the_hints_that_it_says() -> None:
    steps = json.loads(adjudicate_line(json.dumps(example()).encode()))["steps"]
    shown = re.findall(r"```json step (\d) told (\d)\n(.*?)```", PAGE, re.DOTALL)
    assert 2 == len(shown)
    for step, seat, event in shown:
        assert [json.loads(event)] == steps[int(step)]["told"][seat]


# Our own rulings that no other test speaks of.


@pytest.mark.parametrize("action", [{"place": []}, {"guess": []}, {"double": {}}, {"block": ""}, {"place": ""}])
def test_our_own_an_empty_value_of_the_wrong_kind_is_rejected(action: Any) -> None:
    assert rejected(start(), 0, action)


def test_our_own_a_hives_name_is_spelled_as_it_stands() -> None:
    assert rejected(start(), 0, {"place": {"charge": "ADE"}})
    hives = {"hives": dict.fromkeys(("charge", "Marcer", "Zero"), VALUES)}
    with pytest.raises(BadSetupError, match=r"^setup\.hives\.Charge: is missing"):
        HiveMind().read_setup("recharged", HiveMindOptions(), Raw(json.dumps(hives).encode()), MatchRandom(0))


def test_our_own_a_guessed_score_may_have_4300_digits() -> None:
    table = start(GAUNTLET)
    for _ in range(6):
        close(table)
    nines = "9" * 4300
    assert nines in str(table.read(0, b'{"scores":{"1":%b}}' % nines.encode()))
    with pytest.raises(Illegal):
        table.read(0, b'{"scores":{"1":9%b}}' % nines.encode())
