"""`python -m referee.proofs.conformance GAME [SEED …]`: puts a game to the test. GAME may be MODULE:CLASS."""

import argparse
import sys

from protocol.codec import encode
from referee.proofs.conformance import ConformanceError, check_game
from referee.proofs.conformance.playing import digests, found


def main() -> int:
    """Print a report for each variant, or the broken promise.

    Returns:
        The exit code: 0 if no promise is broken, 1 if one is broken, 2 if there is no such game.
    """
    parser = argparse.ArgumentParser(prog="python -m referee.proofs.conformance", description=__doc__)
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("seeds", metavar="SEED", type=int, nargs="*", default=range(200))
    parser.add_argument("--digests", action="store_true", help="print a hash of every position instead")
    asked = parser.parse_args()
    try:
        game = found(asked.game)
        if asked.digests:
            lines = digests(game, asked.seeds)
        else:
            lines = (encode(report).decode() for report in check_game(game, asked.seeds))
        for line in lines:
            sys.stdout.write(f"{line}\n")
    except LookupError as error:
        sys.stderr.write(f"{error.args[0]}\n")
        return 2
    except ConformanceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


sys.exit(main())
