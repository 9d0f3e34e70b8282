"""docs/games/pointing.md says what the rules do: its maps and its example come out, its tables are complete."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from protocol.games.pointing import PointingEvent, PointingOptions, PointingView
from referee.adjudication.adjudicate import adjudicate_line
from tests.referee.games.pointing_play import sections
from tests.referee.games.test_pointing_rounds import EXAMPLE

PAGE = (Path(__file__).parents[3] / "docs/games/pointing.md").read_text(encoding="utf-8")


def blocks(info: str) -> list[Any]:
    """The JSON in the blocks of code that are opened so."""
    return [json.loads(text) for text in re.findall(rf"^```{info}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading."""
    table = PAGE.split(f"### {heading}\n")[1].split("\n#")[0]
    return [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| `")]


def words(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)


def test_its_maps_are_those_of_the_loop_with_two_trees_and_of_the_worked_example() -> None:
    assert [sections("A>B>A C>A E>D>A", 5), sections(EXAMPLE)] == blocks("json sections")


def test_its_trees_are_those_of_their_pointers() -> None:
    listed = re.findall(r"^\| (A.*) \| `([\[\],]+)` \|$", PAGE, re.MULTILINE)
    assert len(listed) > 5
    for pointers, tree in listed:
        arrows = pointers.replace("▶", ">").replace(" and ", " ").removesuffix(" alone")
        seats = len(set(re.findall("[A-Z]", arrows)))
        # Where fewer than three sit, the others are alone; the tree is of the section in which A is.
        told = sections(arrows, max(3, seats))
        assert json.loads(tree) in [each["shape"] for each in told if each["size"] == seats]


def test_its_example_comes_out() -> None:
    (scenario,), (expected,) = blocks("json scenario"), blocks("json gives")
    assert expected == json.loads(adjudicate_line(json.dumps(scenario).encode()))


def test_every_ruling_stands_under_its_number_and_in_order() -> None:
    assert [f"R{number}" for number in range(1, 9)] == re.findall(r"^\*\*(R\d+)\. ", PAGE, re.MULTILINE)


def test_options_events_and_view_are_listed_in_full() -> None:
    assert list(PointingOptions.__struct_fields__) == [words(row[0])[0] for row in rows("Options")]
    assert list(PointingView.__struct_fields__) == [word for row in rows("The view") for word in words(row[0])]
    for form, row in zip(get_args(PointingEvent), rows("Events"), strict=True):
        assert [form.__struct_config__.tag] == words(row[0])
        assert set(form.__struct_fields__) <= set(words(row[2]))
