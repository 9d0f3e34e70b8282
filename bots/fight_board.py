"""The board of The Fight For a Name as its bots see it: where each step leads, and the ways there are.

Places are named as they are told: `Start`, a hex's number as text, or a pillar.
"""

from collections.abc import Collection, Iterator
from typing import get_args

from protocol.games.fight_for_a_name import Direction

START = "Start"
ROW_LENGTHS = (1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1)
WAYS: dict[Direction, tuple[int, int]] = {
    "N": (0, -2), "NE": (1, -1), "SE": (1, 1), "S": (0, 2), "SW": (-1, 1), "NW": (-1, -1),
}  # fmt: skip
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
GATES: dict[str, tuple[tuple[str, Direction], ...]] = {
    "phi": (("1", "N"),),
    "psi": (("36", "S"),),
    "mu": (("3", "NE"), ("6", "N")),
    "lambda": (("2", "NW"), ("4", "N")),
    "sigma": (("33", "S"), ("35", "SE")),
    "theta": (("31", "S"), ("34", "SW")),
    "omega": (("10", "SE"), ("10", "NE"), ("17", "NE")),
    "delta": (("7", "SW"), ("7", "NW"), ("14", "NW")),
    "gamma": (("30", "NE"), ("30", "SE"), ("23", "SE")),
    "xi": (("27", "NW"), ("27", "SW"), ("20", "SW")),
}
"""Pillar to the hexes it is entered from, with the step."""
BACK: dict[str, dict[Direction, str]] = {
    "phi": {"S": "1"},
    "psi": {"N": "36"},
    "mu": {"SW": "3", "S": "6"},
    "lambda": {"SE": "2", "S": "4"},
    "sigma": {"N": "33", "NW": "35"},
    "theta": {"N": "31", "NE": "34"},
    "omega": {"NW": "10", "SW": "17"},
    "delta": {"NE": "7", "SE": "14"},
    "gamma": {"SW": "30", "NW": "23"},
    "xi": {"SE": "27", "NE": "20"},
}
"""Pillar to the ways back."""

Path = tuple[Direction, ...]


def _steps() -> dict[str, dict[Direction, str]]:
    names = iter([*map(str, range(1, 19)), START, *map(str, range(19, 37))])
    places = {
        (2 * at - length + 1, y): next(names) for y, length in enumerate(ROW_LENGTHS) for at in range(length)
    }
    steps = {
        name: {way: places[x + dx, y + dy] for way, (dx, dy) in WAYS.items() if (x + dx, y + dy) in places}
        for (x, y), name in places.items()
    }
    for pillar, gates in GATES.items():
        for name, way in gates:
            steps[name][way] = pillar
    return steps | BACK


STEPS = _steps()
"""Place to direction to the place one step that way."""


def walks(position: str, mp: int) -> dict[str, Path]:
    """Every hex, and Start, that can be reached: the shortest way there. To stay is a way of no steps."""
    found: dict[str, Path] = {position: ()}
    edge = [position]
    for _ in range(mp):
        further = []
        for place in edge:
            for way, there in STEPS[place].items():
                if there not in GATES and there not in found:
                    found[there] = (*found[place], way)
                    further.append(there)
        edge = further
    return found


def visits(position: str, mp: int, visited: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Every pillar not yet visited that a straight way leads to."""
    for way in DIRECTIONS:
        place = position
        path: Path = ()
        while len(path) < mp and way in STEPS[place]:
            place, path = STEPS[place][way], (*path, way)
            if place in GATES:
                if place not in visited:
                    yield place, path
                break
