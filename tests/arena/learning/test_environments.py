"""The environments, by the tests of the libraries they are for, and where those look past something."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    seed_test,
    state_test,
)

from arena.learning import ENCODERS, aec_env, gym_env, parallel_env
from protocol.games.mist import Turn
from protocol.words import Outcome
from referee.games import GAMES
from referee.rules import IllegalChoiceError
from tests.arena.learning.playing import choose_randomly, dealt
from tests.games import WITH_ENCODER, with_variants

VARIANTS = with_variants(WITH_ENCODER)
# PettingZoo knows only its own environments whose observations are dicts, and warns of any other.
dicts_are_meant = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array", "ignore:Observation space for each agent probably should be"
)


@pytest.mark.slow
@dicts_are_meant
@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_pettingzoos_own_tests_pass(game: str, variant: str) -> None:
    def aec(**given: Any) -> Any:
        return aec_env(game, variant=variant, **given)

    def parallel(**given: Any) -> Any:
        return parallel_env(game, variant=variant, **given)

    api_test(aec(), num_cycles=200)
    seed_test(aec, num_cycles=50)
    parallel_api_test(parallel(), num_cycles=200)
    parallel_seed_test(parallel, num_cycles=50)
    max_cycles_test(SimpleNamespace(env=aec, parallel_env=parallel))
    state_test(aec(on_refused="ask"), parallel())


@pytest.mark.filterwarnings(
    "ignore:.*Not able to test alternative render modes"
)  # it is not of gymnasium's registry
@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_gymnasiums_own_test_passes(game: str, variant: str) -> None:
    check_env(gym_env(game, 1, variant=variant, render_mode="rgb_array"))


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_a_seed_is_a_match_and_more_follow_from_it(game: str) -> None:
    def play() -> list[Any]:
        env = aec_env(game)
        found = []
        for seed in (5, None):
            env.reset(seed=seed)
            choose_randomly(env.episode, seed=1)
            found.append((env.episode.table.deal, env.episode.table.outcome))
        return found

    first = play()
    assert first == play()
    assert first[0][0].seed == 5
    assert first[0][0] != first[1][0]


def test_rewards_come_at_the_end_and_once() -> None:
    env = dealt(aec_env("pointing", options={"seats": 4}), 3)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        assert not truncated
        # Seat 0 points at seat 1 always, the others at nobody: these two are before the others.
        nobody = env.action_space(agent).n - 2
        mask = observation["action_mask"]
        env.step(None if terminated else 1 if agent == "seat_0" and mask[1] else nobody)
    assert total["seat_0"] == total["seat_1"] == pytest.approx(2 / 3)
    assert sorted(total.values())[:2] == pytest.approx([-1, -1 / 3])


def test_rewards_are_as_asked() -> None:
    def first_and_half_a_seat(outcome: Outcome, seat: int) -> float:
        return outcome.ranking[0][0] + seat / 2

    for reward in ("win", "rank", first_and_half_a_seat):
        env = dealt(parallel_env("mist", reward=reward, options={"first": 0, "max_turns": 3}))
        choose_randomly(env.episode, seed=4)
        outcome = env.episode.table.outcome
        assert outcome is not None
        best = outcome.winners[0]
        named = [1 if seat == best else -1 for seat in (0, 1)]
        assert env.episode.rewards() == ([best, best + 0.5] if callable(reward) else named)


def test_a_choice_that_the_mask_does_not_hold_changes_nothing() -> None:
    aec = dealt(aec_env("mist", options={"first": 0}))
    before = aec.last()[0]
    e5 = GAMES["mist"].choices.index("E5")
    for choice in (e5 + 1000, -1, aec.episode.pass_choice):
        with pytest.raises(IllegalChoiceError, match=f"choice {choice} does not exist: mist has 0 to "):
            aec.step(choice)
    stop = GAMES["mist"].choices.index("stop")
    with pytest.raises(IllegalChoiceError, match=f"choice {stop}, stop, is not allowed here"):
        aec.step(stop)
    np.testing.assert_equal(aec.last()[0], before)
    assert aec.agent_selection == "seat_0"

    together = parallel_env("mist", options={"first": 0})
    observed, infos = together.reset(seed=1)
    assert infos == {"seat_0": {"window": 1, "refused": 0}, "seat_1": {"window": -1, "refused": 0}}
    assert observed["seat_1"]["action_mask"].nonzero()[0].tolist() == [together.episode.pass_choice]
    after, _, _, _, infos = together.step({"seat_0": together.episode.pass_choice, "seat_1": 3})
    assert infos["seat_0"] == {"window": 1, "refused": 1}
    np.testing.assert_equal(after, observed)

    alone = gym_env("mist", options={"first": 0})
    observation, _ = alone.reset(seed=1)
    again, reward, *_, info = alone.step(e5 + 1000)
    assert (info["refused"], reward) == (1, 0)
    np.testing.assert_equal(again, observation)


def test_a_match_is_truncated_after_so_many_windows() -> None:
    env = dealt(aec_env("mist", options={"first": 0}, max_windows=2))
    agents = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        assert (reward, terminated) == (0, False)
        agents.append(agent)
        env.step(None if truncated else int(observation["action_mask"].nonzero()[0][0]))
    assert agents[-2:] == ["seat_0", "seat_1"]
    assert env.episode.table.number == 2

    alone = dealt(gym_env("mist", options={"first": 0}, max_windows=1))
    stop = GAMES["mist"].choices.index("stop")
    alone.step(0)
    assert alone.step(stop)[2:4] == (False, True)


def test_opponents_are_bots_as_play_takes_them() -> None:
    heard: list[str] = []

    def north(window: Any) -> Any:
        heard.append(window.name)
        return Turn(cells=("A1" if window.view["turn"] == 2 else "I5",))

    env = dealt(gym_env("mist", 0, [north], options={"first": 0}, render_mode="ansi"))
    choices = GAMES["mist"].choices
    env.step(choices.index("C3"))
    observation, *_ = env.step(choices.index("stop"))
    assert heard == ["turn"]
    drawn = str(env.render())
    assert "turn 3" in drawn
    assert "as the host" not in drawn
    assert observation["action_mask"][choices.index("C3")] == 1
    taken = env.episode.taken[1]
    assert taken is not None
    assert taken.action == Turn(cells=("A1",))


def test_a_gymnasium_match_that_is_over_must_be_reset() -> None:
    env = dealt(gym_env("pointing", 0), 2)
    while not env.step(env.episode.pass_choice - 1)[2]:
        pass
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("cycles", [None, 2])
def test_environments_of_all_seats_must_be_reset_before_and_after_a_match(cycles: int | None) -> None:
    parallel = parallel_env("mist", options={"first": 0, "max_turns": 4}, max_cycles=cycles)
    nothing = dict.fromkeys(parallel.possible_agents, 0)
    with pytest.raises(ResetNeeded):
        parallel.step(nothing)
    observations, _ = parallel.reset(seed=1)
    while parallel.agents:
        chosen = {agent: int(seen["action_mask"].argmax()) for agent, seen in observations.items()}
        observations = parallel.step(chosen)[0]
    with pytest.raises(ResetNeeded):
        parallel.step(nothing)
    aec = aec_env("mist", options={"first": 0, "max_turns": 4})
    with pytest.raises(ResetNeeded):
        aec.step(0)
    aec.reset(seed=1)
    for _ in aec.agent_iter():
        seen, _, terminated, *_ = aec.last()
        aec.step(None if terminated else int(seen["action_mask"].argmax()))
    with pytest.raises(ResetNeeded):
        aec.step(None)


@pytest.mark.parametrize("wrong", [None, 1.7, float("nan"), "3", [1]])
def test_a_choice_that_is_no_number_is_refused(wrong: Any) -> None:
    aec = aec_env("mist", options={"first": 0})
    parallel = parallel_env("mist", options={"first": 0})
    alone = gym_env("mist", options={"first": 0})
    for env in (aec, parallel, alone):
        env.reset(seed=1)
    steps: list[tuple[Any, Any]] = [(aec.step, wrong), (alone.step, wrong), (parallel.step, {"seat_0": wrong})]
    for step, given in steps:
        with pytest.raises(ValueError, match=r"choice: .* is no whole number"):
            step(given)
    aec.step(np.int64(3))
    alone.step(np.array(3))


def test_seeds_are_whole_numbers_of_numpy_too() -> None:
    env = parallel_env("mist")
    env.reset(seed=np.int64(5))
    assert 5 == env.episode.seed
    for wrong in (1.5, "x", True):
        with pytest.raises(ValueError, match="seed: "):
            env.reset(seed=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_matches_can_be_drawn(game: str) -> None:
    env = dealt(aec_env(game, render_mode="rgb_array"))
    first: Any = env.render()
    choose_randomly(env.episode, seed=1)
    last: Any = env.render()
    assert first.shape == last.shape
    assert (first.dtype, first.ndim, first.shape[2]) == (np.uint8, 3, 3)
    assert (first != last).any()
    env.render_mode = "ansi"
    assert len(str(env.render()).splitlines()) > 3


def test_wrong_arguments_are_named() -> None:
    for given, named in (
        ({"game": "chess"}, "game"),
        ({"game": "mist", "variant": "x"}, "variant"),
        ({"game": "mist", "options": {"first": 7}}, "options"),
        ({"game": "mist", "reward": "x"}, "reward"),
        ({"game": "mist", "render_mode": "human"}, "render_mode"),
        ({"game": "mist", "max_windows": 0}, "max_windows"),
        ({"game": "mist", "max_windows": 1.5}, "max_windows"),
        ({"game": "mist", "max_cycles": 0}, "max_cycles"),
        ({"game": "mist", "on_refused": "x"}, "on_refused: there is no 'x'; there are raise, ask, lose"),
        ({"game": "mist", "max_refused": 0}, "max_refused"),
        ({"game": "mist", "max_cycles": "x"}, "max_cycles"),
    ):
        with pytest.raises(ValueError, match=named):
            aec_env(**given)
    for wrong, said in (
        ({"opponents": ["mist_random"] * 2}, "opponents: a list of 2 for 1 seat; give one bot without a list"),
        ({"opponents": {0: "mist_random"}}, r"opponents: seat 0 is not an opponent's; those are \[1\]"),
        ({"seat": 2}, "seat: 2"),
        ({"seat": 1.0}, "seat: 1.0"),
    ):
        with pytest.raises(ValueError, match=said):
            gym_env("mist", **wrong)


def test_a_game_without_an_encoder_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ENCODERS["mist"]
    monkeypatch.delitem(ENCODERS, "mist")
    with pytest.raises(ValueError, match="encoder: mist has none"):
        parallel_env("mist")
    observed, _ = parallel_env("mist", encoder=own).reset(seed=1)
    assert observed["seat_0"]["observation"].shape == own.shape


def test_a_missing_library_is_named_with_its_extra() -> None:
    code = (
        "import sys; sys.modules['pettingzoo'] = sys.modules['pyspiel'] = None\n"
        "from arena.learning import Episode\n"
        "for name in ('aec_env', 'openspiel_game'):\n"
        "    try: __import__('arena.learning', fromlist=[name]).__getattr__(name)\n"
        "    except ModuleNotFoundError as error: print(error)\n"
    )
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own
    assert said.splitlines() == [
        "aec_env needs pettingzoo, which comes with an extra: pip install 'mist-arena[learning]'",
        "openspiel_game needs pyspiel, which comes with an extra: pip install 'mist-arena[openspiel]'",
    ]
