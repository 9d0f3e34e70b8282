"""TorchRL and Stable-Baselines3, which are too large for the usual environment, meet the environments here.

Without them these tests are skipped: `scripts/learning_libraries` runs them, at the versions that pip gives.
"""

from typing import Any

import pytest

from arena.learning import ENCODERS, aec_env, gym_env, parallel_env
from tests.arena.learning.playing import needs

SHORT: dict[str, Any] = {"options": {"max_turns": 6}}
told_what_it_was_tested_with = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using")


@told_what_it_was_tested_with
@pytest.mark.parametrize("game", ENCODERS)
@pytest.mark.parametrize("form", [parallel_env, aec_env])
def test_torchrl_wraps_environments_of_all_seats(game: str, form: Any) -> None:
    torchrl, utils = needs("torchrl.envs.libs.pettingzoo"), needs("torchrl.envs.utils")
    env = torchrl.PettingZooWrapper(form(game), use_mask=form is aec_env, return_state=True, seed=1)
    utils.check_env_specs(env)
    played = env.rollout(20)
    assert played["state"].shape[1:] == env.state_space.shape
    for group in env.group_map:
        assert played["next", group, "info", "refused"].max() == 0


@told_what_it_was_tested_with
def test_torchrl_plays_a_match_to_its_end() -> None:
    torchrl = needs("torchrl.envs.libs.pettingzoo")
    env = torchrl.PettingZooWrapper(parallel_env("mist", **SHORT), seed=1)
    played = env.rollout(100)
    assert played["next", "done"][-1]
    assert sorted(played["next", "seat", "reward"].sum(0).ravel().tolist()) == [-1, 1]


def test_torchrl_wraps_one_seat() -> None:
    torchrl, gym, utils = needs("torchrl.envs"), needs("torchrl.envs.libs.gym"), needs("torchrl.envs.utils")
    alone = gym_env("mist", opponents="mist_random", **SHORT)
    env = gym.GymWrapper(alone, categorical_action_encoding=True)
    utils.check_env_specs(env)
    played = torchrl.TransformedEnv(env, torchrl.ActionMask()).rollout(100)
    assert played["next", "done"][-1]


@pytest.mark.filterwarnings("ignore:.*")  # what its checker recommends
@pytest.mark.parametrize("game", ENCODERS)
def test_stable_baselines3_checks_the_environment(game: str) -> None:
    needs("stable_baselines3.common.env_checker").check_env(gym_env(game))


@pytest.mark.parametrize("game", ENCODERS)
def test_maskable_ppo_learns_at_once(game: str) -> None:
    env = gym_env(game)
    model = needs("sb3_contrib").MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=32, seed=1)
    model.learn(64)
    assert set(env.episode.refused) == {0}
