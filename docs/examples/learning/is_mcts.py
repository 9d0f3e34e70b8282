"""Let OpenSpiel's information-set Monte Carlo tree search play a Mist of two turns.

The second seat sees the whole first turn, and has a winning answer to each of its 1,414 first turns: the value of
this game is -1 for the first seat. There are 41,155,884 pairs of turns. The search finds such answers by sampling
worlds of the rules (`resample_from_infostate`). Needs the arena's extra `openspiel`.
"""

import argparse

import numpy as np
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from arena.learning import openspiel_game


def play(simulations: int, rng: np.random.RandomState) -> float:
    """Play one match, the search at seat 1 against random choices; return what seat 1 gets.

    Without simulations, seat 1 chooses at random too.
    """
    state = openspiel_game("mist", options={"first": 0, "max_turns": 2}).new_initial_state()
    evaluator = RandomRolloutEvaluator(1, rng)
    bot = ISMCTSBot(state.get_game(), evaluator, uct_c=1.0, max_simulations=simulations, random_state=rng)
    bot.set_resampler(lambda here, player: here.resample_from_infostate(player, rng.uniform))
    while not state.is_terminal():
        if state.current_player() == 1 and simulations:
            state.apply_action(bot.step(state))
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    return state.returns()[1]


def main() -> None:
    """Play matches with and without search, and print how many seat 1 won."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=200, help="of each choice")
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.RandomState(given.seed)
    for simulations in (0, given.simulations):
        won = sum(play(simulations, rng) > 0 for _ in range(given.matches))
        how = f"IS-MCTS with {simulations} simulations" if simulations else "random choices"
        print(f"seat 1 won {won} of {given.matches} matches by {how}")


if __name__ == "__main__":
    main()
