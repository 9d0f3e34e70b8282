"""Mist and Pointing in OpenSpiel."""

from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.outcome_sampling_mccfr import OutcomeSamplingSolver

from arena.learning import Episode, openspiel_game
from arena.learning.openspiel import ArenaState


@pytest.mark.parametrize(
    ("game", "variant", "options"),
    [
        ("mist", "contractual-obligation", {}),
        ("mist", "heaven-and-hell", {"first": 1, "max_turns": 9}),
        ("pointing", None, {}),
        ("pointing", None, {"seats": 3}),
    ],
)
def test_openspiels_own_test_passes(game: str, variant: str | None, options: dict[str, Any]) -> None:
    pyspiel.random_sim_test(
        openspiel_game(game, variant=variant, options=options), num_sims=2, serialize=True, verbose=False
    )


@pytest.mark.parametrize(("game", "options"), [("mist", {"max_turns": 2, "first": 0}), ("pointing", {"seats": 3})])
def test_openspiels_algorithms_run(game: str, options: dict[str, Any]) -> None:
    spiel = openspiel_game(game, options=options)
    np.random.seed(1)  # noqa: NPY002 - the solver's
    solver = OutcomeSamplingSolver(spiel)
    for _ in range(60):
        solver.iteration()
    state = spiel.new_initial_state()
    if state.is_chance_node():
        state.apply_action(3)
    policy = solver.average_policy().action_probabilities(state)
    assert set(policy) == set(state.legal_actions())
    assert sum(policy.values()) == pytest.approx(1)
    assert len(set(policy.values())) > 1


def test_a_choice_is_hidden_from_those_that_choose_after_it() -> None:
    game = openspiel_game("pointing", options={"seats": 4})
    texts, tensors = set(), set()
    for target in (1, 2, 3):
        state = game.new_initial_state()
        state.apply_action(0)
        state.apply_action(target)
        assert state.current_player() == 1
        texts.add(state.information_state_string(1))
        tensors.add(tuple(state.observation_tensor(1)))
    assert (len(texts), len(tensors)) == (1, 1)
    assert len({state.information_state_string(seat) for seat in range(4)}) == 4


def test_a_match_is_the_same_as_in_an_episode() -> None:
    state: ArenaState = openspiel_game("mist", options={"first": 0}).new_initial_state()
    episode = Episode("mist", options={"first": 0})
    episode.reset(0)
    luck = Random(1)
    while not state.is_terminal():
        seat, choice = state.current_player(), luck.choice(state.legal_actions())
        assert seat == episode.choosing[0]
        state.apply_action(choice)
        episode.choose(seat, choice)
        episode.close()
        assert np.array_equal(state.observation_tensor(1), episode.observation(1).ravel())
    assert state.returns() == episode.rewards()


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="game: "):
        openspiel_game("hive-mind")
    with pytest.raises(ValueError, match="options"):
        openspiel_game("mist", options={"max_turns": 0})
    with pytest.raises(ValueError, match="options: JSON is malformed"):
        pyspiel.load_game("python_arena_mist", {"options": "first=0"})
