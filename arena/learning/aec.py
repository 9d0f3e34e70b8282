"""PettingZoo's AEC environment, in which one agent at a time chooses."""

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Dict, Discrete
from pettingzoo import AECEnv

from arena.learning.episode import Episode
from arena.learning.rendering import checked_mode, rendered
from arena.learning.spaces import (
    Observed,
    agents_of,
    check_begun,
    info_of,
    metadata,
    observation_space,
    state_of,
    state_space,
)
from arena.quantities import whole


class AecArena(AECEnv[str, Observed, SupportsIndex]):  # type: ignore[misc] # it has no types
    """A match that is played choice by choice. A seat is selected again until its action is complete.

    Seats that owe an action in the same window choose one after the other; none sees the choices of another.
    """

    def __init__(self, episode: Episode, render_mode: str | None = None, *, info_text: bool = False) -> None:
        """Create the environment. Raises ValueError if `render_mode` does not exist."""
        super().__init__()
        self.episode = episode
        self.render_mode = checked_mode(render_mode)
        self.info_text = info_text
        self.metadata = metadata(episode, parallel=False)
        self.state_space = state_space(episode)
        self.possible_agents = agents_of(episode)
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(episode) for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(episode.choices) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Dict:
        """Return the space of `observation` (see `docs/learning.md`) and of `action_mask`, a flag per choice."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of `Game.choices`; the last choice, `pass`, is never allowed here."""
        return self.action_spaces[agent]

    def reset(self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a match: that of the seed, or the next one. `options` are not used."""
        self.episode.reset(seed)
        self.agents = agents = self.possible_agents.copy()
        self.rewards: dict[str, float] = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self._select()

    def observe(self, agent: str) -> Observed:
        """Return the agent's current observation and mask."""
        return self.episode.observe(self._seat[agent])

    def agent_iter(self, max_iter: int = 2**63) -> Iterable[str]:
        """Yield the selected agent before each step, until all are terminated or truncated."""
        agents: Iterable[str] = super().agent_iter(max_iter)
        return agents

    def last(self, observe: bool = True) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last step, terminated, truncated and info of the selected agent.

        With `observe` false the observation is None, as in PettingZoo, although the type does not include it.
        """
        told: tuple[Observed, float, bool, bool, dict[str, Any]] = super().last(observe)
        return told

    def step(self, action: SupportsIndex | None) -> None:
        """Make the selected agent's next choice; None once it is terminated or truncated.

        Raises:
            IllegalChoiceError: the agent's `action_mask` does not hold the choice, and `on_refused` is `raise`.
                Nothing has changed.
            ValueError: the choice is not a number.
            ResetNeeded: the match is over for all agents, or has not started.
        """
        check_begun(self.agents)
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        episode, seat = self.episode, self._seat[agent]
        self._cumulative_rewards[agent] = 0.0
        if not episode.attempt(seat, whole("choice", action)):
            self.infos[agent] = self._info(agent)
        elif episode.owed(seat):
            return
        closed = episode.close()
        if closed and (episode.over or episode.truncated):
            self._end()
        elif closed:
            self._select()
        elif not episode.owed(seat):
            self.agent_selection = self.possible_agents[episode.choosing[0]]

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Render the match with its secrets: text for `ansi`, an array (height, width, 3) for `rgb_array`."""
        return rendered(self.episode, self.render_mode)

    def state(self) -> npt.NDArray[Any]:
        """Return the observations of all seats as one vector, in order of seats."""
        return state_of(self.episode)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _info(self, agent: str) -> dict[str, Any]:
        return info_of(self.episode, self._seat[agent], text=self.info_text)

    def _select(self) -> None:
        """Select the first agent of a new window."""
        owed = self.episode.drafts
        self.infos = {agent: self._info(agent) for agent in self.agents}
        self.agent_selection = self.possible_agents[next(iter(owed))]

    def _end(self) -> None:
        rewards = self.episode.rewards()
        for agent in self.agents:
            self.rewards[agent] = rewards[self._seat[agent]]
        ends = self.terminations if self.episode.over else self.truncations
        ends.update(dict.fromkeys(self.agents, True))
        self.infos = {agent: self._info(agent) for agent in self.agents}
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]
