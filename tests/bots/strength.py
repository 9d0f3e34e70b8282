"""How strong the sample bots of Mist are: `scripts/strength` plays them all against each other."""

import argparse
import itertools
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.bots.in_process import MIST_BOTS, MIST_VARIANTS, Played, play


def _block(pair: tuple[str, str], variant: str, seed: int) -> tuple[Played, Played]:
    """One seed, played twice with the seats swapped."""
    one, two = (MIST_BOTS[name] for name in pair)
    return play((one, two), variant=variant, seed=seed), play((two, one), variant=variant, seed=seed)


def _pair(pool: ProcessPoolExecutor, pair: tuple[str, str], variant: str, seeds: range) -> None:
    """Plays a pair's blocks and prints what came of them."""
    started = time.perf_counter()
    blocks = list(pool.map(partial(_block, pair, variant), seeds, chunksize=1))
    wins = [sum(block[seat].outcome.winners == (seat,) for block in blocks) for seat in (0, 1)]
    turns = [sum(match.windows) for block in blocks for match in block]
    slowest = [max(max(block[0].slowest_ms[i], block[1].slowest_ms[1 - i]) for block in blocks) for i in (0, 1)]
    print(  # noqa: T201 - its output is its purpose
        f"{variant:23} {pair[0]:>9} beats {pair[1]:9} {sum(wins):4} of {2 * len(blocks)}"
        f" (as seat 0 {wins[0]}, seat 1 {wins[1]}); {sum(turns) / len(turns):.1f} windows a match;"
        f" slowest {slowest[0]:.1f} and {slowest[1]:.1f} ms; {time.perf_counter() - started:.1f} s",
        flush=True,
    )


def main() -> None:
    """Plays the round robin."""
    parser = argparse.ArgumentParser(prog="scripts/strength", description=__doc__)
    parser.add_argument("bots", nargs="*", choices=[[], *MIST_BOTS], help="which bots; all, if none is named")
    parser.add_argument("--blocks", type=int, default=50, help="blocks a pair and variant, two matches each")
    parser.add_argument("--variant", choices=MIST_VARIANTS, help="only this one")
    parser.add_argument("--seed", type=int, default=1, help="the first block's seed")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    bots = list(MIST_BOTS)[::-1] if not given.bots else given.bots
    with ProcessPoolExecutor(given.processes) as pool:
        for variant in MIST_VARIANTS if given.variant is None else (given.variant,):
            for pair in itertools.combinations(bots, 2):
                _pair(pool, pair, variant, range(given.seed, given.seed + given.blocks))


if __name__ == "__main__":
    main()
