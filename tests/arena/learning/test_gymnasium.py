"""Gymnasium's registry and vectors of environments; what libraries ask for beyond steps; and copies by pickle."""

import pickle
import subprocess
import sys
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv

from arena.learning import aec_env, gym_env, parallel_env
from bots.kit import Bot, Window
from protocol.games.mist import Turn
from referee.games import GAMES
from tests.arena.learning.playing import dealt
from tests.games import WITH_ENCODER

IDS = {
    "mist": "arena/Mist-v0",
    "hive-mind": "arena/HiveMind-v0",
    "pointing": "arena/Pointing-v0",
    "fight-for-a-name": "arena/FightForAName-v0",
    "runes-to-ruins": "arena/RunesToRuins-v0",
}


class Counting(Bot[Any, Any]):
    """Names one cell after the other: what it does depends on what it has done."""

    def __init__(self) -> None:
        self.turns = 0

    def decide(self, window: Window[Any]) -> Any:
        """Submit the next cell, if it is free in sight, else leave it to the default."""
        self.turns += 1
        cell = GAMES["mist"].choices[self.turns]
        return Turn(cells=(cell,)) if window.name == "turn" and cell not in window.view["visible"] else None


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_every_game_is_made_by_its_id(game: str) -> None:
    made = gymnasium.make(IDS[game], seat=1)
    assert GAMES[game] is made.unwrapped.episode.game  # type: ignore[attr-defined]
    np.testing.assert_equal(made.reset(seed=3), gym_env(game, 1).reset(seed=3))


def test_importing_the_package_registers_the_games_and_so_does_the_id_itself() -> None:
    for code in (
        "import gymnasium, arena.learning; gymnasium.make('arena/Mist-v0')",
        "import gymnasium; gymnasium.make('arena.learning:arena/Mist-v0')",
    ):
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)  # noqa: S603 - our own


def test_self_play_needs_no_gymnasium() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; from arena.learning import Episode; Episode('mist')"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own


def test_a_vector_of_environments_plays() -> None:
    vector = gymnasium.make_vec(
        "arena/Mist-v0", num_envs=3, vectorization_mode="sync", opponents="mist_random", options={"max_turns": 4}
    )
    observations, infos = vector.reset(seed=1)
    assert (3, 23, 9, 9) == observations["observation"].shape
    assert {"window", "_window", "refused", "_refused"} == set(infos)
    ended = np.zeros(3, bool)
    for _ in range(30):
        observations, _, terminated, _, infos = vector.step(observations["action_mask"].argmax(axis=1))
        ended |= terminated
    assert ended.all()
    assert infos["window"].dtype.kind == "i"
    vector.close()


@pytest.mark.timeout(120)
def test_a_vector_of_environments_plays_in_processes_of_its_own() -> None:
    make = partial(gym_env, "mist", opponents=Counting, options={"first": 0})
    vector = AsyncVectorEnv([make, make], context="spawn")
    observations, _ = vector.reset(seed=[1, 1])
    observations = vector.step(observations["action_mask"].argmax(axis=1))[0]
    assert (observations["observation"][0] == observations["observation"][1]).all()
    vector.close()


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_infos_hold_numbers_only_unless_text_is_asked_for(game: str) -> None:
    def infos(**given: Any) -> list[dict[str, Any]]:
        together, alternating, alone = parallel_env(game, **given), aec_env(game, **given), gym_env(game, **given)
        alternating.reset(seed=1)
        return [*together.reset(seed=1)[1].values(), *alternating.infos.values(), alone.reset(seed=1)[1]]

    for info in infos():
        assert set(info) == {"window", "refused"}
        assert {int} == set(map(type, info.values()))
    names = list(GAMES[game].actions)
    for info in infos(info_text=True):
        assert info["window_name"] == (names[info["window"]] if info["window"] >= 0 else "")


def test_masks_are_to_be_had_as_maskable_ppo_asks_for_them() -> None:
    env = gym_env("mist", options={"first": 0})
    observation, _ = env.reset(seed=1)
    masks = env.action_masks()
    assert (np.dtype(bool), (env.episode.choices,)) == (masks.dtype, masks.shape)
    assert (masks == observation["action_mask"]).all()


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_the_state_is_what_all_seats_see(game: str) -> None:
    for env in (parallel_env(game), aec_env(game), aec_env(game, max_cycles=5)):
        env.reset(seed=1)
        state = env.state()
        episode = getattr(env.unwrapped, "episode", None) or env.unwrapped.env.episode
        assert env.state_space.contains(state)
        seen = [episode.observation(seat).ravel() for seat in range(episode.seats)]
        assert (state == np.concatenate(seen)).all()


def test_a_match_that_ends_before_the_seat_has_a_choice_is_not_begun() -> None:
    env = gym_env("mist", seat=1, options={"first": 0, "max_turns": 1})
    with pytest.raises(ValueError, match="seat: 100 matches ended before seat 1 had a choice to make"):
        env.reset(seed=1)
    truncated = gym_env("mist", seat=1, options={"first": 0}, max_windows=1)
    with pytest.raises(ValueError, match="seat 1 had"):
        truncated.reset()


def test_matches_in_which_the_seat_has_no_choice_are_passed_over() -> None:
    # The first seat is the opponent's to name, which does so by the seed; seat 0 has a turn only if it is first.
    given: dict[str, Any] = {"options": {"advantage": 1, "max_turns": 1}, "opponents": {}}
    seeds = []
    for seed in range(20):
        env = gym_env("mist", seat=0, **given)
        env.reset(seed=seed)
        assert env.episode.owed(0)
        seeds.append(env.episode.seed == seed)
    assert {True, False} == set(seeds)


def play_on(env: Any, steps: int) -> list[Any]:
    """Choose the least choice that is allowed, so many times; return what each step gave."""
    return [env.step(int(env.action_masks().argmax())) for _ in range(steps) if not env.done]


@pytest.mark.parametrize("opponents", ["mist_tracker", "mist_random", [Counting], Counting(), None])
@pytest.mark.parametrize("copied", [lambda env: pickle.loads(pickle.dumps(env)), deepcopy])  # noqa: S301 - our own
def test_a_copy_goes_on_as_the_environment_does_opponents_too(opponents: Any, copied: Any) -> None:
    env = gym_env("mist", opponents=opponents, options={"max_turns": 30})
    assert copied(env).reset(seed=4)[1] == env.reset(seed=4)[1]
    play_on(env, 5)
    copy = copied(env)
    np.testing.assert_equal(play_on(copy, 100), play_on(env, 100))
    assert env.episode.over
    assert copied(copy).reset(seed=4)[1] == env.reset(seed=4)[1]


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_opponents_of_all_games_follow_a_pickled_match(game: str) -> None:
    env = dealt(gym_env(game, opponents=f"{game.replace('-', '_')}_random", max_windows=6), 2)
    play_on(env, 10)
    copy = pickle.loads(pickle.dumps(env))  # noqa: S301 - our own
    np.testing.assert_equal(play_on(copy, 30), play_on(env, 30))


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_environments_of_all_seats_can_be_pickled(game: str) -> None:
    for env in (parallel_env(game), aec_env(game), aec_env(game, max_cycles=30)):
        env.reset(seed=2)
        copy = pickle.loads(pickle.dumps(env))  # noqa: S301 - our own
        assert (copy.state() == env.state()).all()
        assert env.agents == copy.agents
