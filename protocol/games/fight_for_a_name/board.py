"""The board of The Fight For a Name: 37 hexes, ten pillars around them, and the destination of each step.

Places have their public names: `Start`, a hex's number as text, or a pillar. Pure: for rules and bots.
"""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import get_args

from protocol.games.fight_for_a_name import Colour, Direction, HexKey, Pillar, Title
from protocol.games.hexes import FLAT, Hexes, centred_rows

Path = tuple[Direction, ...]
START = "Start"
ROW_LENGTHS = (1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1)
"""Number of hexes per row, from the top."""
HEXES: tuple[HexKey, ...] = get_args(HexKey)
"""The numbered hexes, in ascending order."""
COLOURS: tuple[Colour, ...] = get_args(Colour)
TITLES: tuple[Title, ...] = get_args(Title)
"""All titles, in alphabetical order."""
PILLARS: tuple[Pillar, ...] = get_args(Pillar)
PILLAR_AT: dict[str, Pillar] = {pillar: pillar for pillar in PILLARS}
"""The places that are pillars."""
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
OPPOSITE: dict[Direction, Direction] = {"N": "S", "NE": "SW", "SE": "NW", "S": "N", "SW": "NE", "NW": "SE"}

GATES: dict[Pillar, tuple[tuple[HexKey, Direction], ...]] = {
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
"""Pillar to the hexes from which it is entered, each with the direction of the step."""


def _rows() -> list[list[str]]:
    names = iter((*HEXES[:18], START, *HEXES[18:]))
    return [list(islice(names, length)) for length in ROW_LENGTHS]


ROWS = _rows()
"""The names of all hexes, row by row from the top."""
BOARD = Hexes(centred_rows(ROWS), FLAT)


def _steps() -> dict[str, dict[Direction, str]]:
    steps = {name: _steps_on_board(bit) for name, bit in BOARD.bit.items()}
    for pillar, gates in GATES.items():
        for name, way in gates:
            steps[name][way] = pillar
        steps[pillar] = _ways_back(gates)
    return steps


def _steps_on_board(bit: int) -> dict[Direction, str]:
    return {way: BOARD.name[there] for way in DIRECTIONS if (there := BOARD.step(bit, way))}


def _ways_back(gates: tuple[tuple[HexKey, Direction], ...]) -> dict[Direction, str]:
    """Return a pillar's way back to each gate's hex; of two in one direction, the one without another way (R1)."""
    back: dict[Direction, set[str]] = {}
    for name, way in gates:
        back.setdefault(OPPOSITE[way], set()).add(name)
    alone = {name for names in back.values() if len(names) == 1 for name in names}
    return {way: min(names if len(names) == 1 else names - alone) for way, names in back.items()}


STEPS = _steps()
"""Place to direction to the place one step that way; impossible steps are left out."""


def walks(position: str, mp: int) -> dict[str, Path]:
    """Return a shortest path to every hex, and Start, within reach. The path to `position` is empty."""
    found: dict[str, Path] = {position: ()}
    edge = [position]
    for _ in range(mp):
        further: list[str] = []
        for place in edge:
            for way, there in STEPS[place].items():
                if there not in PILLAR_AT and there not in found:
                    found[there] = (*found[place], way)
                    further.append(there)
        edge = further
    return found


def visits(position: str, mp: int, visited: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Yield every pillar outside `visited` that a straight path reaches, with that path."""
    for way in DIRECTIONS:
        place, steps = position, 0
        while steps < mp and way in STEPS[place]:
            place, steps = STEPS[place][way], steps + 1
            if place in PILLAR_AT:
                if place not in visited:
                    path: Path = (way,) * steps
                    yield place, path
                break
