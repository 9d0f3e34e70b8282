"""What learning environments give in random matches: observations, masks and rewards."""

from hashlib import blake2b
from pathlib import Path

import numpy as np

from arena.learning import aec_env
from tests.golden.matches import variants

MATCHES = 10
HASH_BYTES = 6
HEADING = "seed steps observed     masks        rewards      state\n"


def parts() -> list[str]:
    """Return the parts of this group: every variant of every game."""
    return [f"{game}.{variant}" for game, variant in variants()]


def record(part: str, folder: Path) -> None:
    """Record a line of hashes per match."""
    game, variant = part.split(".")
    text = HEADING + "".join(_line(game, variant, seed) for seed in range(MATCHES))
    (folder / f"{part}.txt").write_text(text, encoding="utf-8")


def _line(game: str, variant: str, seed: int) -> str:
    env, rng, steps = aec_env(game, variant=variant), np.random.default_rng(seed), 0
    observed, masks, rewards, states = (blake2b(digest_size=HASH_BYTES) for _ in range(4))
    env.reset(seed=seed)
    for _agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        mask = observation["action_mask"]
        observed.update(observation["observation"].tobytes())
        masks.update(mask.tobytes())
        rewards.update(np.float64(reward).tobytes())
        states.update(env.state().tobytes())
        done = terminated or truncated
        env.step(None if done else int(rng.choice(np.flatnonzero(mask))))
        steps += 1
    return f"{seed:4} {steps:5} {' '.join(each.hexdigest() for each in (observed, masks, rewards, states))}\n"
