"""Random, mostly legal submissions for matches without players: conformance, golden matches, benchmarks.

Shapes are drawn from a short list, because hexes are rarely contested otherwise. Some matches have few placements,
so that scores tie. Guesses use the host's secrets, so that some are right.
"""

from random import Random
from typing import Any

from protocol.games.hive_mind import BUYING_ROUND
from protocol.games.hive_mind.board import SHAPES
from referee.games.hive_mind.legal import kinds_left
from referee.games.hive_mind.scoring import count, score
from referee.games.hive_mind.state import ROUNDS, SEATS, HiveMindState, OpenHives, draw_values, turn

Json = dict[str, Any]

POPULAR = ("ADE", "AEI", "BFI", "CFG", "CFI", "DHI", "EFI", "EIJ", "FIK", "HIJ", "HIK", "HKL", "IJL", "JKL")
OFTEN, HALF, SELDOM = 7 / 8, 1 / 2, 1 / 8


def plausible(state: HiveMindState, seat: int, rng: Random) -> Json:
    """Draw a submission to the open window, as plain JSON values."""
    now, result = turn(state), state.result
    if now is not None:
        return _round(state, now, seat, rng)
    if result is not None:
        return {"seat": rng.choice(result.tied)}
    totals = [score(points) for points in count(state)[0]]
    others = [other for other in range(SEATS) if other != seat]
    return {"scores": {str(other): totals[other] + rng.choice((0, 1, -1)) for other in others}}


def _round(state: HiveMindState, now: OpenHives, seat: int, rng: Random) -> Json:
    action: Json = {"place": _place(state, now, seat, rng)}
    if now.number == BUYING_ROUND:
        action |= {key: [rng.choice(now.hives)] for key in ("double", "block") if rng.random() < HALF}
    if now.number == ROUNDS:
        right = {hive: state.values[hive] for hive in now.hives if rng.random() < HALF}
        action["guess"] = right if rng.random() < HALF else {hive: draw_values(rng) for hive in right}
    return action


def _place(state: HiveMindState, now: OpenHives, seat: int, rng: Random) -> dict[str, str]:
    idle = next(iter(state.values.values())).startswith("3")
    place: dict[str, str] = {}
    for hive, kinds in kinds_left(state)[seat].items():
        left = set(kinds)
        if now.number == 1:
            left -= {SHAPES[cells].kind for cells in place.values()}
        if rng.random() < (SELDOM if idle else OFTEN):
            place[hive] = rng.choice([cells for cells in POPULAR if SHAPES[cells].kind in left])
    return place
