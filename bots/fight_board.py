"""The ways there are on the board of The Fight For a Name. Places are named as in `protocol.games.fight_board`."""

from collections.abc import Collection, Iterator

from protocol.games.fight_board import DIRECTIONS, PILLAR_AT, STEPS
from protocol.games.fight_for_a_name import Direction

Path = tuple[Direction, ...]


def walks(position: str, mp: int) -> dict[str, Path]:
    """Every hex, and Start, that can be reached: the shortest way there. To stay is a way of no steps."""
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
    """Every pillar not yet visited that a straight way leads to."""
    for way in DIRECTIONS:
        place, steps = position, 0
        while steps < mp and way in STEPS[place]:
            place, steps = STEPS[place][way], steps + 1
            if place in PILLAR_AT:
                if place not in visited:
                    path: Path = (way,) * steps
                    yield place, path
                break
