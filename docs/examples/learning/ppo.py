"""Train proximal policy optimisation with a mask on a short Mist, in one file in the manner of CleanRL.

Needs `pip install torch` beside the arena with its extra `learning`.
"""

import argparse

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import arena.learning

gymnasium.register_envs(arena.learning)
OPTIONS = {"max_turns": 6}
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, RATE = 1.0, 0.95, 0.2, 0.01, 0.5, 1e-3
EPOCHS, BATCH, ENVIRONMENTS, LENGTH = 4, 256, 8, 64


class Agent(nn.Module):
    """A policy whose forbidden choices have no weight, and a value, of one flat observation."""

    def __init__(self, inputs: int, choices: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.policy = nn.Linear(128, choices)
        self.value = nn.Linear(128, 1)

    def forward(self, seen: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Return what is chosen, by row, and what the position is worth."""
        features = self.body(seen)
        logits = self.policy(features).masked_fill(~masks, -1e9)
        return Categorical(logits=logits), self.value(features).squeeze(-1)


def tensors(observations: dict[str, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return observations as flat rows, and masks."""
    seen = torch.as_tensor(observations["observation"]).flatten(1).float()
    return seen, torch.as_tensor(observations["action_mask"]).bool()


def share_won(agent: Agent, opponent: str, matches: int) -> float:
    """Play matches of seeds that training did not use, choices drawn from the policy; return the share won."""
    env = gymnasium.make("arena/Mist-v0", seat=1, opponents=opponent, options=OPTIONS)
    won = 0
    for match in range(matches):
        observation, _ = env.reset(seed=1_000_000 + match)
        over = False
        while not over:
            with torch.no_grad():
                chosen, _ = agent(*tensors({name: array[None] for name, array in observation.items()}))
            observation, reward, over, _, _ = env.step(int(chosen.sample()))
        won += reward > 0
    return won / matches


def train(agent: Agent, opponent: str, steps: int, seed: int) -> None:
    """Play and learn for so many choices, in eight matches at a time."""
    made = {"seat": 1, "opponents": opponent, "options": OPTIONS}
    vector = gymnasium.make_vec(
        "arena/Mist-v0",
        num_envs=ENVIRONMENTS,
        vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP},
        **made,
    )
    optimiser = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    seen, masks = tensors(vector.reset(seed=seed)[0])
    for _ in range(steps // (ENVIRONMENTS * LENGTH)):
        rows = []
        for _ in range(LENGTH):
            with torch.no_grad():
                chosen, values = agent(seen, masks)
            choices = chosen.sample()
            observations, rewards, over, _, _ = vector.step(choices.numpy())
            done = torch.as_tensor(over).float()
            rows.append((seen, masks, choices, chosen.log_prob(choices), values, torch.as_tensor(rewards), done))
            seen, masks = tensors(observations)
        with torch.no_grad():
            following = agent(seen, masks)[1]
        update(agent, optimiser, rows, following)
    vector.close()


def update(agent: Agent, optimiser: torch.optim.Optimizer, rows: list[tuple], following: torch.Tensor) -> None:
    """Learn from the rows of each environment; `following` is what comes after them is worth."""
    advantage = torch.zeros(ENVIRONMENTS)
    advantages = []
    for *_, values, rewards, done in reversed(rows):
        error = rewards.float() + GAMMA * following * (1 - done) - values
        advantage = error + GAMMA * LAMBDA * (1 - done) * advantage
        advantages.append(advantage)
        following = values
    seen, masks, choices, logs, values, _, _ = (torch.cat(column) for column in zip(*rows, strict=True))
    gains = torch.cat(advantages[::-1])
    returns = gains + values
    for _ in range(EPOCHS):
        for some in torch.randperm(len(gains)).split(BATCH):
            chosen, worth = agent(seen[some], masks[some])
            ratio = (chosen.log_prob(choices[some]) - logs[some]).exp()
            gain = (gains[some] - gains[some].mean()) / (gains[some].std() + 1e-8)
            policy = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            loss = policy + VALUE * (worth - returns[some]).pow(2).mean() - ENTROPY * chosen.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opponent", default="mist_random")
    parser.add_argument("--steps", type=int, default=61_440, help="choices in training")
    parser.add_argument("--matches", type=int, default=200, help="matches of each measurement")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    spaces = gymnasium.make("arena/Mist-v0").observation_space
    agent = Agent(int(np.prod(spaces["observation"].shape)), spaces["action_mask"].shape[0])
    before = share_won(agent, given.opponent, given.matches)
    train(agent, given.opponent, given.steps, given.seed)
    after = share_won(agent, given.opponent, given.matches)
    print(f"won against {given.opponent}: {before:.0%} before training, {after:.0%} after {given.steps:,} choices")


if __name__ == "__main__":
    main()
