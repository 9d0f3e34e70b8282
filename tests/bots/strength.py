"""How strong the sample bots of a game are: `scripts/strength GAME` sets each against the others.

One bot against one other: a block is one deal, played with the first bot in each seat in turn, all other seats
taken by the second. With two seats that is the deal played twice, swapped.
"""

import argparse
import itertools
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import mean, stdev

from msgspec import Struct

from arena.statistics.standings import points
from referee.games import GAMES
from tests.bots.in_process import BOTS, Played, play

DEFAULT_MATCHES = 100


class Against(Struct, frozen=True):
    """What came of matches of one bot against a table of another."""

    matches: int
    wins: float
    """A win shared by n counts 1/n."""
    points: float
    """Mean share of the other seats that it is ranked before, ties as a half: 0.5 for equals."""
    points_error: float
    """Standard error of that mean, by matches."""
    windows: float
    """Windows a match of the first bot."""
    slowest_ms: tuple[float, float]
    """The slowest answer of the first bot, and of the others."""


def matches_of(game: str, variant: str, seeds: range) -> list[tuple[int, int]]:
    """Seed and seat of the first bot in each match."""
    rules = GAMES[game]
    seats = rules.seats(rules.read_options(variant, None))
    return [(seed, seat) for seed in seeds for seat in range(seats)]


def one_match(game: str, pair: tuple[str, str], variant: str, match: tuple[int, int]) -> Played:
    """Play a match with the first of the pair in the match's seat and the second in all others."""
    seed, seat = match
    rules = GAMES[game]
    seats = rules.seats(rules.read_options(variant, None))
    makers = tuple(BOTS[game][pair[number != seat]] for number in range(seats))
    return play(makers, game=game, variant=variant, seed=seed)


def summed(played: Iterator[tuple[int, Played]]) -> Against:
    """Of (seat of the first bot, match)."""
    shares, wins, windows, mine, theirs = [], 0.0, 0, 0.0, 0.0
    for seat, match in played:
        winners = match.outcome.winners
        shares.append(points(match.outcome, seat))
        wins += 1 / len(winners) if seat in winners else 0
        windows += match.windows[seat]
        mine = max(mine, match.slowest_ms[seat])
        theirs = max(theirs, *(ms for number, ms in enumerate(match.slowest_ms) if number != seat))
    error = stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else 0.0
    return Against(len(shares), wins, mean(shares), error, windows / len(shares), (mine, theirs))


def main() -> None:
    """Plays every pair."""
    parser = argparse.ArgumentParser(prog="scripts/strength", description=__doc__)
    parser.add_argument("game", nargs="?", choices=BOTS, default="mist")
    parser.add_argument("bots", nargs="*", help="which bots, the stronger first; all, if none is named")
    parser.add_argument("--matches", type=int, default=DEFAULT_MATCHES, help="a pair and variant, at least")
    parser.add_argument("--variant", help="only this one")
    parser.add_argument("--seed", type=int, default=1, help="the first deal's seed")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    rules, bots = GAMES[given.game], given.bots or list(BOTS[given.game])[::-1]
    if not set(bots) <= set(BOTS[given.game]):
        parser.error(f"{given.game} has the sample bots {', '.join(BOTS[given.game])}")
    variants = [variant.name for variant in rules.variants if given.variant in (None, variant.name)]
    if not variants:
        parser.error(f"{given.game} has the variants {', '.join(variant.name for variant in rules.variants)}")
    with ProcessPoolExecutor(given.processes) as pool:
        for variant, pair in itertools.product(variants, itertools.combinations(bots, 2)):
            started = time.perf_counter()
            seats = rules.seats(rules.read_options(variant, None))
            deals = range(given.seed, given.seed + -(-given.matches // seats))
            matches = matches_of(given.game, variant, deals)
            played = pool.map(partial(one_match, given.game, pair, variant), matches, chunksize=1)
            found = summed((seat, match) for (_, seat), match in zip(matches, played, strict=True))
            print(  # noqa: T201 - its output is its purpose
                f"{variant:23} {pair[0]:>9} against {pair[1]:9} {found.wins:6.1f} wins of {found.matches}"
                f" (equals: {found.matches / seats:.0f}); points {found.points:.3f}"
                f" ± {1.96 * found.points_error:.3f};"
                f" {found.windows:.1f} windows a match; slowest {found.slowest_ms[0]:.1f} and"
                f" {found.slowest_ms[1]:.1f} ms; {time.perf_counter() - started:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
