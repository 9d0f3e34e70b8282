"""Solve Kuhn poker with counterfactual regret minimisation of OpenSpiel, to its known value of -1/18.

Needs the arena's extra `openspiel`. The games of the arena are too large for this algorithm, which walks the whole
tree: for these see `is_mcts.py`, and sampling ones such as `OutcomeSamplingSolver`.
"""

import argparse

import pyspiel
from open_spiel.python.algorithms.cfr import CFRPlusSolver
from open_spiel.python.algorithms.expected_game_score import policy_value
from open_spiel.python.algorithms.exploitability import exploitability

VALUE = -1 / 18
"""What the first player wins on average when both play perfectly (Kuhn 1950)."""


def solve(iterations: int) -> tuple[float, float]:
    """Return the first player's value under the average policy, and how much a best response gains against it."""
    game = pyspiel.load_game("kuhn_poker")
    solver = CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    return policy_value(game.new_initial_state(), [policy] * 2)[0], exploitability(game, policy)


def main() -> None:
    """Solve and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=300)
    given = parser.parse_args()
    value, gain = solve(given.iterations)
    print(f"value {value:.5f}, exact {VALUE:.5f}; exploitability {gain:.5f} after {given.iterations} iterations")


if __name__ == "__main__":
    main()
