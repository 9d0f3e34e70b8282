"""PettingZoo's Parallel environment, in which all agents choose at once."""

from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Dict, Discrete
from pettingzoo import ParallelEnv

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

Stepped = tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class ParallelArena(ParallelEnv[str, Observed, SupportsIndex]):  # type: ignore[misc] # it has no types
    """A match in which each step is a choice of every agent; those that owe no action pass.

    Libraries step this environment without looking at masks. The episode decides the effect of a choice that is
    not in the mask (`Refusals`). `infos` count such choices.
    """

    def __init__(
        self,
        episode: Episode,
        render_mode: str | None = None,
        max_cycles: int | None = None,
        *,
        info_text: bool = False,
    ) -> None:
        """Create the environment. Raises ValueError if `render_mode` or `max_cycles` is wrong."""
        self.episode = episode
        self.render_mode = checked_mode(render_mode)
        self.max_cycles = None if max_cycles is None else whole("max_cycles", max_cycles, 1)
        """Number of steps after which the match is truncated; None for no limit."""
        self.info_text = info_text
        self.metadata = metadata(episode, parallel=True)
        self.state_space = state_space(episode)
        self.possible_agents = agents_of(episode)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(episode) for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(episode.choices) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Dict:
        """Return the space of `observation` and `action_mask`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of `Game.choices` and, as the last, `pass`."""
        return self.action_spaces[agent]

    def reset(
        self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, Any]]]:
        """Deal a match: that of the seed, or the next one. `options` are not used."""
        self.episode.reset(seed)
        self.agents = self.possible_agents.copy()
        self._cycles = 0
        return self._observed(), self._infos()

    def step(self, actions: Mapping[str, SupportsIndex]) -> Stepped:
        """Make a choice for every agent, as an integer of Python or NumPy. Ignores those of agents that owe none.

        Raises:
            ResetNeeded: the match is over or has not started.
            ValueError: a choice is not a number.
            IllegalChoiceError: a choice is not in the mask, and `on_refused` is `raise`.
        """
        agents, episode = self.agents, self.episode
        check_begun(agents)
        for seat in episode.choosing:
            episode.attempt(seat, whole("choice", actions[self.possible_agents[seat]]))
        episode.close()
        self._cycles += 1
        over = episode.over
        truncated = not over and (episode.truncated or self._cycles == self.max_cycles)
        stepped = (
            self._observed(),
            dict(zip(agents, episode.rewards(), strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, truncated),
            self._infos(),
        )
        if over or truncated:
            self.agents = []
        return stepped

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Render the match with its secrets: text for `ansi`, an array (height, width, 3) for `rgb_array`."""
        return rendered(self.episode, self.render_mode)

    def state(self) -> npt.NDArray[Any]:
        """Return the observations of all seats as one vector, in order of seats."""
        return state_of(self.episode)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {
            agent: info_of(self.episode, seat, text=self.info_text)
            for seat, agent in enumerate(self.possible_agents)
        }

    def _observed(self) -> dict[str, Observed]:
        return {agent: self.episode.observe(seat) for seat, agent in enumerate(self.possible_agents)}
