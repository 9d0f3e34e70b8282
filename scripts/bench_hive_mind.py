"""Benchmark of Hive Mind's rules alone: full random matches a second in one process.

    python scripts/bench_hive_mind.py

Every action is read as JSON; each seat that owes one is shown its view before, and everyone at the end.
Exit code 1: slower than promised.
"""

import sys
import time
from pathlib import Path
from random import Random
from typing import cast

sys.path.insert(0, str(Path(__file__).parents[1]))

from protocol.codec import encode
from protocol.games.hive_mind import BreakTie, GiveToken, HiveMindView, Kind, Round, Scores, Seat
from protocol.words import Action
from referee.games import CELLS, KINDS, SHAPES, HiveMind
from referee.rules import Deal, Table, Taken, shown

ROUNDS, SECONDS = 5, 2.0
MATCHES_A_SECOND = 150
BY_KIND: dict[Kind, list[str]] = {
    kind: [cells for cells, shape in SHAPES.items() if shape.kind == kind] for kind in KINDS
}
SEATS: tuple[Seat, ...] = (0, 1, 2, 3, 4)


def main() -> int:
    """Measures each variant several times, prints the best, judges the slowest."""
    best = {
        variant.name: max(hive_mind(variant.name, SECONDS, number) for number in range(ROUNDS))
        for variant in HiveMind.variants
    }
    for variant, matches in best.items():
        print(f"Hive Mind, {variant:9}: rules, events and views: {matches:6,.0f} full matches/s")
    return 0 if min(best.values()) >= MATCHES_A_SECOND else 1


def hive_mind(variant: str, seconds: float, seed: int) -> float:
    """Random matches of a variant for so long: full matches a second."""
    game, luck, matches = HiveMind(), Random(seed), 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        play(Table(game, Deal(variant, matches)), luck)
        matches += 1
    return matches / (time.perf_counter() - start)


def play(table: Table, luck: Random) -> None:
    """One match of random actions."""
    while table.window:
        taken: list[Taken | None] = [None] * len(SEATS)
        for owed in table.owed:
            view = cast("HiveMindView", shown(table.game, table.state, owed.seat))
            taken[owed.seat] = Taken(table.read(owed.seat, encode(random_action(view, luck))))
        table.close(tuple(taken))
    for seat in (*SEATS, None):
        shown(table.game, table.state, seat)


def random_action(view: HiveMindView, luck: Random) -> Action:
    """Any legal action, from the view alone."""
    others = [seat for seat in SEATS if seat != view.seat]
    match view.window:
        case "round":
            return random_round(view, luck)
        case "scores":
            return Scores(scores={str(seat): luck.randrange(30) for seat in others})  # type: ignore[misc]
        case "give_token":
            return GiveToken(seat=luck.choice(others))
        case _:
            return BreakTie(seat=luck.choice(view.tied))  # type: ignore[arg-type]


def random_round(view: HiveMindView, luck: Random) -> Round:
    """A shape on every Hive; a Double and a Block if they can be had; every hex guessed."""
    kinds = {hive: luck.choice(left) for hive, left in view.unused.items()}
    if view.round == 1:
        kinds = dict(zip(view.hives, luck.sample(KINDS, len(view.hives)), strict=True))
    hives = (luck.choice(view.hives),)
    purse = view.wallet
    can_pay = purse is not None and (purse.free_doubles or purse.garnets >= 5 + 3)
    buys = view.round == 2 and can_pay  # noqa: PLR2004 - the round in which that is for
    return Round(
        place={hive: luck.choice(BY_KIND[kind]) for hive, kind in kinds.items()},
        double=hives if buys else (),
        block=hives if buys else (),
        guess={hive: random_values(luck) for hive in view.hives} if view.round == 3 else {},  # noqa: PLR2004 - the last
    )


def random_values(luck: Random) -> str:
    """Twelve digits with the right counts."""
    return "".join(luck.sample("111112222333", len(CELLS)))


if __name__ == "__main__":
    sys.exit(main())
