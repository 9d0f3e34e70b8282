"""Benchmark of worlds: how many states a second are drawn that fit what a seat was told.

Matches are played with random legal actions. Early, in the middle and late, the worlds of one seat are drawn.
What it takes until the first one is not counted, but printed; so are rates by the processor's time, which other
load changes less. Of some matches the best is printed, and how many had no world. Names of games after the
command measure these alone. Exit code 1: slower than promised.
"""

import os
import sys
import time
from itertools import islice
from random import Random

from protocol.words import Event
from referee.games import GAMES
from referee.rules import Addressed, Deal, Table, Taken, audience

WORLDS_A_SECOND = {
    "mist": 10_000,
    "hive-mind": 1_000,
    "runes-to-ruins": 1_000,
    "pointing": 1_000,
    "fight-for-a-name": 1_000,
}
"""What is promised, by game."""
SHARES = {"early": 0.15, "middle": 0.5, "late": 0.9}
"""When worlds are drawn, as shares of a match's windows."""
WORLDS, MATCHES = 400, 3


def main() -> int:
    """Measures, prints, judges."""
    good = True
    chosen = [each for each in sys.argv[1:] if not each.startswith("-")] or [*WORLDS_A_SECOND]
    matches = 1 if "--quick" in sys.argv else MATCHES
    for name in chosen:
        for variant in GAMES[name].variants:
            good = shown(name, variant.name, matches) and good
    return 0 if good else 1


def shown(name: str, variant: str, matches: int) -> bool:
    """Prints one variant's rates, and says whether they are as promised."""
    promised, good = WORLDS_A_SECOND[name], True
    found = [measure(name, variant, seed) for seed in range(matches)]
    for when in SHARES:
        rates = [each[when] for each in found if when in each]
        drawn = [each for each in rates if each is not None]
        if not drawn:
            print(f"{name:17} {variant:21} {when:6}  none was drawn")
            good = False
            continue
        wall, used, first = max(one for one, _, _ in drawn), max(one for _, one, _ in drawn), drawn[0][2]
        failed = f"; none was found in {len(rates) - len(drawn)} of {len(rates)} matches" * (
            len(drawn) < len(rates)
        )
        print(
            f"{name:17} {variant:21} {when:6} {wall:8,.0f} worlds/s, {wall / promised:5.2f} of {promised:,}; "
            f"{used:8,.0f} a second of processor time; the first takes {first:.2f} s{failed}"
            f" (load {os.getloadavg()[0]:.0f})"
        )
        good = good and wall >= promised and not failed
    return good


Rate = tuple[float, float, float]
"""Worlds a second, a second of processor time, and the seconds of it until the first."""


def measure(name: str, variant: str, seed: int) -> dict[str, Rate | None]:
    """Rates of one match, by when; None where no world was found."""
    windows = played(name, variant, seed, set())[0]
    at = {when: max(1, int(share * windows)) for when, share in SHARES.items()}
    rates = played(name, variant, seed, {*at.values()})[1]
    return {when: rates[number] for when, number in at.items()}


def played(name: str, variant: str, seed: int, at: set[int]) -> tuple[int, dict[int, Rate | None]]:
    """How many windows a match has, and the rates in those with these numbers."""
    luck, table = Random(seed), Table(GAMES[name], Deal(variant, seed))
    told: list[list[Event]] = [[] for _ in range(table.seats)]
    rates: dict[int, Rate | None] = {}
    number = 0
    while table.window is not None:
        if number in at:
            rates[number] = rate(table, told, variant, Random(seed))
        play_window(table, told, luck)
        number += 1
    return number, rates


def rate(table: Table, told: list[list[Event]], variant: str, luck: Random) -> Rate | None:
    """The rate of one seat's worlds now."""
    seat = luck.choice(table.owed).seat
    began = time.process_time()
    view = table.game.view(table.state, seat)
    worlds = table.game.worlds(view, told[seat], seat, luck, variant=variant, options=table.options)
    try:
        next(worlds)
        first, clock = time.process_time(), time.perf_counter()
        drawn = sum(1 for _ in islice(worlds, WORLDS))
    except ValueError:
        return None
    return drawn / (time.perf_counter() - clock), drawn / (time.process_time() - first), first - began


def play_window(table: Table, told: list[list[Event]], luck: Random) -> None:
    """One window, played at random; what is told is kept by seat."""
    taken: list[Taken | None] = [None] * table.seats
    events: list[Addressed] = []
    for owed in table.owed:
        action = table.game.legal_actions(table.state, owed.seat).sample(luck)
        taken[owed.seat] = Taken(action)
        if table.window is not None and table.window.asap:
            events += table.answer(owed.seat, action)
    for addressed in (*events, *table.close(tuple(taken))):
        for seat in audience(addressed, table.seats):
            told[seat].append(addressed.event)


if __name__ == "__main__":
    sys.exit(main())
