"""Train MaskablePPO of sb3-contrib on a short Mist against a sample bot, and measure how often it wins.

Needs `pip install sb3-contrib` beside the arena with its extra `learning`.
"""

import argparse
from functools import partial

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from arena.learning import GymArena, gym_env


def make(opponent: str) -> GymArena:
    """Return an environment of six turns, for the seat that moves first or second by the opponent's choice."""
    return gym_env("mist", seat=1, opponents=opponent, options={"max_turns": 6})


def share_won(model: MaskablePPO, opponent: str, matches: int) -> float:
    """Play matches of seeds that training did not use, choices drawn from the policy; return the share won."""
    env = make(opponent)
    won = 0
    for match in range(matches):
        observation, _ = env.reset(seed=1_000_000 + match)
        over = False
        while not over:
            choice, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=False)
            observation, reward, over, _, _ = env.step(int(choice))
        won += reward > 0
    return won / matches


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opponent", default="mist_random")
    parser.add_argument("--steps", type=int, default=61_440, help="choices in training")
    parser.add_argument("--matches", type=int, default=200, help="matches of each measurement")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(1)
    environments = DummyVecEnv([partial(make, given.opponent)] * 8)
    model = MaskablePPO(
        "MultiInputPolicy",
        environments,
        n_steps=128,
        batch_size=256,
        n_epochs=4,
        gamma=1.0,
        learning_rate=1e-3,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128]},
        seed=given.seed,
    )
    before = share_won(model, given.opponent, given.matches)
    model.learn(given.steps)
    after = share_won(model, given.opponent, given.matches)
    print(f"won against {given.opponent}: {before:.0%} before training, {after:.0%} after {given.steps:,} choices")


if __name__ == "__main__":
    main()
