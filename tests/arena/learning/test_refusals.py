"""Choices that a mask does not hold: they are counted, and end a match that would never end."""

from typing import Any

import pytest

from arena.learning import Episode, aec_env, gym_env, parallel_env
from arena.learning.episode import MOST_REFUSED
from referee.games import GAMES
from referee.rules import IllegalChoiceError
from tests.arena.learning.playing import dealt

FIRST: dict[str, Any] = {"options": {"first": 0}}
CHOICES = GAMES["mist"].choices
NEVER = len(CHOICES)
"""`pass`, which no seat may choose that owes an action."""


def test_a_learner_that_looks_at_no_mask_loses_after_so_many_refused_choices() -> None:
    env = dealt(gym_env("mist", **FIRST))
    for number in range(1, MOST_REFUSED):
        assert env.step(NEVER)[1:] == (0, False, False, {"window": 1, "refused": number})
    assert env.step(NEVER)[1:] == (-1, True, False, {"window": -1, "refused": MOST_REFUSED})
    assert env.reset()[1]["refused"] == 0


def test_without_a_bound_it_is_asked_for_ever() -> None:
    env = dealt(gym_env("mist", max_refused=None, **FIRST))
    assert all(not env.step(NEVER)[2] for _ in range(2 * MOST_REFUSED))


@pytest.mark.parametrize(("reward", "others"), [("rank", 1 / 3), ("win", 1)])
def test_the_seat_that_loses_stands_below_all_others(reward: Any, others: float) -> None:
    env = dealt(parallel_env("pointing", options={"seats": 4}, on_refused="lose", reward=reward))
    chosen = {"seat_0": 1, "seat_1": 0, "seat_2": NEVER, "seat_3": 0}
    _, rewards, over, truncated, infos = env.step(chosen)
    assert rewards == pytest.approx({"seat_0": others, "seat_1": others, "seat_2": -1, "seat_3": others})
    assert all(over.values())
    assert not any(truncated.values())
    assert infos["seat_2"] == {"window": -1, "refused": 1}
    assert env.agents == []
    outcome = env.episode.outcome
    assert outcome is not None
    assert (outcome.reason, outcome.eliminated) == ("refused", 2)


def test_seats_that_lose_together_are_tied() -> None:
    env = dealt(parallel_env("pointing", options={"seats": 3}, on_refused="lose"))
    assert set(env.step(dict.fromkeys(env.agents, NEVER))[1].values()) == {0}


def test_an_aec_environment_raises_or_asks_or_lets_the_agent_lose() -> None:
    env = dealt(aec_env("mist", **FIRST))
    most = env.action_space("seat_0").n - 1
    with pytest.raises(IllegalChoiceError, match=rf"^choice 999 does not exist: mist has 0 to {most}$"):
        env.step(999)
    with pytest.raises(IllegalChoiceError):
        env.step(NEVER)
    assert env.infos["seat_0"] == {"window": 1, "refused": 0}

    env = dealt(aec_env("mist", on_refused="ask", max_refused=3, **FIRST))
    for number in (1, 2):
        env.step(NEVER)
        assert env.agent_selection == "seat_0"
        assert env.infos["seat_0"] == {"window": 1, "refused": number}
    env.step(CHOICES.index("C3"))
    env.step(CHOICES.index("stop"))
    assert env.agent_selection == "seat_1"
    env.step(NEVER)
    assert env.rewards == {"seat_0": 0, "seat_1": 0}

    env = dealt(aec_env("mist", on_refused="lose", **FIRST))
    env.step(NEVER)
    assert env.terminations == {"seat_0": True, "seat_1": True}
    assert env.rewards == {"seat_0": -1, "seat_1": 1}


def test_conversions_of_pettingzoo_ask() -> None:
    env = dealt(aec_env("mist", max_cycles=3, **FIRST))
    for _ in env.agent_iter():
        *_, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else NEVER)
    assert info["refused"] == 0
    assert truncated


def test_refusals_that_raise_are_not_counted() -> None:
    together = dealt(parallel_env("mist", on_refused="raise", **FIRST))
    with pytest.raises(IllegalChoiceError):
        together.step(dict.fromkeys(together.agents, NEVER))
    assert [0, 0] == together.episode.refused


def test_a_lost_match_owes_nothing_more() -> None:
    episode = dealt(Episode("mist", **FIRST))
    for _ in range(MOST_REFUSED):
        assert not episode.attempt(0, NEVER)
    assert episode.close()
    assert (episode.over, episode.truncated, episode.window, episode.choosing) == (True, False, None, [])
    assert episode.copy().rewards() == [-1, 1]
    episode.reset(1)
    assert (episode.over, episode.refused, episode.choosing) == (False, [0, 0], [0])
