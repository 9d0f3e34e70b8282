"""Mist and Pointing in OpenSpiel."""

from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.ismcts import ISMCTSBot, ISMCTSFinalPolicyType
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from open_spiel.python.algorithms.outcome_sampling_mccfr import OutcomeSamplingSolver
from open_spiel.python.observation import make_observation

from arena.learning import Episode, openspiel_game
from arena.learning.openspiel import ArenaState
from tests.arena.learning.playing import dealt


@pytest.mark.parametrize(
    ("game", "variant", "options"),
    [
        ("mist", "contractual-obligation", {}),
        ("mist", "heaven-and-hell", {"first": 1, "max_turns": 9}),
        ("pointing", None, {}),
        ("pointing", None, {"seats": 3}),
        ("hive-mind", "recharged", {}),
        ("hive-mind", "tempo-up", {"garnets": 5}),
        ("hive-mind", "gauntlet", {}),
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
    episode = dealt(Episode("mist", options={"first": 0}), 0)
    rng = Random(1)
    while not state.is_terminal():
        seat, choice = state.current_player(), rng.choice(state.legal_actions())
        assert seat == episode.choosing[0]
        state.apply_action(choice)
        episode.choose(seat, choice)
        episode.close()
        assert np.array_equal(state.observation_tensor(1), episode.observation(1).ravel())
    assert state.returns() == episode.rewards()


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="game: "):
        openspiel_game("runes-to-ruins")
    with pytest.raises(ValueError, match="seeds: 2; mist takes none"):
        openspiel_game("mist", seeds=2)
    for seeds in (0, 1_000_001, 1.5):
        with pytest.raises(ValueError, match="seeds: "):
            openspiel_game("pointing", seeds=seeds)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="options"):
        openspiel_game("mist", options={"max_turns": 0})
    with pytest.raises(ValueError, match="options: JSON is malformed"):
        pyspiel.load_game("python_arena_mist", {"options": "first=0"})


def played(game: str, variant: str | None, options: dict[str, Any], choices: int) -> tuple[ArenaState, Random]:
    """Return a match after so many choices at random, and the luck to go on with."""
    rng = Random(choices)
    state: ArenaState = openspiel_game(game, variant=variant, options=options).new_initial_state()
    if state.is_chance_node():
        state.apply_action(1)
    for _ in range(choices):
        state.apply_action(rng.choice(state.legal_actions()))
    return state, rng


@pytest.mark.parametrize(
    ("game", "variant", "options", "choices"),
    [
        ("mist", None, {"max_turns": 8}, 1),
        ("mist", None, {"max_turns": 8, "first": 1}, 9),
        ("mist", "heaven-and-hell", {"first": 1}, 14),
        ("pointing", None, {"seats": 5}, 3),
        ("pointing", None, {"seats": 5}, 12),
        ("hive-mind", "tempo-up", {}, 7),
        ("hive-mind", "gauntlet", {}, 22),
        ("hive-mind", "recharged", {}, 40),
    ],
)
def test_a_state_is_drawn_that_its_player_cannot_tell_from_this_one(
    game: str, variant: str | None, options: dict[str, Any], choices: int
) -> None:
    state, rng = played(game, variant, options, choices)
    player = state.current_player()
    before = str(state)
    hidden = set()
    for _ in range(5):
        world = state.resample_from_infostate(player, rng.random)
        assert player == world.current_player()
        assert state.legal_actions() == world.legal_actions()
        assert state.information_state_string(player) == world.information_state_string(player)
        assert state.observation_tensor(player) == world.observation_tensor(player)
        first = world.episode.drafts.get(0)
        hidden.add((str(world.episode.table.state), first and first.choices))
        with pytest.raises(ValueError, match="was drawn itself"):
            world.resample_from_infostate(player, rng.random)
        while not world.is_terminal():
            world.apply_action(rng.choice(world.legal_actions()))
        assert sum(world.returns()) == pytest.approx(0)
    assert before == str(state)
    assert len(hidden) > 1 or choices == 1


def test_a_hidden_choice_of_the_open_window_is_drawn_too() -> None:
    state, rng = played("pointing", None, {"seats": 4}, 1)
    drawn = {state.resample_from_infostate(1, rng.random).episode.drafts[0].choices[0] for _ in range(50)}
    assert {1, 2, 3} <= drawn


@pytest.mark.parametrize(
    ("game", "variant", "options", "choices"),
    [("mist", None, {"first": 0, "max_turns": 4}, 4), ("hive-mind", "tempo-up", {}, 3), ("pointing", None, {}, 2)],
)
def test_is_mcts_searches(game: str, variant: str | None, options: dict[str, Any], choices: int) -> None:
    state, _ = played(game, variant, options, choices)

    def search(start: ArenaState) -> dict[int, float]:
        rng = np.random.RandomState(1)
        evaluator = RandomRolloutEvaluator(1, rng)
        final = ISMCTSFinalPolicyType.NORMALIZED_VISITED_COUNT
        bot = ISMCTSBot(state.get_game(), evaluator, 1.0, 30, random_state=rng, final_policy_type=final)
        bot.set_resampler(lambda here, player: here.resample_from_infostate(player, rng.uniform))
        return dict(bot.get_policy(start))

    policy = search(state.clone())
    assert set(policy) == set(state.legal_actions())
    assert sum(policy.values()) == pytest.approx(1)
    assert search(state.clone()) == policy


def test_states_that_hide_nothing_are_not_drawn() -> None:
    game = openspiel_game("pointing")
    with pytest.raises(ValueError, match="this state is no decision"):
        game.new_initial_state().resample_from_infostate(0, Random(1).random)


def test_there_is_no_information_state_tensor() -> None:
    for name in ("mist", "pointing", "hive-mind"):
        game = openspiel_game(name)
        state = game.new_initial_state()
        if state.is_chance_node():
            state.apply_action(0)
        assert not game.get_type().provides_information_state_tensor
        for ask in (
            lambda state=state: state.information_state_tensor(0),
            lambda state=state: state.information_state_tensor(),
            lambda game=game, state=state: make_observation(
                game, pyspiel.IIGObservationType(perfect_recall=True)
            ).set_from(state, 0),
        ):
            with pytest.raises(ValueError, match="information_state_tensor: there is none"):
                ask()


def test_chance_draws_as_many_deals_as_are_asked_for() -> None:
    assert 1_000 == len(openspiel_game("hive-mind").new_initial_state().chance_outcomes())
    state = openspiel_game("hive-mind", seeds=3).new_initial_state()
    assert state.chance_outcomes() == [(seed, 1 / 3) for seed in range(3)]
    values = set()
    for seed in range(3):
        other = state.clone()
        other.apply_action(seed)
        values.add(str(other.episode.table.state.values))
    assert len(values) == 3
